"""The kinds of design, and designs from plain data.

Designs from plain data: the inverse of `Design.to_dict`. What does not come out the same is refused.

A design that was written down must mean the same when it is read: what is rebuilt is turned into plain data once more
and compared with what was read, so a field that this program does not know, or a number that does not follow from the
others, cannot slip through.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from deniable.core.registry import EXTENSIONS, Registry
from deniable.core.untrusted_files import parse_json
from deniable.designs.design import FORMAT, Design
from deniable.device.protocol.messages import VERSION
from deniable.errors import DeniableError, DesignError, InputError
from deniable.files.header import unaltered
from deniable.text import listed

if TYPE_CHECKING:
    from deniable.core.domain import Domain

# The kinds of design: whoever puts a file into one of these folders has added one.
_HOMES = "deniable.designs.kinds", f"{EXTENSIONS}.designs", EXTENSIONS
DESIGNS = Registry["type[Design]"]("design", *_HOMES, error=DesignError)


def design_kind(kind: object) -> type[Design]:
    """The class that a written design is read by; questions and ballots of no special kind are a plain `Design`.

    >>> design_kind("joint").__name__
    'Joint'
    """
    return Design if kind == Design.kind else DESIGNS[kind]


def design_from_dict(data: Mapping[str, Any]) -> Design:
    """Make the design that `to_dict` wrote.

    >>> from deniable.designs.kinds.joint import Joint
    >>> design = Joint({"smokes": ["no", "yes"]}, epsilon=1.0)
    >>> design_from_dict(design.to_dict()) == design
    True
    """
    if not isinstance(data, Mapping):
        raise DesignError(f"a design is read from a table of fields, not from {type(data).__name__}")
    announced = "plan" in data  # by a collector
    version, kind = (data.get("version"), "blocks") if announced else (data.get("format"), data.get("kind"))
    if type(version) is not int or version < 1:
        raise DesignError(f"this is not a design: its format must be a number from 1 upwards, not {version!r}")
    newest = VERSION if announced else FORMAT
    if version > newest:
        raise DesignError(
            f"this design has format {version}; this program knows formats up to {newest}. It was written by a newer "
            f"deniable: upgrade with pip install --upgrade deniable",
            format=version,
        )
    if announced and version < VERSION:
        raise DesignError(
            f"this design is of version {version}, and this program reads version {VERSION}: collect anew with it, or "
            f"read these reports with the program that collected them",
            format=version,
        )
    found = design_kind(kind)
    try:
        made = found.from_dict(data)
    except DeniableError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise DesignError(f"a design of kind {kind!r} cannot be read from this: {error!r}", kind=kind) from None
    again = made.to_dict()
    strangers = [name for name in data if name not in again]
    if strangers:
        raise DesignError(f"a design of kind {kind!r} has no fields {listed(strangers)}", kind=kind, fields=strangers)
    # As bytes: a list and a tuple, or two orders of the same fields, are the same design.
    if msgspec.json.encode(again, order="deterministic") != msgspec.json.encode(dict(data), order="deterministic"):
        raise DesignError(
            f"this design of kind {kind!r} contradicts itself: its numbers do not follow from each other", kind=kind
        )
    return made


def design_from_bytes(data: bytes | str, expected: str | None = None) -> Design:
    """Make a design of its canonical bytes; with `expected`, only if that is their SHA-256.

    >>> from deniable.designs.kinds.joint import Joint
    >>> design = Joint({"smokes": ["no", "yes"]}, epsilon=1.0)
    >>> design_from_bytes(design.canonical(), design.id) == design
    True
    """
    raw = data.encode() if isinstance(data, str) else data
    if expected is not None:
        unaltered(raw, expected)
    try:
        fields = parse_json(raw, "it", dict[str, Any])
    except InputError as error:
        raise DesignError(f"this is not a design: {error}") from None
    return design_from_dict(fields)


def differs(read: Design, kind: str, domain: Domain, epsilon: float) -> str | None:
    """What a design that was read has that another was to have otherwise; None: nothing."""
    if read.kind != kind:
        return f"is of kind {read.kind!r}"
    if read.domain != domain:
        return "asks about other attributes or categories"
    if not read.keeps(epsilon):
        return f"spends epsilon {read.epsilon:.6g}, more than {epsilon:g}"
    return None
