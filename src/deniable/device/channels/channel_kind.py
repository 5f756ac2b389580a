"""A kind of channel on a device: its integers as they are written, what they must be, what draws make of them.

A kind says how it is written (its fields), whether its integers are sound (`check`), how many truths it has, how far a
report can shift anybody's odds (`ratio`, exactly), what draws make of a truth (`outcome`), and which reports there are
(`can_be`). Nothing here is a float, and nothing needs an array: `deniable.channels` has the algebra of the same kinds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from deniable.device.protocol.canonical_json import Message, Whole
from deniable.device.refusal import refuse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from deniable.device.fake_limits import Limits
    from deniable.device.random_draws import Draw

WIDTHS = (16, 32)  # the bits of one draw: two bytes serve most questions, four about a million cells
IN_ONE_NUMBER = 53  # categories of a set that is one number: all of them are exact wherever JSON is read


class Kind(Message, frozen=True):
    """A kind of channel whose report is one category. What is said here of it, some kinds say otherwise."""

    exchange: ClassVar[str] = ""  # the file of `device.protocol` by which a context is come to, where one is needed

    @property
    def truths(self) -> int:
        """How many truths there are."""
        raise NotImplementedError

    @property
    def reports(self) -> int:
        """How many different reports there are, from 0 on."""
        return self.truths

    @property
    def sums(self) -> int | None:
        """How many independent sums of the shares reports tell: all, one less than truths, unless a kind counts."""
        return self.truths - 1

    @property
    def ratio(self) -> Fraction:
        """By how much one report can shift anybody's odds between two truths."""
        raise NotImplementedError

    def check(self, name: str) -> None:
        """Refuse integers that are not sound; `name` is the question's."""
        raise NotImplementedError

    def check_told(self, name: str) -> None:
        """Refuse sound integers from which nothing could be learned: answering would be in vain."""

    def check_leftover(self) -> None:
        """Refuse what no answer needs: it could be a mark."""

    def outcome(self, truth: int, draw: Draw) -> int:
        """The report that draws make of one of the truths."""
        raise NotImplementedError

    def disguise(self, truth: int, draw: Draw) -> int:
        """The report that draws make of a truth."""
        if not 0 <= truth < self.truths:  # every answer was encoded before: this cannot be reached
            raise AssertionError("a code that the channel does not have")
        return self.outcome(truth, draw)

    def can_be(self, code: int) -> bool:
        """Tell whether a code is ever reported."""
        return 0 <= code < self.reports

    # -- asked again ------------------------------------------------------------------------------------------------

    @property
    def kept(self) -> Kind | None:
        """The channel whose report a panel keeps; None where there is no second level to send it through."""
        return None

    def resend(self, kept: int, draw: Draw) -> int:
        """What is sent of a kept report this time."""
        raise NotImplementedError

    @property
    def singled_out(self) -> Fraction:
        """At most the sum over all reports of the largest chance that each has: how many of n people it tells apart.

        Whoever knows of each of n people what their report is made of puts so many of n reports to the right person.
        For what is drawn anew that is the truth. No channel of k truths and ratio R has more than k R / (R + k - 1),
        which is k-RR's own (`deniable.device.panel` has the proof).
        """
        return self.truths * self.ratio / (self.ratio + self.truths - 1)

    # -- not by itself ------------------------------------------------------------------------------------------------

    @property
    def limits(self) -> Limits | None:
        """What every published block must keep, where the integers are published block by block."""
        return None

    def beside(self, truth: int, draw: Draw, side: int) -> int:  # noqa: ARG002 - here there is no coin
        """The report of one whose partner shares a coin, which points this way: +1 or -1."""
        return self.disguise(truth, draw)


class CategoryKind(Kind, frozen=True):
    """A kind of so many categories."""

    k: Whole

    @property
    def truths(self) -> int:
        """The categories."""
        return self.k


class SetKind(CategoryKind, frozen=True):
    """A kind whose report is a set of categories, as the number whose binary digits are its members."""

    @property
    def reports(self) -> int:
        """Every set."""
        return 1 << self.truths


# -- what the checks of several kinds share ----------------------------------------------------------------------------


def draws_of(bits: int, name: str) -> int:
    """How many different draws there are."""
    if bits not in WIDTHS:
        refuse("wrong-bits", f"question {name!r} draws {bits} bits, not 16 or 32")
    return 1 << bits


def check_share(weight: int, whole: int, name: str) -> None:
    """Check a number of draws that is neither none nor all of them."""
    if weight < 1 or weight == whole:
        refuse("zero-weight", f"question {name!r}: some report has no draw for some truth")
    if weight > whole:
        refuse("wrong-sum", f"question {name!r}: {weight} draws are more than {whole}")


def check_column(column: Sequence[int], whole: int, name: str) -> None:
    """Check the draws for every report to one truth."""
    if not column or min(column) < 1:
        refuse("zero-weight", f"question {name!r}: some report has no draw for some truth")
    if sum(column) != whole:
        refuse("wrong-sum", f"question {name!r}: weights sum to {sum(column)}, not to {whole}")


def check_fits_one_number(k: int, name: str) -> None:
    """Check that a set of categories is one number."""
    if not 2 <= k <= IN_ONE_NUMBER:
        refuse("wrong-cells", f"question {name!r}: sets of {k} categories; there are 2 to {IN_ONE_NUMBER}")


def set_of(members: Iterable[int]) -> int:
    """A set as a number."""
    return sum(1 << v for v in members)


def either(odds: Fraction) -> Fraction:
    """Odds, or their inverse: whichever is above 1."""
    return max(odds, 1 / odds)
