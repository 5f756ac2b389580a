"""Every analysis through every design: right, or refused because nobody was asked, with the way out.

Designs are those of `designs.kinds`, each with a maker here; analyses are the functions that the door lists under
Estimates, Measures, Tests and Regression. A new one is called by the names of its parameters and compared with what it
finds in the same population undisguised, by its own standard error: it appears in the contract by itself. That the
undisguised answers are right is shown by closed forms.

Surveys are laid out without chance (see `laid_out`), so that a third of a standard error convicts and no seed decides.
"""

from __future__ import annotations

import inspect
import re
import warnings
from functools import cache

import narwhals as nw
import numpy as np
import pandas as pd
import pytest
from laid_out import FAR, NEAR, Population, can_be_laid_out, survey
from scipy import stats

import deniable as dn
from deniable.channels.dense import Dense
from deniable.designs.base import Design, Question
from deniable.designs.kinds import HOMES
from deniable.errors import DeniableError

DOMAIN = dn.Domain({"a": ["no", "yes"], "b": [0, 1, 2], "c": ["no", "yes"]})
N, DRAWN = 12_000, 2_000  # respondents of a survey that is laid out, and of one that is drawn
TWO = dn.Domain({name: DOMAIN[name].categories for name in "ac"})
LOGIT, LEAN = np.array([-0.8, 1.8, 0.5]), 1.2  # log odds of c: intercept, a, z; and how far a moves the open number w


# -- a population whose truth is known ---------------------------------------------------------------------------------


def population(public, related=True):
    """a, b, c and public columns: z moves a and c, a moves w and whether it is high; or nothing moves anything."""
    a, b, c = np.indices(DOMAIN.shape).reshape(3, -1)
    moved = a if related else np.full(len(a), 0.5)
    z = public.z.to_numpy()[:, None] * related
    yes = 1 / (1 + np.exp(-(0.6 - 0.4 * related + 0.4 * z)))
    shares = np.where(a, yes, 1 - yes)
    if "w" in public:
        shares = shares * stats.norm.pdf(public.w.to_numpy()[:, None] - LEAN * moved)
    if "high" in public:
        shares = shares * np.abs(1 - public.high.to_numpy()[:, None] - (0.2 + 0.5 * moved))
    yes = 1 / (1 + np.exp(-(LOGIT[0] + LOGIT[1] * a * related + LOGIT[2] * z)))
    shares = shares * np.where(c, yes, 1 - yes)
    power = np.exp(np.stack([0 * a, -0.5 + 0.9 * a * related, -1 + (0.8 * a + 0.7 * c) * related]))
    shares = shares * np.take_along_axis(power / power.sum(axis=0), b[None], axis=0)
    return Population(DOMAIN, public, shares / shares.sum())


FEW = pd.DataFrame({"z": np.repeat([-1, 0, 1], 2), "high": [0, 1] * 3})
MANY = pd.DataFrame({"z": 0, "w": np.linspace(-3.6, 4.8, 15)})
POPULATIONS = {
    "related": population(FEW),
    "unrelated": population(FEW, related=False),
    "with a number": population(MANY),
}


# -- designs -----------------------------------------------------------------------------------------------------------


def lopsided(cells):
    """A channel that treats no two truths alike, so that it has no form for part of the attributes."""
    weights = np.random.default_rng(3).integers(1, 5, size=(cells + 1, cells)) * 1000
    weights[1:] += 30_000 * np.eye(cells, dtype=int)
    weights[0] += (1 << 16) - weights.sum(axis=0)
    return Dense.from_weights(weights.tolist(), 16)


