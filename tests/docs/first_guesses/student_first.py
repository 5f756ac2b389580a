"""The first minutes: a dictionary of made-up people, disguised and estimated."""

import deniable as dn

people = {"smokes": ["no", "no", "yes"] * 200}
design = dn.Joint({"smokes": ["no", "yes"]}, epsilon=1)
reports = design.randomize(people, source=dn.Seeded(1))
estimate = dn.estimate(reports)
print(estimate)
assert abs(estimate.values[1] - 1 / 3) < 4 * estimate.std_error[1]
