"""Kill a job at every step, decode every byte it left, and run it again: what could be read is what is written then.

The second disguise of a row that was half disguised would tell, beside the first, more than the statement says.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import nullcontext, suppress

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import GCM

from deniable.errors import PrivacyError
from faults import killed

ALL = int(os.environ.get("DENIABLE_KILLS", "1")) > 1  # `make faults` kills at every step
STRIDE = 1 if ALL else 17
EVERY = [
    (kind, mode) for kind in killed.JOBS for mode in ("unnamed", "named")
]  # files that have no name yet, or a hidden
CASES = EVERY if ALL else [("views", "named"), ("blocks", "unnamed"), ("npz", "named")]
SILENT = re.compile(
    r"(record/(key|lock|\.?\w+\.json|\.\w+\.json\.unfinished\.json|\.key\.\w+))|.*/\.?job\.json(\.unfinished\.json)?"
)


def disguised(content):
    """What bytes tell of disguised rows, whatever of a format they are: columns, or all that stands there."""
    for read in (lambda: pq.read_table(pa.BufferReader(content)), lambda: streamed(content)):
        try:
            return read()
        except (pa.ArrowInvalid, OSError):
            continue
    return content


def streamed(content):
    """As many batches of a stream as there are."""
    reader, batches = pa.ipc.open_stream(content), []
    with suppress(pa.ArrowInvalid, OSError):
        batches.extend(reader)
    return pa.Table.from_batches(batches, reader.schema)


def left_behind(folder, source):
    """Every disguise that a folder gives to whoever tries all that could be a key on all that could be sealed."""
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    files.pop(source.name)
    small = [content for content in files.values() if len(content) < 4096]
    keys = {content[at : at + 32] for content in small for at in range(len(content) - 31)}
    for name, content in files.items():
        if name.endswith(".sealed"):
            opened = [Cipher(AES(key), GCM(bytes(12))).decryptor().update(content) for key in keys]
            told = [plain for plain in opened if plain.startswith((b"\xff\xff\xff\xff", b"PK\x03\x04", b"# deniable"))]
            assert len(told) <= 1
            yield from ((name, disguised(plain[:-16])) for plain in told)
            if not told:  # nothing that a key was found for; and nothing that needs none
                assert disguised(content) is content
                assert len(content) < 200 or len(np.unique(np.frombuffer(content, np.uint8))) > 60
        elif not SILENT.fullmatch(name) and not name.endswith(".key"):
            yield name, disguised(content)


def same(left, name, final, whole):
    """Whether what was left is part of the final disguise, at its place."""
    if isinstance(left, bytes):
        return whole.startswith(left) or len(left) == 0
    start = 60 * int(name[-len("000000.sealed") :][:6]) if name.endswith(".sealed") and final.num_rows > 60 else 0
    if "row" in final.column_names and left.num_rows:
        start = left["row"][0].as_py()
    return left.equals(final.slice(start, left.num_rows).cast(left.schema), check_metadata=False)


@pytest.mark.parametrize(("kind", "mode"), CASES)
def test_what_a_killed_job_left_is_what_its_next_run_writes(kind, mode, tmp_path, monkeypatch):
    monkeypatch.setattr(killed.job, "ROWS", 100)
    command = [sys.executable, killed.__file__, str(tmp_path), kind, mode]
    subprocess.run(command, check=True)
    steps = range(0 if ALL else 5, int((tmp_path / "steps").read_text()), STRIDE)
    assert len(steps) > 3
    subprocess.run([*command, *map(str, steps)], check=True)
    told = 0
    for step in steps:
        folder = tmp_path / str(step)
        monkeypatch.setenv("DENIABLE_RECORD", str(folder / "record"))
        source = killed.source(kind, tmp_path)
        assert source.read_bytes() == (folder / source.name).read_bytes()
        found = list(left_behind(folder, source))
        goal = killed.target(kind, folder)
        is_over = goal.exists() and not (folder / f"{goal.name}.unfinished" / "job.json").exists()
        with pytest.raises(PrivacyError, match="already there") if is_over else nullcontext():
            killed.run(kind, folder)
        final, whole = disguised(goal.read_bytes()), goal.read_bytes()
        for name, left in found:
            told += 1
            assert same(left, name, final, whole), (step, name)
        left = {str(path.relative_to(folder)).split("/")[0] for path in folder.rglob("*")}
        assert left == {source.name, goal.name, "record"}, step
    assert told > len(steps) // 10  # there was something to be compared


def test_reports_in_memory_that_are_killed_while_they_are_written_leave_nothing(tmp_path):
    """Their next disguise is another, so all of it is there under its name or none of it anywhere."""
    command = [sys.executable, killed.__file__, str(tmp_path), "memory", "unnamed"]
    subprocess.run(command, check=True)
    steps = range(int((tmp_path / "steps").read_text()))
    subprocess.run([*command, *map(str, steps)], check=True)
    for step in steps:
        left = {path.name for path in (tmp_path / str(step)).iterdir()}
        assert left in ({"people.parquet"}, {"people.parquet", "out.parquet"}), step
        if "out.parquet" in left:
            assert killed.dn.read_reports(tmp_path / str(step) / "out.parquet").n == 240
