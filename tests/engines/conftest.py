"""Every engine that can be had: what it counts must be what NumPy counts in memory."""

from __future__ import annotations

import contextlib
import os
import shutil

import pytest

from benchmarks.speed.engines import spark_cluster


@pytest.fixture(scope="session")
def postgres(cluster):
    """A database of the PostgreSQL server that all tests of a process share; as an Ibis connection."""
    import ibis

    with cluster.database() as address:
        connection = ibis.connect(address)
        yield connection
        connection.disconnect()


@pytest.fixture(scope="session")
def spark_logs(tmp_path_factory):
    """The folder of all that Spark writes down: events, what its processes print, and what its executors do."""
    return tmp_path_factory.mktemp("spark_logs")


@contextlib.contextmanager
def printed_into(path):
    """What processes that are started meanwhile will print goes into a file."""
    kept = {descriptor: os.dup(descriptor) for descriptor in (1, 2)}
    file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    try:
        for descriptor in kept:
            os.dup2(file, descriptor)
        yield
    finally:
        for descriptor, before in kept.items():
            os.dup2(before, descriptor)
            os.close(before)
        os.close(file)


@pytest.fixture(scope="session")
def spark(spark_logs):
    """Spark: for many rows on two executors that are processes of their own, for few in one process.

    Only one test may use it: only one worker starts one.
    """
    if shutil.which("java") is None:
        pytest.fail("Spark needs a Java 17 runtime; `make test` sees to it")
    # A few small jobs end before a compiler that optimizes has paid for itself.
    options = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"
    few = int(os.environ.get("DENIABLE_MANY", "0")) < 1_000_000
    quick = {
        "spark.driver.extraJavaOptions": options,
        "spark.executor.extraJavaOptions": options,
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.shuffle.partitions": "1",
    }
    (spark_logs / "events").mkdir()
    logged = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (spark_logs / "events").as_uri(),
        "spark.eventLog.compress": "false",
    }
    cluster = spark_cluster("local[2]", **quick, **logged) if few else spark_cluster(**logged)
    with printed_into(spark_logs / "printed"):
        session = cluster.__enter__()
    yield session
    cluster.__exit__(None, None, None)
