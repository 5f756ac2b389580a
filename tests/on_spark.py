"""What `deniable.engines.spark` promises, tried on a Spark that is there. One test calls these: starting it is slow."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import AnalysisException

import deniable as dn
from benchmarks.speed.engines import below
from deniable.engines.spark import randomize
from deniable.engines.spark_target import HadoopDisk, Target
from deniable.errors import DeniableError, InputError, PrivacyError
from deniable.files.header import Header
from waiting import until

DOMAIN = dn.Domain({"status": ["negative", "positive"], "age": {"bins": [30, 60]}})
DESIGN = dn.Independent(DOMAIN, 2.0)
SENTINEL = "Zwyntarquist"  # a true value, which nobody else would write


def files_below(folder):
    return {path for path in Path(folder).rglob("*") if path.is_file()}


def check_claims(spark, folder):
    """Of starts at once one writes, and of those after it none; the folder holds one disguise and its design."""
    rows = 4000
    table = pa.table({"status": ["negative", "positive"] * (rows // 2), "age": np.arange(rows) % 90})
    frame = spark.createDataFrame(table).repartition(4)
    ended: list[object] = []

    def start(name):
        try:
            ended.append(randomize(frame, DESIGN, name).count())
        except DeniableError as error:
            ended.append(str(error))

    # One place under several names.
    (folder / "link").symlink_to(folder)
    names = [str(folder / "once"), f"file://{folder}/once", str(folder / "link" / "once"), f"{folder}/once/"]
    threads = [threading.Thread(target=start, args=[name]) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each for each in ended if isinstance(each, int)] == [rows], ended
    refused = [each for each in ended if isinstance(each, str)]
    assert len(refused) == 3
    assert all("has not ended" in each or "already there" in each for each in refused)
    assert {path.name for path in folder.iterdir()} == {"once", "link"}
    assert dn.open_reports(folder / "once").n == rows
    with pytest.raises(PrivacyError, match="already there"):
        randomize(frame, DESIGN, str(folder / "once"))
    # A plan that cannot be made touches no row, and leaves the target to others.
    refused = patch.object(type(frame.write), "parquet", side_effect=AnalysisException("no such plan"))
    with refused, pytest.raises(InputError, match="no such plan"):
        randomize(frame, DESIGN, str(folder / "plan"))
    assert not list(folder.glob("*plan*"))


def check_places(spark, folder):
    """What is neither a local disk nor HDFS is refused, by its name and by the program behind it."""
    frame = spark.createDataFrame(pa.table({"status": ["negative"], "age": [1]}))
    settings = spark.sparkContext._jsc.hadoopConfiguration()
    settings.set("fs.bucket.impl", "org.apache.hadoop.fs.RawLocalFileSystem")
    settings.set("fs.webhdfs.impl", "org.apache.hadoop.fs.http.HttpFileSystem")
    for place in ("s3a://bucket/r", "gs://bucket/r", "abfss://box@account.dfs.core.windows.net/r", "wasb://b@a/r",
                  "webhdfs://host/r", "bucket:///r"):  # fmt: skip
        with pytest.raises((PrivacyError, InputError), match="Write to HDFS, or to a local disk"):
            randomize(frame, DESIGN, place)
    settings.set("fs.hdfs.impl", "org.apache.hadoop.fs.http.HttpFileSystem")
    settings.set("fs.hdfs.impl.disable.cache", "true")
    with pytest.raises(PrivacyError, match="HttpFileSystem"):
        randomize(frame, DESIGN, "hdfs://host/r")
    settings.unset("fs.hdfs.impl")
    for name in ("_r", ".r", ""):
        with pytest.raises(InputError, match=r"begins neither|cannot write"):
            randomize(frame, DESIGN, f"{folder}/{name}" if name else "/")
    (folder / "file").touch()
    with pytest.raises(InputError, match="cannot be written"):
        randomize(frame, DESIGN, str(folder / "file" / "r"))


def check_hadoop(spark, folder):
    """The steps that HDFS is asked for, on the Hadoop file system that is here."""
    jvm = spark.sparkContext._jvm
    path = jvm.org.apache.hadoop.fs.Path(str(folder))
    disk = HadoopDisk(jvm, path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration()), path)
    first, second = Target(disk, "h"), Target(disk, "h")
    first.claim("The first")
    with pytest.raises(PrivacyError, match="has not ended") as caught:
        second.claim("The second")
    assert first.unfinished in str(caught.value)
    (folder / "_h.unfinished").mkdir()
    first.finish("_design.json", Header(DESIGN.canonical()).json())
    assert (folder / "h" / "_design.json").read_bytes() == Header(DESIGN.canonical()).json()
    assert not (folder / "_h.claim").exists()
    with pytest.raises(PrivacyError, match="already there"):
        second.claim("The second")


def check_silence(spark, folder, logs):
    """Jobs that fail in each way we know: no byte of what Spark writes down, nor of our errors, is a true value."""

    def stored(name, **columns):
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")
        return spark.read.parquet(str(folder / f"{name}.parquet"))

    def crash(batches):
        for batch in batches:
            os.kill(os.getpid(), 9)
            yield batch

    status = ["negative", SENTINEL] * 50
    ages = list(range(100))
    plain = stored("plain", status=["negative"] * 100, age=ages, note=[SENTINEL] * 100)
    ways = {
        "unknown": stored("unknown", status=status, age=ages),
        "missing": stored("missing", status=[*status[:-1], None], age=ages),
        "text": stored("text", status=["negative"] * 100, age=[SENTINEL] * 100),
        "lists": stored("lists", status=[[SENTINEL]] * 100, age=ages),
        "died": stored("died", status=status, age=ages).mapInArrow(crash, "status string, age bigint"),
    }
    spark.sparkContext.setLogLevel("INFO")
    refused = []
    for name, frame in ways.items():
        with pytest.raises(DeniableError) as caught:
            randomize(frame, DESIGN, str(folder / name))
        refused.append(str(caught.value))
        # How to go on is in the error; nobody begins before it was heeded.
        assert f"_{name}.unfinished" in refused[-1]
        assert f"_{name}.claim" in refused[-1]
        with pytest.raises(PrivacyError, match="has not ended"):
            randomize(plain, DESIGN, str(folder / name))
        (folder / f"_{name}.claim").unlink()
        if (folder / f"_{name}.unfinished").exists():
            with pytest.raises(PrivacyError, match="its claim is gone"):
                randomize(plain, DESIGN, str(folder / name))
    assert "column 'status' holds 50 values in one batch that are not among its categories" in refused[0]
    # What fails in front of ours is quoted by Spark in its logs; our error does not repeat it.
    # Executors that are processes of their own print into a folder of their worker's.
    folders = [logs, *([os.environ["SPARK_WORKER_DIR"]] if executors() else [])]
    before = {path: path.stat().st_size for each in folders for path in files_below(each)}
    with pytest.raises(DeniableError) as caught:
        randomize(plain.withColumn("age", plain.note.cast("int")), DESIGN, str(folder / "cast"))
    assert "CAST_INVALID_INPUT" in str(caught.value)
    spark.sparkContext.setLogLevel("ERROR")
    for told in (*refused, str(caught.value)):
        assert SENTINEL not in told
    events = {path for path in before if "events" in path.parts}
    until(lambda: any(b"values in one batch" in path.read_bytes() for path in events), "an event of the failure")
    written = {path: path.read_bytes()[: before[path]] for path in before}
    assert any(b"values in one batch" in held for path, held in written.items() if path not in events)
    for path, held in written.items():
        assert SENTINEL.encode() not in held, path
    # What was left lies where no reader looks; given free, the target takes one disguise.
    randomize(plain, DESIGN, str(folder / "cast2"))
    assert dn.open_reports(folder / "cast2").n == 100


def executors():
    """The processes of executors that this one has started."""

    def runs(process):
        try:
            return b"CoarseGrainedExecutorBackend" in Path(f"/proc/{process}/cmdline").read_bytes()
        except OSError:  # it ended meanwhile
            return False

    return [process for process in below(os.getpid()) if runs(process)]


def check_killed(spark, folder):
    """An executor that is killed leaves nothing that a reader takes: neither meanwhile nor at the end."""
    rows, started = 20_000, folder / "started"

    def slow(batches):
        for batch in batches:
            started.touch()
            yield batch
            time.sleep(1)

    table = pa.table({"status": ["negative", "positive"] * (rows // 2), "age": np.arange(rows) % 90})
    frame = spark.createDataFrame(table).repartition(8).mapInArrow(slow, "status string, age bigint")
    target = folder / "killed"
    run = threading.Thread(target=randomize, args=[frame, DESIGN, str(target)])
    run.start()
    until(started.exists, "a task at work")
    until(lambda: files_below(folder / "_killed.unfinished"), "a first report")
    os.kill(executors()[0], 9)
    assert not target.exists()
    with pytest.raises(InputError, match="there is no file"):
        dn.open_reports(target)
    with pytest.raises(InputError, match="lacks the file"):
        dn.open_reports(folder / "_killed.unfinished")
    run.join()
    assert dn.open_reports(target).n == rows
    assert not list(folder.glob("_*"))


def check(spark, folder, logs):
    """All of it, each in a folder of its own."""
    for name, what in (("claims", check_claims), ("places", check_places), ("hadoop", check_hadoop)):
        (folder / name).mkdir()
        what(spark, folder / name)
    if executors():
        (folder / "killed").mkdir()
        check_killed(spark, folder / "killed")
    (folder / "silence").mkdir()
    check_silence(spark, folder / "silence", logs)
