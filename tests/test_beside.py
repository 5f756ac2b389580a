"""What stands beside the package imports public names: what it measures, users can do.

Here alone stands what else is imported, module by module, and why. Types in annotations do not count: nothing is done
with them.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import deniable

ROOT = Path(__file__).parents[1]
PUBLIC = {  # modules that pages tell users to import from, and what is public in them
    "deniable": set(deniable.__all__),
    "deniable.datasets": None,
    "deniable.errors": None,
    "deniable.graphs": set(deniable.graphs.__all__),
}
COLLECTING = "a server and its store are measured in a process of this program, not from outside"
AT_ONCE = "thousands of simulated surveys are fitted at once; one by one they would take weeks"
ENGINES = "engines side by side, each by itself: `estimate` chooses between them, and compares"
MORE = {
    "benchmarks.accuracy.many_categories": ({"channels.choice"}, "the steps by which designs choose their channels"),
    "benchmarks.accuracy.pairs_over_http": (
        {"collection.export", "collection.simulation", "web.serve"},
        "a collector that listens, made-up people who answer it, and what it stored",
    ),
    "benchmarks.accuracy.random_aims": (
        {"device.epsilon", "optimal.search"},
        "the solver's real numbers, and the bound, beside the integers that are public",
    ),
    "benchmarks.accuracy.uncovered_tables": (
        {"estimation.consistency", "estimation.estimator", "estimation.graphical"},
        ENGINES,
    ),
    "benchmarks.calibration.alarm_rates": ({"estimation.fewer_than_chance"}, "a note of estimates, as a number"),
    "benchmarks.calibration.calibrate": (
        {"estimation.fit.engine", "estimation.fit.models", "inference.prevalence", "inference.ratio"},
        AT_ONCE,
    ),
    "benchmarks.calibration.compared_tests": ({"inference.association", "inference.ratio"}, AT_ONCE),
    "benchmarks.calibration.measure_coverage": (
        {"inference.inverted", "inference.likely_information", "inference.phi_squared"},
        "the intervals without what else measures find, which takes longer",
    ),
    "benchmarks.calibration.power": ({"inference.ratio"}, AT_ONCE),
    "benchmarks.calibration.simulated_surveys": ({"estimation.fit.evidence", "estimation.fit.quasi"}, AT_ONCE),
    "benchmarks.calibration.sizes_of_tests": (
        {
            "estimation.fit.evidence",
            "estimation.fit.gathering",
            "estimation.fit.models",
            "estimation.fit.quasi",
            "inference.ratio",
        },
        AT_ONCE,
    ),
    "benchmarks.speed.dashboard": (
        {
            "collection.collector",
            "collection.shown",
            "collection.storage.base",
            "collection.storage.places",
            "surveys.survey",
            "web.overview",
        },
        COLLECTING,
    ),
    "benchmarks.speed.em": ({"estimation.em"}, "evaluations of the fit, and the same fit without acceleration"),
    "benchmarks.speed.engines": (
        {"designs.header", "designs.own_columns", "frames.engines", "frames.spark", "frames.stored"},
        "a file's columns as they lie there, and an engine (ClickHouse) that the package does not have",
    ),
    "benchmarks.speed.files": ({"frames.job"}, "what `deniable randomize` does, without starting a program"),
    "benchmarks.speed.graphs": ({"graphs.examples"}, "a generated graph, the one of the how-to"),
    "benchmarks.speed.ingest": (
        {"collection.collector", "collection.storage.places", "device.messages", "device.wire", "surveys.survey"},
        COLLECTING,
    ),
    "benchmarks.speed.randomize": ({"randomness"}, "the secure bits alone, which is the least that disguising takes"),
    "benchmarks.speed.servers": (
        {
            "collection.collector",
            "collection.storage.base",
            "collection.storage.places",
            "collection.tokens",
            "device.problems",
            "surveys.survey",
            "web.app",
            "web.serve",
        },
        COLLECTING,
    ),
    "benchmarks.speed.store_growth": (
        {
            "collection.blocks",
            "collection.collector",
            "collection.export",
            "collection.storage.places",
            "collection.storage.tail",
            "device.block",
            "device.messages",
            "device.verify",
            "device.wire",
            "surveys.survey",
        },
        COLLECTING,
    ),
    "reproduction.choose.association": ({"estimation.reconcile"}, "reconciled pairs, which no analysis shows"),
    "reproduction.rrba.consistency": (
        {"estimation.consistency", "estimation.graphical", "estimation.quadratic"},
        ENGINES,
    ),
    "reproduction.rrba.convergence": ({"estimation.blocks"}, "the paper's stopping rule, many surveys at once"),
    "reproduction.rrba.table_4": ({"inference.two_step"}, "the paper's test, step by step, many surveys at once"),
}


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


FILES = {module_of(path): path for folder in ("benchmarks", "reproduction") for path in (ROOT / folder).rglob("*.py")}


def named(text: str) -> list[tuple[str, str]]:
    """(module, name) of every import of ours, inside functions too, but for those that only checkers read."""
    tree = ast.parse(text)
    blocks = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    unread = {id(node) for block in blocks for node in ast.walk(block)}
    found = []
    for node in ast.walk(tree):
        if id(node) in unread:
            continue
        if isinstance(node, ast.ImportFrom):
            found += [(node.module or "", name.name) for name in node.names]
        elif isinstance(node, ast.Import):
            found += [(name.name, "") for name in node.names]
    return [(module, name) for module, name in found if module.partition(".")[0] == "deniable"]


def is_public(module: str, name: str) -> bool:
    return module in PUBLIC and (PUBLIC[module] is None or name in {"", *PUBLIC[module]})


def test_an_import_is_seen_wherever_it_stands():
    inside, unread = "def f():\n    from deniable.web import app", "if TYPE_CHECKING:\n    import deniable.domain"
    text = f"{inside}\n{unread}\nimport deniable"
    assert sorted(named(text)) == [("deniable", ""), ("deniable.web", "app")]
    assert not is_public("deniable.web", "app")
    assert not is_public("deniable", "door")
    assert is_public("deniable", "KRR")


@pytest.mark.parametrize("module", FILES)
def test_public_names_are_imported_and_what_is_listed_here(module):
    found = {
        (home, name) for home, name in named(FILES[module].read_text(encoding="utf-8")) if not is_public(home, name)
    }
    more, _ = MORE.get(module, (set(), ""))
    assert {home.removeprefix("deniable.") for home, _ in found} == more


def test_what_is_listed_is_there():
    assert set(MORE) <= set(FILES)
