"""Atomic publication of a file: it gets its name when it is whole, and never in place of another.

A program that is killed while it writes a disguise must leave nothing of it, because the next try draws another. So a
file has no name until it is whole, where the system knows such files (Linux, on most file systems); elsewhere it has a
hidden one, which a killed program leaves. Then it is linked to its name, which fails where there is something already.
"""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.errors import PrivacyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from deniable.files.object_storage import Object

_BLOCK = 1 << 22
_OPEN = Path("/proc/self/fd")  # where Linux shows a program its open files


def publish(target: Path, write: Callable[[Path], object]) -> None:
    """Have a file written and give it its name; what is there already is left as it is, and refused unless it is equal.

    Args:
        target: the name.
        write: writes the file to the path that it is given.
    """
    with _draft(target) as draft:
        write(draft)
        with draft.open("rb+") as written:
            os.fsync(written.fileno())
        give_name(draft, target)


def give_name(draft: Path, target: Path) -> None:
    """Link a file to a second name, unless there is another under it."""
    try:
        if draft.is_relative_to(_OPEN):
            folder = os.open(target.parent, os.O_RDONLY)
            try:  # only with a folder does Python say to the system that a link is to be followed
                os.link(draft, target.name, dst_dir_fd=folder, follow_symlinks=True)
            finally:
                os.close(folder)
        else:
            os.link(draft, target)
    except FileExistsError:
        refuse_other(draft, target)
    except OSError:  # no links on this file system: here another program could come between the two lines
        refuse_other(draft, target)
        if not target.exists():
            _copy(draft, target)
    sync(target.parent)


def _copy(draft: Path, target: Path) -> None:
    """Copy a file under a name beside its own, and rename that."""
    beside = _beside(target)
    try:
        with draft.open("rb") as source, beside.open("xb") as copy:
            while block := source.read(_BLOCK):
                copy.write(block)
            copy.flush()
            os.fsync(copy.fileno())
        beside.rename(target)
    finally:
        beside.unlink(missing_ok=True)


def refuse_other(draft: Path, target: Path | Object) -> None:
    """Refuse a name that something else has; the same again is no harm."""
    is_taken = os.path.lexists(target) if isinstance(target, Path) else target.exists()
    if is_taken and not is_same(draft, target):
        raise PrivacyError(
            f"{target} is already there, with other content, and nothing is written over. If it is a disguise of the "
            f"same people, both together tell more than one. Choose another name, or delete it yourself",
            file=str(target),
        ) from None


def is_same(draft: Path, target: Path | Object) -> bool:
    """Whether something there has the content of a file here."""
    if not target.is_file():
        return False
    size = target.stat().st_size if isinstance(target, Path) else target.state()[0]
    if size != draft.stat().st_size:
        return False
    with target.open("rb") if isinstance(target, Path) else target.stream() as there, draft.open("rb") as here:
        while block := here.read(_BLOCK):
            if block != there.read(len(block)):
                return False
    return True


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(8)}.unfinished{target.suffix}")


@contextmanager
def _draft(target: Path) -> Iterator[Path]:
    """A file without a name; or, where there are none, with a hidden one."""
    handle = None
    if hasattr(os, "O_TMPFILE") and _OPEN.is_dir():
        with suppress(OSError):  # not on this file system
            handle = os.open(target.parent, os.O_TMPFILE | os.O_RDWR, 0o666)
    if handle is not None:
        try:
            yield _OPEN / str(handle)
        finally:
            os.close(handle)
        return
    beside = _beside(target)
    try:
        yield beside
    finally:
        beside.unlink(missing_ok=True)


def sync(folder: Path) -> None:
    """Bring to disk which names a folder holds."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
