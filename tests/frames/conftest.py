"""Every engine that can be had: what it counts must be what NumPy counts in memory."""

from __future__ import annotations

import os
import shutil
import sys
import warnings

import pytest


@pytest.fixture(scope="session")
def postgres(cluster):
    """A database of the PostgreSQL server that all tests of a process share; as an Ibis connection."""
    import ibis

    with cluster.database() as address:
        connection = ibis.connect(address)
        yield connection
        connection.disconnect()


@pytest.fixture(scope="session")
def spark():
    """Spark in this process; needs Java. Only one test may use it, so that only one worker starts one."""
    if shutil.which("java") is None:
        pytest.fail("Spark needs a Java 17 runtime; `make test` sees to it")
    from pyspark import sql

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYTHONWARNINGS", "ignore")
        warnings.simplefilter("ignore")
        session = (
            sql.SparkSession.builder.master("local[1]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.memory", "512m")
            # A few small jobs end before a compiler that optimizes has paid for itself.
            .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto")
            .config("spark.sql.codegen.wholeStage", "false")
            .config("spark.sql.adaptive.enabled", "false")
            .config("spark.sql.shuffle.partitions", "1")
            .config("spark.sql.warehouse.dir", os.fspath(os.environ.get("TMPDIR", "/tmp")))  # noqa: S108 - never written
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()
