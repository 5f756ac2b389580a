"""Every sentence of the threat model is attacked, and every attack names a sentence that is there."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sentences import ADVERSARIES, HERE, attacked, promised


def test_every_adversary_has_a_section_and_a_file():
    assert set(promised()) == set(ADVERSARIES)
    assert {path.name for path in HERE.glob("test_*.py")} == {*ADVERSARIES.values(), Path(__file__).name}


@pytest.mark.parametrize(("adversary", "file"), ADVERSARIES.items())
def test_every_sentence_is_attacked_and_nothing_else(adversary, file):
    there, tried = promised()[adversary], set(attacked(file))
    assert there - tried == set(), "nobody tries to break these"
    assert tried - there == set(), "the threat model does not say this"


@pytest.mark.parametrize("file", ADVERSARIES.values())
def test_every_attack_names_its_sentence(file):
    named = {name for names in attacked(file).values() for name in names}
    tree = ast.parse((HERE / file).read_text(encoding="utf-8"))
    tests = {
        node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
    assert tests - named == set()
