"""Paired respondents (JRR): the coins of least variance at the planned epsilon (`paired_optimum`), nobody colluding.

That epsilon is the published theorem's, an average over pairings; against whoever knows the shared coin the true one is
larger, up to what devices give away by default: beyond that nobody could answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.designs.paired.design import Paired
from deniable.device.memory import DEFAULT_LIMIT

if TYPE_CHECKING:
    from deniable.planning.candidates.purpose import Purpose


def make(purpose: Purpose) -> Paired | None:
    """Coins shared by pairs of respondents, for the assumed shares; only for tables of one attribute."""
    if not any(one.kind == "table" and len(one.attributes) == 1 for one in purpose.wanted):
        return None
    truth, epsilon = purpose.truth, purpose.epsilon
    expected: dict[str, list[float]] = {}
    for name, variable in purpose.asked.items():
        if truth is not None and name in truth.domain:
            expected[name] = truth.normalize().project([name]).values.tolist()
        else:
            expected[name] = [1 / len(variable)] * len(variable)
    return Paired.best(purpose.asked, epsilon, purpose.n, expected=expected, coin=max(DEFAULT_LIMIT, epsilon))
