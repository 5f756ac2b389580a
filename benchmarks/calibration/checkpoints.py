"""Finished sections of the calibration, kept in a folder, so that a run that was interrupted goes on where it stopped.

A section is taken from there only if it was made by the same program: its name holds a hash of the rooms that simulate
and compute.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import deniable
from benchmarks.calibration.report_section import Section

if TYPE_CHECKING:
    from collections.abc import Callable

ROOMS = ("channels", "designs", "device", "estimation", "inference", "tables")


def program() -> str:
    """What the program is, in sixteen letters."""
    seen, package = hashlib.sha256(), Path(str(deniable.__file__)).parent
    for folder in (Path(__file__).parents[1], *(package / room for room in ROOMS)):
        for path in sorted(folder.rglob("*.py")):
            seen.update(f"{path.relative_to(folder.parent)}\n".encode() + path.read_bytes())
    return seen.hexdigest()[:16]


def kept(folder: Path | None, name: str, count: int, seed: int, make: Callable[[int, int], Section]) -> Section:
    """A section as it was kept, or made anew and kept."""
    if folder is None:
        return make(count, seed)
    path = folder / f"{name}-{count}-{seed}-{program()}.json"
    if path.exists():
        return Section(**json.loads(path.read_text(encoding="utf-8")))
    section = make(count, seed)
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(section)), encoding="utf-8")
    return section
