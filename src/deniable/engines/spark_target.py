"""Where a run of Spark writes: claimed before the first row, hidden until all is there, and then named at once.

Beside the target `reports` a run creates the file `_reports.claim`, which only one program can, and writes into the
folder `_reports.unfinished`. When every report is there, with the design, that folder becomes the target, and the
claim goes. A run that did not end leaves both, and no other begins: what it wrote may have been read.

Creating what must not exist yet, and renaming a folder, are one step on a local disk and on HDFS. In object storage
they are not, whatever program asks for them: two runs could both find nothing there, and a folder appears piece by
piece. Only what is known to do both in one step is written to.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from deniable.errors import InputError, PrivacyError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CLAIM, UNFINISHED = "_{}.claim", "_{}.unfinished"  # both begin with what every reader passes over
LOCAL = {
    "org.apache.hadoop.fs.LocalFileSystem",
    "org.apache.hadoop.fs.RawLocalFileSystem",
    "org.apache.hadoop.hive.ql.io.ProxyLocalFileSystem",  # what Spark's own Hive may put before the first
}
WAY_OUT = (
    "Write to HDFS, or to a local disk that all executors see, and copy the finished folder; or disguise single files "
    "with `deniable randomize`, which knows object storage"
)
HDFS = {"org.apache.hadoop.hdfs.DistributedFileSystem"}


class Disk(Protocol):
    """What is asked of the place where a target lies; names are those of files and folders beside each other."""

    def exists(self, name: str) -> bool:
        """Whether there is anything under this name."""
        ...

    def create(self, name: str, text: bytes) -> bool:
        """Create a file, in one step; false where there is one."""
        ...

    def rename(self, name: str, to: str) -> None:
        """Give a folder another name, in one step."""
        ...

    def remove(self, name: str) -> None:
        """Delete one file."""
        ...

    def address(self, name: str) -> str:
        """What Spark calls it."""
        ...


class LocalDisk:
    """A folder of this machine's own disk."""

    def __init__(self, folder: Path) -> None:
        """Take the folder; it is made where there is none."""
        self._folder = folder

    def exists(self, name: str) -> bool:
        """Whether there is anything under this name."""
        return os.path.lexists(self._folder / name)

    def create(self, name: str, text: bytes) -> bool:
        """Create a file by O_EXCL, and bring it to disk."""
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            file = os.open(self._folder / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        except FileExistsError:
            return False
        with os.fdopen(file, "wb") as out:
            out.write(text)
            out.flush()
            os.fsync(file)
        return True

    def rename(self, name: str, to: str) -> None:
        """Give a folder another name, in one step."""
        (self._folder / name).rename(self._folder / to)

    def remove(self, name: str) -> None:
        """Delete one file."""
        (self._folder / name).unlink()

    def address(self, name: str) -> str:
        """What Spark calls it."""
        return f"file://{(self._folder / name).as_posix()}"


class HadoopDisk:
    """A folder of a file system that Hadoop reaches. On HDFS, for which it is made, it was not run by us."""

    def __init__(self, jvm: Any, files: Any, folder: Any) -> None:
        """Take Spark's Java, a Hadoop file system, and the folder's path in it."""
        self._jvm, self._files, self._folder = jvm, files, folder

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self._folder, name)

    def exists(self, name: str) -> bool:
        """Whether there is anything under this name."""
        return bool(self._files.exists(self._path(name)))

    def create(self, name: str, text: bytes) -> bool:
        """Create a file without overwriting: on HDFS the name node settles which of two programs did."""
        try:
            out = self._files.create(self._path(name), False)  # noqa: FBT003 - Java has no names for arguments
        except spark_errors():
            if self.exists(name):
                return False
            raise
        out.write(bytearray(text))
        out.close()
        return True

    def rename(self, name: str, to: str) -> None:
        """Give a folder another name, in one step."""
        if self.exists(to) or not self._files.rename(self._path(name), self._path(to)):
            raise InputError(f"{self.address(name)} cannot be given the name {to!r}", file=self.address(name))

    def remove(self, name: str) -> None:
        """Delete one file."""
        self._files.delete(self._path(name), False)  # noqa: FBT003 - Java has no names for arguments

    def address(self, name: str) -> str:
        """What Spark calls it."""
        return str(self._path(name).toString())


