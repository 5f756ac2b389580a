"""Regressions on reports of every kind of design: right, or refused with the way out; never silently wrong."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import deniable as dn
from deniable.errors import (
    DesignError,
    EstimationError,
    InputError,
    MissingColumnError,
    NotCoveredError,
    NotIdentifiedError,
    SmallCellWarning,
)
from deniable.regression.likelihood import identifiability as identified
from every_design import answered, every_design

DOMAIN = dn.Domain({"a": ["no", "yes"], "b": [0, 1, 2], "c": ["no", "yes"]})
N = 4000
SLOPE, Z_SLOPE = 2.0, 0.5
FORMULAS = {"c ~ z": "z", "c ~ a + z": "a[T.yes]"}


DESIGNS = every_design(DOMAIN, N)
REFUSED = {"paired": FORMULAS, "sampled": {"c ~ a + z"}}


def people(seed=4, n=N):
    """Truths: c depends strongly on a and weakly on the public z; b depends on both."""
    rng = np.random.default_rng(seed)
    z = rng.integers(-1, 2, n)
    a = (rng.random(n) < 1 / (1 + np.exp(-0.5 * z))).astype(int)
    c = (rng.random(n) < 1 / (1 + np.exp(1 - SLOPE * a - Z_SLOPE * z))).astype(int)
    b = rng.binomial(2, 0.15 + 0.3 * a + 0.4 * c)
    words = np.array(["no", "yes"])
    return pd.DataFrame({"a": words[a], "b": b, "c": words[c], "z": z})


@pytest.fixture(scope="module")
def truths():
    return people()


@pytest.fixture(scope="module")
def undisguised(truths):
    coded = truths.assign(c=(truths.c == "yes").astype(int))
    return {formula: dn.logit(formula, coded).params[term] for formula, term in FORMULAS.items()}


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("name", DESIGNS)
def test_a_disguised_answer_is_never_taken_for_a_direct_one(name, formula, truths, undisguised):
    reports = DESIGNS[name].randomize(answered(truths, DESIGNS[name]), keep=["z"], source=dn.Seeded(5))
    if formula in REFUSED.get(name, ()):
        with pytest.raises((DesignError, EstimationError), match="design"):
            dn.logit(formula, reports)
        return
    fit = dn.logit(formula, reports)
    # The undisguised estimate is the truth plus an error of its own, far smaller than that of the reports. Six standard
    # errors of a fixed seed: a false alarm in 2e-9 of all seeds.
    term = FORMULAS[formula]
    assert abs(fit.params[term] - undisguised[formula]) < 6 * fit.std_error[term]
    assert "direct" not in str(fit.summary())


@pytest.mark.parametrize("name", DESIGNS)
def test_no_disguised_answer_says_how_a_row_counts(name, truths):
    reports = DESIGNS[name].randomize(answered(truths, DESIGNS[name]), keep=["z"], source=dn.Seeded(5))
    for option in (
        {"clusters": "c"},
        {"clusters": "a"},
        {"weights": "a"},
        {"design_column": "a", "channel": {"yes": dn.Warner(0.8)}},
    ):
        with pytest.raises((MissingColumnError, DesignError, EstimationError, InputError)):
            dn.logit("c ~ z", reports, **option)


def written_out(fit, reports, truths):
    """The log-likelihood of "c ~ a + z" as its definition has it: a loop over respondents and over all truths."""
    names = ["a", "c", *(["b"] if any(" | " in str(label) for label in fit.labels) else [])]
    value = dict(zip(map(str, fit.labels), fit.values, strict=True))
    total, known = 0.0, {}
    for row, z in enumerate(truths.z):
        key = (int(z), reports.ballots[row], *reports.answers[row])
        if key not in known:
            known[key] = np.log(chance_of(reports, row, int(z), names, value))
        total += known[key]
    return total


def chance_of(reports, row, z, names, value):
    domain, design = reports.design.domain, reports.design
    total = 0.0
    for codes in np.ndindex(*(len(domain[name]) for name in names)):
        at = dict(zip(names, codes, strict=True))
        one = 1 / (1 + np.exp(-value["a = yes: Intercept"] - value["a = yes: z"] * z))
        prior = one if at["a"] else 1 - one
        yes = 1 / (1 + np.exp(-value["Intercept"] - value["a[T.yes]"] * at["a"] - value["z"] * z))
        prior *= yes if at["c"] else 1 - yes
        if "b" in at:
            given = f"a = {domain['a'].categories[at['a']]}, c = {domain['c'].categories[at['c']]}"
            eta = [0.0, *(value[f"b = {b} | {given}"] + value[f"b = {b}: z"] * z for b in (1, 2))]
            prior *= np.exp(eta[at["b"]]) / np.exp(eta).sum()
        total += prior * report_given(reports, design, row, at)
    return total


def report_given(reports, design, row, at):
    """Pr(what was reported of the attributes of `at`): the answers that agree on those are summed."""
    chance = 1.0
    for place, index in enumerate(design.ballots[reports.ballots[row]]):
        question = design.questions[index]
        shape = design.domain.project(question.attributes).shape
        kept = [i for i, name in enumerate(question.attributes) if name in at]
        if not kept:
            continue
        digits = np.indices(shape).reshape(len(shape), -1)
        if len(kept) == len(shape):
            answers = [int(reports.answers[row, place])]
        else:
            mine = digits[kept][:, [int(reports.answers[row, place])]]
            answers = np.flatnonzero((digits[kept] == mine).all(axis=0))
        truth = int(np.ravel_multi_index([at.get(name, 0) for name in question.attributes], shape))
        chance *= question.channel.matrix()[answers, truth].sum()
    return chance


@pytest.mark.parametrize("name", ["independent", "joint", "clusters", "views", "dense", "dense on three", "hadamard"])
def test_the_likelihood_is_the_sum_over_all_truths(name, truths):
    reports = DESIGNS[name].randomize(answered(truths, DESIGNS[name]), keep=["z"], source=dn.Seeded(5))
    fit = dn.logit("c ~ a + z", reports)
    assert fit.n == N
    assert fit.loglik == pytest.approx(written_out(fit, reports, truths), rel=1e-10)
    # And it is a maximum: a step of a tenth of a standard error in any coefficient loses what the curvature says.
    for place in range(fit.main):
        step = np.linalg.solve(fit.matrix, np.eye(fit.df)[place])
        away = fit.values + 0.1 * np.sqrt(fit.matrix[place, place]) * np.eye(fit.df)[place]
        loss = fit.loglik - fit.likelihood.loglik(away)
        assert loss == pytest.approx(0.005 * fit.matrix[place, place] * step[place], rel=0.2, abs=2e-3)


def test_what_pairs_do_not_tell_is_refused_and_what_they_tell_is_fitted(truths, undisguised):
    reports = DESIGNS["views"].randomize(truths, keep=["z"], source=dn.Seeded(8))
    with pytest.raises(NotIdentifiedError, match="k=3"):
        dn.logit("c ~ a * C(b)", reports)
    fit = dn.logit("c ~ a + C(b)", reports)  # pairs determine it: there is no three-way interaction in it
    coded = truths.assign(c=(truths.c == "yes").astype(int))
    plain = dn.logit("c ~ a + C(b)", coded)
    # Six standard errors at a fixed seed, three coefficients: a false alarm in 1e-8 of all seeds.
    assert (np.abs(fit.params - plain.params) < 6 * fit.std_error).all()
    assert {line.split(" about ")[1].split(" through")[0] for line in fit.used} == {"b and c", "a and b", "a and c"}
    with pytest.raises(NotCoveredError, match="Views with k=2"):
        dn.logit("c ~ a", DESIGNS["sampled"].randomize(truths, source=dn.Seeded(8)))


@pytest.mark.parametrize("name", ["joint", "views", "dense on three"])
def test_open_outcomes_and_several_categories(name, truths):
    rng, n = np.random.default_rng(9), 1500
    truths = truths[:n]
    income = np.round(2.0 * (truths.c == "yes") + truths.b + rng.normal(size=n))
    voted = (rng.random(n) < np.where(truths.c == "yes", 0.8, 0.3)).astype(int)
    given = truths.assign(income=income, voted=voted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallCellWarning)  # nobody is behind these rows
        design = DESIGNS[name]
        kept = ["z", "income", "voted"]
        reports = design.randomize(answered(given, design), keep=kept, source=dn.Seeded(10))
    for fit, plain in (
        (dn.linear("income ~ c + z", reports), dn.linear("income ~ c + z", given)),
        (dn.logit("voted ~ c", reports), dn.logit("voted ~ c", given)),
        (dn.multinomial("b ~ z", reports), dn.multinomial("b ~ z", given)),
    ):
        # Six standard errors at a fixed seed: a false alarm in 1e-8 of all seeds.
        assert (np.abs(fit.params.to_numpy() - plain.params.to_numpy()) < 6 * fit.std_error.to_numpy()).all()
        assert fit.used


def test_reports_from_a_file_or_a_store_are_the_same(truths, tmp_path):
    reports = DESIGNS["views"].randomize(truths, keep=["z"], source=dn.Seeded(11))
    path = reports.write(tmp_path / "reports.parquet")
    fit = dn.logit("c ~ a + z", reports)
    for other in (dn.read_reports(path), dn.open_reports(path), dn.Reports(reports.to_frame(), reports.design)):
        same = dn.logit("c ~ a + z", other)
        assert same.params.to_numpy() == pytest.approx(fit.params.to_numpy(), rel=1e-9)
        assert same.used == fit.used


def test_those_who_were_asked_something_else_are_left_out(truths):
    reports = DESIGNS["sampled"].randomize(truths, keep=["z"], source=dn.Seeded(12))
    ones = np.ones(N)
    fit = dn.logit("c ~ z", reports, weights=ones, clusters=np.arange(N), covariance="cluster")
    plain = dn.logit("c ~ z", reports)
    assert fit.n == plain.n < N
    assert f"{N - fit.n} reports speak of none of it" in plain.used
    assert fit.params.to_numpy() == pytest.approx(plain.params.to_numpy(), rel=1e-6)
    assert fit.std_error.to_numpy() == pytest.approx(plain.std_error.to_numpy(), rel=0.1)
    # The same reports as a frame, with the channel said: the same fit, penalised and with random intercepts as well.
    asked = [design.attributes for design in reports.design.questions].index(("c",))
    channel = reports.design.questions[asked].channel
    here = reports.ballots == asked
    frame = pd.DataFrame(
        {"c": reports.answers[here, 0].astype(int), "z": truths.z[here], "g": np.arange(here.sum()) % 20}
    )
    stated = dn.logit("c ~ z", frame, channel=channel)
    assert plain.params.to_numpy() == pytest.approx(stated.params.to_numpy(), rel=1e-6)
    assert plain.loglik == pytest.approx(stated.loglik, rel=1e-10)
    firm, also = (dn.logit("c ~ z", *given, penalty="jeffreys") for given in ((reports,), (frame, channel)))
    assert firm.params.to_numpy() == pytest.approx(also.params.to_numpy(), rel=1e-6)


def test_a_random_intercept_reads_reports():
    rng = np.random.default_rng(13)
    village = rng.integers(0, 40, N)
    a = (rng.random(N) < 1 / (1 + np.exp(-rng.normal(size=40)[village]))).astype(int)
    words = np.array(["no", "yes"])
    given = pd.DataFrame({"a": words[a], "b": rng.integers(0, 3, N), "c": words[a], "village": village})
    reports = DESIGNS["joint"].randomize(given, keep=["village"], source=dn.Seeded(13))
    fit = dn.random_intercept("a ~ 1", reports, groups="village")
    channel = reports.design.told(0, ["a"]).channel
    coded = pd.DataFrame({"a": reports.codes(0, reports.design.told(0, ["a"]))[:, 0].astype(int), "village": village})
    stated = dn.random_intercept("a ~ 1", coded, channel, groups="village")
    assert fit.scale == pytest.approx(stated.scale, rel=1e-6)
    with pytest.raises(MissingColumnError, match="town"):
        dn.random_intercept("c ~ b", reports, groups="town")


def test_the_design_knows_the_channels(truths):
    reports = DESIGNS["joint"].randomize(truths, keep=["z"], source=dn.Seeded(5))
    for option in ({"channel": dn.Warner(0.8)}, {"rr": {"a": dn.Warner(0.8)}}, {"categories": ("yes", "no")}):
        with pytest.raises(InputError, match="design"):
            dn.logit("c ~ a", reports, **option)


@pytest.mark.parametrize("name", ["joint", "views", "dense on three"])
def test_expected_information_is_the_mean_of_the_observed(name, truths):
    reports = DESIGNS[name].randomize(answered(truths, DESIGNS[name]), keep=["z"], source=dn.Seeded(14))
    observed, expected = (dn.logit("c ~ a + z", reports, covariance=kind) for kind in ("hessian", "expected"))
    assert expected.std_error.to_numpy() == pytest.approx(observed.std_error.to_numpy(), rel=0.15)
    assert (expected.std_error != observed.std_error).all()


def test_expected_information_by_hand(truths):
    # c ~ 1 through a channel: lambda = P (1 - p, p), and I = n sum over reports of (d lambda)^2 / lambda.
    reports = DESIGNS["joint"].randomize(truths, source=dn.Seeded(14))
    fit = dn.logit("c ~ 1", reports, covariance="expected")
    matrix = reports.design.told(0, ["c"]).channel.matrix()
    share = 1 / (1 + np.exp(-fit.params["Intercept"]))
    slope = (matrix[:, 1] - matrix[:, 0]) * share * (1 - share)
    information = N * (slope**2 / (matrix @ [1 - share, share])).sum()
    assert fit.std_error["Intercept"] == pytest.approx(information**-0.5, rel=1e-9)
    frame = pd.DataFrame({"c": reports.codes(0, reports.design.told(0, ["c"]))[:, 0].astype(int)})
    stated = dn.logit("c ~ 1", frame, reports.design.told(0, ["c"]).channel, covariance="expected")
    assert stated.std_error["Intercept"] == pytest.approx(information**-0.5, rel=1e-6)
    with pytest.raises(InputError, match="too many to average"):
        dn.logit("c ~ 1", DESIGNS["hashing"].randomize(truths, source=dn.Seeded(1)), covariance="expected")
    with pytest.raises(InputError, match="disguised outcome"):
        dn.linear("z ~ 1", truths, covariance="expected")


def test_standard_errors_are_those_of_repeated_surveys():
    # 36 surveys: sums of squared z-scores are chi-squared with 36 degrees of freedom, each outside these bounds in 2e-7
    # of all seeds; two coefficients.
    design, surveys = dn.Views({name: [0, 1] for name in "acd"}, 2, 4.0), 36
    z = np.empty((surveys, 2))
    for survey in range(surveys):
        rng = np.random.default_rng(survey)
        a, d = rng.integers(0, 2, 1500), rng.integers(0, 2, 1500)
        c = (rng.random(1500) < 1 / (1 + np.exp(0.5 - a))).astype(int)
        reports = design.randomize(pd.DataFrame({"a": a, "c": c, "d": d}), source=dn.Seeded(survey))
        fit = dn.logit("c ~ a", reports)
        z[survey] = (fit.params - [-0.5, 1.0]) / fit.std_error
    low, high = stats.chi2.ppf([1e-7, 1 - 1e-7], surveys)
    assert ((low < (z**2).sum(axis=0)) & ((z**2).sum(axis=0) < high)).all()


@pytest.mark.parametrize("link", ["probit", "cloglog", "cauchit"])
def test_the_other_links_read_reports_too(link, truths):
    reports = DESIGNS["joint"].randomize(truths, keep=["z"], source=dn.Seeded(15))
    fit = getattr(dn, link)("c ~ a + z", reports)
    plain = getattr(dn, link)("c ~ a + z", truths.assign(c=(truths.c == "yes").astype(int)))
    # Six standard errors at a fixed seed, three coefficients: a false alarm in 1e-8 of all seeds.
    assert (np.abs(fit.params - plain.params) < 6 * fit.std_error).all()


def test_identification_looks_at_reports_all_over_their_list(truths, monkeypatch):
    # Sets are listed in order: the first of many have the same first members, and say nothing of the others.
    monkeypatch.setattr(identified, "_REPORTS", 60)
    domain = dn.Domain({"a": ["no", "yes"], "b": [0, 1, 2], "c": ["no", "yes"]})
    reports = dn.Joint(domain, 1.0, channel="subset").randomize(truths[:1000], keep=["z"], source=dn.Seeded(5))
    assert dn.logit("c ~ 1", reports).n == 1000


def test_what_rides_along_makes_no_cells_of_its_own(truths):
    # Sums over it are the last factor's: as cells they made a row as many times as dear, and squared again.
    for formula, cells in (("c ~ z", 2), ("c ~ a + z", 4)):
        fit = dn.logit(formula, DESIGNS["dense on three"].randomize(truths, keep=["z"], source=dn.Seeded(5)))
        assert "ride along" in str(fit)
        assert len(fit.likelihood.cells) == cells
