"""The files of a SQLite store, and which of them count.

::

    reports.sqlite           designs, counts of what was turned away, hashes of secrets; a copy's reports until sealed;
                             and which of the others there must be (`bond`)
    reports.sealed.sqlite    the sealed reports, in the order of their keys: never changed, only replaced
    reports.draft.sqlite     what a sealed file is written from, while it is; named as unfinished, and then gone
    reports.tail-7.sqlite    the tail: reports that are not sealed yet
    reports.lock             held for as long as a report is written, or a file takes another one's place
    reports.sealing.lock     held for as long as a sealed file is written, so that one program does it at a time

Tails are numbered. The sealed file says the number of the first tail that is not in it (SQLite has a place for such a
number in a file's header), so that a tail counts if its number is not below that, whatever a crash has left behind.
Those that count follow one another without a gap: the next one is made while the one before is there. A tail that was
empty at the end is removed, and its number taken again, so files are told apart by what the system calls them.
"""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from deniable.errors import InputError, StoreError

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
