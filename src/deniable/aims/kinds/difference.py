"""Difference: a mean, or the share of each category, in one group less that in another, as its derivative."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from deniable.aims.aim import Wanted, code_of, pairs_text, scaled, scores_text
from deniable.core.input_coercion import without_labels
from deniable.errors import InputError
from deniable.frozen import fix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.aims.parse import Call
    from deniable.core.domain import Category, Domain, Variable

    Array = NDArray[np.float64]


@dataclass(frozen=True)
class Difference(Wanted):
    """How groups differ: in the mean of `scores` of the first attribute, else in the share of each category.

    `groups` are pairs of the second attribute's categories; by default all.
    """

    kind: ClassVar[str] = "difference"
    example: ClassVar[str] = "difference(income by sex)"
    estimator: ClassVar[str | None] = None
    seen_in: ClassVar[str] = "no single number: see what is told of each group"
    fewest: ClassVar[int] = 2
    most: ClassVar[int | None] = 2

    groups: Sequence[tuple[Category, Category]] | None = None
    scores: Sequence[float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.groups is not None:
            fix(self, groups=tuple((one, other) for one, other in self.groups))
        if self.scores is not None:
            fix(self, scores=tuple(without_labels(self.scores, "scores")))

    def unit(self, domain: Domain) -> float | None:  # noqa: ARG002 - kinds need it
        """From the least score to the largest."""
        return None if self.scores is None else float(np.ptp(self.scores))

    def needs(self, domain: Domain) -> Array | None:
        """The numerator and the denominator of each group."""
        of, by = domain.project(self.attributes).values()
        rows = [*self._scores(of), np.ones(len(of))]
        return np.array([np.kron(row, group) for row in rows for group in np.eye(len(by))])

    def _rows(self, own: Domain, shares: Array) -> Array:
        """Of s(x) given a group g: the derivative by the cell (x, g) is (s(x) - mean_g) / pi_g."""
        of, by = own.values()
        scores, groups = self._scores(of), shares.sum(axis=0)
        if not (groups > 0).all():
            raise InputError(f"the assumed truth has a group of {by.name!r} with nobody in it", attribute=by.name)
        means = scores @ shares / groups
        rows = []
        for first, second in combinations(by.categories, 2) if self.groups is None else self.groups:
            for score, mean in zip(scores, means, strict=True):
                row = np.zeros(own.shape)
                for group, sign in ((code_of(by, first), 1.0), (code_of(by, second), -1.0)):
                    row[:, group] += sign * (score - mean[group]) / groups[group]
                rows.append(row.ravel())
        return np.array(rows)

    def _scores(self, of: Variable) -> Array:
        return np.eye(len(of)) if self.scores is None else scaled(self.scores, of)[None]

    def _body(self) -> str:
        of, by = self.attributes
        return self._called(f"{of} by {by}")

    def _written(self) -> list[str]:
        return [
            *([] if self.groups is None else [f"groups {pairs_text(self.groups)}"]),
            *([] if self.scores is None else [scores_text(self.scores)]),
        ]

    @classmethod
    def parse(cls, call: Call) -> Self:
        """Read "income by sex", and "groups" and "scores"."""
        given = call.options("scores", "groups")
        of, by, *rest = (*(name.strip() for name in call.first.split(" by ")), "")
        if not of or not by or any(rest):
            raise call.refused("does not say of what and by which groups")
        groups = call.pairs(given["groups"]) if "groups" in given else None
        scores = call.numbers(given["scores"]) if "scores" in given else None
        return cls((of, by), call.weight, groups, scores)
