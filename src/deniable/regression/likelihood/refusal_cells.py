"""Who prefers not to say a disguised predictor, in a model of those who would: cells with an outcome of their own.

For every combination of truths with a "prefer not to say" among them, the outcome has a level and slopes of the open
predictors for itself: nothing of it is shared with those whom the model is about.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.device.protocol.answer_encoding import SKIPPED
from deniable.frozen import readonly
from deniable.regression.likelihood.disguised_outcome import factor_of
from deniable.regression.likelihood.mixture_likelihood import Factor
from deniable.regression.likelihood.responses import LOGIT, Binary, Normal
from deniable.regression.missing_answers import answers, skipped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.core.domain import Category
    from deniable.inference.attribute_pairs import Missing
    from deniable.regression.formula import Design
    from deniable.regression.likelihood.disguised_outcome import Outcome

    Array = NDArray[np.float64]


@dataclass(frozen=True)
class Answering:
    """The categories that a formula knows of each disguised predictor, and the code of "prefer not to say" beside them.

    Without `missing="drop"` that is a category like any other, and nobody stands aside.
    """

    labels: Mapping[str, tuple[Category, ...]]
    places: tuple[int | None, ...]

    @classmethod
    def of(cls, columns: Mapping[str, tuple[Category, ...]], missing: Missing | None) -> Answering:
        """Those of some columns, given with all their categories."""
        if missing != "drop":
            return cls(columns, (None,) * len(columns))
        kept = {name: answers(labels) for name, labels in columns.items()}
        return cls(kept, tuple(skipped(labels) for labels in columns.values()))

    def aside(self, cells: Sequence[Sequence[int]] | NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether somebody with the truths of each cell prefers not to say one of them."""
        return np.array([any(p == c for p, c in zip(self.places, codes, strict=True)) for codes in cells], dtype=bool)

    def codes(self, codes: Sequence[int] | NDArray[np.intp]) -> tuple[int, ...]:
        """The same among the categories that the formula knows; any, where one prefers not to say."""
        return tuple(
            int(code) if place is None or code < place else 0 if code == place else int(code) - 1
            for place, code in zip(self.places, codes, strict=True)
        )

    def told(self, codes: Sequence[int]) -> str:
        """What somebody who stands aside does not say, and says."""
        said = [
            f"{name} = {SKIPPED if code == place else known[self.codes(codes)[i]]}"
            for i, ((name, known), place, code) in enumerate(zip(self.labels.items(), self.places, codes, strict=True))
        ]
        return ", ".join(said)


def outcomes(
    outcome: Outcome, plain: Sequence[Factor], aside: NDArray[np.bool_], opened: Design, offset: int
) -> tuple[list[Factor], list[tuple[int, str]], tuple[Factor, ...]]:
    """The outcome's factor in every cell; what cells aside have for themselves, cell and label; what keeps that inside.

    `plain` is the factor of the model in every cell; the parameters of cells aside begin at `offset`.
    """
    found: list[Factor] = []
    more: list[tuple[int, str]] = []
    steady: list[Factor] = []
    for cell, factor in enumerate(plain):
        if not aside[cell]:
            found.append(factor)
            continue
        own, labels = factor_of(outcome, opened.matrix, opened.terms, offset + len(more))
        more += [(cell, label if isinstance(label, str) else ": ".join(map(str, label))) for label in labels]
        found.append(own)
        steady.append(held(own))
    if outcome.skips:
        steady.append(held_skips(plain[0]))
    return found, more, tuple(steady)


def held(factor: Factor) -> Factor:
    """A row nobody reported for each parameter of a factor and each outcome: see `Likelihood.steady`."""
    if isinstance(factor.response, Normal):
        ends = factor.data.mean() + factor.data.std() * np.array([[-1.0], [1.0]])
    else:
        ends = np.eye(factor.data.shape[1])
    width, often = factor.designs[0].shape[1], len(ends)
    corners = readonly(np.tile(np.eye(width), (often, 1)))
    ones = readonly(np.ones((len(corners), 1)))
    designs = tuple(corners if design.shape[1] == width else ones for design in factor.designs)
    return Factor(factor.response, readonly(np.repeat(ends, width, axis=0)), designs, factor.places)


def held_skips(factor: Factor) -> Factor:
    """The same of who answers the outcome, the last equation alone."""
    width = factor.designs[-1].shape[1]
    corners = readonly(np.tile(np.eye(width), (2, 1)))
    return Factor(Binary(LOGIT), readonly(np.repeat(np.eye(2), width, axis=0)), (corners,), (factor.places[-1],))