class Target:
    """One run's way from the claim to the finished folder."""

    def __init__(self, disk: Disk, name: str) -> None:
        """Take the place, and what the finished folder is called there."""
        self._disk, self._name = disk, name
        self._claim, self._unfinished = CLAIM.format(name), UNFINISHED.format(name)

    @property
    def address(self) -> str:
        """Of the finished folder."""
        return self._disk.address(self._name)

    @property
    def unfinished(self) -> str:
        """Where this run writes."""
        return self._disk.address(self._unfinished)

    @property
    def way_on(self) -> str:
        """What whoever finds a run that did not end can do."""
        return (
            f"What it wrote lies in {self.unfinished}, where no reader of reports looks, and whoever can read that "
            f"folder may have seen it. If nobody has, see that it is not at work any more, delete {self.unfinished} "
            f"and {self._disk.address(self._claim)}, and run this again. If somebody may have, another run is a second "
            f"disguise of the same people, whose epsilon adds up"
        )

    def claim(self, who: str) -> None:
        """Be the only program that writes this target; `who` is for people who find the claim."""
        self._refuse_second()
        try:
            is_ours = self._disk.create(self._claim, f"{who} disguises a table into {self.address}\n".encode())
        except OSError as error:
            raise InputError(f"{self.address} cannot be written: {error.strerror}", file=self.address) from None
        if not is_ours:
            raise PrivacyError(
                f"another run has begun to disguise a table into {self.address}, and has not ended: two of them would "
                f"disguise the same people twice. If it is at work, wait for it. {self.way_on}",
                file=self.address,
            )
        try:
            self._refuse_second()  # another run may have ended meanwhile
            self._refuse_unclaimed()
        except PrivacyError:
            self.release()
            raise

    def release(self) -> None:
        """Let others begin: only where no row was written, or all are under the target's name."""
        self._disk.remove(self._claim)

    def finish(self, design_name: str, design: bytes) -> None:
        """Lay the design beside the reports, and give all of it the target's name."""
        self._disk.create(f"{self._unfinished}/{design_name}", design)
        self._disk.rename(self._unfinished, self._name)
        self.release()

    def _refuse_unclaimed(self) -> None:
        if self._disk.exists(self._unfinished):
            raise PrivacyError(
                f"a run that wrote {self.address} did not end, and its claim is gone. {self.way_on}", file=self.address
            )

    def _refuse_second(self) -> None:
        if self._disk.exists(self._name):
            raise PrivacyError(
                f"{self.address} is already there. Disguising the same people a second time would spend their epsilon "
                f"a second time. If these are other people, choose another name",
                file=self.address,
            )


def target_of(given: str, session: SparkSession) -> Target:
    """Where Spark would write, if it is on a local disk or on HDFS; everything else is refused."""
    jvm: Any = getattr(session, "_jvm", None)  # Spark Connect has none
    if jvm is None:
        raise InputError(
            "a client of Spark Connect cannot claim the target, and two runs would disguise the same people twice: "
            "run this where the driver runs"
        )
    try:
        path = jvm.org.apache.hadoop.fs.Path(given)
        files = path.getFileSystem(session._jsc.hadoopConfiguration())
        scheme, kind = str(files.getUri().getScheme()), str(files.getClass().getName())
        known = (scheme == "file" and kind in LOCAL) or (scheme == "hdfs" and kind in HDFS)
        whole = files.makeQualified(path) if known else path
    except spark_errors() as error:
        told = str(error).strip().splitlines()
        raise InputError(
            f"Spark cannot write to {given}: {told[-1] if told else error}. {WAY_OUT}", file=given
        ) from None
    if not known:
        raise PrivacyError(
            f"{given} is not on a local disk or HDFS ({scheme}, by {kind}). Object storage, and what is like it, lets "
            f"two runs write one folder, and shows it piece by piece: the same people could be disguised twice. "
            f"{WAY_OUT}",
            file=given,
        )
    if str(whole.getName())[:1] in ("", "_", "."):
        raise InputError(
            f"{given}: reports are written into a folder of their own, whose name begins neither with _ nor with a "
            f"dot, because readers pass over those",
            file=given,
        )
    if scheme == "hdfs":
        return Target(HadoopDisk(jvm, files, whole.getParent()), str(whole.getName()))
    local = Path(str(whole.toUri().getPath())).resolve()
    return Target(LocalDisk(local.parent), local.name)


def spark_errors() -> tuple[type[Exception], ...]:
    """What Spark throws, and what Java throws through it."""
    from importlib import import_module

    return (import_module("pyspark.errors").PySparkException, import_module("py4j.protocol").Py4JJavaError)
