"""Channels from plain data: the inverse of `Channel.to_dict`. Unknown kinds and fields are refused.

A kind is a file of this folder (or of the one of extensions) with a channel whose `kind` is the file's name. It is
imported when it is first read; nothing has to name it. Its class reads its own fields: `from_integers` where they hold
`bits`, else `from_parts`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from deniable.channels.channel import Channel
from deniable.core.registry import EXTENSIONS
from deniable.errors import DeniableError, DesignError
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Callable

_ROOMS = ("deniable.channels", "deniable.channels.sets", f"{EXTENSIONS}.channels")
# The file of each kind: its name, in one of the rooms.
_HOMES = {
    each.name: f"{room}.{each.name}" for room in _ROOMS for each in pkgutil.iter_modules(import_module(room).__path__)
}


def channel_kinds() -> dict[str, type[Channel]]:
    """Every kind of channel that can be written and read, with its class."""
    found = ((name, _class(name)) for name in sorted(_HOMES))
    return {name: kind for name, kind in found if kind is not None}


def _class(kind: str) -> type[Channel] | None:
    if kind not in _HOMES:
        return None
    made = vars(import_module(_HOMES[kind])).values()
    return next((each for each in made if _is_channel(each) and each.__dict__.get("kind") == kind), None)


def _is_channel(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, Channel)


def channel_from_dict(data: Mapping[str, Any]) -> Channel:
    """Make the channel that `to_dict` wrote.

    >>> channel_from_dict({"kind": "krr", "k": 2, "other": 17626, "bits": 16})
    <KRR(2): 2 truths, 2 reports, epsilon 0.999949>
    """
    if not isinstance(data, Mapping):
        raise DesignError(f"a channel is read from a table of fields, not from {data!r}")
    fields = dict(data)
    kind = fields.pop("kind", None)
    found = _class(kind) if isinstance(kind, str) else None
    if found is None:
        raise DesignError(f"unknown kind of channel {kind!r}; known are {listed(channel_kinds())}", kind=kind)
    read: Callable[..., Channel] | None = getattr(found, "from_integers" if "bits" in fields else "from_parts", None)
    if read is None:
        needs = "no" if "bits" in fields else "a"
        raise DesignError(f"a channel of kind {kind!r} cannot be read: it takes {needs} field 'bits'", kind=kind)
    try:
        return read(**fields)
    except DeniableError:
        raise
    except (TypeError, ValueError, ZeroDivisionError) as error:
        raise DesignError(f"a channel of kind {kind!r} cannot be read: {error}", kind=kind) from error
