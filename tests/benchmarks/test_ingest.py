"""The ingest measurement runs on a small size; how fast it is depends on the machine."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from benchmarks.speed.ingest import STEPS, measure
from benchmarks.speed.servers import OFF, POSTGRES, SQLITE, Database, postgres
from waiting import until


@pytest.mark.slow
def test_the_measurement_runs_and_says_what_it_must():
    found = measure(40, 4, repeats=1, many=3_000, kinds=(SQLITE, POSTGRES, OFF))
    assert found.rows["server"] == [SQLITE, POSTGRES, OFF] * 2
    assert [claim.required for claim in found.claims] == [0.6, 0.25, 0.5, 0.45, 24.0, 16.0]
    assert all(claim.measured > 0 for claim in found.claims if not claim.at_most)
    assert found.rows["of storage off"][2::3] == ["1.00", "1.00"]
    assert "shared_buffers = 1GB" in found.notes[1]
    # The memory of both stores is told step by step.
    assert [len(note.partition("median): ")[2].split(",")) for note in found.notes[2:]] == [STEPS, STEPS]
    assert all("at the most" in note for note in found.notes[2:])


def test_the_cpu_of_a_process_and_its_children_is_told():
    work = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'sum(range(10**7))']); input()"
    with subprocess.Popen([sys.executable, "-c", work], stdin=subprocess.PIPE) as parent:
        counted = Database("", parent.pid)
        until(lambda: counted.cpu() >= 0.1)
        parent.communicate(b"\n")
    assert Database("", os.getpid()).cpu() > 0


@pytest.mark.slow
def test_the_database_is_durable_and_goes_away():
    import psycopg

    with postgres() as database, psycopg.connect(database.address) as db:
        assert db.execute("SHOW fsync").fetchone() == ("on",)
        assert db.execute("SHOW synchronous_commit").fetchone() == ("on",)
        assert db.execute("SHOW shared_buffers").fetchone() == ("1GB",)
        # Time is counted in hundredths of a second: give it some tenths of one to do, and count while it lives.
        before = database.cpu()
        db.execute("SELECT sum(sqrt(i)) FROM generate_series(1, 2000000) AS i")
        assert database.cpu() > before
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(database.address)
