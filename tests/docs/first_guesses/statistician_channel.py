"""A channel of one's own, its epsilon, and what counts through it say."""

import deniable as dn

channel = dn.Dense([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7]])
assert channel.epsilon > 0
estimate = dn.estimate([300, 350, 350], channel)
assert abs(estimate.values.sum() - 1) < 1e-9
