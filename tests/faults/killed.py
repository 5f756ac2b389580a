"""Run by test_once: jobs that are killed at one step after the other, each in a process of its own.

    python killed.py FOLDER JOB MODE STEP STEP ...

Before every change of a file, and after every write, a process counts; at its step it kills itself as the system would,
with everything it has written so far on the disk. In FOLDER/STEP lies what it left; in FOLDER/steps how many there are.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

import deniable as dn
from deniable.engines import randomize_job as job
from deniable.engines import sealed_parts as sealed
from deniable.files import publish_file as publish
from deniable.graphs import write_graph
from deniable.graphs.graph_files import clustered_graph
from deniable.graphs.graph_job import randomize_graph

DOMAIN = dn.Domain({"sex": ["F", "M"], "town": range(12)})
DESIGNS = {
    "views": dn.Views(DOMAIN, 1, 2.0),
    "sets": dn.Independent(DOMAIN, channels={"sex": dn.KRR(2, 1.0), "town": dn.Unary(12, 1.0)}),
    "hashes": dn.Independent(DOMAIN, channels={"sex": dn.KRR(2, 1.0), "town": dn.LocalHashing(12, 1.0)}),
    "blocks": dn.Blocks(DOMAIN, 1, 2.0, block_size=50),
    "paired": dn.Paired({"sex": ["F", "M"]}, 0.7, -0.1),
}
CHANGES = ("os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.truncate")
JOBS = (*DESIGNS, "csv", "npz", "edges")


def source(kind: str, folder: Path) -> Path:
    """Write what is to be disguised."""
    rng = np.random.default_rng(1)
    table = pa.table({"sex": rng.choice(["F", "M"], 240), "town": rng.integers(0, 12, 240), "row": np.arange(240)})
    if kind in ("npz", "edges"):
        place = folder / "friends.edges"
        write_graph(clustered_graph(60, 150), place)
    elif kind == "csv":
        place = folder / "people.csv"
        csv.write_csv(table, place)
    else:
        place = folder / "people.parquet"
        pq.write_table(table, place, row_group_size=60)
    return place


def target(kind: str, folder: Path) -> Path:
    """Where the reports go."""
    return folder / ("out." + (kind if kind in ("npz", "edges") else "parquet"))


def run(kind: str, folder: Path) -> None:
    """The whole job."""
    (place,) = (file for file in folder.iterdir() if file.stem in ("people", "friends"))
    if kind == "memory":
        DESIGNS["views"].randomize(pq.read_table(place)).write(target(kind, folder))
    elif kind in ("npz", "edges"):
        randomize_graph(place, target(kind, folder), 2.0)
    else:
        keep = [] if kind in ("paired", "blocks") else ["row"]
        job.randomize_table(place, target(kind, folder), DESIGNS.get(kind, DESIGNS["views"]), keep)


def kill_at(step: int, folder: Path) -> list[int]:
    """Count what touches the folder, and end there; returns the counter."""
    counted = [0]

    def tick() -> None:
        if counted[0] == step:
            os.kill(os.getpid(), signal.SIGKILL)
        counted[0] += 1

    def looked(event: str, arguments: tuple[object, ...]) -> None:
        is_written = event == "open" and int(str(arguments[2])) & (os.O_WRONLY | os.O_RDWR)
        if event in CHANGES or (is_written and str(folder) in str(arguments[0])):
            tick()

    sys.addaudithook(looked)
    for module, name in ((os, "fsync"), (os, "write"), (pq.ParquetWriter, "write_table"), (sealed._Writer, "write")):
        original = getattr(module, name)

        def after(*arguments: object, _original: object = original, _name: str = name, **options: object) -> object:
            made = _original(*arguments, **options)  # type: ignore[operator]
            if isinstance(arguments[0], sealed._Writer):
                arguments[0]._file.flush()  # whatever was written could have reached the disk
            tick()
            return made

        setattr(module, name, after)
    return counted


def main() -> None:
    """Kill a job at each of the steps."""
    folder, kind, mode, *steps = sys.argv[1:]
    job.ROWS = 100
    if mode == "named":
        publish._OPEN = Path("/nowhere")  # as where files without names are not known
    for step in [-1, *map(int, steps)]:
        here = Path(folder) / str(step)
        here.mkdir()
        source(kind, here)
        child = os.fork()
        if not child:
            os.environ["DENIABLE_RECORD"] = str(here / "record")
            counted = kill_at(step, here)
            run(kind, here)
            if step < 0:
                (Path(folder) / "steps").write_text(str(counted[0]))
            os._exit(0)
        os.waitpid(child, 0)
        if step < 0:
            shutil.rmtree(here)


if __name__ == "__main__":
    main()
