"""Tail and sealed file: sealed in time, sorted to the last byte, whole after any crash, the same for every reader."""

from __future__ import annotations

import hashlib
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from deniable.errors import InputError, StoreError
from deniable.storage import append_log as tail
from deniable.storage import copy_store as copying
from deniable.storage import unsealed_reports as known
from deniable.storage.checksums import read_checksums
from deniable.storage.open_store import find_store
from deniable.storage.sqlite import SqliteStore
from deniable.storage.sqlite_files import Layout, unfinished, uri
from deniable.storage.sqlite_transactions import Alone, locked
from deniable.storage.store import Fate, Row, key_of
from waiting import PATIENCE, until

TESTS = Path(__file__).parents[1]
CELLS = [f"[null,0,[{answer}],[]]" for answer in range(5)]


def make(folder):
    store = SqliteStore(folder / "reports.sqlite")
    store.register("a" * 64, b"body")
    return store


def row(store, number):
    return Row(key_of(store.salt, hashlib.sha256(str(number).encode()).hexdigest()), 1, CELLS[number % 5])


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def expected(numbers):
    return {cell: n for answer, cell in enumerate(CELLS) if (n := sum(number % 5 == answer for number in numbers))}


def in_tails(folder):
    """How many reports an intruder finds in tails."""
    layout = Layout(folder / "reports.sqlite")
    found = 0
    for number in layout.state().tails:
        try:
            with closing(sqlite3.connect(uri(layout.tail(number), "mode=rw"), uri=True)) as db:
                found += db.execute("SELECT COUNT(*) FROM reports").fetchone()[0]
        except sqlite3.OperationalError:  # it was sealed meanwhile
            return in_tails(folder)
    return found


def test_a_thousand_reports_are_sealed(tmp_path):
    store = make(tmp_path)
    for start in range(0, 3000, 100):
        store.add([row(store, number) for number in range(start, start + 100)])
    until(lambda: in_tails(tmp_path) < tail.SEGMENT)
    assert store.counts(1) == store.recount(1) == expected(range(3000))
    store.close()


def sealed_by_hand(store, monkeypatch):
    """Have no thread seal; returns what seals if it is due, and how many reports each sealed file was written with."""
    written, reports = [], store._reports
    monkeypatch.setattr(reports, "tend", lambda: None)
    write = tail.write_sealed

    def counting(layout, state, first, ended):
        write(layout, state, first, ended)
        written.append(store.total(1))

    monkeypatch.setattr(tail, "write_sealed", counting)

    def if_due():
        if reports._wake.is_set():
            reports._wake.clear()
            reports.seal()

    return if_due, written


def test_a_report_is_written_about_eleven_times_however_many_there_are(tmp_path, monkeypatch):
    monkeypatch.setattr(tail, "SEGMENT", 20)
    store = make(tmp_path)
    if_due, written = sealed_by_hand(store, monkeypatch)
    for start in range(0, 3000, 10):
        store.add([row(store, number) for number in range(start, start + 10)])
        sealed = store._reports._frozen.sealed
        assert in_tails(tmp_path) < max(20, sealed / tail.TENTH) + 10  # what is added at once is not parted
        if_due()
    assert store.counts(1) == store.recount(1) == expected(range(3000))
    assert store.total(1) == 3000
    for half in (1500, 3000):
        assert sum(n for n in written if n <= half) < 12 * half
    assert len(written) < 50  # 10 + 10 x log(3000 / 200), about; to seal every twenty would be 150
    store.close()


def pages_of(path):
    """How many bytes of a file are SQLite's."""
    written = read_checksums(path)
    with closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as db:
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        (size,) = db.execute("PRAGMA page_size").fetchone()
    assert (written.size, len(written.digests)) == (size, pages)
    return pages * size


def test_few_reports_are_sealed_when_time_is_up(tmp_path, monkeypatch):
    monkeypatch.setattr(tail, "PATIENCE", 0.05)
    store = make(tmp_path)
    store.add([row(store, number) for number in range(7)])
    until(lambda: in_tails(tmp_path) == 0)
    assert store.total(1) == 7
    assert store.add([row(store, 3), row(store, 7)]) == [Fate.SAME, Fate.STORED]
    store.close()


