"""Five engines, one count: categories, sets and hashes counted where they lie, in rows a CPU-second.

The same Parquet file of reports is counted by NumPy as it streams by, by an embedded DuckDB, by PostgreSQL, by Spark on
a cluster of processes, and by ClickHouse (its SQL compiled by Ibis, run by chdb, which is ClickHouse in this process).
All must count the same. CPU time is that of every process that takes part; loading the tables is not counted. What a
client holds meanwhile is measured in a process of its own, before and during the count.

`python -m benchmarks.speed.engines 10000000 NumPy DuckDB` measures so many rows, by these engines.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.benchmark import Claim, Measurement
from benchmarks.speed.servers import postgres
from deniable import KRR, Domain, Independent, LocalHashing, Unary
from deniable.engines.query_engines import IbisEngine, ParquetEngine
from deniable.engines.stored_reports import StoredReports
from deniable.errors import MissingExtraError
from deniable.files.header import Header
from deniable.files.reserved_columns import answer_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from deniable.engines.query_engines import Engine

ROWS = 1_000_000
K = 24
MEGABYTES = 192.0
_PIECE = 1 << 19
DOMAIN = Domain({"category": range(8), "set": range(K), "hash": range(K)})
DESIGN = Independent(DOMAIN, channels={"category": KRR(8, 1.0), "set": Unary(K, 1.0), "hash": LocalHashing(K, 1.0)})
TABLES = (("category",), ("set",), ("hash",), ("category", "set"))


def write_reports(path: Path, rows: int) -> None:
    """Disguise made-up people into a file, piece by piece; whole numbers have a sign, as other systems have them."""
    rng = np.random.default_rng(0)
    fields = [(name, pa.int64()) for name in answer_columns(DESIGN)] + [("region", pa.string())]
    schema = pa.schema(fields).with_metadata(Header(DESIGN.canonical()).metadata())
    with pq.ParquetWriter(path, schema) as out:
        for start in range(0, rows, _PIECE):
            size = min(_PIECE, rows - start)
            codes = np.stack([rng.integers(0, len(v), size) for v in DOMAIN.values()], axis=1)
            _, answers = DESIGN.randomize_codes(codes)
            columns = [pa.array(answers[:, place].astype(np.int64)) for place in range(len(DOMAIN))]
            regions = pa.array(np.array(["north", "south"])[rng.integers(0, 2, size)])
            out.write_table(pa.table([*columns, regions], schema=schema))


class ChdbEngine(IbisEngine):
    """ClickHouse's SQL, as Ibis compiles it, run by ClickHouse in this process."""

    def __init__(self, path: Path) -> None:
        """Load a Parquet file into a table in memory."""
        ibis, session = _package("ibis"), _package("chdb.session").Session()
        self._session = session
        session.query("CREATE DATABASE IF NOT EXISTS held")
        plain = "SETTINGS schema_inference_make_columns_nullable=0"
        read = f"SELECT * FROM file('{path}', Parquet)"  # noqa: S608 - a folder of our own
        session.query(f"CREATE TABLE held.reports ENGINE = Memory AS {read} {plain}")
        schema = {field.name: "string" if field.type == pa.string() else "int64" for field in pq.read_schema(path)}
        super().__init__(ibis.table(schema, name="reports", database="held"), name="clickhouse")

    def run(self, query: Any) -> pa.Table:
        """Compile and run."""
        text = str(_package("ibis").to_sql(query, dialect="clickhouse"))
        found = self._session.query(text, "ArrowTable")
        assert isinstance(found, pa.Table)
        return found

    def close(self) -> None:
        """Let go of the table."""
        self._session.query("DROP DATABASE held")
        self._session.close()


