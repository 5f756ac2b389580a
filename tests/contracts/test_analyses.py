"""Every analysis through every design: right, or refused because nobody was asked, with the way out.

Designs are those of `every_design`; analyses are the functions that the door lists under
Estimates, Measures, Numbers, Tests and Regression. A new one is called by the names of its parameters and compared with
what it finds in the same population undisguised, by its own standard error: it appears in the contract by itself. That
the undisguised answers are right is shown by closed forms.

Surveys are laid out without chance (see `laid_out`), so that a third of a standard error convicts and no seed decides.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import narwhals as nw
import numpy as np
import pandas as pd
import pytest
from laid_out import FAR, NEAR, Population, can_be_laid_out, survey
from scipy import stats
from scipy.optimize import minimize

import deniable as dn
from chequered import is_tried, one_of
from deniable._public import NAMES
from deniable.channels.dense import Dense
from deniable.designs.design import Design
from deniable.designs.question import Question
from deniable.errors import DeniableError, NotCoveredError
from deniable.likelihood.efficient_estimate import efficient_from
from deniable.likelihood.em import fit
from deniable.likelihood.evidence import of_counts
from deniable.likelihood.gather import gather
from deniable.likelihood.hypothesis_models import Independence
from deniable.regression import data_source as source
from deniable.regression import model
from deniable.regression.correlation import Correlation
from deniable.regression.likelihood.posterior import Heard, listen
from every_design import every_design

DOMAIN = dn.Domain({"a": ["no", "yes"], "b": [0, 1, 2], "c": ["no", "yes"]})
N, DRAWN = 12_000, 2_000  # respondents of a survey that is laid out, and of one that is drawn
FEWER = 1_500  # of a survey that is laid out and compared with itself
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


DESIGNS = every_design(DOMAIN, DRAWN)
DIRECT = dn.Joint(DOMAIN, 16.0)  # one answer in a million is another than the truth


@cache
def reports_of(name, people, n=N):
    design = DIRECT if name == "direct" else DESIGNS[name]
    if not can_be_laid_out(design, POPULATIONS[people]):
        return survey(design, POPULATIONS[people], DRAWN) if n == N else reports_of(name, people)
    return survey(design, POPULATIONS[people], (2 if people == "with a number" else 1) * n)


# -- analyses ----------------------------------------------------------------------------------------------------------

GROUPS = ("Estimates", "Measures", "Numbers", "Tests", "Regression")
# What takes no reports, and where it is tried instead.
NOT_OF_REPORTS = {
    "prevalence": "one question of a classic survey, as codes and its device: tests/inference/test_prevalence.py",
    "unrelated_two_samples": "two classic samples as codes: tests/inference/test_unrelated.py",
    "derived": "takes a function of the caller's; all measures are made with it",
    "null_mean": "how much noise adds to chi2, which depends on the design: it is subtracted in chi2",
    "adjusted": "p-values alone",
    "corrected_words": "about words that were never corrected here: tests/inference/test_corrected_words.py",
    **dict.fromkeys(("median", "quantile", "density"), "no standard error of its own: tests/inference/numbers"),
}
# Where the names of the parameters do not say enough, or one call is not all: what each call is given.
CALLS = {
    "estimate": {
        "a": {"attributes": "a"},
        "a*c": {"attributes": ["a", "c"]},
        "a*b*c": {"attributes": ["a", "b", "c"]},
        "by": {"attributes": "a", "by": "z"},
    },
    "goodness_of_fit": {"a": {"attributes": "a", "expected": POPULATIONS["unrelated"].table("a")}, "a*c": {}},
    "independence": {"": {"a": "a", "b": "c"}},
    "homogeneity": {"": {"attributes": "c", "by": "z"}},
    "logit": {"": {}, "open": {"formula": "c ~ z"}, "of an open": {"formula": "high ~ a + z"}},
    "multinomial": {"": {"formula": "b ~ a + c"}},
    "linear": {"": {"formula": "b ~ a + c + z"}, "open": {"formula": "b ~ z"}, "of an open": {"formula": "w ~ a"}},
    "random_intercept": {"": {"formula": "c ~ a"}},
    "poststratify": {"": {"population": POPULATIONS["related"].counted("z", "a"), "by": "a"}},
    "all_pairs": {"": {"attributes": ["a", "c"]}},
    "correlate": {"": {"x": "a", "y": "c"}, "with an open": {"x": "a", "y": "z"}, "of a number": {"x": "b", "y": "c"}},
    "mean": {"": {"attribute": "b"}},
    "means_by": {"": {"attribute": "b", "by": "a"}},
    "mean_difference": {"": {"attribute": "b", "by": "a"}},
    "total": {"": {"attribute": "b", "size": 1000}},
    "cdf": {"": {"attribute": "b"}},
    **{link: {"": {"formula": "c ~ z"}} for link in ("probit", "cloglog", "cauchit")},
}


def analyses():
    """Every call of every analysis: the function, what it is given besides the reports, and whether it is a test."""
    found = {}
    for group in GROUPS:
        for name in NAMES[group]:
            function = getattr(dn, name)
            if not isinstance(function, type) and name not in NOT_OF_REPORTS:
                calls = CALLS.get(name, {"": {}})
                found |= {f"{name} {which}".strip(): (function, given, group) for which, given in calls.items()}
    return found


ANALYSES = analyses()


@cache
def pair_of(reports):
    """The table that all measures of one survey are taken of, estimated once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dn.estimate(reports, ["a", "c"])


