"""Every engine that can be had: what it counts must be what NumPy counts in memory."""

from __future__ import annotations

import os
import shutil

import pytest

from deniable.bench.engines import spark_cluster


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
    with spark_cluster("local[2]", **quick) if few else spark_cluster() as session:
        yield session
