"""Told: what the reports to one ballot tell about some attributes, and in which of their columns they tell it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.channels.base import Channel
    from deniable.domain import Domain


@dataclass(frozen=True)
class Column:
    """One question's answers, as far as they are about the attributes asked for.

    `collapsed` holds the question's shape and the axes that remain when its answers are summed over the other
    attributes.
    """

    place: int
    attributes: tuple[str, ...]
    channel: Channel
    collapsed: tuple[tuple[int, ...], tuple[int, ...]] | None

    def narrow(self, answers: NDArray[Any]) -> NDArray[Any]:
        """Turn answers to the whole question into answers about these attributes."""
        if self.collapsed is None:
            return answers
        shape, axes = self.collapsed
        digits = np.indices(shape).reshape(len(shape), -1)[list(axes)]
        lookup = np.ravel_multi_index(tuple(digits), tuple(shape[axis] for axis in axes))
        return lookup.astype(np.min_scalar_type(int(lookup.max())))[answers]


@dataclass(frozen=True)
class Told:
    """The attributes that a ballot tells about, the channel from them to the reports, and the columns they stand in."""

    domain: Domain
    channel: Channel
    columns: tuple[Column, ...]
