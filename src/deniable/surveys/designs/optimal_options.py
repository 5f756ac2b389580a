"""What tells the wanted numbers with the fewest respondents.

It is computed when the file is read, unless the file carries it: another version of the libraries that compute it may
come to other integers that are as good, and other integers are another design. What a file carries is verified like
what comes from anybody: its integers, its epsilon, its attributes, and that it tells what is wanted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from deniable.aims.assumed_truth import Guess
from deniable.designs.distance_to_best import loss_of
from deniable.designs.kinds.optimal import Optimal
from deniable.designs.registry import design_from_bytes
from deniable.designs.reuse_integers import differs
from deniable.errors import DesignError, InputError, NotCoveredError, SurveyError
from deniable.surveys.designs.wish import SETS

if TYPE_CHECKING:
    from deniable.surveys.designs.wish import Wish

KEYS = (*SETS, "guess", "made")


def make(wish: Wish) -> Optimal:
    """The design that a file asks for; sets by default, as they tell most of tables."""
    entry = wish.entry
    try:
        guess = None if entry.guess is None else Guess.of(wish.domain, entry.guess)
        if entry.made is not None:
            return _carried(wish, entry.made, guess)
        channels = wish.channels if entry.channel is not None else replace(wish.channels, choice="least_variance")
        return Optimal(wish.domain, wish.wanted, wish.epsilon, channel=channels, truth=guess)
    except InputError as error:
        if isinstance(error, SurveyError) or entry.guess is None:
            raise
        raise SurveyError(f"design.guess: {error.message}", path="design.guess") from error


def _carried(wish: Wish, text: str, guess: Guess | None) -> Optimal:
    """The design that the file carries."""
    try:
        read = design_from_bytes(text)
    except DesignError as error:
        raise SurveyError(f"design.made: {error.message}", path="design.made") from error
    wrong = differs(read, Optimal.kind, wish.domain, wish.epsilon)
    if wrong is not None:
        raise SurveyError(
            f"design.made: the design that the file carries {wrong}. Drop the key, and it is made anew (with another "
            f"hash), or undo what was changed in the file",
            path="design.made",
        )
    made = Optimal.of_questions(
        read.domain,
        read.questions,
        read.ballots,
        read.weights,
        wanted=wish.wanted,
        asked_epsilon=float(wish.epsilon),
        guess=guess,
    )
    try:
        loss_of(made, wish.wanted)
    except NotCoveredError as error:
        raise SurveyError(
            f"design.made: {error.message}: it was made for something else. Drop the key, and it is made anew",
            path="design.made",
        ) from error
    return made
