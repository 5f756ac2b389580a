"""Run an item, keep what it found, and skip it when nothing has changed since.

An item's output is three files: the columns as CSV, the picture as SVG, the lines as JSON. The JSON carries a stamp: a
hash of the seed, the size of the run, the versions of what we compute with, and every file of ours that the item
imports, directly or through others. While the stamp stays the same the item need not be run again, so an interrupted
run of all items goes on where it stopped.
"""

from __future__ import annotations

import ast
import csv
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import TYPE_CHECKING

import deniable
from reproduction.plots import comparison, written
from reproduction.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from reproduction.item import Item, Reproduced

SEED = 1
_PLACES = {"deniable": Path(str(deniable.__file__)).parents[1], "reproduction": Path(__file__).parents[1]}


@dataclass(frozen=True)
class Done:
    """An item's record, and whether it was there already."""

    item: Item
    record: Record
    skipped: bool


def execute(
    item: Item,
    output: Path,
    *,
    seed: int = SEED,
    smoke: bool = False,
    fresh: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Done:
    """Compute an item and write its files into a folder; skipped where they are there and still true.

    Args:
        item: which.
        output: the folder; inside it a folder a paper, those of short runs in `smoke`.
        seed: every seed gives other draws, and numbers that agree within their errors.
        smoke: a short run.
        fresh: compute even if nothing has changed.
        progress: called with the steps done and all of them.
    """
    folder = (output / "smoke" if smoke else output) / item.paper
    path = folder / f"{item.name}.json"
    mark = stamp(item, seed, smoke=smoke)
    known = Record.read(path)
    if known is not None and known.stamp == mark and not fresh:
        return Done(item, known, skipped=True)
    start = perf_counter()
    outcome, trials = item.run(seed, smoke=smoke, progress=progress)
    seconds = round(perf_counter() - start, 1)
    record = Record(tuple(outcome.lines), tuple(outcome.notes), seed, trials, seconds, mark)
    folder.mkdir(parents=True, exist_ok=True)
    _write_csv(folder / f"{item.name}.csv", outcome)
    path.with_suffix(".svg").write_text(picture(item, outcome), encoding="utf-8")
    record.write(path)  # last: its stamp says that the others are there
    return Done(item, record, skipped=False)


def picture(item: Item, outcome: Reproduced) -> str:
    """The outcome as SVG."""
    draw = item.draw
    if draw is None or not outcome.data:
        return written(lambda ax: comparison(ax, outcome.lines), item.size)
    return written(lambda ax: draw(ax, outcome.data), item.size)


def _write_csv(path: Path, outcome: Reproduced) -> None:
    columns = outcome.data or {
        "what": [line.what for line in outcome.lines],
        "ours": [line.ours for line in outcome.lines],
        "paper": [line.paper for line in outcome.lines],
        "error": [line.error for line in outcome.lines],
    }
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(columns)
        out.writerows(zip(*columns.values(), strict=True))


def stamp(item: Item, seed: int, *, smoke: bool) -> str:
    """A hash of everything that the item's numbers depend on."""
    versions = [f"{name} {version(name)}" for name in ("numpy", "scipy")]
    digest = hashlib.sha256(f"{seed} {smoke} {versions}".encode())
    for file in sorted(reached(item.file)):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def reached(file: Path) -> set[Path]:
    """The files of ours that a file imports, and those that they import; itself included."""
    found, waiting = {file}, [file]
    while waiting:
        new = _imported(waiting.pop()) - found
        found |= new
        waiting += new
    return found


def _home(public: str) -> str:
    """The module behind a public name."""
    found = getattr(deniable, public)
    return found.__name__ if isinstance(found, ModuleType) else str(found.__module__)


@cache
def _imported(file: Path) -> set[Path]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module == "deniable":
            names |= {_home(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in _PLACES:
            # A name may be a module of its own, or something inside the one it is taken from.
            names |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    stems = [_PLACES[name.partition(".")[0]].joinpath(*name.split(".")) for name in names]
    places = [place for stem in stems for place in (stem.with_suffix(".py"), stem / "__init__.py")]
    return {place for place in places if place.is_file()}
