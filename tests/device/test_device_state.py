"""A device's file: of the one format that there is, or refused and left as it is."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from deniable.device.device_state import FORMAT, State
from deniable.errors import InputError


def file_of(path, version, *, has_table=True):
    with closing(sqlite3.connect(path)) as db:
        if has_table:
            db.execute("CREATE TABLE account (limit_epsilon REAL NOT NULL)")
        db.execute(f"PRAGMA user_version = {version}")
    return path.read_bytes()


@pytest.mark.parametrize(
    ("version", "told"),
    [
        (0, rf"no device's state that is known here \(format 0; this program reads {FORMAT}\).*name another file"),
        (FORMAT - 1, rf"format {FORMAT - 1}; this program reads {FORMAT}\). Keep it for the program that wrote it"),
        (FORMAT + 1, rf"newer deniable \(format {FORMAT + 1}; this one reads {FORMAT}\). Upgrade deniable"),
    ],
)
def test_a_file_of_another_format_is_refused_and_left_as_it_is(tmp_path, version, told):
    path = tmp_path / "device"
    before = file_of(path, version)
    with pytest.raises(InputError, match=told):
        State(path)
    assert path.read_bytes() == before


def test_what_is_kept_is_there_when_the_file_is_opened_again(tmp_path):
    first = State(tmp_path / "device", 2.0)
    first.draw("plan", "design", 1, "http://collector")
    first.close()
    again = State(tmp_path / "device")
    known = again.drawn("plan")
    assert (again.limit, known.design, known.ballot, known.report, known.fate) == (2.0, "design", 1, None, 0)
    again.close()
