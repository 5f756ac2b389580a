"""The files of a SQLite store, and which of them count.

::

    reports.sqlite           designs, counts of what was turned away, hashes of secrets; a copy's reports until sealed;
                             and which of the others there must be (`bond`)
    reports.sealed.sqlite    the sealed reports, in the order of their keys: never changed, only replaced
    reports.draft.sqlite     what a sealed file is written from, while it is; named as unfinished, and then gone
    reports.tail-7.sqlite    the tail: reports that are not sealed yet
    reports.lock             held for as long as a report is written, or a file takes another one's place
    reports.sealing.lock     held for as long as a sealed file is written, so that one program does it at a time
    reports.showing-*.lock   held for as long as a survey is served, and says as which design: others agree with it

Tails are numbered. The sealed file says the number of the first tail that is not in it (SQLite has a place for such a
number in a file's header), so that a tail counts if its number is not below that, whatever a crash has left behind.
Those that count follow one another without a gap: the next one is made while the one before is there. A tail that was
empty at the end is removed, and its number taken again, so files are told apart by what the system calls them.

Files that belong together say so: each names its store, and the main one what there must be. Reports lie beside the
file that says to which design they are. Without that, or beside another one, their numbers would be read as those of
other designs, and so as answers to other questions. So the main file has a name, by chance, that every part has in it
as well; a copy gets one of its own. It also keeps how far was sealed and which tail is the last, so that a part which
is gone is missed, and an older one in its place is known. Both are written after the parts themselves: a crash in
between leaves parts that are newer than what is said of them, which is no harm.

The sealed file has the names of its designs beside their numbers, so that it is told if these were mixed up.
"""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from deniable.errors import InputError, StoreError
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

PART = 0x64656E69  # "deni": marks a file that is only a part of a store
_VERSION_AT = 60  # where SQLite keeps a number for its users in a file's header
_NEW = ".new"  # how the name of an unfinished file ends
_LOOKS = 100  # at a folder in which files come and go; a second one is rare


class State(NamedTuple):
    """Which files count: those of the tails from number `first` on; the sealed one if `first` is above 0."""

    first: int
    tails: tuple[int, ...]
    files: tuple[int, ...] = ()  # what the system calls the tails
    sealed: int | None = None  # and the sealed one


class Layout:
    """The names of a store's files, given that of the main one."""

    def __init__(self, main: Path) -> None:
        """Take the path of the main file."""
        self.main = main
        self.folder = main.parent
        self._beside = str(main.with_name(main.stem))
        self.sealed = main.with_name(f"{main.stem}.sealed.sqlite")
        self.draft = main.with_name(f"{main.stem}.draft.sqlite")
        self.lock = main.with_name(f"{main.stem}.lock")
        self.sealing = main.with_name(f"{main.stem}.sealing.lock")
        self._tail = re.compile(rf"{re.escape(main.stem)}\.tail-([0-9]+)\.sqlite(.*)")

    def tail(self, number: int) -> Path:
        """The path of a tail."""
        return Path(self._name(number))

    def showing(self, plan: str) -> Path:
        """The path of the file by which programs agree on which design of a plan is shown."""
        return Path(f"{self._beside}.showing-{plan[:16]}.lock")

    def tails(self) -> list[Path]:
        """All tails that there are, also those that do not count."""
        found = (self._tail.fullmatch(path.name) for path in self.folder.iterdir())
        return [self.tail(number) for number in sorted(int(one[1]) for one in found if one is not None and not one[2])]

    def _name(self, number: int) -> str:
        return f"{self._beside}.tail-{number}.sqlite"

    def state(self) -> State:
        """Which files count now.

        Raises:
            InputError: one is missing.
        """
        for _ in range(_LOOKS):  # files may come and go while their names are read
            first, sealed = self.mark()
            found = (self._tail.fullmatch(path.name) for path in self.folder.iterdir())
            numbers = sorted(int(one[1]) for one in found if one is not None and not one[2])
            tails = tuple(number for number in numbers if number >= first)
            missing = set(range(max(first, 1), max(tails, default=0))) - set(tails)
            files = [_inode(self.tail(number)) for number in tails]
            if not missing and None not in files:
                return State(first, tails, tuple(filter(None, files)), sealed)
        if not missing:
            raise StoreError("the store's files were replaced all the time while they were looked at")
        raise InputError(
            f"{self.tail(min(missing))} is missing, and the reports in it: this folder was copied while a collector "
            f"wrote to it. Copy it again with `deniable backup`, or while no collector runs",
            path=str(self.folder),
        )

    def is_still(self, state: State) -> bool:
        """Whether the same files count as then. For whoever has kept them open: the system names no other file so.

        Of tails only the last is looked at: those before it go when they are sealed, and come before it does.
        """
        if not state.tails or _inode(self.sealed) != state.sealed:
            return False
        last = state.tails[-1]
        return _inode(self._name(last)) == state.files[-1] and _inode(self._name(last + 1)) is None

    def first(self) -> int:
        """The number of the first tail that is not sealed; 0 while nothing ever was."""
        return self.mark()[0]

    def mark(self) -> tuple[int, int | None]:
        """The same, and what the system calls the sealed file: no two of a store have both in common."""
        try:
            with self.sealed.open("rb") as file:
                number = int.from_bytes(file.read(_VERSION_AT + 4)[_VERSION_AT:], "big")
                return number, os.fstat(file.fileno()).st_ino
        except FileNotFoundError:
            return 0, None

    def sweep(self) -> None:
        """Remove what does not count: tails that are sealed, and those that were never finished."""
        first = self.first()
        for path in list(self.folder.iterdir()):
            tail = self._tail.fullmatch(path.name)
            if tail is not None and (int(tail[1]) < first or tail[2].endswith(_NEW)):
                remove(path)

    def delete(self) -> None:
        """Remove every file, the main one last."""
        parts = [path for path in self.folder.iterdir() if self._tail.fullmatch(path.name)]
        parts += self.folder.glob(f"{self.main.stem}.showing-*.lock")
        for path in (*parts, self.draft, self.sealed, self.sealing, self.lock, self.main):
            discard(path)
            path.unlink(missing_ok=True)
        sync(self.folder)


