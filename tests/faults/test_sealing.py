"""Kill a program that adds and seals reports all the time, again and again: what it acknowledged is there, once."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys

import pytest

from deniable.storage.sqlite import SqliteStore
from deniable.storage.store import Row, key_of

KILLS = 3 + int(os.environ.get("DENIABLE_KILLS", "0"))  # `make faults` kills more often
# Adds ten reports at a time from a number on, and says so after each; seals whenever it can.
PROGRAM = """
import importlib.util, itertools, sys
spec = importlib.util.spec_from_file_location("here", sys.argv[1])
here = importlib.util.module_from_spec(spec)
spec.loader.exec_module(here)
from deniable.storage import append_log as tail
tail.SEGMENT, tail.SHARE = 20, 0.9
store = here.SqliteStore(sys.argv[2])
store.add([here.row(store, int(sys.argv[3]))])
store.compact()  # at least once in every round
for start in itertools.count(int(sys.argv[3]), 10):
    store.add([here.row(store, number) for number in range(start, start + 10)])
    print(start + 10, flush=True)
"""


def row(store, number):
    return Row(key_of(store.salt, hashlib.sha256(str(number).encode()).hexdigest()), 1, f"[null,0,[{number}],[]]")


@pytest.mark.slow
def test_a_program_that_is_killed_while_it_seals_loses_nothing(tmp_path):
    path, moments = tmp_path / "reports.sqlite", random.Random(30)  # noqa: S311 - repeats, hides nothing
    first = SqliteStore(path)
    first.register("a" * 64, b"body")
    first.close()
    acknowledged, sealed = 0, set()
    for _ in range(KILLS):
        command = [sys.executable, "-c", PROGRAM, __file__, str(path), str(acknowledged)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            told = [process.stdout.readline() for _ in range(moments.randint(1, 60))]  # it is in the middle of it
            process.kill()
            told += process.stdout.readlines()
        acknowledged = int([line for line in told if line.endswith("\n")][-1])
        store = SqliteStore(path)
        counts = store.counts(1)
        assert counts == store.recount(1)
        assert set(counts.values()) == {1}
        numbers = {int(cell.split("[")[2].split("]")[0]) for cell in store.scan(1)}
        assert set(range(acknowledged)) <= numbers <= set(range(acknowledged + 10))
        assert len(store.find([row(store, number).key for number in range(acknowledged)])) == acknowledged
        sealed.add(store._reports._layout.first())
        store.close()
    assert len(sealed) == KILLS  # something was sealed in every round
