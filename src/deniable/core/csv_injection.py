"""Text in CSV files that a spreadsheet would take for a formula, and run: it gets an apostrophe in front.

Whoever names a category may not be whoever opens the file. Numbers stay numbers, and reading takes the apostrophe away.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

_RUNS = re.compile(r"'*[=+\-@\t\r]")  # with apostrophes before it: what was plain already gets another one
_MARKED = re.compile(r"'+[=+\-@\t\r]")


def plain(text: str) -> str:
    """Mark a text that would be run.

    >>> plain("=1+1"), plain("-5"), plain("five")
    ("'=1+1", '-5', 'five')
    """
    if not _RUNS.match(text):
        return text
    with suppress(ValueError):
        float(text)
        return text
    return "'" + text


def original(text: str) -> str:
    """Take the mark away.

    >>> original("'=1+1"), original("'tis")
    ('=1+1', "'tis")
    """
    return text[1:] if _MARKED.match(text) else text


def plain_table(table: pa.Table) -> pa.Table:
    """Mark all names and texts of a table."""
    return _each(table, plain)


def original_table(table: pa.Table) -> pa.Table:
    """Take the marks away again."""
    return _each(table, original)


def _each(table: pa.Table, change: Callable[[str], str]) -> pa.Table:
    import pyarrow as pa

    columns = [_changed(column, change) for column in table.columns]
    return pa.Table.from_arrays(columns, names=[change(name) for name in table.column_names])


def _changed(column: pa.ChunkedArray, change: Callable[[str], str]) -> pa.ChunkedArray:
    """A column with its texts changed; each different text is looked at once."""
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return column
    encoded = column.combine_chunks()
    encoded = encoded if pa.types.is_dictionary(encoded.type) else encoded.dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    changed = [None if text is None else change(text) for text in texts]
    return column if changed == texts else pa.chunked_array([pa.array(changed, pa.string()).take(encoded.indices)])
