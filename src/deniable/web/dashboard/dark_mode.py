"""Charts that follow the reader's light or dark mode: the same drawing, with its colours named instead of written out.

For pictures that stand in a page as files. What is downloaded for a paper, or stands in a report, keeps its colours.
"""

from __future__ import annotations

from deniable.plotting import DARK, GREY, LIGHT, MARK

# What matplotlib writes, and what stands for it by day and by night. All of them are read well on their paper.
_COLOURS = {
    "ink": ("#000000", "#1b2733", "#e8edf2"),
    "paper": ("#ffffff", "transparent", "transparent"),
    "found": (DARK, DARK, "#8ec5f4"),
    "share": (LIGHT, LIGHT, "#2f5f8a"),
    "mark": (MARK, MARK, "#ff9f5a"),
    "grid": (GREY, GREY, "#b3c0cc"),
}


def by_day_and_night(svg: str) -> str:
    """Let an `<svg>` element take its colours from the mode in which it is looked at.

    >>> made = by_day_and_night('<svg role="img"><path style="stroke: #000000"/></svg>')
    >>> "stroke: var(--ink)" in made, "prefers-color-scheme: dark" in made
    (True, True)
    """
    for name, (written, _, _) in _COLOURS.items():
        svg = svg.replace(f": {written}", f": var(--{name})")
    end = svg.index(">") + 1
    return f"{svg[:end]}\n<style>{_SHEET}</style>{svg[end:]}"


def _variables(time: int) -> str:
    return ":root { " + " ".join(f"--{name}: {colour[time]};" for name, colour in _COLOURS.items()) + " }"


_SHEET = f"{_variables(1)} text {{ fill: var(--ink); }} @media (prefers-color-scheme: dark) {{ {_variables(2)} }}"
