"""Checksums of a sealed file's pages: a bit that a disk turned over is found, and never counted.

SQLite trusts what it reads. A flipped letter in a cell is another report, and health would say ok. A sealed file is
written in one go and never changed, so the checksum of every page is written behind the last one, into the same file:
SQLite reads no further than its header says. It costs a twentieth of a second for a million reports.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from deniable.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_MARK = b"deniable: checksums of pages 1\0"
_DIGEST = 8  # bytes a page
_PAGES = 512  # read at once


class Written(NamedTuple):
    """What a sealed file was when it was written."""

    size: int  # bytes a page
    version: int  # SQLite's user_version: the first tail that comes after it
    digests: tuple[bytes, ...]  # page by page


def append_checksums(path: Path) -> None:
    """Write the checksums of a finished file behind it."""
    with path.open("r+b") as file:
        header = file.read(100)
        size = int.from_bytes(header[16:18], "big")
        size = 1 << 16 if size == 1 else size
        found = b"".join(_digests(path, size, int.from_bytes(header[28:32], "big")))
        head = b"".join(
            number.to_bytes(8, "big") for number in (size, int.from_bytes(header[60:64], "big"), len(found))
        )
        trailer = head + found
        file.seek(0, 2)
        file.write(_MARK + trailer + _digest(trailer) + (len(_MARK) + len(trailer) + _DIGEST).to_bytes(8, "big"))


def read_checksums(path: Path) -> Written:
    """The checksums behind a sealed file.

    Raises:
        DamagedStoreError: there are none, or they are damaged themselves.
    """
    with path.open("rb") as file:
        end = file.seek(0, 2)
        file.seek(max(0, end - 8))
        length = int.from_bytes(file.read(8), "big")
        if not len(_MARK) + 24 + _DIGEST <= length <= end - 8:
            raise DamagedStoreError(path)
        file.seek(end - 8 - length)
        behind = file.read(length)
    trailer, proof = behind[len(_MARK) : -_DIGEST], behind[-_DIGEST:]
    if not behind.startswith(_MARK) or _digest(trailer) != proof:
        raise DamagedStoreError(path)
    size, version, held = (int.from_bytes(trailer[at : at + 8], "big") for at in (0, 8, 16))
    found = trailer[24 : 24 + held]
    return Written(size, version, tuple(found[at : at + _DIGEST] for at in range(0, held, _DIGEST)))


def damaged_pages(path: Path) -> list[int]:
    """Which pages of a file are not as they were written, counted from 1."""
    written = read_checksums(path)
    now = _digests(path, written.size, len(written.digests))
    return [page for page, (was, is_) in enumerate(zip(written.digests, now, strict=True), 1) if was != is_]


def refuse_damage(path: Path) -> None:
    """Refuse a sealed file that is not as it was written."""
    if path.exists() and damaged_pages(path):
        raise DamagedStoreError(path)


class DamagedStoreError(StoreError):
    """Reports that are stored are not as they were written."""

    def __init__(self, path: Path) -> None:
        """Say where, and what can be done."""
        is_sealed = ".sealed." in path.name
        super().__init__(
            f"{path} is damaged: some of its bytes are not as they were written, and nothing of it is counted. "
            f"`deniable verify {path.parent if is_sealed else path}` says how many reports remain; "
            f"{'put a copy back, or go on with those by --repair' if is_sealed else 'use another copy'}"
        )


def _digests(path: Path, size: int, pages: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        for start in range(0, pages, _PAGES):
            some = file.read(size * min(_PAGES, pages - start))
            for at in range(min(_PAGES, pages - start)):
                yield _digest(some[at * size : (at + 1) * size])


def _digest(some: bytes) -> bytes:
    return hashlib.blake2b(some, digest_size=_DIGEST).digest()