DESIGNS = {
    "independent": dn.Independent(DOMAIN, 6.0),
    "joint": dn.Joint(DOMAIN, 2.5),
    "clusters": dn.Clusters(DOMAIN, [["a", "c"], ["b"]], 5.0),
    "views": dn.Views(DOMAIN, 2, 3.0),
    "sampled": dn.Sampled(DOMAIN, 3.0),
    "blocks": dn.Blocks(DOMAIN, 2, 3.0, block_size=1000),
    "unary": dn.Views(DOMAIN, 2, 3.0, channel="unary"),
    "subset": dn.Joint(DOMAIN, 3.0, channel="subset"),
    "hashing": dn.Joint(DOMAIN, 3.0, channel="hashing"),
    "hadamard": dn.Views(DOMAIN, 2, 4.0, channel="hadamard"),
    "dense": Design(DOMAIN, [Question(("a", "c"), lopsided(4)), Question(("b",), lopsided(3))], [[0, 1]]),
    "dense on three": Design(DOMAIN, [Question(("a", "b", "c"), lopsided(12))], [[0]]),
    "paired": dn.Paired(TWO, respondents=DRAWN, p=0.9, rho=-0.1),
    "paired_items": dn.PairedItems(TWO, 0.9, -0.1),
}
DIRECT = dn.Joint(DOMAIN, 16.0)  # one answer in a million is another than the truth


@cache
def reports_of(name, people):
    design = DIRECT if name == "direct" else DESIGNS[name]
    laid = can_be_laid_out(design, POPULATIONS[people])
    return survey(design, POPULATIONS[people], (2 if people == "with a number" else 1) * N if laid else DRAWN)


def test_the_designs_are_of_every_kind_that_there_is():
    assert {design.kind for design in DESIGNS.values()} == set(HOMES)


# -- analyses ----------------------------------------------------------------------------------------------------------

GROUPS = ("Estimates", "Measures", "Tests", "Regression")
# What takes no reports, and where it is tried instead.
NOT_OF_REPORTS = {
    "prevalence": "one question of a classic survey, as codes and its device: tests/inference/test_prevalence.py",
    "unrelated_two_samples": "two classic samples as codes: tests/inference/test_unrelated.py",
    "correlate": "columns of a frame, each with its own device: tests/inference/regression/test_correlation.py",
    "derived": "takes a function of the caller's; all measures are made with it",
    "null_mean": "how much noise adds to chi2, which depends on the design: it is subtracted in chi2",
    "adjusted": "p-values alone",
}
# Where the names of the parameters do not say enough, or one call is not all: what each call is given.
CALLS = {
    "estimate": {
        "a": {"attributes": "a"},
        "a*c": {},
        "a*b*c": {"attributes": ["a", "b", "c"]},
        "by": {"attributes": "a", "by": "z"},
    },
    "goodness_of_fit": {"a": {"attributes": "a", "expected": POPULATIONS["unrelated"].table("a")}, "a*c": {}},
    "homogeneity": {"": {"attributes": "c", "by": "z"}},
    "logit": {"": {}, "open": {"formula": "c ~ z"}, "of an open": {"formula": "high ~ a + z"}},
    "multinomial": {"": {"formula": "b ~ a + c"}},
    "linear": {"": {"formula": "b ~ a + c + z"}, "open": {"formula": "b ~ z"}, "of an open": {"formula": "w ~ a"}},
    "random_intercept": {"": {"formula": "c ~ a"}},
    "all_pairs": {"": {"attributes": ["a", "c"]}},
    **{link: {"": {"formula": "c ~ z"}} for link in ("probit", "cloglog", "cauchit")},
}


def analyses():
    """Every call of every analysis: the function, what it is given besides the reports, and whether it is a test."""
    found = {}
    for group in GROUPS:
        for name in dn._NAMES[group]:
            function = getattr(dn, name)
            if not isinstance(function, type) and name not in NOT_OF_REPORTS:
                calls = CALLS.get(name, {"": {}})
                found |= {f"{name} {which}".strip(): (function, given, group) for which, given in calls.items()}
    return found


ANALYSES = analyses()


