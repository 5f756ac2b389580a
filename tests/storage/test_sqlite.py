"""SQLite keeps the store's contract, and what is special about it."""

from __future__ import annotations

import importlib.util
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from deniable.errors import InputError, StoreFullError
from deniable.storage.sqlite import SqliteStore
from deniable.storage.sqlite_tables import FORMAT

_SPEC = importlib.util.spec_from_file_location("store_contract", Path(__file__).parent / "store_contract.py")
contract = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(contract)
row = contract.row


@pytest.fixture
def opens(tmp_path):
    return lambda: SqliteStore(tmp_path / "reports.sqlite")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


class TestSqlite(contract.StoreContract):
    pass


def test_closing_seals_everything_in_files_that_only_their_owner_reads(store, tmp_path):
    store.register("a" * 64, b"body")
    store.add([row(store, 1)])
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    store.close()
    assert names(tmp_path) == ["reports.lock", "reports.sealed.sqlite", "reports.sealing.lock", "reports.sqlite"]
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_commits_are_synced(store):
    store.register("a" * 64, b"body")
    store.add([row(store, 1)])
    for db in (store._db, store._reader, store._reports._tails[-1].db):
        assert db.execute("PRAGMA synchronous").fetchone() == (2,)
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert store._db.execute("PRAGMA secure_delete").fetchone() == (1,)


def test_what_matters_is_set_and_not_left_to_how_sqlite_was_built(tmp_path, monkeypatch):
    connect = sqlite3.connect

    def careless(*arguments, **options):
        db = connect(*arguments, **options)
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA secure_delete = OFF")
        return db

    monkeypatch.setattr(sqlite3, "connect", careless)
    store = SqliteStore(tmp_path / "reports.sqlite")
    for db in (store._db, store._reader):
        assert db.execute("PRAGMA synchronous").fetchone() == (2,)
        assert db.execute("PRAGMA secure_delete").fetchone() == (1,)
    store.close()


@pytest.mark.parametrize("wrong", ["newer", "no database", "a part", "a part is missing"])
def test_what_cannot_be_opened_is_closed_again(wrong, tmp_path, monkeypatch):
    path, connect, opened = tmp_path / "reports.sqlite", sqlite3.connect, []
    store = SqliteStore(path)
    store.register("a" * 64, b"body")
    store.add([row(store, 1)])
    store.close()
    if wrong == "newer":
        with closing(sqlite3.connect(path)) as db:
            db.execute(f"PRAGMA user_version = {FORMAT + 1}")
    elif wrong == "no database":
        path.write_bytes(b"no database" * 1000)
    elif wrong == "a part":
        path = tmp_path / "reports.sealed.sqlite"
    else:
        monkeypatch.setattr("deniable.storage.sqlite_files.Layout.state", refuse)

    def noted(*arguments, **options):
        opened.append(connect(*arguments, **options))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", noted)
    with pytest.raises(InputError):
        SqliteStore(path)
    assert opened
    for db in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            db.execute("SELECT 1")


def refuse(_layout):
    raise InputError("a part is missing")


def test_opening_again_draws_no_second_salt(store, beside):
    assert beside.salt == store.salt
    assert store._db.execute("SELECT COUNT(*) FROM store").fetchone() == (1,)


def test_compacting_leaves_nothing_of_what_was_dropped(store, tmp_path):
    for number in range(50):
        store.save(f"name-{number}", b"a mark to look for" * 300)
    store.compact()
    size = (tmp_path / "reports.sqlite").stat().st_size
    store.forget("name-")
    store.compact()
    assert (tmp_path / "reports.sqlite").stat().st_size < size / 5
    assert (tmp_path / "reports.sqlite-wal").stat().st_size == 0
    assert b"a mark to look for" not in (tmp_path / "reports.sqlite").read_bytes()


def test_a_new_store_has_a_salt_of_its_own(store, tmp_path):
    other = SqliteStore(tmp_path / "some" / "other" / "reports.sqlite")
    assert len(store.salt) == len(other.salt) == 32
    assert store.salt != other.salt
    other.close()


def test_designs_are_numbered_in_the_order_they_came(store, reopen):
    assert [store.register(name * 64, name.encode()) for name in "cab"] == [1, 2, 3]
    assert store.register("a" * 64, b"another body") == 2
    assert list(reopen(store).designs().items()) == [
        ("c" * 64, (1, b"c")),
        ("a" * 64, (2, b"a")),
        ("b" * 64, (3, b"b")),
    ]


def test_a_full_disk_loses_nothing_and_passes(store, monkeypatch):
    store.register("a" * 64, b"body")
    monkeypatch.setattr("deniable.storage.append_log.SEGMENT", 10**9)  # the same tail all along
    store.add([row(store, name) for name in range(50)])
    tail, stored = store._reports._tails[-1].db, 50
    (pages,) = tail.execute("PRAGMA page_count").fetchone()
    tail.execute(f"PRAGMA max_page_count = {pages + 4}")
    with pytest.raises(StoreFullError, match="no space"):  # noqa: PT012 - the loop ends by raising
        while True:
            store.add([row(store, name) for name in range(stored, stored + 50)])
            stored += 50
    assert stored > 50
    assert store.counts(1) == store.recount(1) == {"[null,0,[1],[]]": stored}
    tail.execute("PRAGMA max_page_count = 1000000")
    assert store.add([row(store, name) for name in range(stored + 50)]) == [
        *[contract.SAME] * stored,
        *[contract.STORED] * 50,
    ]
    assert store.counts(1) == store.recount(1) == {"[null,0,[1],[]]": stored + 50}


@pytest.mark.parametrize(
    ("version", "told"),
    [(FORMAT + 1, "pip install --upgrade"), (FORMAT - 1, "use the program"), (0, "use the program")],
)
def test_a_store_of_another_format_is_refused_and_left_as_it_is(version, told, tmp_path):
    with closing(sqlite3.connect(tmp_path / "reports.sqlite")) as db:
        db.execute("CREATE TABLE store (salt BLOB NOT NULL)")
        db.execute(f"PRAGMA user_version = {version}")
    before = (tmp_path / "reports.sqlite").read_bytes()
    expected = f"is a store of format {version}, and this program reads format {FORMAT}; .*{told}"
    with pytest.raises(InputError, match=expected):
        SqliteStore(tmp_path / "reports.sqlite")
    assert (tmp_path / "reports.sqlite").read_bytes() == before
    assert names(tmp_path) == ["reports.sqlite"]


def test_something_else_is_refused(tmp_path):
    (tmp_path / "reports.sqlite").write_bytes(b"this is no database, whatever its name says" * 100)
    with pytest.raises(InputError, match="not a store of reports"):
        SqliteStore(tmp_path / "reports.sqlite")


def test_a_deleted_store_lets_go_of_its_folder(store, tmp_path):
    assert store.claim()
    assert not store.is_shared  # if it were, blocks would be counted four times as often, for other programs
    store.destroy()
    assert names(tmp_path) == []
    another = SqliteStore(tmp_path / "reports.sqlite")
    assert another.claim()
    another.close()
