"""Texts that strangers wrote: refused in our words, each character looked at once."""

from __future__ import annotations

import tracemalloc
import zipfile
from typing import Any

import pytest

import deniable as dn
from deniable.core.untrusted_files import DEEPEST, MOST_PARTS, parse_json, parse_toml, read_bytes, refuse_large_zip
from deniable.errors import InputError

DEEP, LONG = 20_000, 200_000
TOML = {
    "lists": ("a = " + "[" * DEEP + "]" * DEEP, "nest deeper than 64 (line 1)"),
    "tables": ("\n\na = " + "{b = " * DEEP + "1" + "}" * DEEP, "nest deeper than 64 (line 3)"),
    "by keys": ("a = " + ("{" + ".".join("b" * MOST_PARTS) + " = ") * 20 + "1" + "}" * 20, "nest deeper than 64"),
    "key": (".".join(["a"] * LONG) + " = 1", "a key of more than 16 parts (line 1)"),
    "quoted key": (" . ".join(["'a'"] * LONG) + " = 1", "a key of more than 16 parts"),
    "header": ("[" + ".".join(["a"] * LONG) + "]", "a key of more than 16 parts"),
    "digits": ("a = " + "1" * 5000, "a whole number of thousands of digits"),
    "hexadecimal": ("a = [{b = 0x" + "f" * 100 + "}]", "a whole number of 400 bits"),
    "open": ('a = """' + '"" ' * LONG, "is not TOML: Unterminated string"),
    "escaped": ('a = "' + '\\"' * LONG, "is not TOML: Unterminated string"),
    "long": ("# " + "a" * (1 << 22), "more than 4194304 characters"),
    "twice": (f"{'a' * 5000} = 1\n" * 2, "is not TOML"),
}


@pytest.mark.parametrize("name", TOML)
def test_toml_that_nobody_writes_is_refused(name):
    text, told = TOML[name]
    with pytest.raises(InputError) as refused:
        parse_toml(text)
    assert told in refused.value.message
    assert len(refused.value.message) < 400


def test_brackets_dots_and_quotes_in_texts_are_none():
    deep = "[{" * DEEP + "." * DEEP
    quoted = [f'"{deep}\\""', f"'{deep}\"'", f'"""{deep}\n"" \\"""""', f"'''{deep}\n'''''"]
    for text in quoted:
        assert deep in parse_toml(f"a = {text}  # {deep}\nb.c = 1.5")["a"]
    deepest = parse_toml("a = " + "[" * (DEEPEST - 1) + "]" * (DEEPEST - 1))
    assert str(deepest).count("[") == DEEPEST - 1


JSON = {
    "lists": ("[" * DEEP + "]" * DEEP, "nest deeper than 64"),
    "objects": ('{"a":' * DEEP + "1" + "}" * DEEP, "nest deeper than 64"),
    "digits": ("1" * 5000, "out of range"),
    "surrogate": ('"\\ud800"', "is not JSON"),
    "bytes": (b"\xff\xfe", "is not JSON"),
}


@pytest.mark.parametrize("name", JSON)
def test_json_that_no_program_writes_is_refused(name):
    text, told = JSON[name]
    with pytest.raises(InputError, match=told):
        parse_json(text, "this", Any)


def test_brackets_in_texts_of_json_are_none():
    assert parse_json('["[[[[\\"{' + "[" * DEEP + '"]', "this", list[str]) == ['[[[["{' + "[" * DEEP]


def test_no_more_is_read_than_belongs_there(tmp_path):
    large = tmp_path / "large.toml"
    with large.open("wb") as file:
        file.truncate(1 << 32)  # no byte of it takes room
    tracemalloc.start()
    with pytest.raises(InputError, match="more than 4194304 bytes, which no survey file has"):
        dn.read_survey(large)
    with pytest.raises(InputError, match="more than 1000 bytes, which no thing has"):
        read_bytes(large, "thing", 1000)
    assert tracemalloc.get_traced_memory()[1] < 1 << 25
    tracemalloc.stop()


def test_an_archive_says_what_it_unpacks_to(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(1 << 20))
    refuse_large_zip(tmp_path / "a.zip")
    with pytest.raises(InputError, match="would unpack to 1048576 bytes"):
        refuse_large_zip(tmp_path / "a.zip", 1 << 19)
