"""How the rooms are built: few modules that need each other, small files."""

from __future__ import annotations

import ast
from pathlib import Path
from statistics import median

import networkx as nx

import deniable

PACKAGE = Path(deniable.__file__).parent
MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}
LARGEST_KNOT, MEDIAN_LINES, MOST_LINES = 4, 160, 450


def imported(module: str) -> set[str]:
    """The modules of ours that a module names in its imports: for checkers alone or inside functions counts too."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            assert not node.level, f"{module} imports relatively"
            named = [f"{node.module}.{name.name}" for name in node.names]
            found |= {name if name in MODULES else node.module for name in named}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return {name for name in found if name in MODULES}


def knots(imports: dict[str, set[str]]) -> list[list[str]]:
    """The modules that all lead to each other, however far around."""
    graph = nx.DiGraph((module, other) for module, others in imports.items() for other in others)
    return [sorted(knot) for knot in nx.strongly_connected_components(graph) if len(knot) > 1]


def lines() -> dict[str, int]:
    return {module: len(path.read_text().splitlines()) for module, path in MODULES.items()}


def test_a_ring_of_imports_is_found():
    assert knots({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set()}) == [["a", "b", "c"]]


def test_imports_for_checkers_and_inside_functions_are_seen():
    assert "deniable.designs.design" in imported("deniable.designs.reports.reports")  # for checkers
    assert "deniable.privacy.audit" in imported("deniable.cli.audit")  # inside a function


def test_no_room_is_one_knot():
    found = knots({module: imported(module) for module in MODULES})
    assert [knot for knot in found if len(knot) > LARGEST_KNOT] == []


def test_a_module_is_one_idea():
    assert median(lines().values()) <= MEDIAN_LINES


def test_no_module_is_too_long_to_read():
    assert {module: length for module, length in lines().items() if length > MOST_LINES} == {}


def test_no_module_of_the_page_is_too_long_to_read():
    written = {path.name: len(path.read_text().splitlines()) for path in PACKAGE.rglob("static/**/*.mjs")}
    assert len(written) > 30
    del written["page_words.mjs"]  # put together out of modules that are held above
    assert {name: length for name, length in written.items() if length > MOST_LINES} == {}
