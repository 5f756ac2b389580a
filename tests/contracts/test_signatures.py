"""No public function returns `Any`: a checker would stop checking there, and an editor would know nothing to offer."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import deniable

PACKAGE = Path(deniable.__file__).parent
ROOMS = sorted({path.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*.py")})


def public_functions(body, prefix=""):
    """Name and node of every function and method that a user may call, special methods included."""
    for node in body:
        is_hidden = getattr(node, "name", "").startswith("_") and not getattr(node, "name", "").endswith("__")
        if isinstance(node, ast.ClassDef) and not is_hidden and not is_protocol(node):
            yield from public_functions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_hidden:
            yield prefix + node.name, node


def is_protocol(node):
    """A protocol says what others' objects do, in as few words as they have in common."""
    return "Protocol" in map(ast.unparse, node.bases)


def returns_any(node):
    return node.returns is None or "Any" in ast.unparse(node.returns).split(" | ")


@pytest.mark.parametrize("room", ROOMS)
def test_no_public_function_returns_any(room):
    files = [PACKAGE / room] if room.endswith(".py") else sorted((PACKAGE / room).rglob("*.py"))
    trees = {path.relative_to(PACKAGE): ast.parse(path.read_text(encoding="utf-8")) for path in files}
    found = [f"{path}: {name}" for path, tree in trees.items() for name, _ in offenders(tree)]
    assert found == []


def offenders(tree):
    return [(name, node) for name, node in public_functions(tree.body) if returns_any(node)]


def test_the_check_finds_what_it_looks_for():
    source = """
def plain(x: int) -> Any: ...
def unsaid(x): ...
def union(x: int) -> Any | None: ...
def fine(x: Any) -> dict[str, Any]: ...
def _hidden() -> Any: ...
class Public:
    @property
    def values(self) -> Any: ...
    def __iter__(self) -> Any: ...
    def _columns(self) -> Any: ...
class Shape(Protocol):
    def values(self) -> Any: ...
"""
    found = [name for name, _ in offenders(ast.parse(source))]
    assert found == ["plain", "unsaid", "union", "Public.values", "Public.__iter__"]
