"""Arguments that a public function or class does not take: misspelt, missing or of another type, answered in our words.

Python's own words come first, and are looked into when a call has failed; one that succeeds pays nothing for it. What
fails for another reason than its arguments' types goes on as it is.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import cache, wraps
from importlib import import_module
from inspect import Parameter, Signature, getsource, signature, unwrap
from itertools import islice
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

from deniable.errors import DeniableError, InputError

P = ParamSpec("P")
R = TypeVar("R")

# What Python and others raise when they are handed something that they know nothing of.
_FOREIGN = (TypeError, AttributeError, ValueError, LookupError, ArithmeticError, RecursionError)
_LOOKED_AT = 100  # parts of a list or a dictionary
_LONGEST = 200  # characters of types that are written out; NumPy's are longer
# What other packages call an argument of ours.
_OTHERWISE = {
    "eps": "epsilon",
    "privacy_budget": "epsilon",
    "budget": "epsilon",
    "categories": "k",
    "domain_size": "k",
    "size": "n",
    "sample_size": "n",
    "attribute": "attributes",
    "columns": "attributes",
    "groupby": "by",
    "group": "by",
    "weight": "weights",
    "prob": "p",
    "probability": "p",
    "data": "frame",
    "conf_level": "level",
    "confidence": "level",
}
# Arguments that have no place where they are given, by the function's name: what to write.
_LEVELS = "estimate(...).interval(level=0.9), or to_frame(level=0.9): an estimate has intervals of every level"
_LINES = {
    ("estimate", "level"): _LEVELS,
    ("estimate", "alpha"): _LEVELS,
    ("estimate", "conf_level"): _LEVELS,
    ("estimate", "confidence"): _LEVELS,
    ("Warner", "epsilon"): "Warner(p), which is performed by hand; by epsilon, KRR(2, epsilon=1) is the same channel",
    ("Warner", "eps"): "Warner(p), which is performed by hand; by epsilon, KRR(2, epsilon=1) is the same channel",
}


def answering(function: Callable[P, R], called: str) -> Callable[P, R]:
    """A function that answers arguments which it does not take in our words; else it is the same.

    >>> def channel(k: int, epsilon: float = 1.0):
    ...     return range(k)
    >>> answering(channel, "Channel")(4, eps=1)
    Traceback (most recent call last):
        ...
    deniable.errors.InputError: Channel takes no eps=: write epsilon=. It takes k, epsilon
    >>> answering(channel, "Channel")("four")
    Traceback (most recent call last):
        ...
    deniable.errors.InputError: Channel: k= is to be int, and this is a str. help(deniable.Channel) says more
    """

    @wraps(function)
    def call(*args: P.args, **named: P.kwargs) -> R:
        try:
            return function(*args, **named)
        except _FOREIGN as error:
            if isinstance(error, DeniableError):
                raise
            told = _misspelt(function, called, named) or _unbound(function, called, args, named)
            if told is not None:
                raise InputError(told[0], argument=told[1]) from None
            told = _of_another_type(function, called, args, named)
            if told is not None:
                raise InputError(told[0], argument=told[1]) from error
            raise

    return call


def _misspelt(function: Callable[..., object], called: str, named: Iterable[str]) -> tuple[str, str] | None:
    """What to say of a keyword that there is not."""
    known = _names(function)
    if known is None:
        return None
    for name in named:
        if name in known:
            continue
        if (called, name) in _LINES:
            return f"{called} takes no {name}=: write {_LINES[called, name]}", name
        meant = _OTHERWISE.get(name)
        close = [meant] if meant in known else get_close_matches(name, known, 1)
        write = f": write {close[0]}=" if close else ""
        return f"{called} takes no {name}={write}. It takes {', '.join(known)}", name
    return None


@cache
def _names(function: Callable[..., object]) -> tuple[str, ...] | None:
    """The names of a function's arguments, with those of options that it hands on; None where any name is taken."""
    names: list[str] = []
    for each in signature(function).parameters.values():
        if each.kind is not Parameter.VAR_KEYWORD:
            names.append(each.name)
            continue
        options = getattr(next(iter(get_args(_hint(function, each))), None), "__annotations__", None)
        if options is None:
            return None
        names += options
    return tuple(name for name in names if name != "self")


def _unbound(
    function: Callable[..., object], called: str, args: Sequence[object], named: Mapping[str, object]
) -> tuple[str, str] | None:
    """What to say of an argument that is missing, or of one too many."""
    form = signature(function)
    try:
        form.bind(*args, **named)
    except TypeError as error:
        bare = [each.replace(annotation=Parameter.empty) for each in form.parameters.values() if each.name != "self"]
        about = re.search(r"'(\w+)'", str(error))
        return f"{called}: {error}. It is called as {called}{Signature(bare)}", about[1] if about else ""
    return None


