"""The sentences of the threat model, and which test tries to break which.

A sentence is a bullet under `### What holds` of an adversary's section. A test names the sentence it attacks, word for
word, with `@breaks("...")`; the file of an adversary's tests is named after the adversary.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MODEL = HERE.parents[1] / "docs" / "explanation" / "threat-model.md"
ADVERSARIES = {
    "The operator": "test_operator.py",
    "The network": "test_network.py",
    "The thief of the disk": "test_thief.py",
    "The host of the page": "test_host_page.py",
    "The analyst": "test_analyst.py",
    "The respondent": "test_respondent.py",
    "The reader of the files": "test_reader.py",
}


def breaks(*sentences: str) -> pytest.MarkDecorator:
    """Say which sentences of the threat model a test tries to break."""
    return pytest.mark.breaks(*sentences)


def promised() -> dict[str, set[str]]:
    """What holds, by adversary."""
    found: dict[str, set[str]] = {}
    for section in re.split(r"^## ", MODEL.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name, _, text = section.partition("\n")
        for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
            heading, _, body = part.partition("\n")
            if heading.strip() == "What holds":
                bullets = re.split(r"^- ", body, flags=re.MULTILINE)[1:]
                found[name.strip()] = {" ".join(bullet.split()) for bullet in bullets}
    return found


def attacked(file: str) -> dict[str, list[str]]:
    """The sentences that the tests of a file name, each with those tests."""
    found: dict[str, list[str]] = {}
    for node in ast.walk(ast.parse((HERE / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and getattr(mark.func, "id", "") == "breaks":
                    for argument in mark.args:
                        assert isinstance(argument, ast.Constant), f"{node.name} must quote its sentence"
                        found.setdefault(" ".join(str(argument.value).split()), []).append(node.name)
    return found
