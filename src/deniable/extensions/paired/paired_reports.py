"""What paired respondents sent, and how many pairs were completed.

Who was paired with whom is in neither: it must stay unknown for the privacy statement to hold, and estimation needs no
more than the number of pairs of which both answered.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.designs.reports.reports import Reports
from deniable.designs.reports.tallies import Tallies
from deniable.errors import InputError
from deniable.frozen import fix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.extensions.designs.paired import Paired
    from deniable.files.header import Header


@dataclass(frozen=True, eq=False, repr=False, init=False)
class PairedReports(Reports):
    """Reports of a `Paired` design.

    Attributes:
        pairs: K, how many pairs both answered. Where only the even number N of people who were paired is known, of whom
            n answered whoever their partner was, n (n - 1) / (2 (N - 1)) pairs are expected and serve as well. Plain
            `Reports` of such a design know of no pairs, and get the (larger) errors of independent respondents.
    """

    pairs: float

    def __init__(self, frame: Any, design: Paired, *, pairs: float) -> None:
        """Read reports from a frame as `to_frame` writes it, and take the number of completed pairs."""
        super().__init__(frame, design)
        fix(self, pairs=_checked(pairs, self.n))

    @classmethod
    def of_pairs(
        cls, design: Paired, answers: NDArray[Any], pairs: float, public: Any = None, backend: str | None = None
    ) -> PairedReports:
        """Make reports of disguised codes."""
        ballots, completed = np.zeros(len(answers), dtype=np.uint8), _checked(pairs, len(answers))
        return cls.of_codes(design, ballots, answers, public, backend, pairs=completed)

    @property
    def header(self) -> Header:
        """What a file of these reports says about them, with the number of pairs."""
        return replace(super().header, more={"pairs": repr(self.pairs)})

    def among_asked(self, attributes: Sequence[str]) -> Reports:
        """The same, with the pairs that are expected among those who were asked."""
        found = super().among_asked(attributes)
        return found if found is self else self._of(**{**found._parts(), "pairs": self._expected(found.people)})

    def _chosen(self, rows: NDArray[np.int64]) -> dict[str, Any]:
        """Some of the rows, with the pairs that are expected among them."""
        inside = len(rows) if self.among is None else int(self.among.inside[rows].sum())
        return {**super()._chosen(rows), "pairs": self._expected(inside)}

    def _expected(self, inside: int) -> float:
        """Any two respondents are equally likely to be a pair: K m (m - 1) / (n (n - 1)) pairs have both in a part.

        Who is in the part is known in clear and has nothing to do with who was paired with whom.
        """
        n = self.people
        return self.pairs * inside * (inside - 1) / (n * (n - 1)) if n > 1 else 0.0


@dataclass(frozen=True, eq=False)
class PairedTallies(Tallies):
    """What `Paired.simulate` draws, and the number of pairs."""

    pairs: float = 0.0


def _checked(pairs: float, n: int) -> float:
    if not 0 <= 2 * pairs <= n:
        raise InputError(f"{n} reports cannot come from {pairs} completed pairs", pairs=pairs)
    return pairs
