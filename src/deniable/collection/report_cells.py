"""Acceptor: does a report fit its design? What fits becomes a cell, the text under which it is stored and counted."""

from __future__ import annotations

import operator
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from deniable.device.protocol.problem_details import problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from deniable.device.protocol.messages import Problem, Report
    from deniable.device.verified_design import VerifiedDesign
    from deniable.extensions.blocks.served_blocks import Chain

_MOST_REMEMBERED = 1 << 16
Cell: TypeAlias = tuple[str | None, int, tuple[int, ...], tuple[int, ...]]


class Acceptor:
    """Checks the reports of one design.

    Where a design has few possible reports, those that were found to fit are remembered with their cells. Where reports
    are sets, hardly one comes twice, and to remember them would only take time and memory: more of both, the more came.
    """

    def __init__(self, design: VerifiedDesign, chain: Chain | None = None) -> None:
        """Write the limits down that a report must keep; `chain` for designs in blocks."""
        self.chain = chain
        self._channels = [
            tuple(question.channel for question in design.asked(number)) for number in range(len(design.ballots))
        ]
        self._public = tuple(len(variable) for variable in design.public)
        self._blind = design.message.admission == "blind"
        possible = sum(prod(channel.reports for channel in asked) for asked in self._channels) * prod(self._public)
        self._remembers = possible <= _MOST_REMEMBERED
        self._cells: dict[tuple[Any, ...], str] = {}

    def cell(self, report: Report) -> str | Problem:
        """The cell of a report, or what is wrong with it."""
        content = (report.ballot, report.answers, report.public)
        plain = report.block is None and report.token is None and report.signature is None
        known = self._cells.get(content) if plain and not self._blind else None
        if known is not None:
            return known
        wrong = self._misfit(report)
        if wrong is not None:
            return wrong
        cell = encode_cell(report.block, report.ballot, report.answers, report.public)
        if plain and self._remembers:
            self._cells[content] = cell
        return cell

    def _misfit(self, report: Report) -> Problem | None:
        if not self._knows(report.block):
            return problem("unknown-block")
        if {report.token is not None, report.signature is not None} != {self._blind}:
            return problem("unfit", "A token and its signature belong to blind admission, and only there.")
        if report.ballot >= len(self._channels):
            return problem("unfit", f"The design has {len(self._channels)} ballots.")
        asked = self._channels[report.ballot]
        possible = (channel.can_be(code) for channel, code in zip(asked, report.answers, strict=False))
        if len(report.answers) != len(asked) or not all(possible):
            return problem("unfit", "The answers are not reports of the ballot's questions.")
        if len(report.public) != len(self._public) or not all(map(operator.lt, report.public, self._public)):
            return problem("unfit", "The public attributes are not those of the design.")
        return None

    def _knows(self, block: str | None) -> bool:
        if self.chain is None or block is None:
            return block is None and self.chain is None
        return self.chain.knows(block)


def encode_cell(block: str | None, ballot: int, answers: tuple[int, ...], public: tuple[int, ...]) -> str:
    """Write a cell: everything a report says, in one text.

    >>> encode_cell(None, 0, (1, 3), (2,))
    '[null,0,[1,3],[2]]'
    """
    return msgspec.json.encode((block, ballot, answers, public)).decode()


def decode_cell(cell: str) -> Cell:
    """Read a cell back."""
    return msgspec.json.decode(cell, type=Cell)


def decode_cells(cells: Iterable[str]) -> list[Cell]:
    """Read many cells back, at once: where reports are sets there are about as many of them as reports."""
    return msgspec.json.decode(f"[{','.join(cells)}]", type=list[Cell])
