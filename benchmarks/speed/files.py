"""Tables as files: disguising Parquet into Parquet against copying it, and counting reports against bincount.

The default is a tenth of the size that is promised for; `python -m benchmarks.speed.files 100000000` runs all of it.
Rates do not depend on the size (pieces are read one by one), and neither does memory, which is that of a process of its
own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.benchmark import Claim, Measurement, side_by_side
from deniable import Domain, Independent, Variable, Views, open_reports
from deniable.engines.randomize_job import randomize_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from deniable import Design

ROWS = 10_000_000
GROUP = 1 << 20
SPEED, SLOWDOWN, MEGABYTES = 0.5, 1.5, 500  # the table is read twice: see docs/decisions/once.md
DOMAIN = Domain(
    [
        Variable("sex", ("F", "M")),
        Variable("income", ("<=50K", ">50K", "unknown")),
        Variable("region", ("north", "east", "south", "west")),
        Variable("children", tuple(range(5))),
        Variable("age", tuple(range(8))),
    ]
)
DESIGNS: dict[str, Callable[[], Design]] = {
    "independent": lambda: Independent(DOMAIN, 5.0),
    "views": lambda: Views(DOMAIN, 2, 2.0),
}
COUNTED = ("sex", "children", "age")


def write_people(path: Path, rows: int) -> None:
    """Make up a table: three columns of texts, two of numbers."""
    rng, writer = np.random.default_rng(0), None
    for start in range(0, rows, GROUP):
        size = min(GROUP, rows - start)
        codes = np.stack([rng.integers(0, len(v), size) for v in DOMAIN.values()], axis=1)
        table = pa.table(DOMAIN.decode(codes))
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=GROUP)
    assert writer is not None
    writer.close()


def copy(source: Path, target: Path, *, dictionaries: bool) -> None:
    """Read and write, with pyarrow alone; texts as they are, or as the dictionaries that Parquet holds them in."""
    texts = [v.name for v in DOMAIN.values() if isinstance(v.categories[0], str)] if dictionaries else None
    writer = None
    for batch in pq.ParquetFile(source, read_dictionary=texts).iter_batches(batch_size=GROUP):
        writer = writer or pq.ParquetWriter(target, batch.schema)
        writer.write_batch(batch)
    assert writer is not None
    writer.close()


def disguise(source: Path, target: Path, design: str) -> None:
    """Randomize a file anew; nobody is in it, and the record of what was disguised is one for the measurement."""
    os.environ.setdefault("DENIABLE_RECORD", str(target.parent / "record"))
    target.unlink(missing_ok=True)
    randomize_table(source, target, DESIGNS[design](), again=True)


def by_hand(path: Path) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Count three columns with pyarrow and bincount, as one writes it down; nothing is checked."""
    shape = [len(DOMAIN[name]) for name in COUNTED]
    total = np.zeros(int(np.prod(shape)), dtype=np.int64)
    names = [f"dn_answer_{name}" for name in COUNTED]
    for batch in pq.ParquetFile(path).iter_batches(batch_size=1 << 18, columns=names):
        key = batch.column(0).to_numpy().astype(np.uint8)
        for place in (1, 2):
            key *= np.uint8(shape[place])
            key += batch.column(place).to_numpy()
        total += np.bincount(key, minlength=len(total))
    return total


def count(path: Path, engine: str = "bincount") -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The same through the design."""
    (observation,) = open_reports(path, engine=engine).tabulate(COUNTED)
    return observation.counts.ravel().astype(np.int64)


_CHILD = """
import resource, sys
from pathlib import Path
from benchmarks.speed.files import disguise
disguise(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
status = Path("/proc/self/status")
if status.exists():  # a process of Linux inherits ru_maxrss from whoever started it
    print(next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")))
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def resident(source: Path, target: Path, design: str) -> float:
    """The most memory, in MB, that a process of its own holds while it disguises the file."""
    arguments = [sys.executable, "-c", _CHILD, str(source), str(target), design]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)  # noqa: S603 - our own interpreter
    return int(done.stdout) * 1024 / 1e6


def measure(rows: int = ROWS, *, repeats: int = 3, duckdb: bool = True) -> Measurement:
    """Copy, disguise and count a table of so many rows."""
    with tempfile.TemporaryDirectory() as folder:
        people, target = Path(folder) / "people.parquet", Path(folder) / "out.parquet"
        reports = Path(folder) / "reports.parquet"
        write_people(people, rows)
        disguise(people, reports, "independent")
        tasks: dict[str, Callable[[], object]] = {
            "copy": lambda: copy(people, target, dictionaries=False),
            "copy of dictionaries": lambda: copy(people, target, dictionaries=True),
            **{f"disguise, {name}": partial(disguise, people, target, name) for name in DESIGNS},
            "pyarrow + bincount": lambda: by_hand(reports),
            "count": lambda: count(reports),
        }
        if duckdb:
            tasks["count, DuckDB"] = lambda: count(reports, "duckdb")
        assert np.array_equal(by_hand(reports), count(reports))
        wall = {}
        for name, task in tasks.items():
            start = perf_counter()
            task()
            wall[name] = perf_counter() - start
        best = side_by_side(tasks, repeats)
        memory = max(resident(people, target, name) for name in DESIGNS)
    table = {
        "what": list(tasks),
        "million rows/CPU-s": [f"{rows / max(best[name], 1e-9) / 1e6:.3g}" for name in tasks],
        "seconds": [f"{wall[name]:.3g}" for name in tasks],
    }
    quicker = min(best["copy"], best["copy of dictionaries"])
    claims = [
        *(
            Claim(f"disguise, {name}: speed of the quicker copy", quicker / max(best[f"disguise, {name}"], 1e-9), SPEED)
            for name in DESIGNS
        ),
        Claim("memory of disguising", memory, MEGABYTES, "MB", at_most=True),
        Claim(
            "count: time of pyarrow + bincount",
            best["count"] / max(best["pyarrow + bincount"], 1e-9),
            SLOWDOWN,
            at_most=True,
        ),
    ]
    return Measurement(f"{rows} rows of 5 columns, Parquet", table, claims)


def main() -> int:
    """Measure and print."""
    return measure(int(sys.argv[1]) if __name__ == "__main__" and len(sys.argv) > 1 else ROWS).show()


if __name__ == "__main__":
    sys.exit(main())
