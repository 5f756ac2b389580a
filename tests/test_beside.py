"""What stands beside the package imports public names: what it measures, users can do.

Here alone stands what else is imported, module by module, and why. Types in annotations do not count: nothing is done
with them.
"""

from __future__ import annotations

import ast
from pathlib import Path

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
    "benchmarks.accuracy.many_categories": (
        {"channels.best_channel"},
        "the steps by which designs choose their channels",
    ),
    "benchmarks.accuracy.pairs_over_http": (
        {"collection.load_reports", "collection.simulate_respondents", "web.serve"},
        "a collector that listens, made-up people who answer it, and what it stored",
    ),
    "benchmarks.accuracy.random_aims": (
        {"device.epsilon", "optimal.column_generation"},
        "the solver's real numbers, and the bound, beside the integers that are public",
    ),
    "benchmarks.accuracy.uncovered_tables": (
        {"estimation.joint_tables.uncovered_tables", "estimation.joint_tables.graphical_model", "likelihood.gather"},
        ENGINES,
    ),
    "benchmarks.calibration.alarm_rates": ({"estimation.notes.fewer_than_chance"}, "a note of estimates, as a number"),
    "benchmarks.calibration.calibrate": (
        {
            "likelihood.em",
            "likelihood.hypothesis_models",
            "inference.prevalence",
            "inference.hypothesis_tests.likelihood_ratio",
        },
        AT_ONCE,
    ),
    "benchmarks.calibration.compared_tests": (
        {"inference.hypothesis_tests.likelihood_ratio", "inference.hypothesis_tests.pearson_and_wald"},
        AT_ONCE,
    ),
    "benchmarks.calibration.measure_coverage": (
        {
            "inference.measures.inverted_intervals",
            "inference.measures.information_interval",
            "inference.measures.phi_squared",
        },
        "the intervals without what else measures find, which takes longer",
    ),
    "benchmarks.calibration.power": ({"inference.hypothesis_tests.likelihood_ratio"}, AT_ONCE),
    "benchmarks.calibration.simulated_surveys": ({"likelihood.evidence", "likelihood.quasi_likelihood"}, AT_ONCE),
    "benchmarks.calibration.sizes_of_tests": (
        {
            "likelihood.evidence",
            "likelihood.gather",
            "likelihood.hypothesis_models",
            "likelihood.quasi_likelihood",
            "inference.hypothesis_tests.likelihood_ratio",
        },
        AT_ONCE,
    ),
    "benchmarks.speed.dashboard": (
        {
            "collection.collector",
            "collection.shown_state",
            "storage.store",
            "storage.open_store",
            "surveys.survey",
            "web.dashboard.page_data",
        },
        COLLECTING,
    ),
    "benchmarks.speed.em": (
        {"likelihood.em", "likelihood.evidence"},
        "evaluations of the fit, and the same fit without acceleration",
    ),
    "benchmarks.speed.engines": (
        {"files.header", "files.reserved_columns", "engines.query_engines", "engines.spark", "engines.stored_reports"},
        "a file's columns as they lie there, and an engine (ClickHouse) that the package does not have",
    ),
    "benchmarks.speed.files": ({"engines.randomize_job"}, "what `deniable randomize` does, without starting a program"),
    "benchmarks.speed.graphs": ({"graphs.graph_files"}, "a generated graph, the one of the how-to"),
    "benchmarks.speed.ingest": (
        {
            "collection.collector",
            "storage.open_store",
            "device.protocol.messages",
            "device.protocol.canonical_json",
            "surveys.survey",
        },
        COLLECTING,
    ),
    "benchmarks.speed.randomize": (
        {"core.randomness"},
        "the secure bits alone, which is the least that disguising takes",
    ),
    "benchmarks.speed.servers": (
        {
            "collection.collector",
            "storage.store",
            "storage.open_store",
            "collection.bearer_tokens",
            "device.protocol.problem_details",
            "surveys.survey",
            "web.api.app",
            "web.serve",
        },
        COLLECTING,
    ),
    "benchmarks.speed.store_growth": (
        {
            "extensions.blocks.served_blocks",
            "collection.collector",
            "collection.load_reports",
            "storage.open_store",
            "storage.append_log",
            "device.protocol.fake_blocks",
            "device.protocol.messages",
            "device.verify",
            "device.protocol.canonical_json",
            "surveys.survey",
        },
        COLLECTING,
    ),
    "reproduction.choose.association": (
        {"estimation.joint_tables.reconcile_marginals"},
        "reconciled pairs, which no analysis shows",
    ),
    "reproduction.rrba.consistency": (
        {
            "estimation.joint_tables.uncovered_tables",
            "estimation.joint_tables.graphical_model",
            "estimation.joint_tables.minimum_norm",
            "likelihood.evidence",
        },
        ENGINES,
    ),
    "reproduction.rrba.convergence": (
        {"extensions.blocks.paper_estimators"},
        "the paper's stopping rule, many surveys at once",
    ),
    "reproduction.rrba.table_4": (
        {"inference.hypothesis_tests.two_step"},
        "the paper's test, step by step, many surveys at once",
    ),
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
    inside, unread = (
        "def f():\n    from deniable.web.api import app",
        "if TYPE_CHECKING:\n    import deniable.core.domain",
    )
    text = f"{inside}\n{unread}\nimport deniable"
    assert sorted(named(text)) == [("deniable", ""), ("deniable.web.api", "app")]
    assert not is_public("deniable.web.api", "app")
    assert not is_public("deniable", "_public")
    assert is_public("deniable", "KRR")


def test_public_names_are_imported_and_what_is_listed_here():
    for module, path in FILES.items():
        homes = {home for home, name in named(path.read_text(encoding="utf-8")) if not is_public(home, name)}
        more, _ = MORE.get(module, (set(), ""))
        assert {home.removeprefix("deniable.") for home in homes} == more, module


def test_what_is_listed_is_there():
    assert set(MORE) <= set(FILES)
