"""One drawing a survey device, as a tree of what may happen: python -m deniable.reporting.devices docs/images.

A path from left to right is one respondent's way from the truth to the report; its branches say with which probability
it is taken, or for whom. `chances` multiplies the branches, so that a drawing can be checked against its channel.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.channels.survey_devices import (
    Crosswise,
    ForcedResponse,
    Kuk,
    Mangat,
    Triangular,
    UnrelatedQuestion,
    Warner,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deniable.channels.dense import Dense

_LETTER, _LINE, _GAP, _EDGE, _MARGIN = 7.6, 34, 12, 104, 16  # pixels
_HEAD = 46  # pixels for the title
_INK, _PAPER, _BOX, _YES = "#1b1b1b", "#ffffff", "#eef3f8", "#cfe3f5"


@dataclass(frozen=True)
class Node:
    """A box of the tree: what it says, where it leads, and at the end which report is sent."""

    text: str
    branches: tuple[Branch, ...] = ()
    report: int | None = None


@dataclass(frozen=True)
class Branch:
    """A way out of a box: its probability, or whose it is (the truth 0 or 1)."""

    to: Node
    chance: float | None = None
    truth: int | None = None
    says: str = ""  # the answer to an innocent question

    @property
    def label(self) -> str:
        """What is written on the line."""
        if self.chance is not None:
            return f"{self.says} {self.chance:.3g}".strip()
        return {None: "", 0: "others", 1: "carriers"}[self.truth]


@dataclass(frozen=True)
class Drawing:
    """A device, its tree, and the tree in words."""

    name: str
    device: Dense
    root: Node
    words: str


def _end(text: str, report: int) -> Node:
    return Node(text, report=report)


def _chance(*ways: tuple[float, Node]) -> tuple[Branch, ...]:
    return tuple(Branch(node, chance=chance) for chance, node in ways)


def _innocent(share: float, if_yes: Node, if_no: Node) -> Node:
    """An innocent question that a known share of people answer with yes."""
    return Node(
        "innocent question", (Branch(if_yes, chance=share, says="yes"), Branch(if_no, chance=1 - share, says="no"))
    )


def _by_truth(carriers: Node, others: Node) -> tuple[Branch, ...]:
    return Branch(carriers, truth=1), Branch(others, truth=0)


_YES_END, _NO_END = _end("yes", 1), _end("no", 0)
_TRUTHFUL = _by_truth(_YES_END, _NO_END)

DRAWINGS = (
    Drawing(
        "warner",
        Warner(0.8),
        Node(
            "spinner",
            _chance(
                (0.8, Node("“I have the trait”", _TRUTHFUL)),
                (0.2, Node("“I do not have it”", _by_truth(_NO_END, _YES_END))),
            ),
        ),
        "A spinner shows the sensitive statement with probability 0.8 and its opposite with 0.2. The respondent says "
        "whether the statement shown is true.",
    ),
    Drawing(
        "forced-response",
        ForcedResponse([0.1, 0.2]),
        Node(
            "die",
            _chance((0.1, _end("say “no”", 0)), (0.2, _end("say “yes”", 1)), (0.7, Node("tell the truth", _TRUTHFUL))),
        ),
        "A die demands a no with probability 0.1 and a yes with 0.2; otherwise the respondent tells the truth.",
    ),
    Drawing(
        "unrelated-question",
        UnrelatedQuestion(0.7, 0.25),
        Node(
            "spinner",
            _chance(
                (0.7, Node("the sensitive question", _TRUTHFUL)),
                (0.3, _innocent(0.25, _YES_END, _NO_END)),
            ),
        ),
        "A spinner picks the sensitive question with probability 0.7, else an innocent one that a quarter of people "
        "answer with yes. The respondent answers the question picked.",
    ),
    Drawing(
        "crosswise",
        Crosswise(0.25),
        Node(
            "both questions at once",
            _by_truth(
                _innocent(0.25, _end("the same", 1), _end("different", 0)),
                _innocent(0.25, _end("different", 0), _end("the same", 1)),
            ),
        ),
        "The respondent is asked two questions at once and says only whether the two answers are the same. A quarter "
        "of all people answer the innocent one with yes.",
    ),
    Drawing(
        "triangular",
        Triangular(0.25),
        Node(
            "both questions at once",
            _by_truth(
                _end("yes to at least one", 1),
                _innocent(0.25, _end("yes to at least one", 1), _end("no to both", 0)),
            ),
        ),
        "The respondent is asked two questions at once and says whether at least one answer is yes. A quarter of all "
        "people answer the innocent one with yes. No to both clears a respondent for certain.",
    ),
    Drawing(
        "kuk",
        Kuk(0.8, 0.2),
        Node(
            "two decks of cards",
            _by_truth(
                Node("left deck", _chance((0.8, _end("red", 1)), (0.2, _end("black", 0)))),
                Node("right deck", _chance((0.2, _end("red", 1)), (0.8, _end("black", 0)))),
            ),
        ),
        "Carriers draw a card from the left deck, of which 80% are red, others from the right deck, of which 20% are. "
        "The respondent names the colour of the card, and nobody sees which deck it came from.",
    ),
    Drawing(
        "mangat",
        Mangat(0.7),
        Node(
            "the sensitive question",
            _by_truth(
                _end("yes", 1),
                Node("spinner", _chance((0.7, _end("no", 0)), (0.3, _end("yes", 1)))),
            ),
        ),
        "Carriers say yes. Others spin: with probability 0.7 they say no, which is the truth, else yes. No clears a "
        "respondent for certain.",
    ),
)


def chances(node: Node, truth: int) -> dict[int, float]:
    """Pr(report | truth) according to the tree."""
    if node.report is not None:
        return {node.report: 1.0}
    found = {0: 0.0, 1: 0.0}
    for branch in node.branches:
        if branch.truth in (None, truth):
            for report, share in chances(branch.to, truth).items():
                found[report] += share * (1.0 if branch.chance is None else branch.chance)
    return found


def svg(drawing: Drawing) -> str:
    """Draw a device as the text of an SVG file."""
    lefts, widths = _columns(drawing.root)
    width = lefts[-1] + widths[-1] + _MARGIN
    height = _HEAD + _leaves(drawing.root) * (_LINE + _GAP) + _MARGIN
    parts = list(_boxes(drawing.root, 0, _HEAD, lefts, widths))
    title, words = escape(drawing.device.name), escape(drawing.words)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" aria-labelledby="{drawing.name}-title {drawing.name}-words" '
        f'font-family="DejaVu Sans, Verdana, Arial, sans-serif" font-size="13">'
    )
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        head,
        f'<title id="{drawing.name}-title">{title}</title>',
        f'<desc id="{drawing.name}-words">{words}</desc>',
        f'<rect width="100%" height="100%" rx="8" fill="{_PAPER}"/>',
        f'<text x="{_MARGIN}" y="28" font-weight="bold" fill="{_INK}">{title}</text>',
        *parts,
        "</svg>",
    ]
    return "".join(f"{line}\n" for line in lines)


def _levels(node: Node) -> list[list[Node]]:
    """The boxes by how many lines lead to them."""
    levels, now = [], [node]
    while now:
        levels.append(now)
        now = [branch.to for one in now for branch in one.branches]
    return levels


def _columns(root: Node) -> tuple[list[float], list[float]]:
    """Where the boxes of each depth begin, and how wide they are."""
    widths = [max(len(node.text) for node in level) * _LETTER + 22 for level in _levels(root)]
    lefts = [float(_MARGIN)]
    for width in widths[:-1]:
        lefts.append(lefts[-1] + width + _EDGE)
    return lefts, widths


def _leaves(node: Node) -> int:
    return sum(_leaves(branch.to) for branch in node.branches) or 1


def _boxes(node: Node, depth: int, top: float, lefts: list[float], widths: list[float]) -> Iterator[str]:
    """The box of a node, halfway down its leaves, and everything to the right of it."""
    left, width = lefts[depth], widths[depth]
    middle = top + _leaves(node) * (_LINE + _GAP) / 2
    for branch in node.branches:
        share = _leaves(branch.to) * (_LINE + _GAP)
        start, end, y = left + width, lefts[depth + 1], top + share / 2
        yield f'<path d="M {start:.1f} {middle:.1f} L {end:.1f} {y:.1f}" stroke="{_INK}" fill="none"/>'
        x, at = (start + end) / 2, (middle + y) / 2
        yield (
            f'<text x="{x:.1f}" y="{at - 5:.1f}" text-anchor="middle" fill="{_INK}" stroke="{_PAPER}" '
            f'stroke-width="4" paint-order="stroke">{escape(branch.label)}</text>'
        )
        yield from _boxes(branch.to, depth + 1, top, lefts, widths)
        top += share
    fill = _YES if node.report == 1 else _BOX
    yield (
        f'<rect x="{left:.1f}" y="{middle - _LINE / 2:.1f}" width="{width:.1f}" height="{_LINE}" rx="6" fill="{fill}" '
        f'stroke="{_INK}"/>'
    )
    yield (
        f'<text x="{left + width / 2:.1f}" y="{middle + 4.5:.1f}" text-anchor="middle" fill="{_INK}">'
        f"{escape(node.text)}</text>"
    )


def main(folder: str) -> None:
    """Write all drawings to a folder."""
    for drawing in DRAWINGS:
        (Path(folder) / f"device-{drawing.name}.svg").write_text(svg(drawing), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