def unfinished(path: Path) -> Path:
    """Where this program writes a file before it takes its place."""
    return path.with_name(f"{path.name}.{os.getpid()}{_NEW}")


def discard(path: Path) -> None:
    """Remove what programs that were killed left of this file. For whoever is the only one that writes it now."""
    left = re.compile(rf"{re.escape(path.name)}(\.[0-9]+)?{re.escape(_NEW)}(-journal)?")
    for found in list(path.parent.iterdir()):
        if left.fullmatch(found.name):
            remove(found)


@contextmanager
def replacing(path: Path) -> Iterator[sqlite3.Connection]:
    """Write a database that only its owner can read; it is whole and on disk when the block ends.

    It has the name `unfinished(path)` then, and `place` gives it its own. Nobody else may be writing the same one.
    """
    new, db = _new(path)
    try:
        yield db
        db.close()
        sync(new)
    except BaseException:
        db.close()
        remove(new)
        raise


@contextmanager
def drafting(path: Path) -> Iterator[sqlite3.Connection]:
    """Write a database that is there for as long as the block lasts."""
    new, db = _new(path)
    try:
        yield db
    finally:
        db.close()
        remove(new)


def _new(path: Path) -> tuple[Path, sqlite3.Connection]:
    discard(path)
    new = unfinished(path)
    os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    db = sqlite3.connect(new, isolation_level=None, uri=True, timeout=30.0)
    # No journal and no syncing on the way: a file that was not finished is thrown away.
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA synchronous = OFF")
    return new, db


def place(path: Path) -> None:
    """Put the finished file in its place, for good."""
    unfinished(path).replace(path)
    sync(path.parent)


def _inode(path: Path | str) -> int | None:
    """What the system calls a file, by which it is told from another one of its name; None where there is none."""
    try:
        return os.stat(path).st_ino  # noqa: PTH116 - asked for every transaction, and a Path takes longer to make
    except FileNotFoundError:
        return None


def remove(path: Path) -> None:
    """Remove a file, if it is there and nobody keeps it open where that matters."""
    with suppress(OSError):
        path.unlink()


def sync(path: Path) -> None:
    """Have a file, or a folder's list of files, on disk."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except PermissionError:  # a folder, on a system that has no such thing
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def uri(path: Path, how: str) -> str:
    """A path as SQLite attaches it; never makes a file that is not there."""
    return f"{path.absolute().as_uri()}?{how}"


_BOND_LOOKS = 100  # at a store that another program changes; a second one is rare
_CLOSED = "closed-*"  # files that say of a survey that it was closed (`collection.admission`)


class Bond(NamedTuple):
    """What the main file says: the store's name, how far was sealed, and the number of the last tail."""

    name: bytes
    sealed: int
    tail: int


def read_bond(db: sqlite3.Connection) -> Bond:
    """What a main file says."""
    return Bond(*db.execute("SELECT name, sealed, tail FROM main.store").fetchone())


def keep_bond(db: sqlite3.Connection, *, sealed: int | None = None, tail: int | None = None) -> None:
    """Say how far was sealed, or which tail is the last."""
    db.execute("UPDATE main.store SET sealed = coalesce(?, sealed), tail = coalesce(?, tail)", (sealed, tail))


