"""What errors of a store mean for whoever waits: a full disk is called so, wherever SQLite met it."""

from __future__ import annotations

import errno
import os
import shutil
from typing import TYPE_CHECKING

from deniable.errors import InputError, StoreError, StoreFullError

if TYPE_CHECKING:
    import sqlite3
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
