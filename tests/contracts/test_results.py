"""Every result shows itself in a notebook: as HTML that is whole and escaped, and as a drawing that says what it shows.

A new kind of result is given a maker here and inherits every check. The last test finds those that were forgotten.
"""

from __future__ import annotations

import inspect
import math
import pkgutil
import re
from fractions import Fraction
from functools import cache
from html.parser import HTMLParser
from importlib import import_module

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable import graphs
from deniable.core.results import Interval, TestResult
from deniable.device.ledger_events import Asked, Replayed
from deniable.device.privacy_statement import Statement
from deniable.extensions.paired.pair_privacy import PairedPrivacy
from deniable.inference.numbers.aim_estimates import wanted_numbers

ODD = "<b>&$x_1$"  # a category that HTML and matplotlib would both misread
PAIR = {"sex": ["F", ODD], "income": ["low", "high"]}
# What holds reports or settings shows itself too, but is nothing that was found: there is no picture of it.
# Corrected words are texts, before and after: there is nothing to draw.
NOT_RESULTS = {"Summary", "Shown", "Reports", "PairedReports", "BlockReports", "StoredReports", "CorrectedWords"}


@cache
def reports(kind=dn.Joint):
    rng = np.random.default_rng(1)
    sex = rng.integers(0, 2, 2000)
    rich = (rng.random(2000) < np.where(sex, 0.6, 0.2)).astype(int)
    people = pd.DataFrame({"sex": np.array(PAIR["sex"])[sex], "income": np.array(PAIR["income"])[rich]})
    return kind(dn.Domain(PAIR), 2.0).randomize(people, source=dn.Seeded(1))


def blocks():
    return dn.Blocks(PAIR, epsilon=2.0, block_size=50).simulate(table(), 200, source=dn.Seeded(1))


def estimate():
    return dn.estimate(reports(), ["sex", "income"])


def uncovered():
    domain = dn.Domain({"a": [0, 1], "b": [0, 1], "c": [0, 1]})
    people = pd.DataFrame(np.random.default_rng(1).integers(0, 2, (900, 3)), columns=list(domain))
    return dn.estimate(dn.Views(domain, 2, 3.0).randomize(people, source=dn.Seeded(1)), list(domain))


def prevalence(yes=60, **rest):
    return dn.prevalence(["yes"] * yes + [ODD] * (200 - yes), dn.Warner(0.8, categories=(ODD, "yes")), **rest)


def by_group():
    people = pd.DataFrame({"sex": ["F", ODD] * 100, "where": [ODD, "north", "north", "north"] * 50})
    design = dn.Joint({"sex": ["F", ODD]}, 2.0)
    return dn.estimate(design.randomize(people, keep=["where"], source=dn.Seeded(1)), "sex", by="where")


def groups(*, alone=False):
    return prevalence(by=["west" if alone else "north", "south", ODD, "east", *["north", "south", ODD, "east"] * 49])


@cache
def frame():
    rng = np.random.default_rng(2)
    truth = rng.random((1500, 3)) < [0.2, 0.3, 0.4]
    said = np.where(rng.random(truth.shape) < 0.85, truth, ~truth).astype(int)
    columns = {"y": said[:, 0], "v": said[:, 1], "w": said[:, 2], "z": rng.integers(0, 3, 1500)}
    return pd.DataFrame({**columns, "age": rng.normal(size=1500), "sex": rng.choice(["F", ODD], 1500)})


@cache
def grouped():
    rng = np.random.default_rng(3)
    school = np.repeat(np.arange(40), 40)
    truth = rng.random(1600) < 1 / (1 + np.exp(-(rng.normal(size=40) * 1.5)[school]))
    said = np.where(rng.random(1600) < 0.9, truth, ~truth).astype(int)
    data = pd.DataFrame({"y": said, "school": school, "age": rng.normal(size=1600)})
    return dn.random_intercept("y ~ age", data, dn.Warner(0.9), groups="school")


def poststratified(**rest):
    cells = pd.DataFrame({"school": np.repeat(np.arange(42), 2), "age": [-1.0, 1.0] * 42, "where": [ODD, "north"] * 42})
    return dn.poststratify(grouped(), cells, sizes=None, **rest)


def ledger(limit=2.0):
    account = dn.Ledger(limit)
    account.charge(Asked(ODD, 0, Fraction(3)))
    account.charge(Replayed("again", of=ODD))
    return account


@cache
def noisy(nodes=60):
    rng = np.random.default_rng(4)
    pairs = {tuple(sorted(pair)) for pair in rng.integers(0, nodes, (3 * nodes, 2)).tolist() if pair[0] != pair[1]}
    return graphs.randomize(dn.graphs.Graph(pairs, nodes=nodes), 2.0, source=dn.Seeded(1))


def table():
    return dn.Table(dn.Domain(PAIR), [[0.4, 0.1], [0.2, 0.3]])