def _of_another_type(
    function: Callable[..., object], called: str, args: Sequence[object], named: Mapping[str, object]
) -> tuple[str, str] | None:
    """What to say of the first argument that is not of its type, as far as types can be told apart."""
    form = signature(function)
    for name, given in form.bind(*args, **named).arguments.items():
        asked = form.parameters[name]
        if asked.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD) or given is asked.default:
            continue
        if not _fits(given, _hint(function, asked)):
            asked_for = f"{name}= is to be {_spelt_out(function, asked)}, and this is {_described(given)}"
            return f"{called}: {asked_for}. help(deniable.{called}) says more", name
    return None


# -- types that are written for checkers -------------------------------------------------------------------------------


class _Names(dict[str, Any]):
    """What the names in a module's annotations stand for: also of those that only type checkers import."""

    def __init__(self, module: str) -> None:
        super().__init__(vars(import_module(module)))
        self._for_checkers: dict[str, tuple[ast.ImportFrom | ast.Assign, str]] = {}
        for block in ast.parse(getsource(sys.modules[module])).body:
            if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
                for node in block.body:
                    if isinstance(node, ast.ImportFrom):
                        self._for_checkers.update({each.asname or each.name: (node, each.name) for each in node.names})
                    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                        self._for_checkers[node.targets[0].id] = (node, "")

    def __missing__(self, name: str) -> Any:
        node, wanted = self._for_checkers[name]
        if isinstance(node, ast.Assign):
            self[name] = eval(ast.unparse(node.value), {}, self)  # noqa: S307 - a line of our own source
        else:
            home = str(node.module)
            is_ours = home.partition(".")[0] == __name__.partition(".")[0]
            self[name] = _names_in(home)[wanted] if is_ours else getattr(import_module(home), wanted)
        return self[name]


_names_in = cache(_Names)


def _hint(function: Callable[..., object], asked: Parameter) -> Any:
    """The type of an argument; `Any` where it cannot be found."""
    if isinstance(asked.annotation, str):
        with suppress(Exception):
            return eval(asked.annotation, {}, _names_in(unwrap(function).__module__))  # noqa: S307 - our own source
    return Any


def _spelt_out(function: Callable[..., object], asked: Parameter) -> str:
    """An annotation as it is written, names of several types of ours written out."""
    names = _names_in(unwrap(function).__module__)

    def written(found: re.Match[str]) -> str:
        with suppress(KeyError):
            if get_origin(names[found[0]]) in (Union, UnionType):
                types = re.sub(r"(?:\w+\.)+(?=\w)", "", str(names[found[0]]))
                return types if len(types) < _LONGEST else found[0]
        return found[0]

    return re.sub(r"\w+", written, str(asked.annotation))


def _fits(value: object, hint: Any) -> bool:
    """Whether a value may be of a type; whatever cannot be told apart is."""
    hint = getattr(hint, "__value__", hint)  # a name for a type, from Python 3.12 on
    origin, parts = get_origin(hint), get_args(hint)
    if hint is None or hint is NoneType:
        return value is None
    if origin in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is Literal:
        return type(value) in {type(part) for part in parts}
    return _is_one(value, _NUMBERS.get(hint, origin or hint)) and _holds(value, origin, parts)


_NUMBERS = {float: Real, int: Integral}


def _is_one(value: object, kind: Any) -> bool:
    """Whether a value is of a class; arrays and columns are sequences, though not registered as such."""
    if kind in (Sequence, Iterable):
        return hasattr(value, "__iter__") and not (isinstance(value, Mapping) and kind is Sequence)
    try:
        return isinstance(value, kind) if isinstance(kind, type) else True
    except TypeError:  # a protocol that cannot be asked
        return True


def _holds(value: object, kind: Any, parts: tuple[Any, ...]) -> bool:
    """Whether what is in a list or a dictionary is of its types, too."""
    if kind in (Sequence, Iterable):
        return all(_fits(each, part) for part in parts for each in _looked_at(value))
    if kind is Mapping and isinstance(value, dict):
        return all(_fits(key, parts[0]) and _fits(value[key], parts[1]) for key in islice(value, _LOOKED_AT))
    return True


def _looked_at(value: object) -> Iterable[object]:
    """The first of the parts that can be looked at twice."""
    return value[:_LOOKED_AT] if isinstance(value, (list, tuple)) else value[:1] if isinstance(value, str) else ()


def _described(value: object) -> str:
    kind = type(value).__name__
    inside = sorted({type(each).__name__ for each in _looked_at(value)}) if isinstance(value, (list, tuple)) else ()
    return f"a {kind} of {' and '.join(inside)}" if inside else f"a {kind}"
