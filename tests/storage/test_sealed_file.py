"""How sealed keys begin: none that is sealed is ever taken for new, and hardly one that is new is looked for."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from deniable.storage import append_log as tail
from deniable.storage import sealed_file as beginnings
from deniable.storage import snapshot as snapshot_
from deniable.storage.sealed_file import Beginnings, of_sealed, read
from deniable.storage.snapshot import Snapshot
from deniable.storage.sqlite import SqliteStore
from deniable.storage.sqlite_files import State
from deniable.storage.store import Fate, Row

BLOCK = "ab" * 32


def keys_of(kind, number):
    return [hashlib.md5(f"{kind}{n}".encode()).digest() for n in range(number)]  # noqa: S324 - no secret


def of(keys):
    return read([key[:4].hex() for key in keys])


def rows_of(kind, number, cell="[null,0,[0],[]]"):
    return [Row(key, 1, cell) for key in keys_of(kind, number)]


def make(folder, monkeypatch):
    """A store in which nothing is sealed but by hand."""
    store = SqliteStore(folder / "reports.sqlite")
    store.register("a" * 64, b"body")
    monkeypatch.setattr(store._reports, "tend", lambda: None)
    return store


def looked_for(monkeypatch):
    """The keys that are looked for in a sealed file, from now on."""
    asked, whole = [], Snapshot.find
    monkeypatch.setattr(Snapshot, "find", lambda self, keys: asked.extend(keys) or whole(self, keys))
    return asked


def test_every_key_that_is_there_is_possible_and_others_are_not():
    here, others = keys_of("a", 500), keys_of("b", 500)
    found = of(here[:300]).and_those(of(here[300:]))
    assert len(found) == 500
    assert found.possible(here) == here
    assert found.possible(others) == []  # the chance that one begins like one of these is 500 * 500 / 2^32
    assert found.possible([others[0], here[7], others[1]]) == [here[7]]
    assert found.possible([]) == []


@pytest.mark.parametrize("edge", [bytes(16), b"\xff" * 16])
def test_the_first_and_the_last_beginning_are_found(edge):
    found = of([edge, *keys_of("a", 20)])
    assert found.possible([edge]) == [edge]
    assert of(keys_of("a", 20)).possible([edge]) == []


def test_a_key_that_begins_alike_is_possible():
    assert of([b"same" + bytes(12)]).possible([b"same" + b"!" * 12, b"sama" + bytes(12)]) == [b"same" + b"!" * 12]


def test_among_none_nothing_is_possible():
    none = read([])
    assert (len(none), none.possible(keys_of("a", 3))) == (0, [])
    assert len(none.and_those(of(keys_of("a", 3)))) == 3


def test_beginnings_are_read_from_the_sealed_file_and_the_tails(tmp_path, monkeypatch):
    monkeypatch.setattr(snapshot_, "_CELLS", 7)  # several texts
    store = make(tmp_path, monkeypatch)
    store.add(rows_of("a", 20))
    store._reports.seal()
    store.add(rows_of("b", 5))
    layout = store._reports._layout
    with closing(Snapshot(layout, layout.state())) as snapshot:
        assert [len(text) for text in snapshot.beginnings_sealed()] == [7 * 8, 7 * 8, 6 * 8]
        assert [len(text) for text in snapshot.beginnings_in_tails()] == [5 * 8]
    found = of_sealed(layout, layout.state(), None)
    assert sorted(found._sorted.tolist()) == found._sorted.tolist()
    assert found.possible(keys_of("a", 20) + keys_of("b", 5)) == keys_of("a", 20) + keys_of("b", 5)
    added = of_sealed(layout, layout.state(), of(keys_of("a", 20)))  # known: only the tails are read
    assert np.array_equal(added._sorted, found._sorted)
    assert len(of_sealed(layout, layout.state(), read([]))) == 5
    store.close()


def test_of_too_many_nothing_is_known(tmp_path, monkeypatch):
    store = make(tmp_path, monkeypatch)
    store.add(rows_of("a", 20))
    store._reports.seal()
    store.add(rows_of("b", 5))
    layout = store._reports._layout
    for most, known in ((25, 25), (24, None), (19, None)):
        monkeypatch.setattr(beginnings, "MOST", most)
        found = of_sealed(layout, layout.state(), None)
        assert found is None if known is None else len(found) == known
    store._reports.seal()
    asked = looked_for(monkeypatch)
    assert store.add([*rows_of("b", 6)]) == [Fate.SAME] * 5 + [Fate.STORED]
    assert sorted(asked) == sorted(keys_of("b", 6))
    store.close()


def test_new_keys_are_not_looked_for_once_this_program_has_sealed(tmp_path, monkeypatch):
    store = make(tmp_path, monkeypatch)
    asked = looked_for(monkeypatch)
    store.add(rows_of("a", 20))
    assert len(asked) == 20  # nothing is known yet
    for portion in ("b", "c"):
        store._reports.seal()
        asked.clear()
        store.add(rows_of(portion, 20))
        assert asked == []
    store._reports.seal()
    assert store.add([*rows_of("a", 2), *rows_of("d", 2), *rows_of("c", 2)]) == (
        [Fate.SAME] * 2 + [Fate.STORED] * 2 + [Fate.SAME] * 2
    )
    assert sorted(asked) == sorted(keys_of("a", 2) + keys_of("c", 2))
    assert store.add(rows_of("b", 1, "[null,0,[1],[]]")) == [Fate.CONFLICT]
    assert store.total(1) == 62
    store.close()


def test_what_another_program_sealed_is_looked_for(tmp_path, monkeypatch):
    store, beside = make(tmp_path, monkeypatch), make(tmp_path, monkeypatch)
    store.add(rows_of("a", 10))
    store._reports.seal()
    store.add(rows_of("b", 10))
    beside._reports.seal()  # which had to read what is sealed
    beside.add(rows_of("c", 10))
    beside._reports.seal()
    asked = looked_for(monkeypatch)
    assert store.add([*rows_of("c", 10), *rows_of("d", 1)]) == [Fate.SAME] * 10 + [Fate.STORED]
    assert len(asked) == 11  # what this program knew was of another file
    asked.clear()
    assert beside.add([*rows_of("a", 1), *rows_of("b", 1), *rows_of("e", 1)]) == [Fate.SAME] * 2 + [Fate.STORED]
    assert sorted(asked) == sorted(keys_of("a", 1) + keys_of("b", 1))
    store._reports.seal()
    asked.clear()
    assert store.add([*rows_of("c", 1), *rows_of("e", 1), *rows_of("f", 1)]) == [Fate.SAME] * 2 + [Fate.STORED]
    assert sorted(asked) == sorted(keys_of("c", 1) + keys_of("e", 1))
    store.close()
    beside.close()


def test_beginnings_of_fewer_keys_than_are_sealed_are_not_believed(tmp_path, monkeypatch):
    store = make(tmp_path, monkeypatch)
    store.add(rows_of("a", 10))
    with monkeypatch.context() as patch:
        patch.setattr(tail, "of_sealed", lambda *_: of(keys_of("a", 9)))
        store._reports.seal()
    assert store.add(rows_of("a", 10)) == [Fate.SAME] * 10
    store.close()


def test_reports_of_a_copy_that_was_put_back_are_known_once_they_are_sealed(tmp_path, monkeypatch):
    (tmp_path / "copied").mkdir()
    with closing(make(tmp_path / "copied", monkeypatch)) as copied:
        copied.add(rows_of("a", 10))
        copied.copy(tmp_path / "reports.sqlite")
    store = SqliteStore(tmp_path / "reports.sqlite")
    assert store.add([*rows_of("a", 10), *rows_of("b", 5)]) == [Fate.SAME] * 10 + [Fate.STORED] * 5
    store._reports.seal()
    asked = looked_for(monkeypatch)
    assert store.add([*rows_of("a", 10), *rows_of("c", 5)]) == [Fate.SAME] * 10 + [Fate.STORED] * 5
    assert sorted(asked) == sorted(keys_of("a", 10))
    assert store._reports._layout.state() != State(0, ())
    store.close()


def test_a_block_is_counted_wherever_its_reports_are(tmp_path, monkeypatch):
    store = make(tmp_path, monkeypatch)
    one, other = f'["{BLOCK}",0,[1],[]]', f'["{"cd" * 32}",0,[1],[]]'
    store.add(rows_of("a", 10, one))
    store._reports.seal()
    store.add([*rows_of("b", 5, one), *rows_of("c", 4, other), *rows_of("d", 3)])
    store.add([*rows_of("a", 2, one), *rows_of("e", 2, one), *rows_of("b", 1, other)])  # 4 of them change nothing
    assert store.counts_in(1, BLOCK) == {one: 17}
    assert store.counts_in(1, "cd" * 32) == {other: 4}
    assert store.counts_in(2, BLOCK) == {}
    assert store.counts(1) == store.recount(1) == {one: 17, other: 4, "[null,0,[0],[]]": 3}
    store._reports.seal()
    assert store.counts(1) == store.recount(1) == {one: 17, other: 4, "[null,0,[0],[]]": 3}
    store.close()


def test_a_tail_counts_by_cell_what_is_in_blocks_and_nothing_else(tmp_path, monkeypatch):
    store = make(tmp_path, monkeypatch)
    cell = f'["{BLOCK}",0,[1],[]]'
    store.add([*rows_of("a", 5, cell), *rows_of("b", 4)])
    with monkeypatch.context() as patch:  # a transaction that fails counts nothing
        patch.setattr(tail, "Counter", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            store.add(rows_of("c", 5, cell))
    store.add([*rows_of("c", 2, cell)])
    with closing(sqlite3.connect(store._reports._layout.tail(1))) as db:
        assert db.execute("SELECT * FROM in_blocks").fetchall() == [(1, cell, 7)]
    store.close()


def test_beginnings_are_in_order_however_they_were_given():
    assert isinstance(of([b"bbbb", b"aaaa"]), Beginnings)
    assert of([b"bbbb", b"aaaa"]).possible([b"aaaa", b"abab", b"bbbb"]) == [b"aaaa", b"bbbb"]
