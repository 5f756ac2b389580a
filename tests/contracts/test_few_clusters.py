"""Few clusters widen everything: no interval and no test of a clustered survey takes its errors for known.

Every analysis of `test_analyses` is called with the clusters of a survey twice: as if they left three degrees of
freedom, and as if any number. Whoever forgets them on the way
gives the same answer twice. A new analysis joins by itself.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Mapping

import narwhals as nw
import numpy as np
import pandas as pd
import pytest
from test_analyses import ANALYSES, DOMAIN, impossible, takes

import deniable as dn
from chequered import one_of
from deniable.channels.dense import Dense
from deniable.core.results import TestResult
from deniable.designs.design import Design
from deniable.designs.question import Question
from deniable.designs.reports.reports import Reports
from deniable.sampling.sampling import Sampling
from every_design import every_design

PEOPLE = 900
CLUSTER = np.repeat(np.arange(12), PEOPLE // 12)
FEW, MANY = 3.0, 1e9  # degrees of freedom

# Whether two answers agree is told by one question, each of them by another: no channel tells the table by itself.
PARITY = Dense.from_weights((np.array([[3, 1, 1, 3], [1, 3, 3, 1]]) << 14).tolist(), 16, partial=True)
QUESTIONS = [
    Question(("a", "c"), PARITY),
    Question(("a",), dn.KRR(2, 2.0)),
    Question(("c",), dn.KRR(2, 2.0)),
    Question(("b",), dn.KRR(3, 2.0)),
]
MADE = "parts that tell a table together"
DESIGNS = {**every_design(DOMAIN, PEOPLE, block_size=300), MADE: Design(DOMAIN, QUESTIONS, [[0, 3], [1, 3], [2, 3]])}

# Tables behind what takes an estimate or a source: whose.
TABLES = {"Measures": ("a", "c"), "mean": ("b",), "total": ("b",), "cdf": ("b",), "means_by": ("b", "a")}
TABLES |= {"mean_difference": ("b", "a")}
NO_INTERVAL = {
    "synthesize": "records",
    "all_pairs": "tests of pairs, of which each is that of independence",
    "random_intercept": "takes no clusters, it has groups of its own",
    "poststratify": "made of random_intercept",
}


def survey(name):
    """Reports of people whose answers are related to each other and to their cluster."""
    rng = np.random.default_rng(2)
    level = rng.normal(size=12)[CLUSTER]
    z = rng.integers(-1, 2, PEOPLE)
    a = (rng.random(PEOPLE) < 1 / (1 + np.exp(-0.6 * level))).astype(int)
    c = (rng.random(PEOPLE) < 1 / (1 + np.exp(0.8 - 1.8 * a - 0.5 * z - 0.3 * level))).astype(int)
    b = np.clip(rng.integers(0, 3, PEOPLE) + a * rng.integers(0, 2, PEOPLE), 0, 2)
    w, high = 1.2 * a + rng.normal(size=PEOPLE), (rng.random(PEOPLE) < 0.2 + 0.5 * a).astype(int)
    yes = np.array(["no", "yes"])
    people = pd.DataFrame({"a": yes[a], "b": b, "c": yes[c], "z": z, "high": high, "w": w})
    for each, variable in DESIGNS[name].domain.items():  # some designs ask for more than that
        if each not in people:
            people[each] = rng.choice(variable.categories, PEOPLE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a number singles people out, which is warned about
        return DESIGNS[name].randomize(people, keep=["z", "high", "w"], source=dn.Seeded(2))


SURVEYS = {}


def ask(analysis, name):
    """The analysis with its clusters, nothing kept from one call to the next."""
    function, given, group = ANALYSES[analysis]
    reports = SURVEYS.setdefault(name, survey(name))
    whose = TABLES.get(analysis.split()[0], TABLES.get(group))
    parameters = inspect.signature(function).parameters
    more = {"replicates": 99, "source": dn.Seeded(1)}
    more = {each: value for each, value in more.items() if each in parameters and each != next(iter(parameters))}
    if whose is not None:
        found = dn.estimate(reports, list(whose), clusters=CLUSTER)
        return function(found, **more, **given)
    usual = {"attributes": ["a", "c"], "formula": "c ~ a + z", "a": "a", "b": "c", "given": "b", "by": "z", "n": PEOPLE}
    usual |= {"expected": dn.Table(DOMAIN.project(["a", "c"]), np.full((2, 2), 0.25)), "x": "a", "y": "c"}
    who = "frame" if "frame" in parameters else next(iter(parameters))
    needed = {p.name for p in parameters.values() if p.default is p.empty and p.kind is not p.VAR_KEYWORD} - {who}
    return function(
        **{who: reports}, clusters=CLUSTER, **{each: usual[each] for each in needed - set(given)}, **given, **more
    )


def spread(result):
    """How wide the intervals of a result are, and the p-values, larger ones for fewer degrees of freedom."""
    if isinstance(result, Mapping):
        return np.concatenate([spread(part) for part in result.values()])
    if isinstance(result, TestResult):
        return np.array([result.pvalue])
    clipped = "clip" in inspect.signature(result.interval).parameters
    low, high = result.interval(**({"clip": False} if clipped else {}))
    width = np.ravel(np.asarray(high, dtype=float) - np.asarray(low, dtype=float))
    fitted = getattr(result, "predict", None)
    if fitted is not None and not getattr(result, "hidden", ()):
        frame = nw.from_native(fitted(), eager_only=True)
        lows = [each for each in frame.columns if each.endswith("low")]
        width = np.concatenate([width, *((frame[each[:-3] + "high"] - frame[each]).to_numpy()[:1] for each in lows)])
    return width


def cells():
    """Every analysis through one design, in turn; those of numbers and tables also through one made of parts."""
    names = [name for name in DESIGNS if not name.startswith("paired")]
    for place, (analysis, (function, _, group)) in enumerate(ANALYSES.items()):
        if analysis.split()[0] in NO_INTERVAL or analysis == "estimate a*b*c":
            continue
        if not (takes(function, "clusters") or analysis.split()[0] in TABLES or group in TABLES):
            continue
        answers = [name for name in names[:-1] if not impossible(name, analysis)]
        if analysis == "conditional_independence":
            answers = [name for name in answers if DESIGNS[name].covers(["a", "b", "c"])]
        yield answers[place % len(answers)], analysis
        if analysis in ("estimate a*c", "independence", "mean") or group == "Measures":
            yield MADE, analysis


@pytest.mark.parametrize(("design", "analysis"), one_of(2, cells()))
def test_few_degrees_of_freedom_are_heeded(design, analysis, monkeypatch):
    found = []
    for df in (FEW, MANY):
        monkeypatch.setattr(Sampling, "df", property(lambda _, df=df: df))
        monkeypatch.setattr(Sampling, "_most_degrees", property(lambda _, df=df: df + 20), raising=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(spread(ask(analysis, design)))
    few, many = found
    assert np.isfinite(few).all() or math.isinf(few[0])
    wider = (few > 1.01 * many) | ~np.isfinite(many) | (many == 0) | (many > 0.9)
    assert wider.all(), (few, many)
    assert (few >= many).all()


@pytest.mark.parametrize("analysis", [dn.quantile, dn.median, dn.density], ids=lambda each: each.__name__)
def test_numbers_without_errors_of_their_own_heed_them_too(analysis, monkeypatch):
    design = dn.Joint({"age": range(5)}, 3.0)
    ages = np.random.default_rng(1).integers(0, 5, PEOPLE)
    reports = Reports.of_codes(design, *design.randomize_codes(ages[:, None], source=dn.Seeded(1)))
    found = []
    for df in (FEW, MANY):
        monkeypatch.setattr(Sampling, "df", property(lambda _, df=df: df))
        table = dn.estimate(reports, "age", clusters=CLUSTER)
        given = {"levels": 0.3} if analysis is dn.quantile else {}
        given |= {} if analysis is dn.density else {"edges": [0, 1, 2, 3, 4, 5]}
        found.append(spread(analysis(table, **given)))
    assert (found[0] > 1.3 * found[1]).all()
