"""Acceptor: does a report fit its design? What fits becomes a cell, the text under which it is stored and counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from deniable.collection.problems import problem

if TYPE_CHECKING:
    from deniable.collection.blocks import Chain
    from deniable.collection.messages import Problem, Report
    from deniable.collection.verify import VerifiedDesign

_MOST_REMEMBERED = 1 << 16


class Acceptor:
    """Checks the reports of one design.

    A design has few possible reports, so those that were found to fit are remembered with their cells.
    """

    def __init__(self, design: VerifiedDesign, chain: Chain | None = None) -> None:
        """Write the limits down that a report must keep; `chain` for designs in blocks."""
        self.chain = chain
        self._limits = [
            tuple(question.channel.outputs for question in design.asked(b)) for b in range(len(design.ballots))
        ]
        self._public = tuple(len(variable) for variable in design.public)
        self._cells: dict[tuple[Any, ...], str] = {}

    def cell(self, report: Report) -> str | Problem:
        """The cell of a report, or what is wrong with it."""
        content = (report.ballot, report.answers, report.public)
        known = self._cells.get(content) if report.block is None else None
        if known is not None:
            return known
        wrong = self._misfit(report)
        if wrong is not None:
            return wrong
        cell = encode_cell(report.block, report.ballot, report.answers, report.public)
        if report.block is None and len(self._cells) < _MOST_REMEMBERED:
            self._cells[content] = cell
        return cell

    def _misfit(self, report: Report) -> Problem | None:
        if not self._knows(report.block):
            return problem("unknown-block")
        if report.ballot >= len(self._limits):
            return problem("unfit", f"The design has {len(self._limits)} ballots.")
        if not _within(report.answers, self._limits[report.ballot]):
            return problem("unfit", "The answers are not reports of the ballot's questions.")
        if not _within(report.public, self._public):
            return problem("unfit", "The public attributes are not those of the design.")
        return None

    def _knows(self, block: str | None) -> bool:
        if self.chain is None or block is None:
            return block is None and self.chain is None
        return self.chain.knows(block)


def _within(codes: tuple[int, ...], limits: tuple[int, ...]) -> bool:
    return len(codes) == len(limits) and all(code < limit for code, limit in zip(codes, limits, strict=True))


def encode_cell(block: str | None, ballot: int, answers: tuple[int, ...], public: tuple[int, ...]) -> str:
    """Write a cell: everything a report says, in one text.

    >>> encode_cell(None, 0, (1, 3), (2,))
    '[null,0,[1,3],[2]]'
    """
    return msgspec.json.encode((block, ballot, answers, public)).decode()


def decode_cell(cell: str) -> tuple[str | None, int, tuple[int, ...], tuple[int, ...]]:
    """Read a cell back."""
    return msgspec.json.decode(cell, type=tuple[str | None, int, tuple[int, ...], tuple[int, ...]])
