"""Damage is found wherever it is, named, and never counted; what is whole remains."""

from __future__ import annotations

import hashlib
import json
import random
import sqlite3
from collections import Counter
from contextlib import closing

import psycopg
import pytest
from click.testing import CliRunner

from chequered import times
from deniable.cli.app import app
from deniable.collection.survey_messages import design_body
from deniable.errors import InputError, StoreError
from deniable.storage.checksums import DamagedStoreError, damaged_pages, read_checksums
from deniable.storage.open_store import open_store
from deniable.storage.salvage import remains_of, whole_rows
from deniable.storage.sqlite import SqliteStore
from deniable.storage.store import Row, key_of
from deniable.surveys.survey import parse_survey

SEALED = "reports.sealed.sqlite"


def rows_of(store, number=4000):
    """Reports of many designs, some of which are longer than a page."""
    lengths = [3000 if place % 50 == 0 else place % 7 for place in range(number)]
    cells = [f"[null,0,[{','.join(map(str, range(length)))}],[]]" for length in lengths]
    keys = [key_of(store.salt, hashlib.sha256(b"%d" % place).hexdigest()) for place in range(number)]
    return [
        Row(key, place % 300 * (place % 2), cell) for place, (key, cell) in enumerate(zip(keys, cells, strict=True))
    ]


@pytest.fixture
def sealed(tmp_path):
    """A folder with sealed reports, and these."""
    with closing(SqliteStore(tmp_path / "reports.sqlite")) as store:
        rows = rows_of(store)
        store.tend()
        store.add(rows)
    assert damaged_pages(tmp_path / SEALED) == []
    return tmp_path, rows


def flip(path, at):
    content = bytearray(path.read_bytes())
    content[at] ^= 4
    path.write_bytes(content)


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_every_row_is_read_from_its_page(sealed):
    folder, rows = sealed
    assert sorted(whole_rows(folder / SEALED)) == sorted(rows)
    assert remains_of(folder / SEALED).there == Counter(row.design for row in rows)


@pytest.mark.parametrize("seed", range(times(12, 6)))
def test_whatever_bit_turns_over_is_found_and_what_is_whole_remains(sealed, seed):
    folder, rows = sealed
    path = folder / SEALED
    size = path.stat().st_size
    # Anywhere; in the header; in the checksums behind the last page.
    at = {0: 20, 1: 70, 2: size - 20, 3: size - 3}.get(seed, random.Random(seed).randrange(size))  # noqa: S311
    flip(path, at)
    with pytest.raises(DamagedStoreError, match="deniable verify"):
        SqliteStore(folder / "reports.sqlite")
    if seed in (2, 3):  # it is not known any more which pages are whole
        told = run("verify", folder)
        assert (told.exit_code, "put a copy back" in told.output) == (1, True)
        return
    assert len(damaged_pages(path)) == 1
    left = list(whole_rows(path))
    assert set(left) <= set(rows)
    assert len(left) > 0.8 * len(rows)
    told = run("verify", folder)
    assert told.exit_code == 1
    assert f"{len(left)} of {len(rows)} sealed reports remain" in told.output or f"; {len(left)} sealed" in told.output


def test_a_sealed_file_without_its_checksums_is_damaged(sealed):
    folder, _ = sealed
    written = read_checksums(folder / SEALED)
    pages = (folder / SEALED).read_bytes()[: written.size * len(written.digests)]
    for left in (pages, b""):
        (folder / SEALED).write_bytes(left)
        with pytest.raises(DamagedStoreError, match="deniable verify"):
            SqliteStore(folder / "reports.sqlite")
        told = run("verify", folder)
        assert (told.exit_code, "put a copy back" in told.output) == (1, True)


