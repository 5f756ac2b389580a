"""Every dotted name of ours that a text spells out is there: in strings, examples, configuration, documentation.

What Python imports it finds by itself. What stands in a string is found by nobody until it is needed: what a test
replaces, what a program of its own is told, what the documentation says.
"""

from __future__ import annotations

import inspect
import os
import re
import warnings
from collections import defaultdict
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SKIPPED = {"build", "dist", "__pycache__", "node_modules"}  # and hidden folders, but for these
LOOKED_INTO = {".ci", ".github"}

NAME = re.compile(r"(?<![\w./@-])deniable(?:\.[A-Za-z_]\w*)+")
ROOMS = "|".join(path.parent.name for path in (ROOT / "src" / "deniable").glob("*/__init__.py"))
INSIDE = re.compile(rf"`((?:{ROOMS})(?:\.[A-Za-z_]\w*)+)`")  # as docstrings name each other
IMPORTED = re.compile(r"from (deniable[\w.]*) import (?:\(([^)]*)\)|([\w, ]+))")
FILE = re.compile(r"(?<![\w/])src/deniable(?:/[\w.{*-][\w.{},*-]*)+")

# What looks like a name of ours, and is deliberately none.
TABLE, ENTRY, SERVICE = "a table in PostgreSQL", "an entry in a file of reports", "a file in deploy"
ABSENT = {
    **dict.fromkeys(("arrived", "counts", "reports", "store"), TABLE),
    **dict.fromkeys(("colour", "design", "format", "notes", "origin", "remarks", "scores", "sha256"), ENTRY),
    **dict.fromkeys(("service", "socket"), SERVICE),
    "events": "a logger's name",
    "ledger": "says what a file is, in the file",
    "mjs": "a program for browsers",
    "no_such_thing": "a test asks for what is not there",
    "oracle": "a test asks for what is not there",
}


def texts():
    """Every text of the repository, by its path."""
    for folder, folders, files in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and (name[0] != "." or name in LOOKED_INTO))
        for name in files:
            try:
                yield Path(folder, name).relative_to(ROOT).as_posix(), Path(folder, name).read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue  # a picture


def names_in(text):
    """The dotted names in a text, those that begin with a room, and those that it imports from one."""
    yield from NAME.findall(text)
    yield from (f"deniable.{name}" for name in INSIDE.findall(text))
    for home, within, beside in IMPORTED.findall(text):
        listed = re.sub(r"#.*", "", within or beside).split(",")
        yield from (f"{home}.{name.split()[0]}" for name in listed if name.split() and name.split()[0].isidentifier())


def files_in(text):
    """The paths of ours in a text, one for each of several in braces."""
    for path in FILE.findall(text):
        start, brace, rest = path.rstrip(".").partition("{")
        inside, _, end = rest.partition("}")
        yield from (start + each + end for each in inside.split(",")) if brace else [start]


@cache
def everything():
    """By name, and by path: the files that spell it out."""
    names, files = defaultdict(set), defaultdict(set)
    for path, text in texts():
        for name in names_in(text):
            names[name].add(path)
        for file in files_in(text):
            files[file].add(path)
    return names, files


def resolves(name):
    """Whether a name leads to a module, or to something that one has."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        return leads(found, parts[end:]) or (
            end == len(parts) - 1 and is_for_checkers(inspect.getsource(found), parts[end])
        )
    return False


def is_for_checkers(source, name):
    """Whether a module defines a name for type checkers alone."""
    return re.search(rf"^    (?:class )?{name}\b[^\n]*[:=]", source, re.MULTILINE) is not None


def leads(found, attributes):
    """Whether something has an attribute, which has another, and so on; or a class such fields."""
    for at, name in enumerate(attributes):
        fields = {*getattr(found, "__dataclass_fields__", ()), *getattr(found, "__struct_fields__", ())}
        if not hasattr(found, name):
            return name in fields and at == len(attributes) - 1
        found = getattr(found, name)
    return True


def test_every_dotted_name_is_there():
    names, _ = everything()
    assert len(names) > 500
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # what goes away is there until it is gone
        missing = {name: sorted(paths) for name, paths in names.items() if not resolves(name)}
    known = {f"deniable.{name}" for name in ABSENT}
    assert {name: paths for name, paths in missing.items() if name not in known} == {}
    assert known - set(missing) == set(), "listed as absent, and not absent or not named any more"


def test_every_path_is_there():
    _, files = everything()
    assert len(files) > 15
    missing = {file: sorted(paths) for file, paths in files.items() if not any(ROOT.glob(file))}
    assert missing == {}


# Without the first part, so that this file does not ask for what is not there.
@pytest.mark.parametrize("name", ["KRR", "channels.krr", "channels.krr.KRR.epsilon"])
def test_what_is_there_is_found(name):
    assert resolves(f"deniable.{name}")


@pytest.mark.parametrize("name", ["krr", "channels.crr", "channels.krr.KRR.delta", "channels.krr.no_such"])
def test_what_is_not_there_is_not_found(name):
    assert not resolves(f"deniable.{name}")


def test_what_is_there_for_checkers_alone_is_found():
    source = "if TYPE_CHECKING:\n    Chooser: TypeAlias = Callable[[int], str]\n\ndef f():\n    return Chosen"
    assert is_for_checkers(source, "Chooser")
    assert not is_for_checkers(source, "Chosen")


def test_names_are_seen_in_texts():
    text = """`python -m OURS.web.shell x.md`, monkeypatch.setattr("OURS.a.b.C", 1), https://example.org/OURS.txt
        from OURS.channels import (krr,  # a remark
            dense as d)
        from OURS.errors import InputError, StoreError
        see `channels.mixture`, src/OURS/channels/{krr,dense}.py and src/OURS/frozen.py.""".replace("OURS", "deniable")
    assert sorted({name.partition(".")[2] for name in names_in(text)}) == [
        *("a.b.C", "channels", "channels.dense", "channels.krr", "channels.mixture"),
        *("errors", "errors.InputError", "errors.StoreError", "web.shell"),
    ]
    paths = [path.removeprefix("src/deniable/") for path in files_in(text)]
    assert paths == ["channels/krr.py", "channels/dense.py", "frozen.py"]
