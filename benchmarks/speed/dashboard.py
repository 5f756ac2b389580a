"""How long results of a million sets take: the first time in a new process, and again after more reports came.

The reports are hashes, so nearly every one is a cell of its own. They are put into a store directly; what is sent
over HTTP ends up in the same files.
"""

from __future__ import annotations

import secrets
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cached_property
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.benchmark import Claim, Measurement
from benchmarks.speed.store_growth import SETS, SURVEYS, Asked
from deniable.collection.shown_state import Shown
from deniable.storage.open_store import open_store
from deniable.storage.store import Row
from deniable.surveys.survey import parse_survey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable import Survey
    from deniable.storage.store import Readable, Store

MOST_COLD, MOST_WARM = 2.0, 0.5
_PORTION = 5000


@dataclass(frozen=True)
class _Looked:
    """What an overview is made of."""

    place: str
    design_id: str

    @property
    def survey(self) -> Survey:
        return parse_survey(SURVEYS[SETS])

    @property
    def amendments(self) -> Sequence[str]:
        return (self.design_id,)

    @cached_property
    def store(self) -> Store:
        return open_store(self.place)

    @cached_property
    def shown(self) -> Readable:
        return Shown(self.store)


def fill(place: str, reports: int, rng: np.random.Generator) -> str:
    """Put reports into a store, a new one or not; returns the design's id."""
    from deniable.collection.collector import Collector

    asked = Asked.of(SURVEYS[SETS])
    collector = Collector(parse_survey(SURVEYS[SETS]), open_store(place))
    for start in range(0, reports, _PORTION):
        number = min(_PORTION, reports - start)
        answers = np.stack([rng.integers(0, most, number) for most in asked.ballots[0]], axis=1).tolist()
        cells = (f"[null,0,[{','.join(map(str, row))}],[]]" for row in answers)
        collector.store.add([Row(secrets.token_bytes(16), collector.number, cell) for cell in cells])
    collector.close()
    return collector.design_id


def look(place: str, design_id: str) -> None:
    """Print the CPU seconds of this process up to its first overview, and those of a second after more reports came."""
    from deniable.web.dashboard.page_data import overview

    surveyed = _Looked(place, design_id)
    overview(surveyed)
    cold = process_time()
    number = surveyed.store.designs()[design_id][0]
    surveyed.store.add([Row(secrets.token_bytes(16), number, f"[null,0,[{n},{n},{n}],[]]") for n in range(1000)])
    surveyed.store.seal()  # a step: else nothing would be new
    before = process_time()
    overview(surveyed)
    sys.stdout.write(f"{cold} {process_time() - before}\n")
    surveyed.store.close()


def measure(reports: int = 1_000_000, turns: int = 3) -> Measurement:
    """Fill a store, and look at it in processes of their own."""
    with tempfile.TemporaryDirectory() as place:
        design = fill(place, reports, np.random.default_rng(0))
        code = "import sys; from benchmarks.speed.dashboard import look; look(*sys.argv[1:])"
        command = [sys.executable, "-c", code, place, design]
        runs = [subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(turns)]  # noqa: S603 - ourselves
    cold, warm = np.min([[float(one) for one in run.split()] for run in runs], axis=0).tolist()
    rows: dict[str, list[object]] = {
        "overview": ["the first of a process, from its start", "the next, 1,000 reports later"],
        "CPU s": [f"{cold:.2f}", f"{warm:.2f}"],
    }
    claims = [
        Claim(f"{reports:,} sets, first overview of a process", cold, MOST_COLD, "CPU s", at_most=True),
        Claim(f"{reports:,} sets, next overview", warm, MOST_WARM, "CPU s", at_most=True),
    ]
    return Measurement("how long the results of many sets take", rows, claims, [f"The best of {turns} processes."])


def main() -> int:
    """Measure and print."""
    return measure().show()


if __name__ == "__main__":
    sys.exit(main())