DEVICE = dn.Warner(0.85)
RESULTS = {
    "Table of one attribute": lambda: table().project("sex"),
    "Table of two": table,
    "Table of three": lambda: dn.Table(dn.Domain({**PAIR, "age": ["young", "old"]}), np.full(8, 0.125)),
    "Estimate": estimate,
    "Grouped": by_group,
    "Estimate of a model": uncovered,
    "GroupedTotals": lambda: by_group().totals({"north": 300, ODD: 100}),
    "Totals": lambda: dn.estimate(reports(), ["sex", "income"], weights=np.full(2000, 3.0)).totals(),
    "Interval": lambda: estimate().interval(0.9),
    "Interval of one number": lambda: dn.phi(estimate()).interval(),
    "Interval without end": lambda: Interval(np.array([0.1, -np.inf]), np.array([np.inf, 0.2]), 0.95, "profile"),
    "TestResult, simulated": lambda: dn.independence(reports(), "sex", "income", replicates=99, source=dn.Seeded(1)),
    "TestResult, chi-square": lambda: dn.independence(reports(dn.Independent), "sex", "income"),
    "TestResult, no reference": lambda: TestResult(3.0, 0.04, None, f"a test {ODD}"),
    "TestResult, infinite": lambda: TestResult(math.inf, 0.0, None, "goodness of fit"),
    "Pairs": lambda: dn.all_pairs(reports(dn.Independent)),
    "Prevalence": prevalence,
    "Prevalence, negative": lambda: prevalence(yes=15),
    "Prevalences": groups,
    "Prevalences, one refused": lambda: groups(alone=True),
    "Difference": lambda: groups().difference("north", ODD),
    "Measure": lambda: dn.odds_ratio(estimate()),
    "Numbers": lambda: dn.means_by(estimate(), "income", "sex", scores=[1, 2]),
    "Numbers, quantiles": lambda: dn.quantile(estimate(), [0.2, 0.7], "sex", edges=[0, 1, 2]),
    "WantedNumbers": lambda: wanted_numbers(estimate(), [dn.Wanted.mean("sex", scores=[0, 1])]),
    "Distribution": lambda: dn.cdf(estimate(), "sex"),
    "Density": lambda: dn.density(dn.Observation("x", dn.KRR(5, 3.0), [90, 60, 40, 30, 20]), "x"),
    "Measure, undefined": lambda: dn.Measure("odds", math.inf, math.nan, "delta method"),
    "TwoSamples": lambda: dn.unrelated_two_samples([1] * 32 + [0] * 68, [1] * 46 + [0] * 54, p=(0.7, 0.3)),
    "Regression": lambda: dn.logit("y ~ age + C(sex)", frame(), DEVICE),
    "Regression without predictors": lambda: dn.logit("y ~ 1", frame(), DEVICE),
    "Regression, multinomial": lambda: dn.multinomial("z ~ age", frame(), dn.KRR(3, epsilon=2.0)),
    "LeastSquares": lambda: dn.linear("z ~ age + y", frame(), dn.KRR(3, epsilon=2.0), rr={"y": DEVICE}),
    "Regression, linear": lambda: dn.linear("age ~ y", frame(), rr={"y": DEVICE}),
    "RandomIntercept": grouped,
    "Poststratified": poststratified,
    "Poststratified by an attribute": lambda: poststratified(by="where"),
    "Correlation": lambda: dn.correlate(frame(), "y", "age", channels={"y": DEVICE}),
    "Compliance": lambda: dn.compliance.cdm({"low": (550, 450), "high": (350, 650)}, p={"low": 0.25, "high": 0.75}),
    "Compliance, undefined": lambda: dn.compliance.sld({"a": (950, 50), "b": (450, 550)}, p={"a": 0.9, "b": 0.5}),
    "Compliance, items": lambda: dn.compliance.self_protective(frame()[["y", "v", "w"]].to_numpy(), [DEVICE] * 3),
    "SumScore": lambda: dn.compliance.sum_score(frame()[["y", "v", "w"]].to_numpy(), [DEVICE] * 3),
    "Statement": lambda: Statement(Fraction(3), (ODD,)),
    "Statement, infinite": lambda: Statement(math.inf),
    "PairedPrivacy": lambda: PairedPrivacy(((Fraction(4, 5), Fraction(1, 5)),), respondents=100, colluders=1),
    "AuditResult": lambda: dn.audit(dn.KRR(3, epsilon=1.0), runs=4000),
    "AuditResult without a claim": lambda: dn.audit(lambda codes: codes, inputs=2, runs=2000),
    "Ledger": ledger,
    "Ledger, untouched": lambda: dn.Ledger(1.0),
    "Convergence": lambda: dn.convergence(blocks(), ["sex", "income"]),
    "Comparison": lambda: dn.compare(
        table(), [dn.Joint(PAIR, 2.0)], ["sex", "income"], n=50, repeats=2, source=dn.Seeded(1)
    ),
    "Forecast": lambda: dn.plan(PAIR, 1.0, [["sex", "income"]], 5000),
    "Floor": lambda: dn.floor(PAIR, [["sex", "income"], dn.Wanted.mean("sex")], 1.0, certify=True),
    "Mix": lambda: dn.optimal_mix({**PAIR, "age": ["young", "old"]}, [["sex", "income"], ["age", "income"]], 1.0),
    "Power": lambda: dn.power(dn.Warner(0.8), 200, prevalence=0.1),
    "Power, simulated": lambda: dn.power(dn.Joint(PAIR, 2.0), 800, table=table(), replicates=200),
    "SampleSize": lambda: dn.sample_size(dn.Warner(0.8), prevalence=0.1),
    "SampleSize for a width": lambda: dn.sample_size_for_width(dn.Warner(0.8), 0.1, 0.1),
    "SampleSize, simulated": lambda: dn.sample_size(dn.Independent(PAIR, 3.0), table=table(), replicates=200),
    "PairedOptimum": lambda: dn.paired_optimum(1.0, 10_000, 0, 0.02),
    "NoisyGraph": noisy,
    "NodeEstimate": lambda: noisy().degrees(),
    "NodeEstimate of few nodes": lambda: noisy(8).triangles(),
    "EdgeStatement": lambda: noisy().describe(),
}


