"""Canonical bytes: how every message is written and read.

Keys in order, no white space, UTF-8, no number but whole ones: there is one way to write a message. A design must
arrive that way, because its hash is its name and every reader of the same bytes has to see the same thing. For that
reason epsilon is a decimal written as a text.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, TypeAlias, TypeVar

import msgspec
from msgspec import Meta, Struct

from deniable.errors import MessageError

Hash: TypeAlias = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
Small: TypeAlias = Annotated[int, Meta(ge=0, lt=1 << 32)]
Answer: TypeAlias = Annotated[int, Meta(ge=0, lt=1 << 53)]  # a set of up to 53 categories is one number
Short: TypeAlias = Annotated[str, Meta(min_length=1, max_length=1000)]
Hex: TypeAlias = Annotated[str, Meta(pattern=r"\A([0-9a-f]{2})+\Z", max_length=2048)]
Token: TypeAlias = Annotated[str, Meta(pattern=r"\A[0-9a-f]{128}\Z")]
Language: TypeAlias = Annotated[str, Meta(pattern=r"\A[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}\Z")]
Words: TypeAlias = dict[Language, Annotated[str, Meta(min_length=1, max_length=100_000)]]
Whole: TypeAlias = Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]  # what 64 bits hold; all others are refused
Category: TypeAlias = str | Whole | bool
Edge: TypeAlias = Annotated[str, Meta(pattern=r"\A(?!-0\Z)-?(0|[1-9][0-9]{0,14})(\.[0-9]{0,14}[1-9])?\Z")]  # a decimal

S = TypeVar("S", bound=Struct)


class Message(Struct, forbid_unknown_fields=True, frozen=True):
    """A message, read strictly: unknown fields and wrong types are refused."""


def encode(message: Any) -> bytes:
    """Write a message as its canonical bytes.

    >>> encode({"b": 1, "a": [True, None]})
    b'{"a":[true,null],"b":1}'
    """
    return msgspec.json.encode(message, order="sorted")


def decode(body: bytes, kind: type[S], *, most: int) -> S:
    """Read a message strictly: bounded, well-formed, of the right types, no unknown field and no key twice."""
    if len(body) > most:
        raise MessageError(f"{len(body)} bytes are more than the {most} allowed here", code="too-large")
    try:
        message = msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise MessageError(f"not a {kind.__name__.lower()}: {error}", code=_reason(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MessageError(f"not JSON: {error}", code="malformed") from None
    # Canonical bytes hold no key twice; whoever writes otherwise is read again, slowly.
    if encode(message) != body:
        refuse_repeated_keys(body)
    return message


class _Versioned(Struct):
    version: int


def version_of(body: bytes) -> int | None:
    """The version that a message says it is of; None where it does not say."""
    try:
        return msgspec.json.decode(body, type=_Versioned).version
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def refuse_repeated_keys(body: bytes) -> None:
    """Refuse JSON with a key twice: two readers would take two different values from it."""
    json.loads(body, object_pairs_hook=_pairs)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise MessageError("a key stands twice in the same object", code="repeated-key")
    return found


def _reason(error: msgspec.ValidationError) -> str:
    """The code of a refusal. It may quote what was sent, so only its first words and its last are looked at."""
    what, _, where = str(error).rpartition(" - at `")
    if (what or where).startswith("Object contains unknown field"):
        return "unknown-field"
    if where in ("$.version`", "$.plan.format`"):
        return "unknown-version"
    if not what.startswith("Invalid value") or not where.endswith(".kind`"):
        return "malformed"
    return "unknown-coder" if where.endswith(".coder.kind`") else "unknown-channel"
