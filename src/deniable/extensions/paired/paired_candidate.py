"""Paired respondents (JRR): the coins of least variance at the planned epsilon (`paired_optimum`), nobody colluding.

As for every candidate the epsilon is the true one: what whoever knows the shared coin may learn. The published
theorem's, an average over pairings, is smaller, and at the same theorem's epsilon pairing has the smaller variance; at
the same true one it never has. Let P / Q be the odds that epsilon allows; coins with shift d = sqrt(-rho p q) then have
p = P - d, and for a share f the variance pq + rho pq (1 - 2f)^2 = pq - d^2 (1 - 2f)^2 over (p - q)^2. With R = P - Q
this is at best (f = 0) (PQ + dR - 2 d^2) / (R - 2d)^2, whose logarithm has a derivative of the sign of

    (R - 4d)(R - 2d) + 4 (PQ + dR - 2 d^2) = R^2 + 4 PQ - 2 dR = 1 - 2 dR > 0,      0 <= d < R / 2.

So the best correlation is none, which is what the plan then says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.device.epsilon import exp_below
from deniable.extensions.designs.paired import Paired

if TYPE_CHECKING:
    from deniable.planning.candidates.purpose import Purpose


def make(purpose: Purpose) -> Paired | None:
    """Coins shared by pairs of respondents, for the assumed shares; only for tables of one attribute.

    Pairs are served with two categories an attribute: a design with more could be made, and nobody asked by it.
    """
    if any(len(variable) > 2 for variable in purpose.asked.values()):
        return None
    if not any(one.is_table and len(one.attributes) == 1 for one in purpose.wanted):
        return None
    truth, epsilon = purpose.truth, purpose.epsilon
    expected: dict[str, list[float]] = {}
    for name, variable in purpose.asked.items():
        if truth is not None and name in truth.domain:
            expected[name] = truth.normalize().project([name]).values.tolist()
        else:
            expected[name] = [1 / len(variable)] * len(variable)
    made = Paired.best(purpose.asked, epsilon, purpose.n, expected=expected, coin=epsilon)
    return made if made.ratio <= exp_below(epsilon) else None
