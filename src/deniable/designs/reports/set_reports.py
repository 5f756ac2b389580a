"""Sets one by one: what is kept beside the counts of what they hold, which say less."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.frozen import Frozen, readonly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.channels.channel import Channel
    from deniable.designs.marginal_channel import Told

FEW_KINDS = 1 << 16  # different reports that are listed, whatever they are
MOST_SINGLY = 20_000  # reports that are sets and are weighed one by one


def has_few_kinds(told: Told) -> bool:
    """Whether the different reports that can come are few enough to be listed: always those of categories."""
    return not told.channel.is_support or prod(column.channel.reports for column in told.columns) <= FEW_KINDS


def weighed_singly(told: Told, n: int) -> bool:
    """Whether n respondents' reports are weighed by their likelihood, or, of too many sets, by what they hold.

    Each of a million sets is another report: to weigh each takes minutes, and their counts a second. The same reports
    are weighed alike wherever they lie, in memory, in a file or in a database.
    """
    return has_few_kinds(told) or n <= MOST_SINGLY


@dataclass(frozen=True, eq=False)
class Sets(Frozen):
    """Reports, some of which are sets.

    Attributes:
        codes: a row a report, a column a factor of their channel.
        times: how often each of them came; the same one may stand there twice.
    """

    codes: NDArray[Any]
    times: NDArray[np.int64]

    @property
    def n(self) -> int:
        """How many reports there were."""
        return int(self.times.sum())

    def of(self, columns: Sequence[NDArray[Any]]) -> Sets:
        """The same reports, as far as some columns tell them."""
        return Sets(readonly(np.stack(columns, axis=1)), self.times)

    def held(self, channel: Channel) -> NDArray[np.int64]:
        """Count what they hold, as `Observation` has it."""
        return channel.tally(channel.from_rows(self.codes), self.times)


def joined(parts: Sequence[Sets | None]) -> Sets | None:
    """All reports of several samples; None where some were only counted."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    codes, times = (np.concatenate(each) for each in zip(*((part.codes, part.times) for part in known), strict=True))
    return Sets(readonly(codes), readonly(times))


def collapsed(codes: NDArray[Any], outputs: int, shape: tuple[int, ...], axes: Sequence[int]) -> NDArray[np.int64]:
    """Answers (or a block and an answer) about several attributes, as those about the ones on some axes, in order."""
    blocks = outputs // prod(shape)
    kept = [size if axis in axes else 1 for axis, size in enumerate(shape)]
    smaller = np.arange(blocks * prod(kept)).reshape(blocks, *kept)
    return np.broadcast_to(smaller, (blocks, *shape)).ravel()[codes.astype(np.int64)]
