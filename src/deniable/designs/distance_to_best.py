"""How far a design is from the best possible one: its loss, from the integers that are run, and the floor under it."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, isfinite
from typing import TYPE_CHECKING, Protocol

from deniable.aims.aim import asked_of
from deniable.aims.assumed_truth import Guess
from deniable.aims.contrasts import Contrasts
from deniable.aims.default_aims import in_words
from deniable.aims.parse import aims_of, gathered
from deniable.errors import ConvergenceError, InputError, NotCoveredError
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
    from deniable.core.labels import Labels
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


def nearness(design: Design, wanted: Sequence[Wanted], truth: Truth | None = None) -> str:
    """How far a design is from the best possible one for what is wanted, in a sentence; nothing where nobody knows.

    The epsilon is the design's own, which is what its respondents spend. Where there is a guess of the truth, that is
    where it is judged, if the attributes have few enough cells for it.
    """
    if not wanted or not isfinite(design.epsilon) or design.served_in_blocks() is not None:
        return ""  # in blocks the channels change with the reports, and nobody knows to what
    # Rounded up, so that what a better use of the last decimals would spare is counted too.
    epsilon, items = ceil(design.epsilon * 1e4) / 1e4, tuple(wanted)
    try:
        guess = None if not truth else Guess.of(design.domain, truth)
        loss = loss_of(design, items, guess)
        if loss is None:
            return ""
        least = best_floor(design.domain, items, epsilon, guess)
    except NotCoveredError:
        return ""
    except InputError:
        return nearness(design, wanted) if truth else ""
    return f"For {in_words(wanted, design.domain)}, this design {least.distance(loss)}."


def nearness_of(reports: Labelled) -> str:
    """The same of reports that know what their survey is made for: what every output of theirs says of it."""
    return nearness(reports.design, aims_of(reports.labels), reports.labels.guess)


class Labelled(Protocol):
    """Reports, or whatever else has a design and what a survey file says beside it."""

    @property
    def design(self) -> Design: ...  # noqa: D102
    @property
    def labels(self) -> Labels: ...  # noqa: D102


@lru_cache(maxsize=64)
def best_floor(domain: Domain, wanted: tuple[Wanted, ...], epsilon: float, guess: Guess | None = None) -> Floor:
    """The higher of the closed form and, where the question is small, the certificate; at even shares, or at a guess.

    Raises:
        InputError: the attributes that are wanted have too many cells for a floor at a guess.
    """
    small = asked_of(domain, wanted).cells <= MOST_ANSWERS
    try:
        return floor(domain, wanted, epsilon, guess, certify=small)
    except ConvergenceError:
        return floor(domain, wanted, epsilon, guess)