def test_what_was_left_unsealed_is_sealed_at_the_next_start(tmp_path):
    killed = make(tmp_path)
    killed.add([row(killed, number) for number in range(7)])
    shutil.copytree(tmp_path, tmp_path / "copy")
    killed.close()
    store = SqliteStore(tmp_path / "copy" / "reports.sqlite")
    assert in_tails(tmp_path / "copy") == 7
    store.tend()
    until(lambda: in_tails(tmp_path / "copy") == 0)
    assert store.counts(1) == expected(range(7))
    store.close()


def test_the_sealed_file_follows_from_the_reports_alone(tmp_path):
    # Two stores with the same salt take the same 2500 reports in two orders and in portions of two sizes.
    made = []
    for name, portion in (("one", 50), ("two", 125)):
        folder = tmp_path / name
        folder.mkdir()
        store = make(folder)
        store.salt = bytes(32)
        store._db.execute("UPDATE store SET name = zeroblob(16)")
        numbers = list(range(2500))
        random.Random(name).shuffle(numbers)  # noqa: S311 - repeats, hides nothing
        for half in (numbers[:1250], numbers[1250:]):
            for start in range(0, len(half), portion):
                store._reports.add([row(store, number) for number in half[start : start + portion]])
            store.compact()
        store.close()
        path = folder / "reports.sealed.sqlite"
        file = bytearray(path.read_bytes())
        file[60:64] = bytes(4)  # how many tails there were
        made.append(bytes(file[: pages_of(path)]))  # what is behind are their checksums
    assert made[0] == made[1]


class Killed(BaseException):
    """What a test throws instead of a signal."""


# Every step of sealing that changes a file: which call of what.
HERE = "deniable.storage"
STEPS = [(f"{HERE}.append_log.place", 1), (f"{HERE}.append_log.place", 2), (f"{HERE}.append_log.write_sealed", 1)]
STEPS += [(f"{HERE}.sqlite_files.remove", call) for call in (1, 2, 3, 4)]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", STEPS)
def test_a_crash_at_any_step_of_sealing_loses_nothing(tmp_path, monkeypatch, at, after):
    step, call = at
    monkeypatch.setattr(tail, "SEGMENT", 10**9)  # nothing is sealed but here
    store = make(tmp_path)
    store.add([row(store, number) for number in range(40)])
    store._reports.seal()
    store.add([row(store, number) for number in range(40, 60)])
    module, _, function = step.rpartition(".")
    original, calls = getattr(sys.modules[module], function), []

    def killed(*arguments, **options):
        calls.append(arguments)
        if len(calls) == call and not after:
            raise Killed
        original(*arguments, **options)
        if len(calls) == call:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(step, killed)
        try:
            store._reports.seal()
        except Killed:
            pass
        else:
            assert step.endswith("remove")  # fewer files were in the way than that
    shutil.copytree(tmp_path, tmp_path / "copy")
    store.close()
    again = SqliteStore(tmp_path / "copy" / "reports.sqlite")
    assert again.counts(1) == again.recount(1) == expected(range(60))
    assert again.add([row(again, number) for number in range(50, 70)]) == [Fate.SAME] * 10 + [Fate.STORED] * 10
    again.compact()
    assert again.counts(1) == again.recount(1) == expected(range(70))
    assert len(list(again.scan(1))) == 70
    again.close()
    assert names(tmp_path / "copy") == [
        "reports.lock",
        "reports.sealed.sqlite",
        "reports.sealing.lock",
        "reports.sqlite",
    ]


def test_readers_see_every_report_once_while_files_are_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(tail, "SHARE", 0.9)  # seal nearly all the time
    store, beside = make(tmp_path), SqliteStore(tmp_path / "reports.sqlite")
    stop, wrong, seen = threading.Event(), [], set()

    def read():
        before = 0
        while not stop.is_set():
            now = sum(beside.counts(1).values())
            found = len(beside.find([row(store, number).key for number in range(before)]))
            if now < before or now % 250 or found < before:
                wrong.append((before, now, found))
            before = now
            seen.add(beside._reports._layout.first())

    reader = threading.Thread(target=read)
    reader.start()
    for start in range(0, 20_000, 250):
        store.add([row(store, number) for number in range(start, start + 250)])
    stop.set()
    reader.join()
    assert not wrong
    assert len(seen) > 1  # files were replaced meanwhile
    beside.close()
    store.close()


