"""The signature of every public name and of its public methods, as text.

Annotations stand as they are written. What a class has from a base of ours stands with the base, once, public or not;
what it has from Python's own is left out: it differs between versions.
"""

from __future__ import annotations

import inspect
import re
import types
from functools import cached_property

import pytest

import deniable as dn
from deniable import compliance, datasets, errors, graphs

NAMESPACES = {"deniable": dn, "compliance": compliance, "graphs": graphs, "errors": errors, "datasets": datasets}
HOME = re.compile(r"\bdeniable\.(?:\w+\.)*(?=\w)")  # of a class, which may move
ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def names_of(space):
    """The public names of a namespace; without a list of them, those that are defined there."""
    listed = getattr(space, "__all__", None)
    if listed is not None:
        return sorted(listed)
    here = {name for name, each in vars(space).items() if getattr(each, "__module__", "") == space.__name__}
    return sorted(name for name in here if name[0] != "_")


def is_ours(thing):
    return getattr(thing, "__module__", "").partition(".")[0] == "deniable"


def signature(thing):
    """Its parameters and what it returns."""
    try:
        said = inspect.signature(thing)
    except (TypeError, ValueError):
        return "(...)"
    return ADDRESS.sub("", HOME.sub("", str(said)))


def members(kind):
    """Public methods and properties of a class, wherever it has them from, by name."""
    found = {}
    for name in sorted({name for each in kind.__mro__ if is_ours(each) for name in vars(each) if name[0] != "_"}):
        each = inspect.getattr_static(kind, name)
        if isinstance(each, property | cached_property):
            computed = each.fget if isinstance(each, property) else each.func
            found[name] = f"{name} -> {signature(computed).partition('-> ')[2]}"
        elif isinstance(each, staticmethod | classmethod):
            found[name] = f"{type(each).__name__} {name}{signature(each.__func__)}"
        elif isinstance(each, types.FunctionType):
            found[name] = f"method {name}{signature(each)}"
        else:
            found[name] = name
    return found


def bases(kind):
    """The nearest classes of ours that a class is made from."""
    return [each for each in kind.__bases__ if is_ours(each)]


def described(name, thing):
    """A public name, with all that hangs on it."""
    if isinstance(thing, type):
        inherited = {line for base in bases(thing) for line in members(base).values()}
        yield f"class {name}({', '.join(each.__name__ for each in bases(thing))}): {signature(thing)}"
        yield from (f"  {line}" for line in members(thing).values() if line not in inherited)
    elif callable(thing):
        yield f"{name}{signature(thing)}"
    else:
        yield f"{type(thing).__name__} {name}"


def everything(space):
    """The public names of a namespace, and the classes that theirs are made from."""
    public = {name: getattr(space, name) for name in names_of(space)}
    made_from = {each for kind in public.values() if isinstance(kind, type) for each in kind.__mro__ if is_ours(each)}
    return public | {each.__name__: each for each in made_from}


@pytest.mark.parametrize("space", NAMESPACES)
def test_every_signature_is_what_it_was(stored, space):
    told = [line for name, each in sorted(everything(NAMESPACES[space]).items()) for line in described(name, each)]
    stored.holds(space, "\n".join(told))


def test_nothing_else_is_stored(stored):
    stored.holds_no_more_than(NAMESPACES)
