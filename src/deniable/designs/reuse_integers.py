"""The integers of a design that were found once, taken again in the place of those that were found now.

A search for the best channel or mix may end elsewhere on another machine, at integers that are as good. Other integers
are another design. So what was found first for a question stays. It is trusted no more than what comes from anybody:
it asks the same, spends no more, and tells what is wanted as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.designs.distance_to_best import loss_of
from deniable.designs.kinds.optimal import Optimal
from deniable.designs.registry import design_from_bytes, differs
from deniable.errors import DesignError, NotCoveredError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.aims.aim import Wanted
    from deniable.designs.design import Design

_AS_GOOD = 1.002  # integers are within a thousandth of the best channel, and a mix within another of the best mix


def with_integers(design: Design, text: bytes, wanted: Sequence[Wanted], epsilon: float) -> Design:
    """A design with the integers that were found for it before.

    Raises:
        DesignError: these are integers for something else, of something that spends more, or worse ones.
    """
    read = design_from_bytes(text)
    wrong = differs(read, design.kind, design.domain, epsilon)
    if wrong is None and read.canonical() != text:
        wrong = "is not written as designs are"
    mixed, guess = isinstance(design, Optimal), None
    if isinstance(design, Optimal):
        guess = design.guess
        read = Optimal.of_questions(
            read.domain,
            read.questions,
            read.ballots,
            read.weights,
            wanted=design.wanted,
            asked_epsilon=design.asked_epsilon,
            guess=guess,
        )
    if wrong is None and not mixed and _asked(read) != _asked(design):
        wrong = "asks other questions"
    if wrong is None:
        try:
            before, now = (loss_of(one, wanted, guess) for one in (read, design))
        except NotCoveredError as error:
            raise DesignError(f"the design found before does not tell what is wanted: {error.message}") from error
        if before is not None and now is not None and before > now * _AS_GOOD:
            wrong = f"needs {before / now:.4f} times as many respondents as the one found now"
    if wrong is not None:
        raise DesignError(f"the design found before {wrong}", kind=read.kind)
    return read


def _asked(design: Design) -> tuple[object, ...]:
    return tuple(question.attributes for question in design.questions), design.ballots, design.weights
