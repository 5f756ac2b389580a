"""A domain as a TOML file: an attribute a line, with its categories in order.

::

    sex = ["F", "M"]
    income = ["<=50K", ">50K"]
    age = { bins = [18, 30, 65] }

A column of numbers is disguised in bins, given by the edges between them: here "< 18", "18 to < 30", "30 to < 65" and
">= 65". Each holds its lower edge.

Categories come from such a file and not from the data, because a category that is read off the data tells that somebody
has it. `infer_domain` does read it off the data, for tables whose categories are no secret; `INFERRED` is the
sentence that the privacy statement then needs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from deniable.core.data_frames import without_views
from deniable.core.domain import Domain
from deniable.core.untrusted_files import parse_toml, read_text
from deniable.engines.table_chunks import open_table
from deniable.errors import DeniableError, InputError, MissingValueError
from deniable.files.object_storage import place_of
from deniable.text import lacking

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST = 1000  # a column with more different values is not a list of categories
INFERRED = (
    "The categories were read off the data and not declared beforehand: that a category is listed tells that somebody "
    "has it. This is outside epsilon."
)


def read_domain(path: str | Path) -> Domain:
    """Read a domain from a TOML file."""
    place = Path(path)
    if not place.is_file():
        raise InputError(f"there is no domain file {place}", file=str(place))
    try:
        text = read_text(place, "list of categories")
    except UnicodeDecodeError as error:
        raise InputError(f"{place} is not a TOML file: {error}", file=str(place)) from None
    data = parse_toml(text, str(place))
    for name, categories in data.items():
        if isinstance(categories, dict) and "bins" in categories:
            continue
        if not isinstance(categories, list) or any(isinstance(category, list | dict) for category in categories):
            raise InputError(
                f'{place}: attribute {name!r} needs a list of categories, such as {name} = ["no", "yes"], or for '
                f"numbers the edges between bins, such as {name} = {{ bins = [18, 30, 65] }}",
                file=str(place),
                attribute=name,
            )
    try:
        return Domain(data)
    except DeniableError as error:
        raise type(error)(f"{place}: {error}", **error.details) from None


def write_domain(domain: Domain) -> str:
    """The text of a domain file.

    >>> print(write_domain(Domain({"sex": ["F", "M"], "ever smoked": [True, False]})))
    sex = ["F", "M"]
    "ever smoked" = [true, false]
    """
    return "\n".join(f"{_key(v.name)} = [{', '.join(map(_toml, v.categories))}]" for v in domain.values())


def _key(name: str) -> str:
    return name if name.isascii() and name.replace("_", "").replace("-", "").isalnum() else _toml(name)


def _toml(value: object) -> str:
    import msgspec

    # JSON's texts, numbers and truth values are TOML's, too.
    return msgspec.json.encode(value).decode()


def infer_domain(path: str | Path, columns: Sequence[str] | None = None) -> Domain:
    """Read the categories off a table: all columns, or the named ones. Discloses that each occurs; see `INFERRED`."""
    source = open_table(place_of(path))
    names = list(source.schema.names if columns is None else columns)
    missing = [name for name in names if name not in source.schema.names]
    if missing:
        raise InputError(f"the table has {lacking(missing, source.schema.names)}")
    found: dict[str, set[Any]] = {name: set() for name in names}
    for piece in source.pieces(names, 0):
        for batch in piece:
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                _add(found[name], name, column)
    return Domain({name: sorted(values) for name, values in found.items()})


def _add(found: set[Any], name: str, column: pa.Array) -> None:
    if column.null_count:
        raise MissingValueError(
            f"column {name!r} has missing values; a skipped answer needs a category of its own. Fill it in first",
            attribute=name,
        )
    values = pc.unique(without_views(column))
    found.update((values.dictionary_decode() if pa.types.is_dictionary(values.type) else values).to_pylist())
    if len(found) > _MOST:
        raise InputError(
            f"column {name!r} has more than {_MOST} different values, so it is not a list of categories. Leave it out "
            f"(--attribute names those to disguise), or group its values first",
            attribute=name,
        )
