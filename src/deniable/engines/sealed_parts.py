"""Encrypted parts of a job: files that nobody can read until they are finished, since their key is written last.

Of a piece of a table that was half disguised when the program was killed, the next run draws another disguise; the two
together would tell more than one. So a piece goes to disk encrypted, under a key of its own that is only in memory.
When all of it has reached the disk, the key is written beside it, in one go: from then on the piece can be read, is
finished, and stays as it is. The keys open nothing but disguises that are published anyway, so nothing depends on
whether they can be deleted for good.
"""

from __future__ import annotations

import io
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import GCM

from deniable.errors import InputError
from deniable.files.publish_file import sync

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

SEALED, KEY = ".sealed", ".key"
_KEY_BYTES, _TAG_BYTES = 32, 16
_NONCE = bytes(12)  # a key is used for one file only


def is_finished(place: Path) -> bool:
    """Whether the file at a place (without its ending) is there with its key."""
    key = place.with_suffix(KEY)
    size = key.stat().st_size if key.exists() else 0
    if size not in (0, _KEY_BYTES):
        raise _damaged(key)
    return size == _KEY_BYTES


@contextmanager
def seal(place: Path) -> Iterator[BinaryIO]:
    """A file to write to; it can be read once all of it is on disk, and not a byte of it before."""
    key, data, open_with = os.urandom(_KEY_BYTES), place.with_suffix(SEALED), place.with_suffix(KEY)
    encryptor = Cipher(AES(key), GCM(_NONCE)).encryptor()
    try:
        with data.open("wb") as file:
            yield _Writer(file, encryptor)  # type: ignore[misc]
            file.write(encryptor.finalize() + encryptor.tag)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            data.unlink()
        raise
    open_with.unlink(missing_ok=True)  # empty: the machine went down before it had a byte
    sync(place.parent)
    handle = os.open(open_with, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    try:
        if os.write(handle, key) < _KEY_BYTES:
            os.ftruncate(handle, 0)
            raise OSError(f"{open_with} could not be written whole")
        os.fsync(handle)
    finally:
        os.close(handle)
    sync(place.parent)


@contextmanager
def unseal(place: Path) -> Iterator[BinaryIO]:
    """A finished file to read from; one that was changed since is refused."""
    data = place.with_suffix(SEALED)
    try:
        with data.open("rb") as file:
            reader = _Reader(file, place.with_suffix(KEY).read_bytes())
            try:
                yield reader  # type: ignore[misc]
            finally:
                reader.check()
    except (InvalidTag, FileNotFoundError, ValueError):
        raise _damaged(data) from None


def _damaged(place: Path) -> InputError:
    return InputError(
        f"{place} was changed or cut short since it was written, so that this run cannot be taken up. Its rows are "
        f"lost: delete the folder {place.parent}, and disguise the table with --again (again=True)",
        file=str(place),
    )


class _Writer(io.RawIOBase):
    """Encrypts what is written."""

    def __init__(self, file: BinaryIO, encryptor: Any) -> None:
        self._file, self._encryptor, self._written = file, encryptor, 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        plain = memoryview(data).cast("B")  # of whatever Arrow or NumPy has
        self._file.write(self._encryptor.update(plain))
        self._written += plain.nbytes
        return plain.nbytes

    def tell(self) -> int:
        return self._written


class _Reader(io.RawIOBase):
    """Decrypts what is read; whether all of it is as it was written is known at its end."""

    def __init__(self, file: BinaryIO, key: bytes) -> None:
        self._file = file
        self._left = os.fstat(file.fileno()).st_size - _TAG_BYTES
        file.seek(max(0, self._left))
        tag = file.read(_TAG_BYTES)
        file.seek(0)
        self._decryptor = Cipher(AES(key), GCM(_NONCE, tag)).decryptor()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        block = self._file.read(min(len(view), self._left))
        view[: len(block)] = self._decryptor.update(block)
        self._left -= len(block)
        return len(block)

    def check(self) -> None:
        """Read to the end, and see that nothing was changed."""
        while self.read(1 << 20):
            pass
        self._decryptor.finalize()