@pytest.fixture(autouse=True)
def _no_windows():
    mpl.use("agg")
    yield
    plt.close("all")


@cache
def made(name):
    return RESULTS[name]()


@pytest.fixture(params=RESULTS, scope="module")
def result(request):
    return made(request.param)


class Whole(HTMLParser):
    """Refuses what is opened and not closed, closed and not opened, and tags nobody wrote."""

    ALLOWED = frozenset(
        {
            *("table", "caption", "thead", "tbody", "tr", "th", "td"),
            *("p", "ul", "li", "dl", "dt", "dd", "section", "strong"),
        }
    )

    def __init__(self):
        super().__init__()
        self.open, self.said = [], []

    def handle_starttag(self, tag, _attrs):
        assert tag in self.ALLOWED, tag
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.said.append(data)


def test_html_is_whole_and_escaped_and_shows_the_summary_as_text_does(result):
    parser = Whole()
    parser.feed(result._repr_html_())
    parser.close()
    assert parser.open == []
    assert "".join(parser.said).strip()
    if not hasattr(result, "summary"):
        return
    summary = result.summary()
    told = [*summary.columns, *(text for texts in summary.texts().values() for text in texts[:50]), *summary.notes]
    assert [text for text in told if text not in "\n".join(parser.said)] == []
    if not isinstance(result, int | float):  # a number prints as one
        assert [text for text in told if text not in str(result)] == []


def test_repr_is_one_line_that_says_the_result(result):
    told = repr(result)
    assert "\n" not in told
    assert len(told) < 240
    assert isinstance(result, int | float) or re.search(r"\d|inf", told), told


def drawn(axes):
    return axes.lines or axes.patches or axes.collections or axes.images or axes.texts


def test_a_drawing_says_what_it_shows(result):
    before = dict(mpl.rcParams)
    made = np.ravel(result.plot())
    assert dict(mpl.rcParams) == before, "the caller's settings are left alone"
    figure = made[0].figure
    figure.draw_without_rendering()  # lays everything out, without the pixels
    for axes in made:
        assert drawn(axes), "empty axes"
        assert axes.get_xlabel() or axes.get_ylabel()
        assert not axes.spines["top"].get_visible(), "not in the package's style"
        assert any(tick.get_text() for tick in (*axes.get_xticklabels(), *axes.get_yticklabels()))
    outline = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    # What is drawn fits on the page: a label that runs over the edge cannot be read.
    assert outline.x0 > -0.1
    assert outline.y0 > -0.1
    assert outline.x1 < width + 0.1
    assert outline.y1 < height + 0.1


def test_it_draws_on_the_axes_it_is_given(result):
    figure, axes = plt.subplots(1, 2)
    given = axes if isinstance(result, dn.Forecast | dn.Comparison) else axes[1]
    assert np.ravel(result.plot(given))[-1] is axes[1]
    assert figure.number in plt.get_fignums()
    assert len(plt.get_fignums()) == 1


def classes():
    """Every class of the package that shows itself in a notebook."""
    for module in pkgutil.walk_packages(dn.__path__, "deniable."):
        if not module.name.startswith(("deniable.web", "deniable.cli")):
            for _, kind in inspect.getmembers(import_module(module.name), inspect.isclass):
                if kind.__module__.startswith("deniable.") and (hasattr(kind, "_repr_html_") or hasattr(kind, "plot")):
                    yield kind


def test_no_result_is_forgotten():
    known = {kind for kind in classes() if kind.__name__ not in NOT_RESULTS}
    assert not {kind.__name__ for kind in known if not (hasattr(kind, "_repr_html_") and hasattr(kind, "plot"))}
    tested = {type(made(name)).__name__ for name in RESULTS}
    assert {kind.__name__ for kind in known} == tested