def test_two_programs_may_add_to_the_same_files(tmp_path):
    code = (
        "import sys, importlib.util as u; sys.path.insert(0, sys.argv[3]);"
        "s = u.spec_from_file_location('t', sys.argv[1]); t = u.module_from_spec(s);"
        "s.loader.exec_module(t); t.add_some(sys.argv[2])"
    )
    store = make(tmp_path)
    other = subprocess.Popen([sys.executable, "-c", code, __file__, str(tmp_path), str(TESTS)])
    mine = add_some(tmp_path, store)
    assert other.wait(PATIENCE) == 0
    assert mine <= 6000
    assert store.counts(1) == store.recount(1) == expected(range(6000))
    store.close()


# What `deniable close` does to the reports of a store that somebody serves.
COMPACT = (
    "import sys; from deniable.storage.sqlite import SqliteStore\n"
    "store = SqliteStore(sys.argv[1]); print('opened', flush=True); store.compact(); store.close()"
)


@pytest.mark.parametrize("kill", [False, True])
def test_a_program_that_seals_waits_for_another_one_and_touches_none_of_its_files(tmp_path, monkeypatch, kill):
    monkeypatch.setattr(tail, "SEGMENT", 10**9)  # nothing is sealed but here
    store = make(tmp_path)
    store.add([row(store, number) for number in range(40)])
    store._reports.seal()
    store.add([row(store, number) for number in range(40, 60)])
    write, others = tail.write_sealed, []

    def write_beside_another(*arguments):
        command = [sys.executable, "-c", COMPACT, str(tmp_path / "reports.sqlite")]
        others.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        assert others[0].stdout.readline() == "opened\n"
        write(*arguments)
        assert unfinished(store._reports._layout.sealed).exists()
        assert others[0].poll() is None  # it waits

    with monkeypatch.context() as patch:
        patch.setattr(tail, "write_sealed", write_beside_another)
        store._reports.seal()
    (other,) = others
    if kill:
        other.kill()
    assert other.wait(PATIENCE) == (-9 if kill else 0)
    other.stdout.close()
    assert store.add([row(store, 1), row(store, 60)]) == [Fate.SAME, Fate.STORED]
    assert store.counts(1) == store.recount(1) == expected(range(61))
    store.close()
    assert names(tmp_path) == ["reports.lock", "reports.sealed.sqlite", "reports.sealing.lock", "reports.sqlite"]


def test_whoever_does_not_want_to_wait_for_another_one_that_seals_is_told(tmp_path):
    store = make(tmp_path)
    store.add([row(store, 1)])
    store._reports._stop.set()
    store._reports._wake.set()
    store._reports._thread.join()
    with locked(store._reports._layout.sealing):
        assert store._reports.seal(wait=False) is False
        assert in_tails(tmp_path) == 1
    assert store._reports.seal(wait=False) is True
    assert in_tails(tmp_path) == 0
    store.close()


def test_what_a_killed_program_left_of_a_sealed_file_is_removed(tmp_path):
    store = make(tmp_path)
    for name in ("reports.sealed.sqlite.new", "reports.sealed.sqlite.123456.new"):
        (tmp_path / name).write_bytes(b"half")
    store.add([row(store, 1)])
    store.compact()
    assert not [name for name in names(tmp_path) if name.endswith(".new")]
    store.close()


def test_a_tail_that_was_removed_is_not_taken_for_the_next_one_of_its_number(tmp_path):
    one = make(tmp_path)
    one.add([row(one, 0)])
    one.compact()
    two = SqliteStore(tmp_path / "reports.sqlite")
    assert two.add([row(two, 0)]) == [Fate.SAME]  # it has the empty tail open from now on
    assert two.total(1) == 1
    one.close()  # removes that tail
    three = SqliteStore(tmp_path / "reports.sqlite")
    three.add([row(three, 1)])  # makes one with the same number
    assert two.add([row(two, 1), row(two, 2)]) == [Fate.SAME, Fate.STORED]
    assert (two.total(1), three.total(1)) == (3, 3)
    for store in (two, three):
        store.close()
    again = SqliteStore(tmp_path / "reports.sqlite")
    assert again.counts(1) == again.recount(1) == expected(range(3))
    again.close()


