"""The Arrow function: a batch of true answers goes in, a batch of reports comes out.

Files and Spark both run this one function. It keeps nothing between batches, has no argument for a seed, and draws from
the secure source alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deniable.designs.reports import BALLOT, answer_columns
from deniable.errors import DesignError, InputError, MissingColumnError
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.designs.base import Design
    from deniable.domain import Variable

HELD = (
    "These answers were disguised by whoever held the table and had seen them, not on the respondents' own devices: "
    "the statement bounds what those learn who get the reports."
)
_WIDEST = 1 << 16  # whole-number categories that span at most this many values are looked up in a table


class Disguise:
    """What turns batches of some schema into reports.

    >>> from deniable.designs.joint import Joint
    >>> batch = pa.record_batch({"smokes": ["no", "yes", "no"], "region": ["n", "s", "s"]})
    >>> run = Disguise(Joint({"smokes": ["no", "yes"]}, epsilon=1.0), batch.schema, keep=["region"])
    >>> run.schema.names, run(batch).num_rows
    (['smokes', 'region'], 3)
    """

    def __init__(self, design: Design, schema: pa.Schema, keep: Sequence[str] = ()) -> None:
        """Check that the schema has what the design asks, before any row is touched."""
        if not design.one_by_one:
            raise DesignError(
                f"a {type(design).__name__} design looks at all respondents together, so a table cannot be disguised "
                f"batch by batch. Read it into a frame and use design.randomize(frame)"
            )
        missing = [name for name in design.domain if name not in schema.names]
        if missing:
            raise MissingColumnError(
                f"the table has no column {listed(missing)}; its columns are {listed(schema.names)}. Rename the "
                f"columns, or leave the attribute out of the domain",
                columns=missing,
            )
        absent = [name for name in keep if name not in schema.names]
        if absent:
            raise MissingColumnError(
                f"the table has no column {listed(absent)} to keep; its columns are {listed(schema.names)}",
                columns=absent,
            )
        both = [name for name in keep if name in design.domain]
        if both:
            raise InputError(
                f"{listed(both)} would travel both in clear and disguised; keep only columns outside the domain",
                attributes=both,
            )
        columns = answer_columns(design)
        clashing = [name for name in keep if name in [BALLOT, *columns]]
        if clashing:
            raise InputError(f"a kept column cannot be named {listed(clashing)}: the reports have one of that name")
        self.design, self.keep = design, tuple(keep)
        self.needed = [*design.domain, *self.keep]
        code = pa.from_numpy_dtype(design.answer_dtype)
        fields = [pa.field(name, code, nullable=False) for name in columns]
        if len(design.ballots) > 1:
            ballot = pa.from_numpy_dtype(np.min_scalar_type(len(design.ballots) - 1))
            fields.insert(0, pa.field(BALLOT, ballot, nullable=False))
        self.schema = pa.schema([*fields, *(schema.field(name) for name in self.keep)])

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Disguise one batch, a row a respondent. Never call it twice on the same rows and publish both."""
        domain = self.design.domain
        codes = np.empty((batch.num_rows, len(domain)), dtype=np.min_scalar_type(max(domain.shape) - 1), order="F")
        for position, variable in enumerate(domain.values()):
            codes[:, position] = encode(variable, batch.column(variable.name))
        ballots, answers = self.design.randomize_codes(codes)
        columns: list[Any] = [pa.array(answers[:, place]) for place in range(answers.shape[1])]
        if len(self.design.ballots) > 1:
            columns.insert(0, pa.array(ballots))
        return pa.record_batch([*columns, *(batch.column(name) for name in self.keep)], schema=self.schema)


def encode(variable: Variable, column: pa.Array) -> NDArray[np.integer]:
    """Turn a column into codes, by a look-up for dictionaries and small whole numbers; refusals are `Variable`'s."""
    places = None
    if pa.types.is_dictionary(column.type) and not column.null_count and not column.dictionary.null_count:
        same = pa.array(variable.categories).type
        if pa.types.is_string(same) and not pa.types.is_floating(column.type.value_type):
            known = pc.index_in(column.dictionary.cast(same), value_set=pa.array(variable.categories))
            places = known.fill_null(-1).to_numpy(zero_copy_only=False), column.indices.to_numpy()
    elif pa.types.is_integer(column.type) and not column.null_count and len(column):
        places = _by_number(variable, column)
    if places is not None:
        table, rows = places
        found = table.astype(np.min_scalar_type(-len(variable)))[rows]
        if not len(found) or found.min() >= 0:
            return found
    return variable.encode(column)  # the general way, which also tells what is wrong


def _by_number(variable: Variable, column: pa.Array) -> tuple[NDArray[Any], NDArray[Any]] | None:
    if type(variable.categories[0]) is not int:
        return None
    numbers = np.array(variable.categories)
    low, high = int(numbers.min()), int(numbers.max())
    ends = pc.min_max(column)
    if high - low >= _WIDEST or ends["min"].as_py() < low or ends["max"].as_py() > high:
        return None
    table = np.full(high - low + 1, -1)
    table[numbers - low] = np.arange(len(variable))
    rows = column.to_numpy()
    return table, rows - low if low else rows
