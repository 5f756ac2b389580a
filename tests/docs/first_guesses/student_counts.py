"""Homework: 60 of 200 said yes through Warner's device with p = .8."""

import deniable as dn

estimate = dn.estimate([140, 60], dn.Warner(0.8))
assert round(float(estimate.values[1]), 4) == round((0.3 - 0.2) / 0.6, 4)
print(estimate.to_markdown())
