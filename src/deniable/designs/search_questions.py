"""The search for the questions, channels and weights that tell what is wanted with the fewest respondents.

Candidates are questions about sets of attributes, through channels that treat all cells alike or are made for what is
wanted of them. Their mix is balanced by a convex program, and what hardly anybody is asked is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from deniable.aims.aim import Wanted, channel_rows
from deniable.aims.contrasts import Contrasts
from deniable.core.table import Table
from deniable.designs.question import Question
from deniable.errors import ConvergenceError, DesignError, NotCoveredError, PrecisionError
from deniable.optimal.certificate import MOST_ANSWERS
from deniable.optimal.channel_for import channel_for
from deniable.optimal.generated_questions import generated, pays
from deniable.optimal.optimal_channel import optimal_channel
from deniable.optimal.pooled_loss import pool
from deniable.optimal.pooled_loss_at_guess import MOST_CONTRASTS, contrasts_of, pool_at
from deniable.optimal.question_mix import candidate_questions
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from deniable.aims.assumed_truth import Guess
    from deniable.channels.best_channel import Choice, Chooser
    from deniable.core.domain import Domain
    from deniable.optimal.pooled_loss import Pool
    from deniable.optimal.pooled_loss_at_guess import GuessPool

_CLOSE = 5e-4  # how far above the best mix, as a share
_AS_GOOD = 1e-3  # one question for everybody that loses no more than this is asked alone
_RARE = (0.05, 0.02, 0.01, 5e-3, 2e-3, 1e-3)  # shares of respondents whose questions may go, if that costs no more than
_PRUNED = 1e-4  # this share of the loss
_TOTAL = 1 << 20  # the ballots' weights sum to about this
_MOST_QUESTIONS = 200  # that are weighed at a guess
_MADE = 128  # possible answers up to which a channel is made for one attribute's numbers
_MADE_TOGETHER = 32  # and for everything at once


@dataclass(frozen=True)
class Task:
    """What is wanted, and at which truth it is judged."""

    asked: Domain
    items: tuple[Wanted, ...]
    guess: Guess | None

    def pool(self, questions: Sequence[Question]) -> Pool | GuessPool | None:
        """What questions tell, everybody being asked one of them."""
        ballots = [[(question.attributes, question.channel)] for question in questions]
        if self.guess is None:
            return pool(Contrasts(self.asked, self.items), ballots)
        try:
            return pool_at(self.asked, self.items, ballots, self.guess)
        except NotCoveredError:
            return None


def chosen(
    task: Task, epsilon: float, largest: int | None, channel: Choice | Chooser
) -> tuple[list[Question], list[int]]:
    """The questions and how often each is asked, the most frequent first."""
    asked = task.asked
    if task.guess is None:
        sets = candidate_questions(asked, largest)
    else:
        sets = _few_questions(asked, largest)
        if largest is None:
            # Larger questions than these: those that pay at even shares.
            even = _chosen_even(task, epsilon, channel)
            more = [*sets, *(one.attributes for one in even if len(one.attributes) > max(map(len, sets)))]
            sets = more if contrasts_of(asked, more) <= MOST_CONTRASTS and len(more) <= _MOST_QUESTIONS else sets
    made = _made_for_them(task, epsilon)
    mixes = _Mixes(task, epsilon, channel, made)
    sets = mixes.possible(sets)
    if largest is None and task.guess is None and (made or sets):
        sets = generated(asked, sets, mixes, pays(epsilon))
    candidates = [*made, *mixes.questions(sets)]
    if task.guess is not None:
        candidates += _made_for_tables(task, epsilon, sets)
    if not candidates:
        raise PrecisionError(
            f"no question tells {listed(map(str, task.items))} at epsilon {epsilon:g} with 32-bit draws. Ask for fewer "
            f"categories or attributes at a time, or for another epsilon",
            epsilon=epsilon,
        )
    weights, loss = _balanced(task, candidates)
    for one in candidates:
        if one.attributes == asked.names and _loss(task, [one], np.ones(1)) <= loss * (1 + _AS_GOOD):
            return [one], [1]  # no need to draw
    return _whole(*_pruned(task, candidates, weights, loss))


def _chosen_even(task: Task, epsilon: float, channel: Choice | Chooser) -> list[Question]:
    """The questions at even shares; none, where there are too many to be weighed."""
    try:
        return chosen(replace(task, guess=None), epsilon, None, channel)[0]
    except DesignError:
        return []


class _Mixes:
    """Mixes of questions about whole tables, beside others that are there in any case."""

    def __init__(self, task: Task, epsilon: float, channel: Choice | Chooser, made: list[Question]) -> None:
        self.task, self.made = task, made
        self._epsilon, self._channel = epsilon, channel
        self._known: dict[tuple[str, ...], Question | None] = {}
        self._asked: list[Question] = []
        self._weights = np.zeros(0)

    def possible(self, sets: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """The sets that some channel can be made for."""
        return [names for names in sets if self._question(names) is not None]

    def questions(self, sets: Sequence[tuple[str, ...]]) -> list[Question]:
        """The questions about some tables."""
        return [found for names in sets if (found := self._question(names)) is not None]

    def balanced(self, sets: Sequence[tuple[str, ...]]) -> tuple[NDArray[np.float64], float]:
        """How often each is asked in the best mix, and its loss."""
        self._asked = [*self.made, *self.questions(sets)]
        self._weights, loss = _balanced(self.task, self._asked)
        return self._weights[len(self.made) :], loss

    def slopes(self, more: Sequence[tuple[str, ...]]) -> NDArray[np.float64]:
        """How the loss of the mix that was balanced last falls towards other questions; not at all where none is."""
        possible = self.possible(more)
        found = self.task.pool([*self._asked, *self.questions(possible)])
        if found is None:
            return np.zeros(len(more))
        _, slopes = found.value(np.concatenate([self._weights, np.zeros(len(possible))]))
        falls = dict(zip(possible, slopes[len(self._asked) :].tolist(), strict=True))
        return np.array([falls.get(names, 0.0) for names in more])

    def _question(self, names: tuple[str, ...]) -> Question | None:
        if names not in self._known:
            alone = _alike(self.task.asked, self._epsilon, [names], self._channel)
            self._known[names] = alone[0] if alone else None
        return self._known[names]


def _pruned(
    task: Task, candidates: Sequence[Question], weights: NDArray[np.float64], loss: float
) -> tuple[list[Question], NDArray[np.float64]]:
    """Without the questions that hardly anybody is asked and that tell nothing the others do not.

    The steps that balance a mix never bring a weight to zero. The rarest questions are left out, as many as together
    cost less than a ten-thousandth of the loss once the others are balanced anew.
    """
    kept = list(candidates)
    for share in _RARE:
        order = np.argsort(-weights, kind="stable")
        often = order[: int(np.searchsorted(np.cumsum(weights[order]), 1 - share)) + 1]
        if len(often) == len(kept):
            continue
        fewer = [kept[place] for place in often]
        try:
            balanced, reached = _balanced(task, fewer)
        except DesignError:
            continue  # something wanted is told by the rare ones alone
        if reached <= loss * (1 + _PRUNED):
            kept, weights = fewer, balanced
    return kept, weights


def _whole(questions: Sequence[Question], weights: NDArray[np.float64]) -> tuple[list[Question], list[int]]:
    """The questions, the most frequent first, and their weights as whole numbers."""
    order = np.argsort(-weights, kind="stable")
    return [questions[place] for place in order], [max(1, round(float(weights[place]) * _TOTAL)) for place in order]


def _loss(task: Task, questions: Sequence[Question], chances: NDArray[np.float64]) -> float:
    found = task.pool(questions)
    return float("inf") if found is None else found.value(chances)[0]


def _balanced(task: Task, candidates: Sequence[Question]) -> tuple[NDArray[np.float64], float]:
    found = task.pool(candidates)
    if found is None or found.value(np.full(len(candidates), 1 / len(candidates)))[0] == float("inf"):
        weighed = (
            "4096 possible answers tell everything that is wanted; ask for smaller tables, or for fewer numbers at once"
            if task.guess is None
            else f"{MOST_CONTRASTS} contrasts in all, which is what is weighed at a guess, tell everything that is "
            f"wanted; leave the truth out for the best design at even shares, or want less at once"
        )
        raise DesignError(f"no questions of a few attributes and {weighed}", wanted=len(task.items))
    weights, loss, _ = found.balanced(_CLOSE)
    return weights, loss


def _made_for_them(task: Task, epsilon: float) -> list[Question]:
    """Questions through channels that are made for what is wanted of them."""
    asked, items = task.asked, task.items
    sets = dict.fromkeys(tuple(n for n in asked if n in one.attributes) for one in items if not one.is_table)
    sizes = dict.fromkeys(sets, _MADE) | ({asked.names: _MADE_TOGETHER} if asked.names not in sets else {})
    found = []
    for names, most in sizes.items():
        inside = [one for one in items if set(one.attributes) <= set(names)]
        if asked.project(names).cells <= most and any(not one.is_table or one.attributes != names for one in inside):
            # Of its own table alone, sets of the best size are as good as can be, at even shares.
            found += _made(task, names, inside, epsilon)
    return found


def _made_for_tables(task: Task, epsilon: float, sets: Iterable[tuple[str, ...]]) -> list[Question]:
    """Questions about tables, through channels that are made for them at the guess."""
    found = []
    for names in sets:
        if task.asked.project(names).cells <= MOST_ANSWERS:
            found += _made(task, names, [Wanted.table(*names)], epsilon)
    return found


def _made(task: Task, names: tuple[str, ...], wanted: Sequence[Wanted], epsilon: float) -> list[Question]:
    """A question through the channel that is best for some numbers: one for each truth it may be."""
    part = task.asked.project(names)
    truths = [None] if task.guess is None else [Table(part, one.shares(part)) for one in task.guess.populations]
    found = []
    for truth in truths:
        rows, shares = channel_rows(part, wanted, truth), None if truth is None else truth.values
        try:
            found.append(Question(names, optimal_channel(rows, epsilon, shares)))
        except (ConvergenceError, PrecisionError):
            continue  # the others do
    return found


def _few_questions(asked: Domain, largest: int | None) -> list[tuple[str, ...]]:
    """Sets of attributes that may be asked together where all of their contrasts are weighed at once."""
    sets = candidate_questions(asked, largest)
    for size in range(max(map(len, sets)), 0, -1):
        few = [names for names in sets if len(names) <= size]
        if contrasts_of(asked, few) <= MOST_CONTRASTS and len(few) <= _MOST_QUESTIONS:
            return few
    return [names for names in sets if len(names) == 1]


def _alike(asked: Domain, epsilon: float, sets: Iterable[tuple[str, ...]], channel: Choice | Chooser) -> list[Question]:
    """Questions about whole tables."""
    found = []
    for names in sets:
        try:
            found.append(Question(names, channel_for(asked.project(names), epsilon, channel)))
        except PrecisionError:
            continue  # more answers than integers can tell apart at this epsilon
    return found
