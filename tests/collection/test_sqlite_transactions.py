"""A full disk is called so wherever SQLite meets it; everything else is not."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import stat

import pytest

from deniable.errors import InputError, StoreError, StoreFullError
from deniable.storage.open_store import open_store
from deniable.storage.sqlite import SqliteStore
from deniable.storage.sqlite_transactions import failure, is_full


def sqlite_error(name):
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = name
    return error


@pytest.fixture
def disk(monkeypatch):
    """A function that says how much room the disk has."""

    def leave(free, files=1000):
        monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1 << 40, 1 << 40, free))
        monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((0, 0, 0, 0, 0, 2000, files, files, 0, 255)))

    return leave


@pytest.mark.parametrize("name", ["SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE"])
def test_what_only_a_full_disk_says(tmp_path, disk, name):
    disk(1 << 40)
    assert is_full(sqlite_error(name), tmp_path)


@pytest.mark.parametrize("name", ["SQLITE_IOERR_SHMOPEN", "SQLITE_IOERR_FSYNC", "SQLITE_CANTOPEN"])
def test_what_a_full_disk_may_say_is_asked_of_the_disk(tmp_path, disk, name):
    for room, files, full in ((1 << 40, 1000, False), (1000, 1000, True), (1 << 40, 0, True)):
        disk(room, files)
        assert is_full(sqlite_error(name), tmp_path) is full
        assert type(failure(sqlite_error(name), tmp_path)) is (StoreFullError if full else StoreError)


@pytest.mark.parametrize("name", ["SQLITE_BUSY", "SQLITE_CORRUPT", "SQLITE_NOTADB", None])
def test_what_has_nothing_to_do_with_it(tmp_path, disk, name):
    disk(0)
    assert not is_full(sqlite_error(name), tmp_path)


def test_a_folder_that_is_gone_is_not_full(tmp_path):
    assert not is_full(sqlite_error("SQLITE_CANTOPEN"), tmp_path / "gone")


@pytest.mark.parametrize(("number", "told"), [(errno.ENOSPC, StoreFullError), (errno.EROFS, InputError)])
def test_a_store_that_cannot_be_made_says_why(tmp_path, monkeypatch, number, told):
    def refuse(*_arguments):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(told):
        SqliteStore(tmp_path / "data" / "reports.sqlite")


def test_a_store_that_cannot_be_opened_for_want_of_space_says_so(tmp_path, monkeypatch):
    def refuse(*_arguments, **_options):
        raise sqlite_error("SQLITE_FULL")

    monkeypatch.setattr(sqlite3, "connect", refuse)
    with pytest.raises(StoreFullError):
        SqliteStore(tmp_path / "reports.sqlite")


def test_the_folder_is_for_nobody_else(tmp_path):
    umask = os.umask(0)
    try:
        open_store(tmp_path / "data").close()
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
    for path in (tmp_path / "data").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
