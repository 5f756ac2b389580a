"""Disguising a table on Spark, each executor its own rows, by the same Arrow function as everywhere.

Spark recomputes: every action on a lazy frame runs its functions again, and would disguise the same people anew each
time. Two disguises of one answer tell more than one. So `randomize` does not hand out a lazy frame: it claims its
target, writes the reports there once, and what it returns reads them from there.

Spark writes what a failing task says into its logs and events, on every machine that takes part. So a task says which
column is wrong, and how often, and never a value.
"""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING, Any

from deniable.engines.spark_target import spark_errors, target_of
from deniable.errors import DeniableError, InputError, MissingExtraError, MissingValueError, UnknownCategoryError
from deniable.files.header import Header
from deniable.files.write_files import IN_FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import ibis.expr.types as ir
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from deniable.designs.design import Design


def randomize(
    frame: DataFrame, design: Design, target: str, keep: Sequence[str] = (), *, notes: Sequence[str] = ()
) -> DataFrame:
    """Disguise a Spark frame into a folder of Parquet files, once, and return the frame that reads them.

    The target is claimed before the first row, so that of two runs one is refused, and it appears when all reports and
    the design are in it: `deniable.open_reports` reads it. It lies on a local disk that all executors see, or on HDFS
    (not run by us); object storage is refused, because nothing there can be claimed.

    What is not kept: Spark itself disguises rows twice where it starts a task twice, after an executor was lost or for
    speculation (`spark.speculation`). The second disguise becomes the report; of the first a part may have lain in the
    unfinished folder, for whoever can read that, until the run ended.
    """
    _pyspark()
    from pyspark.errors import AnalysisException
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    from deniable.engines.arrow_batches import HELD, Disguise

    place = target_of(target, frame.sparkSession)
    run = Disguise(design, to_arrow_schema(frame.schema), keep)
    needed = frame.select(*run.needed)
    lazy = needed.mapInArrow(disguise(design.canonical(), keep), from_arrow_schema(_signed(run.schema)))
    place.claim(f"The Spark application {frame.sparkSession.sparkContext.applicationId}")
    try:
        # By the second version of this a task's files lie beside the finished ones before its job has ended.
        lazy.write.option("mapreduce.fileoutputcommitter.algorithm.version", "1").parquet(place.unfinished)
    except AnalysisException as error:  # of the plan: no row was touched
        place.release()
        raise InputError(f"Spark cannot write to {target}: {_first_line(error)}", file=target) from None
    except spark_errors() as error:
        told = _told_by_us(error) or f"Spark stopped ({_condition(error)}); its log says why"
        raise InputError(f"{place.address} was not finished. {told}. {place.way_on}", file=place.address) from None
    place.finish(IN_FOLDER, Header(design.canonical(), (HELD, *notes)).json())
    return frame.sparkSession.read.parquet(_no_pattern(place.address))


def disguise(design: bytes, keep: Sequence[str] = ()) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function for `mapInArrow`, out of a design's canonical bytes. Run it once and store what it returns."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        from deniable.designs.registry import design_from_bytes
        from deniable.engines.arrow_batches import Disguise

        known = design_from_bytes(design)
        for batch in batches:
            failed: DeniableError | None = None
            try:
                disguised = Disguise(known, batch.schema, keep)(batch)
            except Exception as error:  # noqa: BLE001 - whatever it says is logged by Spark, here and on the driver
                failed = _without_values(error)
            if failed is not None:
                raise failed  # not while the first is handled: Spark writes down both
            schema = _signed(disguised.schema)
            columns = [column.cast(field.type) for column, field in zip(disguised.columns, schema, strict=True)]
            yield pa.record_batch(columns, schema=schema)

    return run


def _without_values(error: Exception) -> DeniableError:
    """What a task may say of a table: kinds and numbers. Spark writes it into logs and events on every machine."""
    known = {MissingValueError: "are missing", UnknownCategoryError: "are not among its categories"}
    found = next((told for kind, told in known.items() if isinstance(error, kind)), None)
    if isinstance(error, DeniableError) and found is not None:
        column, rows = error.details.get("attribute"), error.details.get("rows")
        return type(error)(
            f"column {column!r} holds {rows} values in one batch that {found}. Which they are is not said, because "
            f"Spark would write it into its logs: frame.groupBy({column!r}).count() shows them to you",
            attribute=column,
            rows=rows,
        )
    return DeniableError(
        f"a batch could not be disguised ({type(error).__name__}); why is not said, because Spark logs it"
    )


def _told_by_us(error: Exception) -> str | None:
    """What the disguise has said, out of what Spark says around it."""
    said = re.findall(r"^deniable\.errors\.\w+: (.*?)\.?$", str(error), re.MULTILINE)
    return said[-1] if said else None


def _condition(error: Exception) -> str:
    """What Spark calls it: a name, never a value."""
    asked = getattr(error, "getCondition", None)
    return str(asked() or type(error).__name__) if asked else type(error).__name__


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def as_ibis(frame: DataFrame) -> ir.Table:
    """A Spark frame as an Ibis table."""
    from deniable.engines.query_engines import _ibis

    connection = _ibis().pyspark.connect(frame.sparkSession)
    name = f"reports_{uuid.uuid4().hex}"
    frame.createOrReplaceTempView(name)
    return connection.table(name)


def _no_pattern(target: str) -> str:
    r"""A place as Spark takes it for itself where it reads; it writes to what it is told, and reads patterns.

    >>> print(_no_pattern("waves/wave[1]"))
    waves/wave\[1\]
    """
    return re.sub(r"[*?\[\]{}\\]", lambda found: "\\" + found[0], target)


def _signed(schema: pa.Schema) -> pa.Schema:
    """Spark has no unsigned numbers: the next wider signed type holds them."""
    import pyarrow as pa

    wider = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64()}
    return pa.schema([field.with_type(wider.get(field.type, field.type)) for field in schema])


def _pyspark() -> Any:
    try:
        import pyspark
    except ImportError:
        raise MissingExtraError(
            "this needs PySpark, which is not installed: pip install 'deniable[engines]' (and a Java 17 runtime)",
            extra="engines",
        ) from None
    return pyspark