def parts_beside(layout: Layout) -> list[str]:
    """The names of files that are nothing without the main one."""
    closed = sorted(path.name for path in layout.folder.glob(_CLOSED))
    return [*(path.name for path in (layout.sealed, *layout.tails()) if path.exists()), *closed]


def refuse_orphans(layout: Layout) -> None:
    """Refuse to make a main file where parts lie that belong to one which is gone, or empty."""
    if layout.folder.is_dir() and parts_beside(layout):
        raise InputError(orphaned(layout), path=str(layout.main))


def is_orphaned(layout: Layout) -> bool:
    """Whether parts lie in a folder, and no main file with anything in it."""
    if not layout.folder.is_dir() or not parts_beside(layout):
        return False
    return not layout.main.is_file() or not layout.main.stat().st_size or not _has_tables(layout.main)


def _has_tables(main: Path) -> bool:
    with closing(sqlite3.connect(uri(main, "mode=ro"), uri=True)) as db:
        try:
            return db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None
        except sqlite3.DatabaseError:  # it is no database, or damaged, which is said elsewhere
            return True


def orphaned(layout: Layout) -> str:
    """What is wrong where the main file is gone."""
    return (
        f"{layout.main} is gone or empty, and beside it lies {listed(parts_beside(layout))}: only the file that is "
        f"gone says to which questions these are answers. Put it back; or a backup in the place of everything that "
        f"begins with {layout.main.stem}.; or serve another survey from another folder"
    )


def refuse_strange_parts(db: sqlite3.Connection, layout: Layout) -> None:
    """Refuse a store of which a part is missing, or is not its own."""
    found = strange_parts(db, layout)
    if found:
        raise InputError(
            f"{'; '.join(found.values())}. Nothing is counted until then: put the right file back, or a backup in the "
            f"place of all; `deniable verify {layout.folder} --repair` goes on without what is missing",
            path=next(iter(found)),
        )


def strange_parts(db: sqlite3.Connection, layout: Layout) -> dict[str, str]:
    """What is wrong with the parts of a store, by the file that it is about."""
    for _ in range(_BOND_LOOKS):
        bond, state = read_bond(db), layout.state()
        try:
            found = _strange(db, layout, bond, state)
        except sqlite3.OperationalError:  # a part that was looked at has gone
            if layout.is_still(state):
                raise
            continue
        if not found or (read_bond(db) == bond and layout.state() == state):
            break
    return found


def _strange(db: sqlite3.Connection, layout: Layout, bond: Bond, state: State) -> dict[str, str]:
    found = {}
    if state.first < bond.sealed:
        what = "is missing, and all reports that were sealed" if not state.first else "is older than its store"
        found[str(layout.sealed)] = f"{layout.sealed} {what}"
    elif state.first:
        name, designs = _read(layout.sealed, "immutable=1", designs=True)
        known = dict(db.execute("SELECT number, id FROM main.designs").fetchall())
        if name != bond.name:
            found[str(layout.sealed)] = f"{layout.sealed} belongs to another store than {layout.main}"
        elif any(known.get(number) != design for number, design in designs.items()):
            found[str(layout.sealed)] = f"{layout.sealed} numbers its designs otherwise than {layout.main}"
    if bond.tail >= max(state.first, bond.sealed, 1) and bond.tail not in state.tails:
        path = layout.tail(bond.tail)
        found[str(path)] = f"{path} is missing, and the latest reports"
    for path in map(layout.tail, state.tails):
        if _read(path, "mode=rw")[0] != bond.name:
            found[str(path)] = f"{path} belongs to another store than {layout.main}"
    return found


def _read(path: Path, how: str, *, designs: bool = False) -> tuple[bytes | None, dict[int, str]]:
    """Of which store a part is, and the designs that a sealed one names."""
    with closing(sqlite3.connect(uri(path, how), uri=True, timeout=30.0)) as db:
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'of'").fetchone() is None:
            return None, {}
        (name,) = db.execute("SELECT name FROM of").fetchone() or (None,)
        return name, dict(db.execute("SELECT number, id FROM designs").fetchall()) if designs else {}


def forget_missing(layout: Layout) -> list[str]:
    """Let a main file say that there is no more than there is; returns what is missing."""
    state = layout.state()
    with closing(sqlite3.connect(layout.main, isolation_level=None)) as db:
        bond = read_bond(db)
        lost = [] if state.first or not bond.sealed else [str(layout.sealed)]
        if bond.tail >= max(state.first, bond.sealed, 1) and bond.tail not in state.tails:
            lost.append(str(layout.tail(bond.tail)))
        if lost:
            keep_bond(db, sealed=state.first, tail=max(state.tails, default=0))
    return lost
