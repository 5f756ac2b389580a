"""The Arrow function: a batch of true answers goes in, a batch of reports comes out.

Files and Spark both run this one function. It keeps nothing between batches, has no argument for a seed, and draws from
the secure source alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from deniable.core.data_frames import is_view, without_views
from deniable.errors import DesignError, MissingColumnError
from deniable.files.reserved_columns import BALLOT, answer_columns, refuse_taken
from deniable.text import SHOWN, lacking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.designs.design import Design

HELD = (
    "These answers were disguised by whoever held the table and had seen them, not on the respondents' own devices: "
    "the statement bounds what those learn who get the reports."
)


class Disguise:
    """What turns batches of some schema into reports.

    >>> from deniable.designs.kinds.joint import Joint
    >>> batch = pa.record_batch({"smokes": ["no", "yes", "no"], "region": ["n", "s", "s"]})
    >>> run = Disguise(Joint({"smokes": ["no", "yes"]}, epsilon=1.0), batch.schema, keep=["region"])
    >>> run.schema.names, run(batch).num_rows
    (['dn_answer_smokes', 'region'], 3)
    """

    def __init__(self, design: Design, schema: pa.Schema, keep: Sequence[str] = ()) -> None:
        """Check that the schema has what the design asks, before any row is touched."""
        if not design.one_by_one:
            raise DesignError(
                f"a {design.title} looks at all respondents together, so a table cannot be disguised "
                f"batch by batch. Read it into a frame and use design.randomize(frame)"
            )
        check_columns(schema, design, keep)
        columns = answer_columns(design)
        self.design, self.keep = design, tuple(dict.fromkeys(keep))
        self.needed = [*design.domain, *self.keep]
        code = pa.from_numpy_dtype(design.answer_dtype)
        fields = [pa.field(name, code, nullable=False) for name in columns]
        if len(design.ballots) > 1:
            ballot = pa.from_numpy_dtype(np.min_scalar_type(len(design.ballots) - 1))
            fields.insert(0, pa.field(BALLOT, ballot, nullable=False))
        # What a field says beside its type, and categories that no row has, are nobody's to pass on.
        kept = [pa.field(name, _spelt_out(schema.field(name).type)) for name in self.keep]
        self.schema = pa.schema([*fields, *kept])

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Disguise one batch, a row a respondent. Never call it twice on the same rows and publish both."""
        domain = self.design.domain
        codes = np.empty((batch.num_rows, len(domain)), dtype=np.min_scalar_type(max(domain.shape) - 1), order="F")
        for position, variable in enumerate(domain.values()):
            codes[:, position] = variable.encode(batch.column(variable.name))
        ballots, answers = self.design.randomize_codes(codes)
        columns: list[Any] = [pa.array(answers[:, place]) for place in range(answers.shape[1])]
        if len(self.design.ballots) > 1:
            columns.insert(0, pa.array(ballots))
        kept = [without_views(batch.column(name)).cast(self.schema.field(name).type) for name in self.keep]
        return pa.record_batch([*columns, *kept], schema=self.schema)


def check_columns(schema: pa.Schema, design: Design, keep: Sequence[str]) -> None:
    """Refuse a table that lacks a column that the design asks for, or one to keep."""
    missing = [name for name in design.domain if name not in schema.names]
    if len(missing) == len(design.domain):
        raise MissingColumnError(
            f"none of the table's {len(schema)} columns is called {' or '.join(map(repr, missing[:SHOWN]))}. Does its "
            f"first row name the columns? It is not repeated here: it may be a person's",
            columns=missing,
        )
    if missing:
        raise MissingColumnError(
            f"the table has {lacking(missing, schema.names)}. Rename the columns, or leave the attribute out of the "
            f"domain",
            columns=missing,
        )
    absent = [name for name in keep if name not in schema.names]
    if absent:
        raise MissingColumnError(
            f"the table has nothing to keep under that name: {lacking(absent, schema.names)}", columns=absent
        )
    refuse_taken(keep, design, collected=False)


def _spelt_out(kind: pa.DataType) -> pa.DataType:
    """A type without categories of its own, and without views."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.large_string() if is_view(kind) else kind
