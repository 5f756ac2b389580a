"""Transactions of SQLite, and its errors in our own words: a full disk is called so, wherever SQLite met it."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from deniable.errors import InputError, StoreError, StoreFullError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_SURE = ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE")  # the last: a journal's index cannot grow
# A journal or its index that cannot be made or made larger: because of the disk, or because of something else.
_DOUBTFUL = ("SQLITE_IOERR", "SQLITE_CANTOPEN")
_LITTLE = 1 << 20  # bytes: less is full


def failure(error: sqlite3.Error, folder: Path) -> StoreError:
    """The error to raise instead of one of SQLite's."""
    if is_full(error, folder):
        return StoreFullError("there is no space left to store reports in")
    return StoreError(f"the store failed: {error}")


def other_format(place: str, found: int, known: int) -> InputError:
    """The error to raise of a store that another version of this program has written."""
    newer = "it was written by a newer version of deniable: pip install --upgrade deniable"
    foreign = "use the program that wrote it, or begin in an empty place"
    return InputError(
        f"{place} is a store of format {found}, and this program reads format {known}; "
        f"{newer if found > known else foreign}",
        path=place,
        format=found,
    )


def is_full(error: sqlite3.Error, folder: Path) -> bool:
    """Tell whether an error says that the disk is full; where SQLite does not say why, the disk is asked."""
    name = getattr(error, "sqlite_errorname", None) or ""
    return name in _SURE or (name.startswith(_DOUBTFUL) and _has_no_room(folder))


def _has_no_room(folder: Path) -> bool:
    try:
        if shutil.disk_usage(folder).free < _LITTLE:
            return True
        return hasattr(os, "statvfs") and os.statvfs(folder).f_files > 0 and os.statvfs(folder).f_favail == 0
    except OSError:
        return False


try:
    import fcntl
except ImportError:  # not on this system: one program at a time is then up to whoever starts them
    fcntl = None  # type: ignore[assignment]


@contextmanager
def transaction(db: sqlite3.Connection, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
    """All of a block, or nothing of it."""
    db.execute(begin)
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # a full disk may have ended it already
            db.execute("ROLLBACK")
        raise


@contextmanager
def telling(folder: Path) -> Iterator[None]:
    """Say of every failure in a folder whether there is no space, or what else it is."""
    try:
        yield
    except sqlite3.Error as error:
        raise failure(error, folder) from error
    except OSError as error:
        if error.errno in FULL:
            raise StoreFullError("there is no space left to store reports in") from error
        raise StoreError(f"the store failed: {error}") from error


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock that one program has at a time; it ends with the program, however that ends."""
    with taken(path, wait=True):
        yield


@contextmanager
def taken(path: Path, *, wait: bool) -> Iterator[bool]:
    """The same; who does not wait is told whether the lock is theirs."""
    if fcntl is None:
        yield True
        return
    handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)


def agree_on(path: Path, text: str) -> int | str | None:
    """Agree with other programs on a text in a file, for as long as the handle that is returned is open.

    Whoever comes first says it. Returns what they say, if it is something else; None where the system has no locks.
    """
    if fcntl is None:
        return None
    while True:
        handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            with suppress(BlockingIOError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.ftruncate(handle, 0)
                os.pwrite(handle, text.encode(), 0)
            fcntl.flock(handle, fcntl.LOCK_SH)  # waits for somebody who is just saying it
            said = os.pread(handle, 1 << 10, 0).decode()
        except BaseException:
            os.close(handle)
            raise
        if said == text:
            return handle
        os.close(handle)
        if said:  # else it was emptied by somebody who is gone
            return said


class Alone:
    """A lock that one thread of one program has at a time, taken for every transaction: so its file stays open.

    The system's part of it ends with the program, however that ends.
    """

    def __init__(self, path: Path) -> None:
        """Take the path of the lock's file."""
        self._path, self._handle = path, -1
        self.threads = threading.Lock()  # the part of it that lies within this program

    def __enter__(self) -> None:
        """Wait until it is ours."""
        self.threads.acquire()
        try:
            self._hold()
        except BaseException:
            self.threads.release()
            raise

    def __exit__(self, *_: object) -> None:
        """Let go of it."""
        try:
            if fcntl is not None:
                fcntl.flock(self._handle, fcntl.LOCK_UN)
        finally:
            self.threads.release()

    def _hold(self) -> None:
        if fcntl is None:
            return
        while True:
            if self._handle < 0:
                self._handle = os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600)
                self._inode = os.fstat(self._handle).st_ino
            fcntl.flock(self._handle, fcntl.LOCK_EX)
            if self._is_in_place():
                return
            self.close()

    def _is_in_place(self) -> bool:
        """Whether the file is still the one that others lock: somebody may have removed it."""
        try:
            return self._path.stat().st_ino == self._inode
        except FileNotFoundError:
            return False

    def close(self) -> None:
        """Close its file."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def hold(folder: Path) -> int | None:
    """Hold a folder for as long as the handle that this returns is open. None: another one does."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # ends with this process, however it ends
    except OSError:
        os.close(handle)
        return None
    return handle