def test_a_folder_that_was_copied_while_it_was_sealed_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(tail, "SEGMENT", 10**9)
    served, copied = tmp_path / "served", tmp_path / "copied"
    copied.mkdir()
    store = make(served)
    store.add([row(store, number) for number in range(10)])
    store._reports.seal()
    store.add([row(store, number) for number in range(10, 20)])
    shutil.copy(served / "reports.sealed.sqlite", copied)  # the copying has begun
    store._reports.seal()
    store.add([row(store, 20)])
    for path in served.iterdir():
        if path.name != "reports.sealed.sqlite":
            shutil.copy(path, copied)
    store.close()
    with pytest.raises(InputError, match=r"tail-2.sqlite is missing.*deniable backup"):
        SqliteStore(copied / "reports.sqlite")


def test_a_copy_is_made_again_if_a_file_goes_while_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(tail, "SEGMENT", 10**9)
    store = make(tmp_path)
    store.add([row(store, number) for number in range(10)])
    attach, calls = copying.attach, []

    def late(*arguments):
        calls.append(arguments)
        if len(calls) == 1:
            store._reports.seal()  # the tail that is about to be attached is sealed, and gone
        return attach(*arguments)

    monkeypatch.setattr(copying, "attach", late)
    store.copy(tmp_path / "copy.db")
    assert len(calls) == 2
    copied = SqliteStore(tmp_path / "copy.db")
    assert copied.counts(1) == copied.recount(1) == expected(range(10))
    copied.close()
    store.close()


def add_some(folder, store=None):
    """Add the same 6000 reports as others do; tells how many were new."""
    one = SqliteStore(f"{folder}/reports.sqlite") if store is None else store
    new = 0
    for start in range(0, 6000, 150):
        new += one.add([row(one, number) for number in range(start, start + 150)]).count(Fate.STORED)
    if store is None:
        one.close()
    return new


def put_back(folder, numbers):
    """A copy of a store with these reports, in the place of a folder's store."""
    (folder / "copied").mkdir()
    store = make(folder / "copied")
    store.add([row(store, number) for number in numbers])
    store.copy(folder / "reports.sqlite")
    store.close()
    shutil.rmtree(folder / "copied")


def test_a_copy_that_was_put_back_is_read_as_it_is_and_sealed_when_reports_come(tmp_path):
    put_back(tmp_path, range(30))
    reader = find_store(tmp_path)
    assert reader.counts(1) == reader.recount(1) == expected(range(30))
    assert reader.total(1) == 30
    reader.close()
    assert names(tmp_path) == ["reports.sqlite"]
    store = SqliteStore(tmp_path / "reports.sqlite")
    assert store.add([row(store, number) for number in range(25, 35)]) == [Fate.SAME] * 5 + [Fate.STORED] * 5
    assert store.counts(1) == store.recount(1) == expected(range(35))
    assert store.total(1) == 35
    store.tend()
    store.close()
    main = (tmp_path / "reports.sqlite").read_bytes()
    assert b"[null,0" not in main
    again = SqliteStore(tmp_path / "reports.sqlite")
    assert again.counts(1) == again.recount(1) == expected(range(35))
    assert again.total(1) == 35
    again.close()


def test_nothing_is_left_in_a_copy_that_was_put_back_once_its_reports_are_sealed(tmp_path):
    put_back(tmp_path, range(2000))
    store = SqliteStore(tmp_path / "reports.sqlite")
    size = (tmp_path / "reports.sqlite").stat().st_size
    store._reports.seal()
    assert (tmp_path / "reports.sqlite-wal").stat().st_size == 0  # already now, not only when it is closed
    assert (tmp_path / "reports.sqlite").stat().st_size < size / 2
    assert b"[null,0" not in (tmp_path / "reports.sqlite").read_bytes()
    store.close()


def test_a_copy_that_was_put_back_is_not_counted_twice_after_a_crash(tmp_path, monkeypatch):
    put_back(tmp_path, range(30))
    store = SqliteStore(tmp_path / "reports.sqlite")

    def killed():
        raise Killed

    monkeypatch.setattr(store._reports, "_empty", killed)
    with pytest.raises(Killed):
        store._reports.seal()
    shutil.copytree(tmp_path, tmp_path / "copy")
    store.close()
    again = SqliteStore(tmp_path / "copy" / "reports.sqlite")
    assert again.counts(1) == again.recount(1) == expected(range(30))
    again.tend()
    again.close()
    assert b"[null,0" not in (tmp_path / "copy" / "reports.sqlite").read_bytes()