@cache
def answer(name, reports):
    """What `ask` finds, found once: other analyses may be made of it."""
    return ask(name, reports)


def ask(name, reports, **drawn):
    """Call an analysis with what the names of its parameters ask for, and with what else is said (weights)."""
    function, given, _ = ANALYSES[name]
    parameters = inspect.signature(function).parameters
    meant = {
        "reports": lambda: reports,
        "frame": lambda: reports,
        "source": lambda: reports,
        "attributes": lambda: ["a", "c"],
        "estimate": lambda: pair_of(reports),
        "fit": lambda: answer("random_intercept", reports),
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
    chosen = {each: value for each, value in settings.items() if each in parameters and each not in wanted}
    chosen |= {each: meant[each]() for each in wanted if each not in given and each not in drawn} | given | drawn
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(**chosen)


def numbers(result, reports):
    """Values and their standard errors, out of whatever an analysis returns."""
    if isinstance(result, Mapping):
        parts = [numbers(part, None) for part in result.values()]
        return tuple(np.concatenate(both) for both in zip(*parts, strict=True))
    if isinstance(result, dn.Estimate):
        return result.efficient.values.ravel(), result.std_error.ravel()
    is_frame = hasattr(result, "columns") or hasattr(result, "column_names")
    if is_frame and not isinstance(result, Correlation):  # records: made of a table, they have its shares
        truths = np.array(nw.from_native(result)["a"].to_list())
        shares = [(truths == each).mean() for each in reports.design.domain["a"].categories]
        return np.array(shares), dn.estimate(reports, "a").std_error
    if isinstance(result, dn.Numbers | dn.Distribution | dn.Poststratified):
        moves = result.std_error.ravel() > 0  # the last point of a distribution function is one
        return result.values.ravel()[moves], result.std_error.ravel()[moves]
    if hasattr(result, "params"):
        return result.params.to_numpy(), result.std_error.to_numpy()
    each = pair_of(reports).n if getattr(result, "name", "") in ("chi2", "G2") else 1  # these grow with it
    return np.array([result.value / each]), np.array([result.std_error / each])


def people_for(analysis):
    """Numbers have a population of their own, small enough to be laid out."""
    return "with a number" if "w ~" in ANALYSES[analysis][1].get("formula", "") else "related"


@cache
def undisguised(name):
    reports = reports_of("direct", people_for(name))
    return numbers(answer(name, reports), reports)[0]


# -- what cannot be answered, and what is not answered yet -------------------------------------------------------------

ALONE = "nobody was asked for two attributes"
PAIRS = "two respondents' reports depend on each other"
NO_B = "the design has no b"
JOINTLY = (
    "means_by",
    "mean_difference",
    "estimate a*c",
    "estimate a*b*c",
    "goodness_of_fit a*c",
    "independence",
    "conditional_independence",
)
REGRESSED = ("logit", "multinomial", "linear", "random_intercept", "poststratify", "correlate", "correlate of a number")
NUMBERS = ("mean", "means_by", "mean_difference", "total", "cdf")
OF_B = (
    *("estimate a*b*c", "conditional_independence", "multinomial", "linear", "linear open", "correlate of a number"),
    *NUMBERS,
)


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


def cells(*groups):
    """Designs and analyses. Whatever is not impossible is answered: there is no list of what is refused as yet."""
    return [(design, analysis) for design in DESIGNS for analysis, (_, _, group) in ANALYSES.items() if group in groups]


def black(of, *groups):
    """One of so many cells of every design and of every analysis, and all that are impossible: `chequered`."""
    rows, columns = list(DESIGNS), list(ANALYSES)
    return [
        (design, analysis)
        for design, analysis in cells(*groups)
        if impossible(design, analysis) or is_tried(rows.index(design), columns.index(analysis), of)
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


@pytest.mark.parametrize(("design", "analysis"), black(4, "Estimates", "Measures", "Numbers", "Regression"))
def test_the_answer_is_that_of_the_undisguised_population(design, analysis):
    reports = reports_of(design, people_for(analysis))
    if refused(design, analysis, reports):
        return
    values, errors = numbers(answer(analysis, reports), reports)
    bound = NEAR if can_be_laid_out(DESIGNS[design], POPULATIONS["related"]) else FAR
    assert np.isfinite(errors).all()
    assert (errors > 0).all()
    assert (np.abs(values - undisguised(analysis)) <= bound * errors).all()


# -- how respondents were drawn ----------------------------------------------------------------------------------------
# Everybody is asked twice, which is a cluster of two, and those of one z are a stratum. That tells no more than asking
# once; who takes the answers for independent of each other states errors that are too small by the root of two.


@cache
def twice(reports):
    """The reports with each respondent's in them twice, and who they are."""
    who = np.repeat(np.arange(reports.n), 2)
    return reports._rows(who), who


def public(reports, name):
    return nw.from_native(reports.public)[name].to_numpy()


def takes(function, name):
    """Whether an argument can be given: by name, or among options; `random_intercept` refuses how people were drawn."""
    parameters = inspect.signature(function).parameters
    return name in parameters or "options" in parameters


@pytest.mark.parametrize(
    ("design", "analysis"),
    [
        (design, analysis)
        for design, analysis in black(4, "Estimates", "Numbers", "Regression")
        if takes(ANALYSES[analysis][0], "clusters") and not impossible(design, analysis)
    ],
)
def test_strata_and_clusters_are_heeded(design, analysis):
    once = reports_of(design, people_for(analysis), FEWER)
    reports, who = twice(once)
    drawn = {"weights": np.full(reports.n, 3.0), "strata": "z", "clusters": who}
    if design == "paired":
        with pytest.raises(DeniableError, match=r"coins are correlated.*Use an Independent design"):
            ask(analysis, reports, **drawn)
        return
    values, errors = numbers(ask(analysis, reports, **drawn), reports)
    expected, alone = numbers(answer(analysis, once), once)
    assert (np.abs(values - expected) <= NEAR * alone).all()
    # How far answers are apart says what the model does, where it is true, but for a few percent and a bootstrap's
    # chance; strata take a little away where z tells something about the truth. Taken for independent: 0.71.
    assert errors == pytest.approx(alone, rel=0.2)


# One design each, in turn, of those that can be laid out: weights reach every analysis through the same evidence.
LAID_OUT = ("joint", "views", "clusters", "independent", "hadamard", "dense", "optimal")
WEIGHTED = [
    name
    for name, (function, _, group) in ANALYSES.items()
    if group in ("Estimates", "Numbers", "Regression") and people_for(name) == "related" and takes(function, "weights")
]


@pytest.mark.parametrize("analysis", one_of(2, WEIGHTED))
def test_weighted_answers_are_those_of_the_undisguised_weighted_population(analysis):
    found = {}
    for design in ("direct", LAID_OUT[WEIGHTED.index(analysis) % len(LAID_OUT)]):
        reports = reports_of(design, "related")
        weights = (3.0 + 2 * public(reports, "z")) * (1 + 3 * public(reports, "high"))
        found[design] = numbers(ask(analysis, reports, weights=weights), reports)
    (true, _), (values, errors) = found.values()
    assert (errors > 0).all()
    assert (np.abs(values - true) <= NEAR * errors).all()
    assert np.abs(true - undisguised(analysis)).max() > 1e-3  # weights do something


@pytest.mark.parametrize(
    ("design", "analysis"),
    [cell for cell in black(2, "Tests") if takes(ANALYSES[cell[1]][0], "weights") and not impossible(*cell)],
)
def test_weighted_tests_are_those_of_the_people_who_have_weight(design, analysis):
    """Who has no weight is as if not asked, how large equal weights are does not matter, and being asked twice neither.

    But n is reports, whatever they weigh: groups of which more have no weight count a little otherwise in F.
    """
    reports, who = twice(reports_of(design, "related", FEWER))
    high = public(reports, "high")
    drawn = {"weights": 5.0 * high, "strata": "high", "clusters": who}
    if analysis == "conditional_independence" and not reports.design.covers(["a", "b", "c"]):
        # That there is no interaction of three, which stands in for what was not asked, is a model for counts.
        with pytest.raises(NotCoveredError, match="together"):
            ask(analysis, reports, **drawn)
        return
    some = ask(analysis, reports, **drawn)
    alone = dict(reports_of(design, "related", FEWER).groups("high"))[1]
    found = ask(analysis, alone, weights=np.full(alone.n, 2.0))
    for mine, theirs in zip(getattr(some, "tests", [some]), getattr(found, "tests", [found]), strict=True):
        assert mine.statistic == pytest.approx(theirs.statistic, rel=0.1, abs=1e-6)
        assert mine.pvalue == pytest.approx(theirs.pvalue, rel=0.5, abs=2e-3)


@pytest.mark.parametrize(("design", "analysis"), black(2, "Tests"))
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
        "correlate": phi,
        "odds_ratio": table[0, 0] * table[1, 1] / (table[0, 1] * table[1, 0]),
        "risk_ratio": given[1, 1] / given[0, 1],
        "difference": given[1, 1] - given[0, 1],
        "mean": people.table("b") @ [0, 1, 2],
        "means_by": (by_a := people.table("a", "b")) @ [0, 1, 2] / by_a.sum(axis=1),
        "mean_difference": np.diff(by_a @ [0, 1, 2] / by_a.sum(axis=1)),
        "total": 1000 * people.table("b") @ [0, 1, 2],
        "cdf": np.cumsum(people.table("b"))[:2],
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
    values, errors = numbers(answer(analysis, reports), reports)
    assert (np.abs(values - np.ravel(closed_forms()[analysis])) <= NEAR * errors).all()


# -- what the contract must convict ------------------------------------------------------------------------------------


def test_what_was_never_asked_has_no_error():
    # The information's pseudo-inverse gives a finite one to a pair that nobody was asked for.
    evidence = gather(reports_of("sampled", "related"), ["a", "c"])
    found = efficient_from(evidence)
    assert np.isfinite(found.variances).all()
    assert not found.determined
    with pytest.raises(NotCoveredError, match="Views with k=2"):
        evidence.require()


EIGHT = dn.Views({f"x{i}": [0, 1] for i in range(8)}, 2, 1.0)


def covariance_of_a_pair(pair, n):
    """Of the first two of eight attributes from every report: F^+ where cells sum to zero."""
    pair_channel, one = EIGHT.questions[0].channel.matrix(), EIGHT.told(0, [EIGHT.questions[0].attributes[0]])
    alone = one.channel.matrix()
    rows, columns = np.kron(np.eye(2), np.ones(2)), np.kron(np.ones(2), np.eye(2))
    seen = [(pair_channel, 1), (alone @ rows, 6), (alone @ columns, 6)]  # ballots that tell both, the first, the second
    information = sum(often * n / 28 * (P.T / (P @ pair)) @ P for P, often in seen)
    away = np.linalg.svd(np.ones((1, 4)))[2][1:].T
    return away @ np.linalg.inv(away.T @ information @ away) @ away.T


@pytest.mark.parametrize("n", [2_000, 200_000])
def test_errors_are_those_of_all_reports_around_the_efficient_estimate(n):
    pair = np.array([0.5, 0.25, 0.249, 0.001])
    share = np.multiply.outer(pair.reshape(2, 2), np.full((2,) * 6, 1 / 64))
    truth = dn.Table(EIGHT.domain, share)
    stated = covariance_of_a_pair(pair, n)
    values, errors, surveys = [], [], 40
    for seed in range(surveys):
        tallies = EIGHT.simulate(truth.project(["x0", "x1"]), n, source=dn.Seeded(seed))
        estimate = dn.estimate(tallies, ["x0", "x1"])
        values.append(estimate.efficient.values.ravel())
        errors.append(estimate.std_error.ravel())
    # The mean lies within 5.5 of its standard errors, in all but 4e-8 of all seeds; errors are F^+'s within 3%: they
    # vary by about a percent from survey to survey, far less on average.
    assert (np.abs(np.mean(values, axis=0) - pair) < 5.5 * np.sqrt(np.diag(stated) / surveys)).all()
    assert np.mean(np.square(errors), axis=0) == pytest.approx(np.diag(stated), rel=0.03)
    if n == 2_000:
        below = np.array(values)[:, 3] < 0
        assert below.mean() > 0.3  # nothing is clipped where errors are centred


def test_a_riding_attribute_taken_for_independent_of_the_outcome_is_convicted(monkeypatch):
    weights = np.full((12, 12), 1000)
    for cell in range(12):  # c shows only through b: reports tell b * 2 + c, mixed with b's own lean
        weights[cell, cell] += 20_000
        weights[(cell + 2) % 12, cell] += 15_000 if cell % 2 else 5_000
        weights[(cell * 5 + 1) % 12, cell] += (1 << 16) - weights[:, cell].sum()
    asymmetric = Design(DOMAIN, [Question(("a", "b", "c"), Dense.from_weights(weights.tolist(), 16))], [[0]])
    reports = survey(asymmetric, POPULATIONS["related"], N)
    fit = dn.logit("c ~ a + z", reports)
    assert (np.abs(fit.params.to_numpy() - LOGIT) < NEAR * fit.std_error.to_numpy()).all()

    def independently(*asked):
        heard = listen(*asked)
        shares = heard.table.sum(axis=(0, 1))
        return replace(heard, riding=(), chance=(heard.chance @ shares)[..., None])

    monkeypatch.setattr(source, "listen", independently)
    monkeypatch.setattr(model, "check_identified", lambda *_: None)
    monkeypatch.setattr(Heard, "table", property(lambda self: np.full(self.chance.shape[1:], 1 / 4)))
    wrong = dn.logit("c ~ a + z", reports)
    assert (np.abs(wrong.params.to_numpy() - LOGIT) > NEAR * wrong.std_error.to_numpy()).any()


def test_likelihood_ratios_do_not_hang_on_one_start():
    # Three cells stand out, and independent margins can follow only one of them: from the even table, which treats all
    # alike, the climb ends on the saddle between three hills, nearly three nats below.
    domain, channel, counts = dn.Domain({"a": range(3), "b": range(3)}), dn.KRR(9, epsilon=0.7), 18.0 + 20 * np.eye(3)
    observed = [dn.Observation(domain, channel, counts)]
    result = dn.independence(observed, "a", "b", replicates=9)

    def loglik(table):
        return float(counts.ravel() @ np.log(channel.apply(table.ravel())))

    def softmax(x):
        return np.exp(x - x.max()) / np.exp(x - x.max()).sum()

    def product(x):
        return loglik(np.outer(softmax(np.append(0, x[:2])), softmax(np.append(0, x[2:]))))

    rng = np.random.default_rng(1)
    best = max(-minimize(lambda x: -product(x), 2 * rng.normal(size=4)).fun for _ in range(9))
    free = max(-minimize(lambda x: -loglik(softmax(np.append(0, x))), rng.normal(size=8)).fun for _ in range(2))
    assert result.statistic == pytest.approx(2 * (free - best), abs=0.02)
    assert best - fit(of_counts(observed), Independence(0, 1), strict=False).loglik[0] > 2.5