def ask(name, reports):
    """Call an analysis with what the names of its parameters ask for."""
    function, given, _ = ANALYSES[name]
    parameters = inspect.signature(function).parameters
    meant = {
        "reports": lambda: reports,
        "frame": lambda: reports,
        "attributes": lambda: ["a", "c"],
        "estimate": lambda: dn.estimate(reports, ["a", "c"]),
        "a": lambda: "a",
        "b": lambda: "c",
        "given": lambda: "b",
        "expected": lambda: POPULATIONS["unrelated"].table("a", "c"),
        "formula": lambda: "c ~ a + z",
        "groups": lambda: "z",
        "n": lambda: N,
    }
    wanted = [p.name for p in parameters.values() if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    strangers = [each for each in wanted if each not in meant and each not in given]
    assert not strangers, f"say in CALLS what {name} is given for {strangers}"
    settings = {"replicates": 99, "source": dn.Seeded(6)}
    chosen = {each: value for each, value in settings.items() if each in parameters}
    chosen |= {each: meant[each]() for each in wanted if each not in given} | given
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(**chosen)


def numbers(result, reports):
    """Values and their standard errors, out of whatever an analysis returns."""
    if isinstance(result, dict):
        parts = [numbers(part, None) for part in result.values()]
        return tuple(np.concatenate(both) for both in zip(*parts, strict=True))
    if isinstance(result, dn.Estimate):
        return result.efficient.values.ravel(), result.std_error.ravel()
    if hasattr(result, "columns") or hasattr(result, "column_names"):  # records: made of a table, they have its shares
        truths = np.array(nw.from_native(result)["a"].to_list())
        return np.array([(truths == each).mean() for each in DOMAIN["a"].categories]), dn.estimate(
            reports, "a"
        ).std_error
    if hasattr(result, "params"):
        return result.params.to_numpy(), result.std_error.to_numpy()
    each = dn.estimate(reports, ["a", "c"]).n if result.name in ("chi2", "G2") else 1  # these grow with it
    return np.array([result.value / each]), np.array([result.std_error / each])


def people_for(analysis):
    """Numbers have a population of their own, small enough to be laid out."""
    return "with a number" if "w ~" in ANALYSES[analysis][1].get("formula", "") else "related"


@cache
def undisguised(name):
    reports = reports_of("direct", people_for(name))
    return numbers(ask(name, reports), reports)[0]


# -- what cannot be answered, and what is not answered yet -------------------------------------------------------------

ALONE = "nobody was asked for two attributes"
PAIRS = "two respondents' reports depend on each other"
NO_B = "the design has no b"
JOINTLY = ("estimate a*c", "estimate a*b*c", "goodness_of_fit a*c", "independence", "conditional_independence")
REGRESSED = ("logit", "multinomial", "linear", "random_intercept")
OF_B = ("estimate a*b*c", "conditional_independence", "multinomial", "linear", "linear open")


def impossible(design, analysis):
    """Why a cell of the matrix cannot be answered, whoever tries, and what the refusal says; or None."""
    _, _, group = ANALYSES[analysis]
    several = analysis in (*JOINTLY, *REGRESSED, "all_pairs") or group == "Measures"
    if design.startswith("paired") and analysis in OF_B:
        return NO_B, "'b'|coins"
    if design == "sampled" and several:
        return ALONE, "together|of the same person"
    if design == "paired":
        if group in ("Tests", "Regression"):
            return PAIRS, "coins are correlated"
        if several or analysis == "synthesize":
            return PAIRS, "not independent"
    return None


# Refused as yet though the reports tell: design and analysis. Nothing else may be refused, and what is answered must go
# from this list.
NOT_YET: set[tuple[str, str]] = set()


def cells(*groups):
    pending = pytest.mark.xfail(strict=True, raises=DeniableError, reason="refused as yet")
    return [
        pytest.param(design, analysis, marks=[pending] if (design, analysis) in NOT_YET else [])
        for design in DESIGNS
        for analysis, (_, _, group) in ANALYSES.items()
        if group in groups
    ]


def refused(design, analysis, reports):
    """Whether a cell is impossible; it must then say so in words that lead on."""
    known = impossible(design, analysis)
    if known is not None:
        with pytest.raises(DeniableError, match=known[1]) as told:
            ask(analysis, reports)
        assert known[0] == NO_B or re.search(r"[Uu]se |[Aa]sk |Independent|Joint", str(told.value)), told.value
    return known is not None


# -- the matrix --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("design", "analysis"), cells("Estimates", "Measures", "Regression"))
def test_the_answer_is_that_of_the_undisguised_population(design, analysis):
    reports = reports_of(design, people_for(analysis))
    if refused(design, analysis, reports):
        return
    values, errors = numbers(ask(analysis, reports), reports)
    bound = NEAR if can_be_laid_out(DESIGNS[design], POPULATIONS["related"]) else FAR
    assert np.isfinite(errors).all()
    assert (errors > 0).all()
    assert (np.abs(values - undisguised(analysis)) <= bound * errors).all()


@pytest.mark.parametrize(("design", "analysis"), cells("Tests"))
def test_what_is_related_is_found_and_what_is_not_is_not(design, analysis):
    if refused(design, analysis, reports_of(design, "related")):
        return
    for people in ("related", "unrelated"):
        result = ask(analysis, reports_of(design, people))
        for test in getattr(result, "tests", [result]):
            if people == "related":
                assert test.pvalue <= 0.05
            elif can_be_laid_out(DESIGNS[design], POPULATIONS[people]):
                assert test.pvalue >= 0.5  # reports are what the hypothesis makes one expect, to a rounding
            else:
                # A likelihood ratio or Wald statistic of true hypotheses is below this in all but 1e-9 of all seeds.
                assert test.statistic <= stats.chi2.isf(1e-9, test.df)


# -- closed forms ------------------------------------------------------------------------------------------------------


def closed_forms():
    """What the population's shares make of every analysis that has a formula."""
    people = POPULATIONS["related"]
    table = people.table("a", "c")
    margins = np.outer(table.sum(axis=1), table.sum(axis=0))
    given = table / table.sum(axis=1, keepdims=True)
    phi = (table[1, 1] - margins[1, 1]) / np.sqrt(margins[0, 0] * margins[1, 1])
    shares = people.shares.reshape(3, -1, *DOMAIN.shape).sum(axis=(1, 3, 4))  # z, a
    information = (table * np.log(table / margins)).sum()
    return {
        "estimate a": people.table("a"),
        "estimate a*c": table,
        "estimate a*b*c": people.table("a", "b", "c"),
        "estimate by": shares / shares.sum(axis=1, keepdims=True),
        "entropy": -(table * np.log(table)).sum(),
        "mutual_information": information,
        "chi2": phi**2,
        "g2": 2 * information,
        "cramers_v": phi,
        "phi": phi,
        "correlation": phi,
        "odds_ratio": table[0, 0] * table[1, 1] / (table[0, 1] * table[1, 0]),
        "risk_ratio": given[1, 1] / given[0, 1],
        "difference": given[1, 1] - given[0, 1],
        "logit": LOGIT,
        "logit of an open": (np.log(0.2 / 0.8), np.log(0.7 / 0.3) - np.log(0.2 / 0.8), 0),
        "multinomial": (-0.5, 0.9, 0, -1, 0.8, 0.7),
        "linear": least_squares("b ~ a + c + z"),
        "linear open": least_squares("b ~ z"),
        "linear of an open": (0, LEAN),
    }


def least_squares(formula):
    """Of the population's true answers, each row with its share."""
    people = POPULATIONS["related"]
    a, b, c = np.indices(DOMAIN.shape).reshape(3, -1)
    z = people.public.z.to_numpy()[:, None]
    one = np.ones(people.shares.shape)
    columns = [one, z * one] if formula == "b ~ z" else [one, a * one, c * one, z * one]
    x, w = np.stack(columns, axis=-1).reshape(-1, len(columns)), people.shares.ravel()
    return np.linalg.solve((x.T * w) @ x, (x.T * w) @ (b * one).ravel())


@pytest.mark.parametrize("analysis", closed_forms())
def test_the_undisguised_answers_are_the_closed_forms(analysis):
    reports = reports_of("direct", people_for(analysis))
    values, errors = numbers(ask(analysis, reports), reports)
    assert (np.abs(values - np.ravel(closed_forms()[analysis])) <= NEAR * errors).all()
