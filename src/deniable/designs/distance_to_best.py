"""How far a design is from the best possible one: its loss, from the integers that are run, and the floor under it."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, isfinite
from typing import TYPE_CHECKING

from deniable.aims.aim import asked_of
from deniable.aims.assumed_truth import Guess
from deniable.aims.contrasts import Contrasts
from deniable.aims.default_aims import in_words
from deniable.aims.parse import gathered
from deniable.errors import ConvergenceError, NotCoveredError
from deniable.optimal.certificate import MOST_ANSWERS
from deniable.optimal.floor import Floor, floor
from deniable.optimal.pooled_loss import pooled_loss
from deniable.optimal.pooled_loss_at_guess import loss_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.aims.aim import Wanted
    from deniable.aims.assumed_truth import Truth
    from deniable.channels.channel import Channel
    from deniable.core.domain import Domain
    from deniable.designs.design import Design


def asked_through(design: Design) -> list[list[tuple[tuple[str, ...], Channel]]]:
    """For every ballot the attributes that are asked together, and the channels that they go through."""
    questions = design.questions
    return [[(questions[index].attributes, questions[index].channel) for index in ballot] for ballot in design.ballots]


def loss_of(
    design: Design, wanted: Wanted | str | Sequence[Wanted | str | Sequence[str]], truth: Truth | None = None
) -> float | None:
    """N times the summed variance of what is wanted (as in `floor`), from n respondents of any design, reports pooled.

    At even shares or at a guess, from the integers that are run; None where the design pairs respondents, or has more
    contrasts than can be judged together.

    Raises:
        NotCoveredError: some wanted number is told by no ballot.
    """
    if design.correlated:
        return None
    items = gathered(wanted)
    ballots = asked_through(design)
    if truth is not None:
        return loss_at(design.domain, items, ballots, design.chances, Guess.of(design.domain, truth))
    return pooled_loss(Contrasts(design.domain, items), ballots, design.chances)


def nearness(design: Design, wanted: Sequence[Wanted]) -> str:
    """How far a design is from the best possible one for what is wanted, in a sentence; nothing where nobody knows.

    The epsilon is the design's own, which is what its respondents spend.
    """
    if not wanted or not isfinite(design.epsilon) or design.served_in_blocks() is not None:
        return ""  # in blocks the channels change with the reports, and nobody knows to what
    try:
        loss = loss_of(design, wanted)
    except NotCoveredError:
        return ""
    if loss is None:
        return ""
    # Rounded up, so that what a better use of the last decimals would spare is counted too.
    least = best_floor(design.domain, tuple(wanted), ceil(design.epsilon * 1e4) / 1e4)
    return f"For {in_words(wanted, design.domain)}, this design {least.distance(loss)}."


@lru_cache(maxsize=64)
def best_floor(domain: Domain, wanted: tuple[Wanted, ...], epsilon: float) -> Floor:
    """The higher of the closed form and, where the question is small, the certificate."""
    small = asked_of(domain, wanted).cells <= MOST_ANSWERS
    try:
        return floor(domain, wanted, epsilon, certify=small)
    except ConvergenceError:
        return floor(domain, wanted, epsilon)


def floor_at(domain: Domain, wanted: tuple[Wanted, ...], epsilon: float, guess: Guess) -> Floor:
    """The same at a guess.

    Raises:
        InputError: the attributes that are wanted have too many cells for a floor at a guess.
    """
    small = asked_of(domain, wanted).cells <= MOST_ANSWERS
    try:
        return floor(domain, wanted, epsilon, guess, certify=small)
    except ConvergenceError:
        return floor(domain, wanted, epsilon, guess)