def test_a_part_of_a_store_is_not_taken_for_one(tmp_path):
    store = make(tmp_path)
    store.add([row(store, 1)])
    store.close()
    with pytest.raises(InputError, match="only a part of a store"):
        find_store(tmp_path / "reports.sealed.sqlite")


def test_sealing_that_fails_leaves_the_reports_where_they_are(tmp_path, monkeypatch):
    store = make(tmp_path)
    store.add([row(store, number) for number in range(10)])

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(tail, "write_sealed", full)
        with pytest.raises(StoreError, match="no space"):
            store.compact()
    assert store.counts(1) == expected(range(10))
    assert store.add([row(store, 10)]) == [Fate.STORED]
    store.compact()
    assert in_tails(tmp_path) == 0
    assert store.counts(1) == store.recount(1) == expected(range(11))
    store.close()


def test_a_copy_is_one_file_in_the_order_of_keys(tmp_path):
    store = make(tmp_path)
    store.add([row(store, number) for number in range(30)])
    store.compact()
    store.add([row(store, number) for number in range(30, 40)])
    store.add_token(b"digest", "admitted")
    store.add_token(b"digest", "analyst")
    store.save("name", b"value")
    store.copy(tmp_path / "copy.db")
    with pytest.raises(InputError, match="there already"):
        store.copy(tmp_path / "copy.db")
    store.close()
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600
    (tmp_path / "elsewhere").mkdir()
    shutil.move(tmp_path / "copy.db", tmp_path / "elsewhere" / "reports.sqlite")
    again = SqliteStore(tmp_path / "elsewhere" / "reports.sqlite")
    assert again.counts(1) == again.recount(1) == expected(range(40))
    assert again.salt == store.salt
    assert again.has_token(b"digest", "admitted")
    assert not again.has_token(b"digest", "analyst")
    assert again.saved("name") == b"value"
    assert again.add([row(again, number) for number in range(35, 45)]) == [Fate.SAME] * 5 + [Fate.STORED] * 5
    again.close()


def test_a_repetition_is_told_from_a_key_that_begins_alike(tmp_path, monkeypatch):
    monkeypatch.setattr(known, "LATEST", 2)
    store = make(tmp_path)
    rows = [Row(b"the same" + bytes([number] * 8), 1, CELLS[0]) for number in range(9)]
    for each in rows:
        assert store.add([each]) == [Fate.STORED]
    assert store.add(rows) == [Fate.SAME] * 9
    assert store.add([Row(rows[4].key, 1, CELLS[1])]) == [Fate.CONFLICT]
    assert store.total(1) == 9
    store.close()


def test_whoever_finds_the_same_files_looks_at_nothing_else(tmp_path, monkeypatch):
    store, beside = make(tmp_path), make(tmp_path)
    store.add([row(store, 0)])
    looked = []
    whole = Layout.state
    monkeypatch.setattr(Layout, "state", lambda layout: looked.append(1) or whole(layout))
    store.add([row(store, 1)])
    assert looked == []
    beside._reports.seal()  # the tail that was written to is gone, and another one has its place
    looked.clear()
    assert store.add([row(store, 1), row(store, 2)]) == [Fate.SAME, Fate.STORED]
    assert looked == [1]
    store.close()
    beside.close()
    again = make(tmp_path)
    assert again.counts(1) == again.recount(1) == expected(range(3))
    again.close()


def test_a_lock_whose_file_was_removed_is_shared_with_whoever_makes_it_anew(tmp_path):
    path, order = tmp_path / "a.lock", []
    one, other = Alone(path), Alone(path)
    with one:
        pass
    path.unlink()

    def second():
        with one:
            order.append("one")

    thread = threading.Thread(target=second)
    with other:  # holds a new file of that name; the first has the old one open
        thread.start()
        until(one.threads.locked)
        order.append("other")
    thread.join()
    assert order == ["other", "one"]
    one.close()
    other.close()
