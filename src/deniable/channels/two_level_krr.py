"""Answers that may be asked for again: k-RR that is kept, and k-RR on top of it each time.

What a panel keeps is `first`'s report; whenever it is sent it goes through `again` (memoization with two levels,
Erlingsson, Pihur & Korolova 2014, for categories). With l = p - q of each level, a single report keeps the truth by l1
l2 and is even otherwise:

    P = l I + (1 - l) / k 11',   l = l1 l2.

However often it is asked, all reports together are made from the kept one alone and say no more than that: `ratio` is
the first level's, for one report as for a thousand.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from deniable.channels.krr import KRR, part
from deniable.channels.mixture import Mixture
from deniable.errors import DesignError, SingularChannelError
from deniable.frozen import again as frozen_again
from deniable.frozen import fix

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from deniable.core.randomness import Source


@dataclass(frozen=True, eq=False, repr=False, init=False)
class TwoLevelKRR(Mixture):
    """A kept answer of k-RR, and fresh noise on it whenever it is sent.

    >>> channel = TwoLevelKRR(KRR(4, epsilon=1.0), KRR(4, epsilon=2.0))
    >>> channel.ratio == channel.first.ratio, round(channel.keep, 3)
    (True, 0.185)
    """

    kind = "two_level_krr"
    treats_alike = True

    levels: tuple[KRR, ...] = ()  # what is kept, and what it goes through each time

    def __init__(self, first: KRR, again: KRR) -> None:
        """Take the channel of the kept answer, and that of each time it is sent."""
        if not all(isinstance(level, KRR) for level in (first, again)) or first.inputs != again.inputs:
            raise DesignError(
                f"two levels of an answer are k-RR and k-RR of as many categories; got {first.name} and {again.name}"
            )
        if first.keep <= first.other or again.keep <= again.other:
            raise SingularChannelError("both levels must tell the truth more often than any lie", keep=again.keep)
        fix(self, levels=(first, again))
        k = first.inputs
        kept = Fraction(first.keep - first.other, 1 << first.bits) * Fraction(again.keep - again.other, 1 << again.bits)
        self._set([kept, *([(1 - kept) / k] * k)], None)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return frozen_again(TwoLevelKRR, first=self.first, again=self.again)

    @property
    def first(self) -> KRR:
        """The channel of the kept answer."""
        return self.levels[0]

    @property
    def again(self) -> KRR:
        """The channel it goes through whenever it is sent."""
        return self.levels[1]

    @property
    def name(self) -> str:  # type: ignore[override]
        """What it is called in messages."""
        return f"TwoLevelKRR({self.inputs})"

    @cached_property
    def ratio(self) -> Fraction:
        """The first level's, however many reports are made from it."""
        return self.first.ratio

    def clones(self) -> Sequence[tuple[Fraction, Fraction]]:
        """The kept answer's: what is done to it afterwards tells no more."""
        return self.first.clones()

    def collapse(self, shape: tuple[int, ...], keep: Sequence[int]) -> TwoLevelKRR:
        """Each level of a tuple, looked at through some of its attributes, is k-RR again."""
        return TwoLevelKRR(self.first.collapse(shape, keep), self.again.collapse(shape, keep))

    def executed(self) -> TwoLevelKRR:
        """Itself: it is made of integers."""
        return self

    def _counts(self) -> list[int]:
        """Not a single draw: there is one a level."""
        raise DesignError(f"{self.name} takes a draw for each level; look at .first and .again")

    def resend(self, kept: ArrayLike, source: Source) -> NDArray[Any]:
        """Make reports of kept answers."""
        return self.again._randomize(kept, source)

    def _randomize(self, codes: ArrayLike, source: Source) -> NDArray[Any]:
        return self.resend(self.first._randomize(codes, source), source)

    @classmethod
    def from_parts(cls, first: Mapping[str, Any], again: Mapping[str, Any]) -> TwoLevelKRR:  # type: ignore[override]
        """Read what `to_dict` wrote."""
        return cls(part(first), part(again))

    def to_dict(self) -> dict[str, object]:
        """{"kind": "two_level_krr", ...} with its two channels."""
        return {"kind": "two_level_krr", "first": self.first.to_dict(), "again": self.again.to_dict()}
