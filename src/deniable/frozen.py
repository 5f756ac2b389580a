"""Values that stay what their constructor made them: what carries a promise about privacy cannot be changed afterwards.

Channels, designs, reports, observations, tables, surveys, messages and results are values. These are not, for they
stand for something that goes on: `Client` and its memory, `Ledger`, `Collector`, the stores, `Aggregator`, and
`Seeded`, which counts its streams.

A value is `@dataclass(frozen=True)`; where the constructor computes, with `init=False` and a constructor that ends in
`fix`. Arrays that come in are copied and held read-only, lists become tuples, and dictionaries views that can only be
read. An array that is computed later and kept (`cached_property`) goes through `readonly`. Arrow columns are not
copied, since nobody can write to them; messages are frozen structs of their own.

Pickling and copying would make arrays writeable again, so a value is rebuilt through its constructor.
"""

from __future__ import annotations

import sys
from dataclasses import FrozenInstanceError
from inspect import signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Never, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    A = TypeVar("A", bound=NDArray[Any])

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")

_NEVER_CHANGE = frozenset({type(None), bool, int, float, str, bytes})


class Frozen:
    """A value: its attributes are fixed once, by its constructor."""

    def __setattr__(self, name: str, value: object) -> Never:
        raise FrozenInstanceError(f"cannot assign to {name!r}: a {type(self).__name__} never changes; make another one")

    def __delattr__(self, name: str) -> Never:
        raise FrozenInstanceError(f"cannot delete {name!r}: a {type(self).__name__} never changes; make another one")

    def __post_init__(self) -> None:
        """What a dataclass calls when its fields are set; one that also checks them calls this too."""
        held = vars(self)
        for name, part in held.items():
            still = _STILL[type(part)]
            if still is not None:
                held[name] = still(part)

    def _given(self) -> dict[str, Any]:
        """The constructor's arguments: the attributes of the same names. Where it computes others, say which."""
        return {name: getattr(self, name) for name in signature(type(self)).parameters}

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return again(type(self), **self._given())


class Still(dict[K, V]):
    """A dictionary that can only be read, for messages: what writes them takes it for the dictionary it is."""

    def _refuse(self, *_arguments: object, **_named: object) -> Never:
        raise FrozenInstanceError("these words never change; make others")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self), (dict(self),)


def again(constructor: Callable[..., Any], /, **given: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """What `__reduce__` returns for a value that the constructor makes of these arguments."""
    return _call, (constructor, {name: thawed(part) for name, part in given.items()})


def fix(value: object, /, **parts: Any) -> None:
    """Set the attributes of a value, for good."""
    held = vars(value)
    for name, part in parts.items():
        still = _STILL[type(part)]
        held[name] = part if still is None else still(part)


def _still(part: Any) -> Any:
    """What nobody can change any more."""
    still = _STILL[type(part)]
    return part if still is None else still(part)


def _sequence(part: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(part) if _NEVER_CHANGE.issuperset(map(type, part)) else tuple(map(_still, part))


def _mapping(part: Mapping[Any, Any]) -> MappingProxyType[Any, Any]:
    if _NEVER_CHANGE.issuperset(map(type, part.values())):
        return MappingProxyType(dict(part))
    return MappingProxyType({name: _still(inner) for name, inner in part.items()})


def _array(part: Any) -> Any:
    """A read-only copy of an array; one that nobody can write to, nor to any that it is a view of, is not copied."""
    held = part
    while not held.flags.writeable:
        held = held.base
        if not _is_array(held):
            return part
    copied = part.copy("K")
    copied.setflags(False)  # noqa: FBT003 - as NumPy has it; by name it takes longer
    return copied


class _ByType(dict[type, "Callable[[Any], Any] | None"]):
    """By type, what makes a value of it one that nobody can change; None of those that nobody can, or that are left."""

    def __missing__(self, kind: type) -> Callable[[Any], Any] | None:
        # NumPy is not imported: a respondent's device has values without arrays, and does without it.
        numpy = sys.modules.get("numpy")
        self[kind] = _array if numpy is not None and issubclass(kind, numpy.ndarray) else None
        return self[kind]


_STILL = _ByType({list: _sequence, tuple: _sequence, dict: _mapping, MappingProxyType: _mapping})


def readonly(array: A) -> A:
    """The array itself, not to be written to: for those that were made for this value alone."""
    array.setflags(write=False)
    return array


def _is_array(part: object) -> bool:
    return _STILL[type(part)] is _array


def _call(constructor: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    return constructor(**given)


def thawed(part: T) -> T:
    """As it came in: views of dictionaries can be neither pickled nor copied."""
    held: Any = part
    if type(held) is MappingProxyType:
        held = {name: thawed(inner) for name, inner in held.items()}
    elif type(held) is tuple:
        held = tuple(thawed(inner) for inner in held)
    return cast("T", held)
