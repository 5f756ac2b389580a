"""Do two sensitive attributes go together? How strongly?"""

import deniable as dn

domain = {"affair": ["no", "yes"], "happy": ["no", "yes"]}
people = [{"affair": "yes", "happy": "no"}] * 300 + [{"affair": "no", "happy": "yes"}] * 700
reports = dn.Joint(domain, 3.0).randomize(people, source=dn.Seeded(2))
assert dn.independence(reports, "affair", "happy").pvalue < 0.01
strength = dn.cramers_v(dn.estimate(reports, ["affair", "happy"]))
print(strength)
assert strength.value > 0.5
