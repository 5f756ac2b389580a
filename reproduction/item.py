"""Item: a table or figure that can be computed anew, and what it is given to compute with."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from deniable import Seeded
from reproduction.record import Line, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np

T = TypeVar("T")
Columns = dict[str, list[Any]]


@dataclass
class Run:
    """What an item computes with.

    Attributes:
        trials: how often to repeat what is random.
        source: where the draws come from.
        smoke: whether only a few settings are wanted, to see that everything runs.
        progress: called with the steps done and all of them.
    """

    trials: int
    source: Seeded
    smoke: bool = False
    progress: Callable[[int, int], None] | None = None

    @cached_property
    def rng(self) -> np.random.Generator:
        """One generator for the whole item."""
        return self.source.stream().generator()

    def track(self, steps: Sequence[T]) -> Iterator[T]:
        """Go through the steps, telling how far it is."""
        for done, step in enumerate(steps):
            if self.progress is not None:
                self.progress(done, len(steps))
            yield step
        if self.progress is not None:
            self.progress(len(steps), len(steps))

    def some(self, settings: Sequence[T], few: int = 2) -> Sequence[T]:
        """All settings, or the first few of them in a smoke run."""
        return settings[:few] if self.smoke else settings


@dataclass
class Reproduced:
    """What an item found: lines to compare, columns for the CSV and the picture, remarks."""

    lines: list[Line] = field(default_factory=list)
    data: Columns = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def row(self, **values: object) -> None:
        """Append a row to the columns."""
        for name, value in values.items():
            self.data.setdefault(name, []).append(value)

    def line(
        self,
        what: str,
        ours: float,
        paper: float | None = None,
        *,
        tolerance: float = 0.0,
        error: float = 0.0,
        slack: float = 0.0,
        note: str = "",
    ) -> None:
        """Append a line; the note is kept where the two numbers differ."""
        made = Line(what, float(ours), paper, float(tolerance), float(error), slack=float(slack))
        self.lines.append(replace(made, note=note) if made.verdict == "differs" else made)

    def says(
        self, words: str, ours: float, *, holds: bool, error: float = 0.0, slack: float = 0.0, note: str = ""
    ) -> None:
        """Append what the paper says in words, the number it is judged by, and whether it holds."""
        made = Line(words, float(ours), error=float(error), says=words, holds=bool(holds), slack=float(slack))
        self.lines.append(made if holds else replace(made, note=note))


@dataclass(frozen=True)
class Item:
    """A table or figure.

    Attributes:
        module: the `__name__` of its file, which names paper and item.
        where: where in the paper it stands.
        claim: what the paper says there, in a sentence of ours.
        compute: finds the outcome.
        draw: draws the columns on axes; by default the paper's numbers beside ours.
        trials: how many in a full run ...
        smoke: ... and in a smoke run.
        why: the reason where the paper's and our numbers differ, in a sentence.
        size: of the picture, in inches.
    """

    module: str
    where: str
    claim: str
    compute: Callable[[Run], Reproduced]
    draw: Callable[[Any, Mapping[str, Sequence[Any]]], None] | None = None
    trials: int = 1
    smoke: int = 1
    why: str = ""
    size: tuple[float, float] = (7.0, 4.5)

    @property
    def paper(self) -> str:
        """The paper's short name."""
        return self.module.split(".")[-2].replace("_", "-")

    @property
    def name(self) -> str:
        """The item's name within the paper."""
        return self.module.rsplit(".", 1)[-1].replace("_", "-")

    @property
    def title(self) -> str:
        """The first line of the file's docstring."""
        return (sys.modules[self.module].__doc__ or "").strip().partition("\n")[0].rstrip(".")

    @property
    def file(self) -> Path:
        """The file it is in."""
        return Path(str(sys.modules[self.module].__file__))

    @property
    def command(self) -> str:
        """What to type."""
        return f'make reproduce ITEM="{self.paper} {self.name}"'

    @property
    def stored(self) -> Record | None:
        """What we found when it was last accepted."""
        return Record.read(self.file.with_suffix(".json"))

    def run(
        self, seed: int, *, smoke: bool = False, progress: Callable[[int, int], None] | None = None
    ) -> tuple[Reproduced, int]:
        """Compute it; every item has draws of its own, whatever others are run before it."""
        own = hashlib.sha256(f"{seed} {self.paper} {self.name}".encode()).digest()
        trials = self.smoke if smoke else self.trials
        run = Run(trials, Seeded(int.from_bytes(own[:8], "little")), smoke, progress)
        return self.compute(run), trials