def _package(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(f"this needs {name}: pip install 'deniable[bench]'", extra="bench") from None


# -- each engine -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Running:
    """An engine that holds the reports, and the processes beside this one that work for it."""

    engine: Engine
    processes: Callable[[], Sequence[int]]

    def cpu(self) -> float:
        """CPU seconds of this process and of those."""
        own = os.times()
        return own.user + own.system + sum(map(_cpu, self.processes()))


def _cpu(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:  # it ended meanwhile
        return 0.0
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def below(process: int) -> list[int]:
    """A process and all that it started, and they in turn."""
    parents: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            name, _, rest = status.read_text(encoding="utf-8", errors="replace").rpartition(")")
            parents.setdefault(int(rest.split()[1]), []).append(int(name.split()[0]))
    found = [process]
    for each in found:
        found += parents.get(each, [])
    return found


@contextlib.contextmanager
def numpy(path: Path) -> Iterator[Running]:
    """The file, streamed through NumPy."""
    yield Running(ParquetEngine([path]), list)


@contextlib.contextmanager
def duckdb(path: Path) -> Iterator[Running]:
    """The file, counted by an embedded DuckDB."""
    yield Running(IbisEngine.duckdb([path]), list)


@contextlib.contextmanager
def postgresql(path: Path) -> Iterator[Running]:
    """A table of a PostgreSQL of our own."""
    ibis = _package("ibis")
    with postgres() as database:
        copy_into(database.address, path)
        connection = ibis.connect(database.address)
        yield Running(IbisEngine(connection.table("reports")), lambda: below(database.process))
        connection.disconnect()


def copy_into(address: str, path: Path) -> None:
    """Make the table `reports` of a PostgreSQL out of a file."""
    from pyarrow import csv

    kinds = {pa.int64(): "bigint NOT NULL", pa.string(): "text"}
    file = pq.ParquetFile(path)
    columns = ", ".join(f'"{field.name}" {kinds[field.type]}' for field in file.schema_arrow)
    with _package("psycopg").connect(address, autocommit=True) as db:
        db.execute(f"CREATE TABLE reports ({columns})")
        with db.cursor().copy("COPY reports FROM STDIN (FORMAT csv)") as copy:
            for batch in file.iter_batches(batch_size=_PIECE):
                lines = pa.BufferOutputStream()
                csv.write_csv(batch, lines, csv.WriteOptions(include_header=False))
                copy.write(memoryview(lines.getvalue()))
        db.execute("VACUUM ANALYZE reports")


@contextlib.contextmanager
def spark(path: Path, session: Any = None) -> Iterator[Running]:
    """Spark with two executors that are processes of their own, as on a cluster; or a session that is there."""
    from deniable.engines.spark import as_ibis

    with contextlib.ExitStack() as stack:
        known = stack.enter_context(spark_cluster()) if session is None else session
        engine = IbisEngine(as_ibis(known.read.parquet(str(path))))
        yield Running(engine, lambda: [process for process in below(os.getpid()) if process != os.getpid()])


@contextlib.contextmanager
def spark_cluster(master: str = "local-cluster[2,1,1024]", **more: str) -> Iterator[Any]:
    """A session of Spark on this machine: two workers, an executor each, or what `master` says; `more` are settings."""
    if shutil.which("java") is None:
        raise MissingExtraError("Spark needs a Java 17 runtime", extra="engines")
    builder = _package("pyspark.sql").SparkSession.builder
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g",
        "spark.executor.memory": "1g",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.executorEnv.PYTHONWARNINGS": "ignore",
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC",
        "spark.executor.extraJavaOptions": "-XX:+UseSerialGC",
    }
    ours = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONWARNINGS": "ignore"}
    before = {name: os.environ[name] for name in ours if name in os.environ}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.environ |= {**ours, "SPARK_WORKER_DIR": folder}
        builder = builder.master(master)
        for name, value in {**settings, "spark.sql.warehouse.dir": folder, **more}.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        try:
            yield session
        finally:
            session.stop()
            for name in ours:
                os.environ.pop(name)
            os.environ |= before


@contextlib.contextmanager
def clickhouse(path: Path) -> Iterator[Running]:
    """ClickHouse in this process."""
    engine = ChdbEngine(path)
    yield Running(engine, list)
    engine.close()


ENGINES: dict[str, Callable[[Path], contextlib.AbstractContextManager[Running]]] = {
    "NumPy": numpy,
    "DuckDB": duckdb,
    "PostgreSQL": postgresql,
    "Spark": spark,
    "ClickHouse": clickhouse,
}


# -- the measurement -------------------------------------------------------------------------------------------------


def counts(engine: Engine, names: Sequence[str]) -> NDArray[np.float64]:
    """What an engine counts of some attributes."""
    (observation,) = StoredReports(engine, DESIGN).tabulate(names)
    return observation.counts


_CHILD = """
import sys
from pathlib import Path
from benchmarks.speed.engines import ENGINES, counts
def held(what):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what))
with ENGINES[sys.argv[1]](Path(sys.argv[2])) as running:
    running.engine.rows({})
    before = held("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the most that was held so far
    counts(running.engine, [sys.argv[3]])
    print(held("VmHWM") - before)
"""


def client_memory(engine: str, path: Path, name: str) -> float:
    """The most memory, in MB, that a client takes to have reports counted, beyond what it held before."""
    arguments = [sys.executable, "-c", _CHILD, engine, str(path), name]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)  # noqa: S603 - our own interpreter
    return int(done.stdout.split()[-1]) * 1024 / 1e6


def measure(rows: int = ROWS, engines: Sequence[str] = tuple(ENGINES), *, memory: bool = True) -> Measurement:
    """Count so many rows by every engine."""
    found: dict[tuple[str, ...], NDArray[np.float64]] = {}
    table: dict[str, list[object]] = {"engine": [], "table": [], "million rows/CPU-s": [], "CPU s": [], "as NumPy": []}
    alike = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reports.parquet"
        write_reports(path, rows)
        for name in engines:
            with ENGINES[name](path) as running:
                running.engine.rows({})
                for names in TABLES:
                    start = running.cpu()
                    counted = counts(running.engine, names)
                    spent = max(running.cpu() - start, 1e-2)
                    same = np.array_equal(found.setdefault(names, counted), counted)
                    alike += same
                    row = (
                        name,
                        " x ".join(names),
                        f"{rows / spent / 1e6:.3g}",
                        f"{spent:.3g}",
                        "yes" if same else "NO",
                    )
                    for column, entry in zip(table.values(), row, strict=True):
                        column.append(entry)
        held = {
            (name, what): client_memory(name, path, what)
            for name in engines
            for what in ("set", "hash")
            if memory and name in ("NumPy", "DuckDB", "PostgreSQL")
        }
    claims = [Claim("counts that are as NumPy's", alike, len(engines) * len(TABLES), "")]
    claims += [
        Claim(f"{name}, {what}: memory of the client", most, MEGABYTES, "MB", at_most=True)
        for (name, what), most in held.items()
    ]
    notes = [
        f"A set is of {K} categories, a hash tells of {K}. Spark runs on two executors of one core each.",
        "DuckDB and ClickHouse are in this process; the others' CPU time is theirs and this process's.",
    ]
    return Measurement(f"{rows:,} reports, counted where they lie", table, claims, notes)


def main() -> int:
    """Measure and print."""
    given = sys.argv[1:] if __name__ == "__main__" else []
    return measure(int(given[0]) if given else ROWS, given[1:] or tuple(ENGINES)).show()


if __name__ == "__main__":
    sys.exit(main())
