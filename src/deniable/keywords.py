"""Arguments that people name otherwise: `eps=`, `level=`. Answered with the line to write, not with Python's words."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache, wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from deniable.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

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


def answering(function: Callable[P, R]) -> Callable[P, R]:
    """A function that answers an argument which it does not have in our words; else it is the same.

    >>> @answering
    ... def channel(k, epsilon): ...
    >>> channel(4, eps=1)
    Traceback (most recent call last):
        ...
    deniable.errors.InputError: channel takes no eps=: write epsilon=. It takes k, epsilon
    """

    @wraps(function)
    def call(*args: P.args, **named: P.kwargs) -> R:
        known = _names(function) if named else None
        if known is not None:
            for name in named:
                if name not in known:
                    raise InputError(_told(function, name, known), argument=name)
        return function(*args, **named)

    return call


@cache
def _names(function: Callable[..., object]) -> tuple[str, ...] | None:
    """The names of a function's arguments; None where any name is taken."""
    named = signature(function).parameters.values()
    if any(each.kind is Parameter.VAR_KEYWORD for each in named):
        return None
    return tuple(each.name for each in named)


def _told(function: Callable[..., object], name: str, known: tuple[str, ...]) -> str:
    owner, _, own = function.__qualname__.rpartition(".")
    called = owner.rpartition(".")[2] if own == "__init__" else own
    if (called, name) in _LINES:
        return f"{called} takes no {name}=: write {_LINES[called, name]}"
    meant = _OTHERWISE.get(name)
    close = [meant] if meant in known else get_close_matches(name, known, 1)
    write = f": write {close[0]}=" if close else ""
    return f"{called} takes no {name}={write}. It takes {', '.join(each for each in known if each != 'self')}"
