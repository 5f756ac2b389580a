"""How many have evaded tax? Dice were thrown, and forms counted."""

import deniable as dn

found = dn.prevalence(dn.ForcedResponse(1 / 6, 1 / 6), yes=420, n=1000)
print(found)
assert 0.3 < found.values[1] < 0.5
