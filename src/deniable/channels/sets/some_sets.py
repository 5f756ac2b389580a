"""Part of a channel whose reports are sets: the truths that some respondents may have, see `some_truths`.

A set is looked at through the truths K that are left. Which of them it holds has the same four chances as before (see
`channels.sets.support`), so the unbiased estimate, its covariance and its moments are those of any sets over K. The
set's likelihood is that of the whole set: which of the other truths it holds is part of the report.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.read_channel import channel_from_dict
from deniable.channels.sets.support import Chances, Support
from deniable.channels.some_truths import checked, never_run
from deniable.errors import DesignError
from deniable.frozen import fix

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    from deniable.channels.channel import Channel
    from deniable.channels.sets.bit_masks import Choose, Numbers
    from deniable.core.randomness import Source


@dataclass(frozen=True, eq=False, repr=False, init=False)
class SomeSets(Support):
    """Some of the truths of a channel whose reports are sets.

    >>> from deniable.channels.sets.unary import Unary
    >>> part = SomeSets(Unary(8, 1.0), [0, 1, 2])
    >>> part.outputs, part.solve(part.apply([0.2, 0.3, 0.5])).round(12).tolist()
    (4, [0.2, 0.3, 0.5])
    """

    kind = "some_sets"
    treats_alike = True

    whole: Support
    truths: tuple[int, ...]

    def __init__(self, whole: Support, truths: Sequence[int]) -> None:
        """Take a channel and the places of the truths that are left."""
        fix(self, whole=whole, truths=checked(whole, truths), is_hashed=whole.is_hashed)

    @property
    def inputs(self) -> int:  # type: ignore[override]
        """The truths that are left."""
        return len(self.truths)

    @property
    def reports(self) -> int:
        """All sets."""
        return self.whole.reports

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """As the whole has it."""
        return self.whole.report_dtype

    @property
    def name(self) -> str:  # type: ignore[override]
        """That of the whole."""
        return self.whole.name

    @property
    def ratio(self) -> Fraction | float:
        """What the whole promises: nobody is promised less for having been asked."""
        return self.whole.ratio

    @property
    def chances(self) -> Chances:
        """Those of the whole: all truths are treated alike."""
        return self.whole.chances

    @property
    def _held(self) -> list[int]:
        """The cells of the whole's counts that are kept: those truths, and the number of reports."""
        return [*self.truths, self.whole.inputs]

    def chance(self, sizes: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """By the size of the whole set."""
        return self.whole.chance(sizes)

    def likelihood(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """That of the whole set, for the truths that are left."""
        return self.whole.likelihood(reports)[:, list(self.truths)]

    def every_report(self, most: int) -> NDArray[Any] | None:
        """All sets."""
        return self.whole.every_report(most)

    def members(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Which of the truths each set holds, and a one."""
        return self.whole.members(reports)[:, self._held]

    def tally(self, reports: NDArray[Any], times: NDArray[np.integer] | None = None) -> NDArray[np.int64]:
        """How many sets hold each of the truths, and how many there are."""
        return self.whole.tally(reports, times)[self._held]

    def draw(self, pi: NDArray[np.float64], n: int, rng: np.random.Generator, replicates: int) -> NDArray[np.float64]:
        """As the whole draws, where nobody has another truth."""
        everything = np.zeros((self.whole.inputs, *pi.shape[1:]))
        everything[list(self.truths)] = pi
        return self.whole.draw(everything, n, rng, replicates)[self._held]

    def opened(self, report: Numbers) -> tuple[Numbers, ...]:
        """As the whole."""
        return self.whole.opened(report)

    def word(self, opened: Sequence[Numbers], first: int, count: int, choose: Choose) -> Numbers:
        """Digit by digit: the truths that are left need not lie side by side."""
        first_digit, *more = (self.whole.word(opened, v, 1, choose) for v in self.truths[first : first + count])
        for place, digit in enumerate(more, start=1):
            first_digit = first_digit + digit * (1 << place)
        return first_digit

    def executed(self) -> Channel:
        """Refused: see `never_run`."""
        raise never_run(self.whole)

    def _randomize(self, codes: ArrayLike, source: Source) -> NDArray[Any]:
        return self.whole.randomize(np.array(self.truths)[self.codes(codes)], source=source)

    @classmethod
    def from_parts(cls, whole: Mapping[str, Any], truths: Sequence[int]) -> SomeSets:
        """Read what `to_dict` wrote."""
        return cls(_sets(channel_from_dict(whole)), truths)

    def to_dict(self) -> dict[str, object]:
        """{"kind": "some_sets", ...} with the whole channel and the truths that are left."""
        return {"kind": "some_sets", "whole": self.whole.to_dict(), "truths": list(self.truths)}


def _sets(channel: Channel) -> Support:
    if not isinstance(channel, Support):
        raise DesignError(f"the reports of {channel.name} are no sets")
    return channel
