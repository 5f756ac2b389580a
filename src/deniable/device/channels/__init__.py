"""The kinds of channel that devices run, a file each, and the one list of them: the files of this folder.

Whoever reads messages, verifies designs, disguises answers or checks reports asks the kind itself. A file that is put
here with a class of its own is a kind from then on; nothing else has to name it.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import msgspec

from deniable.device.channels.channel_kind import Kind


def _kind(name: str) -> type[Kind] | None:
    """The class of a file, whose tag is the file's name; None where a file only helps the others."""
    made = vars(import_module(f"{__name__}.{name}")).values()
    kinds = (each for each in made if isinstance(each, type) and issubclass(each, Kind))
    return next((each for each in kinds if each.__struct_config__.tag == name), None)


KINDS: dict[str, type[Kind]] = {
    each.name: kind for each in pkgutil.iter_modules(__path__) if (kind := _kind(each.name)) is not None
}

if TYPE_CHECKING:
    from collections.abc import Mapping

    Weights: TypeAlias = Kind
else:
    Weights = Union[tuple(KINDS.values())]  # noqa: UP007 - as many as there are


def kind_from_dict(fields: Mapping[str, Any]) -> Kind:
    """Read a kind from its fields, as messages write them.

    >>> kind_from_dict({"kind": "krr", "k": 2, "other": 17626, "bits": 16}).ratio
    Fraction(23955, 8813)
    """
    found: Kind = msgspec.convert(fields, Weights)
    return found
