"""Files in object storage, by their address: s3://bucket/folder/reports.parquet.

An object appears when it is whole, or not at all, which is what is asked of every file of reports here: it is sent
under another name, looked at, and given its own by the store. pyarrow reaches the stores it knows (s3, gs, abfs, hdfs;
we run s3 only) with the credentials that its libraries find: for s3 those of the environment (AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY), of AWS_PROFILE, or of the machine. In an address they are refused, since an address is told in
messages and written down. Another server than Amazon's is named by AWS_ENDPOINT_URL.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from deniable.errors import InputError
from deniable.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyarrow import NativeFile

MOST_COPIED = 5 << 30  # bytes that a store gives another name
SCHEMES = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs")


def is_object(place: object) -> bool:
    """Whether this is the address of an object.

    >>> is_object("s3://bucket/reports.parquet"), is_object("reports.parquet"), is_object("postgresql://host/survey")
    (True, False, False)
    """
    return isinstance(place, Object) or (isinstance(place, str) and place.split("://")[0] in SCHEMES and "://" in place)


def is_hidden(below: str | PurePath) -> bool:
    """Whether a path below a folder of reports has a part that begins with _ or a dot: unfinished, or no reports.

    >>> is_hidden("_temporary/0/part-0.parquet"), is_hidden("north/.part-0.parquet"), is_hidden("north/part_0.parquet")
    (True, True, False)
    """
    return any(part[0] in "_." for part in PurePosixPath(below).parts)


def parts_of(folder: Path | Object, suffix: str) -> list[Path | Object]:
    """All files below a folder whose names end so, in order, without those that are hidden."""
    if isinstance(folder, Object):
        return [*folder.parts(suffix)]
    below = sorted(path for path in folder.rglob(f"*{suffix}") if path.is_file())
    return [path for path in below if not is_hidden(path.relative_to(folder))]


def place_of(given: str | Path | Object) -> Path | Object:
    """A path, or an object where an address is given."""
    if isinstance(given, str) and is_object(given):
        return Object(given)
    return given if isinstance(given, Object) else Path(given)


@dataclass(frozen=True)
class Object(Frozen):
    """An object by its address; it answers to what is asked of paths here.

    >>> place = Object("s3://bucket/surveys/reports.csv")
    >>> place.name, place.suffix, str(place.with_name("design.json"))
    ('reports.csv', '.csv', 's3://bucket/surveys/design.json')
    """

    address: str

    def __post_init__(self) -> None:
        """Refuse what must not be repeated, and what would be read as another name."""
        super().__post_init__()
        parts = urlsplit(self.address)
        secret = parts.password is not None or (parts.scheme == "s3" and "@" in parts.netloc)
        if secret or "secret_key" in parts.query:
            raise InputError(
                f"an address must not hold credentials: it is told in messages and written down. Take them out of the "
                f"{parts.scheme} address, and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or AWS_PROFILE) instead"
            )
        if "#" in self.address:
            raise InputError(
                f"the address {self.address} has a #, behind which nothing is read; give the object another name",
                file=self.address,
            )

    def __str__(self) -> str:
        return self.address

    @property
    def _path(self) -> PurePosixPath:
        parts = urlsplit(self.address)
        return PurePosixPath(parts.netloc + parts.path)

    @property
    def name(self) -> str:
        """Its last part."""
        return self._path.name

    @property
    def suffix(self) -> str:
        """How the name ends."""
        return self._path.suffix

    def with_name(self, name: str) -> Object:
        """Another in the same folder."""
        parts = urlsplit(self.address)
        return Object(urlunsplit(parts._replace(path=str(PurePosixPath(parts.path).with_name(name)))))

    def __truediv__(self, name: str) -> Object:
        parts = urlsplit(self.address)
        return Object(urlunsplit(parts._replace(path=str(PurePosixPath(parts.path) / name))))

    # -- asking the store --------------------------------------------------------------------------------------------

    @cached_property
    def _reached(self) -> tuple[Any, str]:
        """The store's file system, and what the object is called there."""
        from pyarrow import fs

        parts = urlsplit(self.address)
        elsewhere = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        with self._told():
            if parts.scheme != "s3":
                found: tuple[Any, str] = fs.FileSystem.from_uri(self.address)
                return found
            if elsewhere and "endpoint_override" not in parts.query:
                region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
                return fs.S3FileSystem(endpoint_override=elsewhere, region=region), str(self._path)
            # The bucket alone: the name of an object may hold what an address cannot.
            return fs.FileSystem.from_uri(urlunsplit(parts._replace(path="")))[0], str(self._path)

    @property
    def _store(self) -> Any:
        return self._reached[0]

    @property
    def _key(self) -> str:
        return self._reached[1]

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say what a store's refusal means, and what to do about it."""
        try:
            yield
        except FileNotFoundError:
            raise InputError(f"there is no object {self.address}", file=self.address) from None
        except (OSError, ValueError, ImportError) as error:
            raise InputError(
                f"{self.address}: {_meaning(str(error), self._path.parts[0])}", file=self.address
            ) from None

    def _info(self) -> Any:
        with self._told():
            return self._store.get_file_info(self._key)

    def exists(self) -> bool:
        """Whether there is anything under this name."""
        return self.is_file() or self.is_dir()

    def is_file(self) -> bool:
        """Whether it is an object."""
        return bool(self._info().is_file)

    def is_dir(self) -> bool:
        """Whether objects' names begin with this and a slash."""
        from pyarrow import fs

        return bool(self._info().type == fs.FileType.Directory)

    def state(self) -> tuple[int, int]:
        """Its length in bytes and when it was written, in nanoseconds."""
        found = self._info()
        return found.size or 0, found.mtime_ns or 0

    def parts(self, suffix: str) -> list[Object]:
        """All objects below it whose names end so, in order, without those that are hidden."""
        from pyarrow import fs

        with self._told():
            found = self._store.get_file_info(fs.FileSelector(self._key, recursive=True))
        root = self._key
        below = sorted(each.path for each in found if each.is_file and each.path.endswith(suffix))
        names = [path.removeprefix(root).lstrip("/") for path in below]
        return [self / name for name in names if not is_hidden(name)]

    # -- reading and writing -----------------------------------------------------------------------------------------

    def open(self) -> NativeFile:
        """A file that can be read from anywhere in it."""
        with self._told():
            return self._store.open_input_file(self._key)

    def stream(self) -> NativeFile:
        """A file that is read from its beginning to its end."""
        with self._told():
            return self._store.open_input_stream(self._key)

    def read_bytes(self) -> bytes:
        """All of it."""
        with self.open() as file, self._told():
            return bytes(file.read())

    def write_bytes(self, data: bytes) -> None:
        """Write it whole."""
        with tempfile.TemporaryDirectory() as folder:
            local = Path(folder) / self.name
            local.write_bytes(data)
            self.put(local)

    def put(self, local: Path) -> None:
        """Send a file there. What was there before stays until the new one is whole.

        A store keeps whatever it has got when sending is interrupted, so it is sent under another name. Stores copy no
        object of more than 5 GiB: such a one is sent under its own name, and removed if that is interrupted.
        """
        size = local.stat().st_size
        if size > MOST_COPIED:
            self._send(local)
            return
        staged = self.with_name(f".{self.name}.{secrets.token_hex(8)}.unfinished")
        staged._send(local)
        try:
            with self._told():
                staged._expect(size)
                self._store.move(staged._key, self._key)
        except BaseException:
            with suppress(OSError, InputError):
                staged.remove()
            raise

    def _expect(self, size: int) -> None:
        found = self.state()[0]
        if found != size:
            raise OSError(f"the store holds {found} of {size} bytes; send it again")

    def _send(self, local: Path) -> None:
        with self._told():
            out = self._store.open_output_stream(self._key)
            try:
                with local.open("rb") as file:
                    shutil.copyfileobj(file, out, 1 << 22)
                out.close()
            except BaseException:
                with suppress(OSError):
                    out.close()  # else it is closed later, when nobody removes what was sent
                    self._store.delete_file(self._key)
                raise

    def remove(self) -> None:
        """Delete it."""
        with self._told():
            self._store.delete_file(self._key)

    @contextmanager
    def fetched(self, *beside: str) -> Iterator[Path]:
        """A copy on this machine, with other objects of its folder beside it, for formats that are read as a whole."""
        with tempfile.TemporaryDirectory() as folder:
            for each in (self, *(self.with_name(name) for name in beside)):
                (Path(folder) / each.name).write_bytes(each.read_bytes())
            yield Path(folder) / self.name


def _meaning(error: str, bucket: str) -> str:
    """A store's message in words that help; what is not known is passed on."""
    if "NO_SUCH_BUCKET" in error:
        return f"there is no bucket {bucket!r}; make it first, or correct the address"
    if any(word in error for word in ("ACCESS_DENIED", "INVALID_ACCESS_KEY", "SIGNATURE", "credentials")):
        return (
            f"the store does not let us at the bucket {bucket!r}. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or "
            f"AWS_PROFILE), and see that they may read and write there ({error})"
        )
    if "NETWORK_CONNECTION" in error or "curlCode" in error:
        return f"the store cannot be reached; AWS_ENDPOINT_URL names one that is not Amazon's ({error})"
    return error
