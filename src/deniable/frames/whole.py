"""Disguising respondents who are not independent of each other: all of the table is read, then disguised in one go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw
import pyarrow as pa

from deniable.engines.arrow_batches import check_columns
from deniable.files.column_types import rebuilt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deniable.designs.design import Design
    from deniable.engines.table_chunks import Pieces


class Together:
    """What turns a whole table into reports, as `Disguise` turns batches."""

    def __init__(self, design: Design, schema: pa.Schema, keep: Sequence[str] = ()) -> None:
        """Check that the schema has what the design asks, before any row is touched."""
        check_columns(schema, design, keep)
        self.design, self.keep = design, tuple(dict.fromkeys(keep))

    def __call__(self, source: Pieces, notes: Sequence[str], progress: Callable[[int, int | None], object]) -> pa.Table:
        """Disguise all rows; the table holds its header. Never call it twice and publish both."""
        wanted = list(dict.fromkeys((*self.design.domain, *self.keep)))
        batches = [batch for piece in source.pieces(wanted, 0) for batch in piece]
        frame = pa.Table.from_batches(batches).unify_dictionaries() if batches else source.schema.empty_table()
        progress(0, frame.num_rows)
        reports = self.design.randomize(frame, list(self.keep)).with_notes(*notes)
        made = rebuilt(nw.from_native(reports.to_frame(), eager_only=True).to_arrow())
        table: pa.Table = made.replace_schema_metadata(reports.header.metadata())
        return table
