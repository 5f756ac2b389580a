"""The issuer's file: a key, and a slot for every invitation. Issuing leaves no order behind, at no instant.

Whoever has the order in which tokens were issued and the order in which reports came can match them. So the first order
is written nowhere. Every invitation has a slot of the same size, written before anything is issued, in the order of the
invitations' hashes. Issuing overwrites the slot where it lies. The journal keeps the page that is being written, for as
long as that takes, and is then empty: what the files hold follows from *which* invitations were used, not from when.

::

    hash of the invitation   32 zeros, until a token is issued; then the hash of the blinded token

More invitations, and closing, make a new file that takes the old one's place.
"""

from __future__ import annotations

import secrets
import sqlite3
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from deniable.errors import InputError
from deniable.storage.sqlite_files import discard, place, replacing, uri
from deniable.storage.sqlite_transactions import locked, telling, transaction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

SIZE = 32  # bytes of a slot
FREE = bytes(SIZE)
_MARK = 0x64656E6A  # marks such a file in SQLite's header
_VERSION = 1


class Content(NamedTuple):
    """What an issuer's file holds. The secret is empty once the survey is closed."""

    public: bytes
    secret: bytes
    slots: Mapping[bytes, bytes]


class Slots:
    """An issuer's file. May be used by any thread, and by several programs at once.

    Args:
        path: the file.
        make: makes a key if there is no file yet: its public half as it is shown, and its secret half.
    """

    def __init__(self, path: Path, make: Callable[[], tuple[bytes, bytes]]) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._inode = -1
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with telling(self.path.parent), self._alone():
            discard(path)  # whoever was killed while writing left the secret and who was issued something
            if not path.exists():
                self.write(path, Content(*make(), {}))

    @property
    def public(self) -> bytes:
        """The key as it is shown."""
        return self._key()[0]

    @property
    def secret(self) -> bytes | None:
        """The secret half; None once the survey is closed."""
        return self._key()[1] or None

    def _key(self) -> tuple[bytes, bytes]:
        with self._steady() as db:
            public, secret = db.execute("SELECT public, secret FROM issuer").fetchone()
        return public, secret

    def has(self, digest: bytes) -> bool:
        """Tell whether there is a slot for this invitation."""
        with self._steady() as db:
            return db.execute("SELECT 1 FROM slots WHERE digest = ?", (digest,)).fetchone() is not None

    def issued(self) -> int:
        """How many slots are used."""
        with self._steady() as db:
            return int(db.execute("SELECT COUNT(*) FROM slots WHERE used <> ?", (FREE,)).fetchone()[0])

    def use(self, digest: bytes, value: bytes) -> bytes | None:
        """Write a value into a free slot, durably. Returns what the slot holds then; None: there is no such slot."""
        with self._steady() as db:
            found = db.execute("SELECT used FROM slots WHERE digest = ?", (digest,)).fetchone()
            if found is None:
                return None
            if found[0] != FREE:
                return bytes(found[0])
            db.execute("UPDATE slots SET used = ? WHERE digest = ?", (value, digest))
            return value

    def add(self, digests: Sequence[bytes]) -> None:
        """Make slots for more invitations."""
        with self._changing() as content:
            self.write(self.path, content._replace(slots={**dict.fromkeys(digests, FREE), **content.slots}))

    def end(self) -> None:
        """Forget the secret key, and fill every slot: nobody can tell any more which were used."""
        with self._changing() as content:
            if content.secret:
                full = {digest: secrets.token_bytes(SIZE) for digest in content.slots}
                self.write(self.path, Content(content.public, b"", full))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._leave()

    # -- the file -----------------------------------------------------------------------------------------------------

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Be the only program that replaces the file."""
        with self._lock, locked(self.path.with_suffix(".lock")):
            yield

    @contextmanager
    def _steady(self) -> Iterator[sqlite3.Connection]:
        """The file in a transaction, sure not to be replaced meanwhile."""
        with telling(self.path.parent), self._lock:
            while True:
                db = self._open()
                with transaction(db):
                    # Whoever replaces the file holds its lock for as long as that takes.
                    if self.path.stat().st_ino == self._inode:
                        yield db
                        return
                self._leave()

    @contextmanager
    def _changing(self) -> Iterator[Content]:
        """What the file holds, while nobody can issue anything."""
        with telling(self.path.parent), self._alone():
            self._leave()
            db = self._open()
            with transaction(db, "BEGIN EXCLUSIVE"):
                public, secret = db.execute("SELECT public, secret FROM issuer").fetchone()
                yield Content(public, secret, dict(db.execute("SELECT digest, used FROM slots")))
            self._leave()

    def _open(self) -> sqlite3.Connection:
        if self._db is None:
            self._inode = self.path.stat().st_ino
            self._db = _connect(self.path)
        return self._db

    def _leave(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    @staticmethod
    def write(path: Path, content: Content) -> None:
        """Write a file, or another one in its place, in the order of the invitations' hashes."""
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with replacing(path) as db:
            db.execute(f"PRAGMA application_id = {_MARK}")
            db.execute(f"PRAGMA user_version = {_VERSION}")
            with transaction(db, "BEGIN"):
                db.execute("CREATE TABLE issuer (public BLOB NOT NULL, secret BLOB NOT NULL)")
                db.execute("CREATE TABLE slots (digest BLOB PRIMARY KEY, used BLOB NOT NULL) WITHOUT ROWID")
                db.execute("INSERT INTO issuer VALUES (?, ?)", (content.public, content.secret))
                db.executemany("INSERT INTO slots VALUES (?, ?)", sorted(content.slots.items()))
        place(path)


def _connect(path: Path) -> sqlite3.Connection:
    # Used from several threads, one at a time: the lock sees to that.
    db = sqlite3.connect(uri(path, "mode=rw"), isolation_level=None, check_same_thread=False, uri=True, timeout=30.0)
    try:
        # Truncated, not deleted: a file that comes and goes would leave its traces in the folder.
        db.execute("PRAGMA journal_mode = TRUNCATE")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA secure_delete = ON")
        (mark,) = db.execute("PRAGMA application_id").fetchone()
        (version,) = db.execute("PRAGMA user_version").fetchone()
    except sqlite3.DatabaseError as error:
        db.close()
        raise InputError(f"{path} is not an issuer's file: {error}", path=str(path)) from error
    if mark != _MARK or version != _VERSION:
        db.close()
        raise InputError(f"{path} is not an issuer's file that this version of deniable knows", path=str(path))
    return db
