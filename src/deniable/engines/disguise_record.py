"""The registry of disguises on this account, so that the same people are not disguised twice unnoticed.

A folder with a small file for every disguise: marks of its source, its target, its terms, its epsilon. It is the
user's own, wherever sources and targets lie: they may be moved, be read only, or be somewhere else altogether.
DENIABLE_RECORD names another folder, such as one that a team shares.
"""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from deniable.errors import InputError, PrivacyError
from deniable.files.publish_file import sync
from deniable.files.write_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # not on this system
    fcntl = None  # type: ignore[assignment]

VARIABLE = "DENIABLE_RECORD"


class Terms(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a run must have in common with the one that it takes up again."""

    design: str
    keep: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One disguise of one source.

    Attributes:
        source: the mark of its bytes.
        answers: the marks of its answers, each of which is one by which it is known.
        target: where its reports go.
        folder: where it is made.
        terms: how it is disguised.
        epsilon: what that may tell.
        note: what the reports' statement says of those before it.
        is_done: whether the target has its name.
    """

    source: str
    answers: tuple[str, ...]
    target: str
    folder: str
    terms: Terms
    epsilon: float
    note: str = ""
    is_done: bool = False


def record_folder() -> Path:
    """Where the record lies."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    try:
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    except RuntimeError:
        raise InputError(f"this account has no home folder: set {VARIABLE} to a folder for the record") from None
    return Path(state) / "deniable" / "disguised"


class Record:
    """The record in its folder; made where there is none."""

    def __init__(self, folder: Path | None = None) -> None:
        """Open it."""
        self.folder = record_folder() if folder is None else folder
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self.alone():
                self.key = self._secret()
        except OSError as error:
            raise InputError(
                f"the record of what was disguised cannot be kept in {self.folder} ({error.strerror}), and without it "
                f"a second disguise of the same people would go unnoticed. Set {VARIABLE} to a folder that you can "
                f"write to, and that stays",
                folder=str(self.folder),
            ) from None

    def _secret(self) -> bytes:
        place = self.folder / "key"
        if not place.exists():
            if any(self.folder.glob("[!.]*.json")):
                raise InputError(f"{place} is gone, without which the record beside it means nothing; bring it back")
            draft = self.folder / f".key.{secrets.token_hex(8)}"
            draft.touch(0o600)
            draft.write_bytes(os.urandom(32))
            draft.rename(place)
            sync(self.folder)
        return place.read_bytes()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Let no other program read or write the record meanwhile."""
        handle = os.open(self.folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            lock(handle, wait=True)
            yield
        finally:
            os.close(handle)

    def claims(self) -> dict[str, Claim]:
        """All claims, by their names."""
        return {place.stem: self._read(place) for place in sorted(self.folder.glob("[!.]*.json"))}

    def _read(self, place: Path) -> Claim:
        try:
            return msgspec.json.decode(place.read_bytes(), type=Claim)
        except msgspec.DecodeError as error:
            raise InputError(f"{place} cannot be read: {error}", file=str(place)) from None

    def write(self, name: str, claim: Claim) -> None:
        """Note a claim down, or what became of it."""
        write_whole(self.folder / f"{name}.json", lambda place: place.write_bytes(msgspec.json.encode(claim)))

    def withdraw(self, name: str) -> None:
        """Forget a claim of which nothing was shown."""
        with suppress(FileNotFoundError):
            (self.folder / f"{name}.json").unlink()
        sync(self.folder)


def lock(handle: int, *, wait: bool = False) -> None:
    """Lock an open file or folder; the operating system lets go of it when the program ends, however it ends."""
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a folder of unfinished work, which is made where there is none; two programs at once would draw twice."""
    folder.mkdir(parents=True, exist_ok=True)
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            lock(handle)
            same = os.path.samestat(os.fstat(handle), folder.stat())
        except (BlockingIOError, FileNotFoundError):  # it is held; or it was, by one that has just removed it
            same = False
        except OSError as error:
            raise InputError(
                f"{folder} cannot be locked ({error.strerror}), and two programs at once would disguise rows twice. "
                f"Write to another file system, and copy the reports from there",
                folder=str(folder),
            ) from None
        if not same:
            raise PrivacyError(
                f"another program is at work in {folder}; two at once would disguise rows twice", folder=str(folder)
            )
        yield
    finally:
        os.close(handle)
