"""What `--help` says of every command."""

from __future__ import annotations

import re

import pytest
from command_line import deniable


def commands_in(text):
    """The commands that a help text lists."""
    _, _, listed = text.partition("\nCommands:\n")
    return re.findall(r"^  ([a-z][\w-]*)  ", listed, re.MULTILINE)


def every_help():
    """By command, those in groups too: the text."""
    found, left = {}, [()]
    while left:
        path = left.pop(0)
        found[path] = deniable(*path, "--help")
        left += [(*path, name) for name in commands_in(found[path])]
    return found


@pytest.fixture(scope="module")
def helped():
    return every_help()


def test_every_help_is_what_it_was(stored, helped):
    for path, text in helped.items():
        stored.holds("-".join(("deniable", *path)), text)
    stored.holds_no_more_than("-".join(("deniable", *path)) for path in helped)


def test_there_are_commands():
    assert len(commands_in(deniable("--help"))) >= 20
