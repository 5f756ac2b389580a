"""Line and Record: what was found, as plain data.

A line is one number: what the paper prints, what we get, how far apart the two may be. What the paper says in words
("does not depend on V") has no number of its own; such a line carries whether it holds. A record is all lines of an
item, with what they were made from.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from pathlib import Path

Verdict = Literal["reproduced", "differs", "new"]
_SIGMAS = 6.0  # standard errors between two runs beyond which a number has drifted: not by chance, one in 10^8
_ROUNDING = 1e-6  # what another order of summation may change, relatively


class Line(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One number.

    Attributes:
        what: what is measured; lines of an item have different names.
        ours: what we find.
        paper: what is printed, if a number is.
        tolerance: how far from the printed number ours may lie: its rounding, and the Monte Carlo errors of both.
        error: the standard error of ours over fresh seeds; 0 where nothing was drawn.
        slack: how far two runs may lie apart besides, for extremes, medians and ratios whose error is not estimated.
        says: what the paper says in words, where it prints no number.
        holds: whether that holds.
        note: the reason where the two differ.
    """

    what: str
    ours: float
    paper: float | None = None
    tolerance: float = 0.0
    error: float = 0.0
    says: str = ""
    holds: bool | None = None
    note: str = ""
    slack: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """Reproduced, or not; "new" where the paper has nothing to compare with.

        >>> Line("V", 0.2160, paper=0.21598, tolerance=1e-4).verdict, Line("n", 3).verdict
        ('reproduced', 'new')
        """
        if self.holds is not None:
            return "reproduced" if self.holds else "differs"
        if self.paper is None:
            return "new"
        return "reproduced" if abs(self.ours - self.paper) <= self.tolerance else "differs"

    def drifted(self, before: Line, fewer: float = 1.0) -> bool:
        """Whether this cannot be the number found before: more than six standard errors (and the slack) away.

        A few trials may agree by chance and seem precise. So when the run before had `fewer` times as many, this one's
        error is taken to be at least what that makes of the error then.
        """
        own = max(self.error, before.error * fewer**0.5)
        allowed = _SIGMAS * (own**2 + before.error**2) ** 0.5 + _ROUNDING * abs(before.ours) + before.slack + 1e-12
        return abs(self.ours - before.ours) > allowed


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All lines of an item, and what they were made from."""

    lines: tuple[Line, ...]
    notes: tuple[str, ...]
    seed: int
    trials: int
    seconds: float
    stamp: str = ""

    @property
    def verdict(self) -> str:
        """The lines' verdicts in short.

        >>> one, other = Line("a", 1, paper=1), Line("b", 1, paper=2)
        >>> Record((one, other), (), 0, 1, 0.0).verdict
        'partly (1 of 2)'
        """
        count = Counter(line.verdict for line in self.lines)
        yes, no = count["reproduced"], count["differs"]
        if not no:
            return "reproduced" if yes else "new"
        return f"partly ({yes} of {yes + no})" if yes else "differs"

    def drift(self, before: Record) -> list[str]:
        """Say which lines cannot be those of an earlier record, in words; lines of either that the other lacks pass.

        A short run has fewer lines and larger errors, and is compared with a long one all the same.
        """
        known = {line.what: line for line in before.lines}
        fewer = before.trials / self.trials
        return [
            f"{line.what}: {line.ours:.6g} (standard error {line.error:.2g}), before {known[line.what].ours:.6g}"
            for line in self.lines
            if line.what in known and line.drifted(known[line.what], fewer)
        ]

    def write(self, path: Path) -> None:
        """Write as JSON."""
        path.write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n")

    @classmethod
    def read(cls, path: Path) -> Record | None:
        """Read what `write` wrote; None if there is none, or one of another format."""
        try:
            return msgspec.json.decode(path.read_bytes(), type=cls)
        except (FileNotFoundError, msgspec.DecodeError):
            return None
