"""`optimal_channel`: the channel that tells the wanted numbers with the fewest respondents, as it is run.

The patterns are found by column generation (`search`), reduced to few (`vertex`) and rounded to whole numbers
(`integers`). The integers are the channel: its loss, its epsilon and its identity come from them, not from the solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.patterns import Patterns
from deniable.frozen import again, fix
from deniable.optimal.certificate import MOST_ANSWERS, Certificate, certify
from deniable.optimal.channel_problem import Problem
from deniable.optimal.column_generation import solution
from deniable.optimal.floor import at_even_shares, at_truth, distance
from deniable.optimal.round_patterns import few_patterns, whole_weights

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

_OPTIMAL = 1.005


@dataclass(frozen=True, eq=False, repr=False, init=False, kw_only=True)
class OptimalChannel(Patterns):
    """A channel made for some wanted numbers, with how good it is and how good any channel could be.

    Attributes:
        problem: what it was made for.
        loss: n times the summed variance of the wanted numbers from n reports, of the integers that are run.
        bound: what no channel at this epsilon can go below; rounded down.
        certificate: what proves the bound; None where the closed form is the higher one, or the only one.
    """

    problem: Problem
    loss: float
    bound: float
    certificate: Certificate | None

    def __init__(
        self,
        channel: Patterns,
        *,
        problem: Problem,
        loss: float,
        bound: float,
        certificate: Certificate | None,
    ) -> None:
        """Take the integers, and what is known of them."""
        # Nothing is called optimal that is not known to be.
        name = "Optimal" if loss <= bound * _OPTIMAL else "Searched"
        fix(self, **{part: getattr(channel, part) for part in ("inputs", "large", "low", "high", "bits")})
        fix(self, name=f"{name}({problem.answers})", problem=problem, loss=loss, bound=bound, certificate=certificate)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        names = ("problem", "loss", "bound", "certificate")
        plain = Patterns(**super()._given())
        return again(OptimalChannel, channel=plain, **{name: getattr(self, name) for name in names})

    @property
    def times(self) -> float:
        """How many times as many respondents it needs as the best possible channel, at most."""
        return self.loss / self.bound

    def __repr__(self) -> str:
        far = distance(self.times, "at even shares" if self.problem.is_even else "at your guess", "channel")
        return (
            f"<{self.name}: {self.inputs} truths, {self.outputs} reports, epsilon {self.epsilon:.6g}; loss "
            f"{self.loss:.5g}, {far}>"
        )


def optimal_channel(wanted: ArrayLike, epsilon: float, truth: ArrayLike | None = None) -> OptimalChannel:
    """The channel with the least summed variance of the wanted numbers of one question, as integers.

    Args:
        wanted: W, a row a wanted number (a linear functional of the shares), a column a possible answer; one functional
            may be a plain list. `Wanted.rows` makes such rows.
        epsilon: what a report may spend; the integers never spend more.
        truth: the shares at which variances are judged; even shares by default.

    Up to 16 possible answers the result comes with a certificate that anybody can check; up to 256 the closed-form
    floor is the bound. Where less than all shares is wanted, the channel may tell no more than that: see `tells`.

    >>> channel = optimal_channel([0, 1, 2, 3, 4], 1.0)  # the mean of a score
    >>> round(channel.loss, 1), round(channel.times, 2)
    (17.9, 1.0)
    >>> channel.epsilon <= 1.0, channel.certificate.check() <= channel.loss
    (True, True)
    """
    problem = Problem.of(wanted, epsilon, truth)
    rows, shares = np.ascontiguousarray(problem.wanted), np.ascontiguousarray(problem.shares)
    return _made(rows.tobytes(), rows.shape, shares.tobytes(), problem.epsilon)


@lru_cache(maxsize=64)
def _made(wanted: bytes, shape: tuple[int, int], shares: bytes, epsilon: float) -> OptimalChannel:
    problem = Problem(np.frombuffer(wanted).reshape(shape), np.frombuffer(shares), epsilon)
    found = solution(problem)
    channel, loss = whole_weights(problem, *few_patterns(problem, found), found.point.loss)
    bound, certificate = closed_form(problem), None
    if problem.answers <= MOST_ANSWERS:
        proof = certify(problem, found.point.inverse @ problem.centred.T, found.point.y)
        if proof.bound > bound:
            bound, certificate = proof.bound, proof
    return OptimalChannel(channel, problem=problem, loss=loss, bound=bound, certificate=certificate)


def closed_form(problem: Problem) -> float:
    """The floor of one question, without a look at its patterns."""
    best = at_truth(problem.epsilon, problem.wanted, problem.shares)
    if not problem.is_even:
        return best
    singular = np.linalg.svd(problem.centred, compute_uv=False)
    return max(best, at_even_shares(problem.epsilon, problem.answers, float(singular.sum()) ** 2 / problem.answers))
