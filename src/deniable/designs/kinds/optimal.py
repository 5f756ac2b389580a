"""Optimal: the questions and channels that tell what is wanted with the fewest respondents.

Each respondent is asked one question of as many attributes as pay, with the whole budget. Which questions, how often
each and through which channel follows from what is wanted (`deniable.aims.aim`): tables are asked through
channels that treat all cells alike, means, distribution functions and associations through channels that are made for
them (`deniable.optimal.optimal_channel`), and ballots are drawn with whole-number weights. All of it is found by a
convex program at even shares (`deniable.optimal.pooled_loss`) or at a guess of the truth
(`deniable.optimal.pooled_loss_at_guess`), rounded to integers, and judged by these integers: `loss` is n times the
summed variance of the wanted numbers when all reports are pooled, `floor` what no design at this epsilon goes below,
both at even shares or both at the guess.

Estimates need no weights: which ballot it was does not depend on the answers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from deniable.aims.aim import Wanted, asked_of
from deniable.aims.assumed_truth import Guess
from deniable.aims.parse import gathered
from deniable.channels.best_channel import Choice
from deniable.core.data_frames import is_count
from deniable.core.domain import Domain
from deniable.designs.design import Design
from deniable.designs.distance_to_best import best_floor, loss_of, nearness
from deniable.designs.registry import design_from_bytes, differs
from deniable.designs.request import ChannelOptions, Proposal
from deniable.designs.search_questions import Task, chosen
from deniable.device.epsilon import exp_below
from deniable.errors import DesignError, InputError, NotCoveredError
from deniable.frozen import again, fix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from deniable.aims.assumed_truth import Truth
    from deniable.channels.best_channel import Chooser
    from deniable.core.domain import Category
    from deniable.designs.question import Question
    from deniable.designs.request import Request
    from deniable.device.privacy_statement import Statement
    from deniable.optimal.floor import Floor


class OptimalOptions(ChannelOptions, kw_only=True, frozen=True):
    """At which truth it is made, or the design itself, as it was made before."""

    channel: Annotated[
        Choice, Meta(description="What tables go through; whatever else is wanted gets channels of its own.")
    ] = "least_variance"
    guess: Annotated[
        dict[str, tuple[float, ...]] | None,
        Meta(
            description="Shares that are expected, by attribute, one for each category in its order: the design needs "
            "the fewest respondents where they are right."
        ),
    ] = None
    made: Annotated[
        str | None,
        Meta(
            description="The design as it was made before, as one text: made anew by other libraries, it may have "
            "other integers that are as good."
        ),
    ] = None


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Optimal(Design):
    """One question a respondent, drawn and disguised so that what is wanted needs the fewest of them.

    >>> from deniable.aims.aim import Wanted
    >>> domain = {"age": list(range(20, 75, 5)), "sex": ["F", "M"], "smokes": ["no", "yes"]}
    >>> design = Optimal(domain, [["sex", "smokes"], Wanted.mean("age")], epsilon=1.0)
    >>> {"age", "sex*smokes"} <= {question.name for question in design.questions}
    True
    >>> design.epsilon <= 1.0, design.times < 1.6
    (True, True)
    """

    kind = "optimal"
    is_chosen = True
    is_repeatable = False
    Options = OptimalOptions

    wanted: tuple[Wanted, ...]  # what it was made for; nothing, where the design was read from a file
    asked_epsilon: float
    guess: Guess | None  # the truth at which it was made and is judged; even shares where there is none

    def __init__(
        self,
        domain: Domain | Mapping[str, Iterable[Category]],
        wanted: Wanted | str | Sequence[Wanted | str | Sequence[str]],
        epsilon: float = 1.0,
        *,
        largest: int | None = None,
        channel: Choice | Chooser = "least_variance",
        truth: Truth | None = None,
    ) -> None:
        """Take what is wanted, as in `floor`, and the respondent's total epsilon.

        `largest` are the most attributes of a question: by default as many as pay (`generated_questions`).
        `channel` is what tables go through; whatever else is wanted gets channels of its own. `truth` is a guess, as in
        `floor`: where it is right, fewer respondents are needed; where it is wrong, more, but estimates stay right.
        """
        exp_below(epsilon)  # refuses an epsilon that is none
        known, items = domain if isinstance(domain, Domain) else Domain(domain), gathered(wanted)
        asked = asked_of(known, items)
        if largest is not None and not is_count(largest):
            raise DesignError(
                f"largest is how many attributes a question has at most, a whole number from 1 on, not {largest!r}",
                largest=largest,
            )
        guess = None if truth is None else Guess.of(known, truth)
        questions, weights = chosen(
            Task(asked, items, guess), float(epsilon), None if largest is None else int(largest), channel
        )
        super().__init__(asked, questions, [[index] for index in range(len(questions))], weights)
        fix(self, wanted=items, asked_epsilon=float(epsilon), guess=guess)

    @classmethod
    def of_questions(
        cls,
        domain: Domain,
        questions: Sequence[Question],
        ballots: Sequence[Sequence[int]],
        weights: Sequence[int] | None = None,
        *,
        wanted: Sequence[Wanted] = (),
        asked_epsilon: float = 0.0,
        guess: Guess | None = None,
    ) -> Optimal:
        """Make it of the questions and ballots it comes down to; what it was made for is known to its maker alone."""
        made = cls.__new__(cls)
        Design.__init__(made, domain, questions, ballots, weights)
        fix(made, wanted=tuple(wanted), asked_epsilon=asked_epsilon, guess=guess)
        return made

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        names = ("domain", "questions", "ballots", "weights", "wanted", "asked_epsilon", "guess")
        return again(type(self).of_questions, **{name: getattr(self, name) for name in names})

    @cached_property
    def loss(self) -> float:
        """N times the summed variance of what is wanted from n respondents, from the integers; see `guess`."""
        found = loss_of(self, self._made_for, self.guess)
        assert found is not None  # only what could be computed was chosen
        return found

    @cached_property
    def floor(self) -> Floor:
        """What no design at this epsilon goes below: certified where the question is small, else the closed form."""
        return best_floor(self.domain, self._made_for, self.asked_epsilon, self.guess)

    @property
    def times(self) -> float:
        """How many times as many respondents it needs as the best possible design, at most."""
        return self.floor.times(self.loss)

    @property
    def _made_for(self) -> tuple[Wanted, ...]:
        if not self.wanted:
            raise DesignError(
                "a design that was read does not know what it was made for; use loss_of and floor with what is wanted"
            )
        return self.wanted

    def _statement(self) -> Statement:
        """What a respondent is asked, what the report can tell, and how far from the best this is."""
        plain = super()._statement()
        far = nearness(self, self.wanted, self.guess)
        return replace(plain, notes=(*plain.notes, far)) if far else plain

    @classmethod
    def make(cls, request: Request, options: OptimalOptions) -> Optimal:
        """Make what tells the aims with the fewest respondents, or take what was made before, once it is verified.

        What was made before is verified like what comes from anybody: its integers, its epsilon, its attributes, and
        that it tells what is wanted.
        """
        guess = _guess(request, options)
        if options.made is not None:
            return _carried(request, options.made, guess)
        return cls(request.domain, request.aims, request.epsilon, channel=request.channels(options), truth=guess)

    @classmethod
    def propose(cls, request: Request) -> Iterable[Proposal]:
        """Propose it at the guess; where that is too much to be weighed, at even shares, and judged at the guess."""
        shares = None if request.shares is None else dict(request.shares)
        yield Proposal(cls.kind, OptimalOptions(respondents=request.n, guess=shares))
        if request.guess is not None:
            yield Proposal(cls.kind, OptimalOptions(respondents=request.n, guess={}))


def _guess(request: Request, options: OptimalOptions) -> Guess | None:
    """The guess that the options say, else the request's; an empty one is even shares."""
    if options.guess is None:
        return request.guess
    try:
        return Guess.of(request.domain, options.guess) if options.guess else None
    except InputError as error:
        raise DesignError(error.message, option="guess") from error


def _carried(request: Request, text: str, guess: Guess | None) -> Optimal:
    """The design that was made before, if it is one for this request."""
    try:
        read = design_from_bytes(text)
    except DesignError as error:
        raise DesignError(error.message, option="made") from error
    wrong = differs(read, Optimal.kind, request.domain, request.epsilon)
    if wrong is not None:
        raise DesignError(
            f"the design that was made before {wrong}. Leave it out, and it is made anew (with another hash), or undo "
            f"what was changed",
            option="made",
        )
    made = Optimal.of_questions(
        read.domain,
        read.questions,
        read.ballots,
        read.weights,
        wanted=request.aims,
        asked_epsilon=request.epsilon,
        guess=guess,
    )
    try:
        loss_of(made, request.aims)
    except NotCoveredError as error:
        raise DesignError(
            f"{error.message}: it was made for something else. Leave it out, and it is made anew", option="made"
        ) from error
    return made