def test_a_store_goes_on_with_what_remains(sealed):
    folder, rows = sealed
    written = read_checksums(folder / SEALED)
    flip(folder / SEALED, written.size * (len(written.digests) // 2) + 100)
    left = sorted(whole_rows(folder / SEALED))
    done = run("verify", folder, "--repair", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["whole"]
    assert "reports.sealed.damaged.sqlite" in done.stderr
    with closing(SqliteStore(folder / "reports.sqlite")) as store:
        numbers = {row.design for row in rows}
        assert {n: store.counts(n) for n in numbers} == {n: store.recount(n) for n in numbers}
        assert sum(map(store.total, numbers)) == len(left) < len(rows)
        assert store.find([row.key for row in left]) == {row.key: row for row in left}
        store.tend()
        store.add(rows)  # devices that send again what was lost are counted, the others not twice
        assert sum(map(store.total, numbers)) == len(rows)
    assert sorted(whole_rows(folder / SEALED)) == sorted(rows)


def test_damage_is_not_sealed_again(sealed):
    folder, rows = sealed
    with closing(SqliteStore(folder / "reports.sqlite")) as store:
        store.add([rows[0]._replace(key=b"x" * 16)])
        flip(folder / SEALED, 50_000)
        with pytest.raises(StoreError, match="damaged"):
            store.compact()
        # From then on a running collector counts and acknowledges nothing, and its health says so.
        for question in (lambda: store.total(0), lambda: store.counts(0), lambda: store.add(rows[:1])):
            with pytest.raises(DamagedStoreError):
                question()
    assert len(damaged_pages(folder / SEALED)) == 1


def test_a_copy_knows_its_reports(sealed, tmp_path):
    folder, rows = sealed
    copy = tmp_path / "copy.sqlite"
    assert run("backup", folder, copy).exit_code == 0
    assert f"a copy; {len(rows)} reports, each as it was copied" in run("verify", copy).output
    with closing(SqliteStore(copy)) as store:
        assert store.total(0) == sum(row.design == 0 for row in rows)
    assert run("verify", copy).exit_code == 0  # reading it changes nothing that is checked
    for change in (
        "UPDATE reports SET cell = '[null,0,[9],[]]' WHERE key = ?",
        "UPDATE counts SET reports = reports + 1",
        "UPDATE totals SET reports = reports + 2",
    ):
        damaged = tmp_path / f"{len(change)}.sqlite"
        damaged.write_bytes(copy.read_bytes())
        with closing(sqlite3.connect(damaged, isolation_level=None)) as db:
            db.execute(change, [rows[5].key][: change.count("?")])
        told = run("verify", damaged)
        assert told.exit_code == 1
        assert ("1000 lie where" if "cell" in change else "miscounted") in told.output
        with pytest.raises(DamagedStoreError, match="another copy"):
            SqliteStore(damaged)


def test_a_copy_that_was_put_back_is_sealed_with_checksums(sealed, tmp_path):
    folder, rows = sealed
    again = tmp_path / "again"
    again.mkdir()
    run("backup", folder, again / "reports.sqlite")
    with closing(SqliteStore(again / "reports.sqlite")) as store:
        store.tend()
        store.add([rows[0]._replace(key=b"x" * 16)])
    assert len(list(whole_rows(again / SEALED))) == len(rows) + 1
    assert run("verify", again).exit_code == 0


def test_a_design_is_checked_as_devices_check_it(tmp_path, survey_text):
    good = tmp_path / "design.json"
    good.write_bytes(design_body(parse_survey(survey_text)))
    told = run("verify", good)
    assert (told.exit_code, "true epsilon" in told.output) == (0, True)
    good.write_bytes(good.read_bytes().replace(b'"epsilon":"1"', b'"epsilon":"0.5"'))
    told = run("verify", good)
    assert (told.exit_code, "epsilon-exceeded" in told.output) == (1, True)


def test_a_database_is_asked_whether_counts_agree(database, tmp_path):
    assert "no reports" in run("verify", database).output
    with closing(open_store(tmp_path, database)) as store:
        number = store.register("ab" * 32, b"{}")
        store.add([Row(b"k" * 16, number, "[null,0,[1],[]]")])
    told = run("verify", database)
    assert (told.exit_code, "1 report; every count is that of its reports" in told.output) == (0, True)
    with psycopg.connect(database) as db:
        db.execute("UPDATE deniable.counts SET reports = reports + 1")
        db.execute("INSERT INTO deniable.counts SELECT 1, '[null,0,[0],[]]', 1 ON CONFLICT DO NOTHING")
    assert run("verify", database).exit_code == 1
    for other in (tmp_path, tmp_path / "nowhere", database):
        assert run("verify", other, "--repair").exit_code not in (0, 1)


# -- which files belong together --------------------------------------------------------------------------------

MAIN = "reports.sqlite"
OTHER = "[null,0,[1],[]]"


def served(folder, reports=60, design="ab" * 32):
    """A folder as a collector leaves it: with tokens, sealed reports, and no tail."""
    folder.mkdir(exist_ok=True)
    with closing(SqliteStore(folder / MAIN)) as store:
        store.add_token(b"t" * 32, "analyst")
        store.add_tokens([b"i" * 32, b"a" * 32], "invitation of a survey")
        store.register("00" * 32, b"{}")
        number = store.register(design, b"{}")
        store.tend()
        store.add([Row(key_of(store.salt, f"{place:064x}"), number, OTHER) for place in range(reports)])
    return folder


def refused(folder, *said):
    """Nothing is made of a folder: no store is opened, and verify names what is wrong."""
    before = {path.name for path in folder.iterdir()}
    with pytest.raises((InputError, StoreError)) as caught:
        SqliteStore(folder / MAIN)
    told = run("verify", folder)
    assert told.exit_code == 1, told.output
    assert not json.loads(run("verify", folder, "--json").stdout)["whole"]
    for each in said:
        assert each in str(caught.value), str(caught.value)
        assert each in told.output, told.output
    assert before <= {path.name for path in folder.iterdir()}
    for command in (("estimate", folder), ("backup", folder, folder.parent / "b.sqlite")):
        assert run(*command).exit_code != 0


def test_a_served_store_is_whole(tmp_path):
    folder = served(tmp_path / "a")
    told = run("verify", folder)
    assert (told.exit_code, told.output.count("\nwhole "), told.output[:6]) == (0, 1, "whole ")
    with closing(SqliteStore(folder / MAIN)) as store:
        store.tend()
        store.add([Row(b"k" * 16, 1, OTHER)])
        assert run("verify", folder).exit_code == 0  # while it is served, with a tail


@pytest.mark.parametrize("how", ["emptied", "gone", "no tables"])
@pytest.mark.parametrize("left", [SEALED, "reports.tail-3.sqlite", "closed-survey-0123"])
def test_parts_without_their_main_file_are_refused(how, left, tmp_path):
    folder = served(tmp_path / "a")
    if left != SEALED:
        (folder / SEALED).rename(folder / left)
    (folder / MAIN).unlink()
    if how == "emptied":
        (folder / MAIN).touch()
    if how == "no tables":
        with closing(sqlite3.connect(folder / MAIN)) as db:
            db.execute("PRAGMA user_version = 0")
            db.execute("VACUUM")
    refused(folder, "is gone or empty", left)


def test_a_new_store_is_made_where_nothing_lies(tmp_path):
    (tmp_path / "issuer-survey-0123.sqlite").touch()
    SqliteStore(tmp_path / MAIN).close()
    (tmp_path / MAIN).write_bytes(b"")
    SqliteStore(tmp_path / MAIN).close()


def test_a_sealed_file_that_is_gone_is_missed(tmp_path):
    folder = served(tmp_path / "a")
    (folder / SEALED).unlink()
    refused(folder, SEALED, "is missing, and all reports that were sealed")
    assert run("verify", folder).output.count("DAMAGED") == 1
    done = run("verify", folder, "--repair")
    assert (done.exit_code, "Gone on without" in done.stderr) == (0, True)
    with closing(SqliteStore(folder / MAIN)) as store:
        assert store.total(2) == 0
        store.tend()
        store.add([Row(b"k" * 16, 2, OTHER)])
    assert run("verify", folder).exit_code == 0


def test_a_sealed_file_of_another_store_is_refused(tmp_path):
    folder, other = served(tmp_path / "a"), served(tmp_path / "b", 80)
    (folder / SEALED).write_bytes((other / SEALED).read_bytes())
    refused(folder, SEALED, "belongs to another store")
    done = run("verify", folder, "--repair")
    assert (done.exit_code, "another store" in done.output) == (1, True)


def test_an_older_sealed_file_is_refused(tmp_path):
    folder = served(tmp_path / "a")
    old = (folder / SEALED).read_bytes()
    with closing(SqliteStore(folder / MAIN)) as store:
        store.tend()
        store.add([Row(b"k" * 16, 1, OTHER)])
    (folder / SEALED).write_bytes(old)
    refused(folder, SEALED, "older than its store")


def test_designs_that_changed_their_numbers_are_refused(tmp_path):
    folder = served(tmp_path / "a")
    with closing(sqlite3.connect(folder / MAIN, isolation_level=None)) as db:
        for before, after in ((1, 9), (2, 1), (9, 2)):
            db.execute("UPDATE designs SET number = ? WHERE number = ?", (after, before))
    refused(folder, "numbers its designs otherwise")


def test_a_tail_that_is_gone_or_of_another_store_is_refused(tmp_path, monkeypatch):
    folders = [served(tmp_path / name) for name in "ab"]
    left = []
    for folder in folders:
        with closing(SqliteStore(folder / MAIN)) as store:
            monkeypatch.setattr(store._reports, "tend", lambda: None)  # nothing is sealed: it stays in the tail
            store.add([Row(b"k" * 16, 2, OTHER)])
        (tail,) = folder.glob("reports.tail-*.sqlite")
        left.append((tail, tail.read_bytes()))
    (tail, content), (_, other) = left
    tail.write_bytes(other)
    refused(folders[0], tail.name, "belongs to another store")
    tail.unlink()
    refused(folders[0], tail.name, "is missing, and the latest reports")
    tail.write_bytes(content)
    with closing(SqliteStore(folders[0] / MAIN)) as store:
        assert store.total(2) == 61
    tail.unlink()
    assert run("verify", folders[0], "--repair").exit_code == 0
    with closing(SqliteStore(folders[0] / MAIN)) as store:
        assert store.total(2) == 60


def test_a_backup_stands_alone(tmp_path):
    folder = served(tmp_path / "a")
    copy = tmp_path / "copy.sqlite"
    assert run("backup", folder, copy).exit_code == 0
    sealed = (folder / SEALED).read_bytes()
    again = tmp_path / "again"
    again.mkdir()
    (again / MAIN).write_bytes(copy.read_bytes())
    (again / SEALED).write_bytes(sealed)  # what was there is to go first
    refused(again, "belongs to another store")
    (again / SEALED).unlink()
    with closing(SqliteStore(again / MAIN)) as store:
        assert store.total(2) == 60
        store.tend()
        store.add([Row(b"k" * 16, 1, OTHER)])
    assert run("verify", again).exit_code == 0
    assert (again / SEALED).exists()
    with closing(sqlite3.connect(folder / MAIN)) as one, closing(sqlite3.connect(again / MAIN)) as other:
        names = [db.execute("SELECT name FROM store").fetchone() for db in (one, other)]
    assert names[0] != names[1]


def test_a_copy_without_its_checksums_is_named(tmp_path):
    folder = served(tmp_path / "a")
    copy = tmp_path / "copy.sqlite"
    run("backup", folder, copy)
    with closing(sqlite3.connect(copy, isolation_level=None)) as db:
        db.execute("DROP TABLE checksums")
    told = run("verify", copy)
    assert (told.exit_code, "lacks a copy's checksums" in told.output) == (1, True)
    with pytest.raises(DamagedStoreError, match="another copy"):
        SqliteStore(copy)


def test_a_main_file_that_is_damaged_is_named_with_what_sqlite_finds(tmp_path):
    folder = served(tmp_path / "a")
    content = bytearray((folder / MAIN).read_bytes())
    with closing(sqlite3.connect(folder / MAIN)) as db:
        ((root,),) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'tokens'")
    content[(root - 1) * 4096 + 4] ^= 3  # how many rows there are in a page
    (folder / MAIN).write_bytes(content)
    told = run("verify", folder)
    assert (told.exit_code, "DAMAGED" in told.output) == (1, True)
    assert "SQLite finds it damaged" in told.output or "not readable" in told.output
