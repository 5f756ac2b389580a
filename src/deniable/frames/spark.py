"""Disguising a table on Spark, each executor its own rows, by the same Arrow function as everywhere.

Spark recomputes: every action on a lazy frame runs its functions again, and would disguise the same people anew each
time. Two disguises of one answer tell more than one. So `randomize` does not hand out a lazy frame: it writes the
reports once, and what it returns reads them from there.
"""

from __future__ import annotations

import re
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.designs.files import IN_FOLDER
from deniable.designs.header import Header
from deniable.errors import InputError, MissingExtraError, PrivacyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import ibis.expr.types as ir
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from deniable.designs.base import Design


def randomize(
    frame: DataFrame, design: Design, target: str, keep: Sequence[str] = (), *, notes: Sequence[str] = ()
) -> DataFrame:
    """Disguise a Spark frame into a folder of Parquet files, once, and return the frame that reads them.

    The design is written beside them where the folder is on a local disk; `deniable.open_reports` then finds it. For
    other places keep `design` yourself.
    """
    _pyspark()
    from pyspark.errors import AnalysisException
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    from deniable.frames.arrow import HELD, Disguise

    run = Disguise(design, to_arrow_schema(frame.schema), keep)
    needed = frame.select(*run.needed)
    lazy = needed.mapInArrow(disguise(design.canonical(), keep), from_arrow_schema(_signed(run.schema)))
    try:
        lazy.write.mode("error").parquet(target)
    except AnalysisException as error:
        if "ALREADY_EXISTS" not in str(error.getCondition()):
            raise InputError(f"Spark cannot write to {target}: {error}") from None
        raise PrivacyError(
            f"{target} is already there. Disguising the same people a second time would spend their epsilon a second "
            f"time. If these are other people, choose another name",
            file=target,
        ) from None
    local = Path(target.removeprefix("file://"))
    if local.is_dir():
        (local / IN_FOLDER).write_bytes(Header(design.canonical(), (HELD, *notes)).json())
    return frame.sparkSession.read.parquet(_no_pattern(target))


def disguise(design: bytes, keep: Sequence[str] = ()) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function for `mapInArrow`, out of a design's canonical bytes. Run it once and store what it returns."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        from deniable.designs.codec import design_from_bytes
        from deniable.frames.arrow import Disguise

        known = design_from_bytes(design)
        for batch in batches:
            disguised = Disguise(known, batch.schema, keep)(batch)
            schema = _signed(disguised.schema)
            columns = [column.cast(field.type) for column, field in zip(disguised.columns, schema, strict=True)]
            yield pa.record_batch(columns, schema=schema)

    return run


def as_ibis(frame: DataFrame) -> ir.Table:
    """A Spark frame as an Ibis table."""
    from deniable.frames.engines import _ibis

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
