"""Bad input, and likelihoods without a finite maximum: each has its own error, which names the way out."""

import sys

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.errors import (
    ConvergenceError,
    DesignError,
    DivergenceError,
    EstimationError,
    FormulaError,
    InputError,
    MissingColumnError,
    MissingExtraError,
    MissingValueError,
    NotIdentifiedError,
    SeparationError,
    SingularDesignError,
    TooFewReportsError,
    UnknownCategoryError,
)
from deniable.regression.likelihood.identifiability import separating
from deniable.regression.likelihood.maximize import ascend

WARNER = dn.Warner(0.75)


def rare(seed, n=500):
    """A rare trait (10%) and a yes-or-no predictor, through Warner's device."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, n)
    truth = (rng.random(n) < 1 / (1 + np.exp(2.197 - 0.5 * x))).astype(int)
    return pd.DataFrame({"x": x, "report": WARNER.randomize(truth, source=dn.Seeded(seed))})


def no_finite_maximum(frame):
    """Whether the unbiased estimate of a group's share lies outside (0, 1): then the likelihood is highest there."""
    shares = (frame.groupby("x").report.mean() - 0.25) / 0.5
    return bool((shares <= 0).any() or (shares >= 1).any())


def test_noise_alone_makes_the_likelihood_diverge():
    # With one yes-or-no predictor the maximum is known in closed form, sample by sample.
    diverged = 0
    for seed in range(60):
        frame = rare(seed)
        if no_finite_maximum(frame):
            diverged += 1
            with pytest.raises(DivergenceError, match="although no predictor separates") as caught:
                dn.logit("report ~ x", frame, channel=WARNER)
            assert not isinstance(caught.value, SeparationError)
            assert "jeffreys" in str(caught.value)
            penalised = dn.logit("report ~ x", frame, channel=WARNER, penalty="jeffreys")
            assert np.isfinite(penalised.params).all()
            assert np.isfinite(penalised.std_error).all()
        else:
            fit = dn.logit("report ~ x", frame, channel=WARNER)
            shares = fit.predict(pd.DataFrame({"x": [0, 1]}))["estimate"]
            np.testing.assert_allclose(shares, (frame.groupby("x").report.mean() - 0.25) / 0.5, rtol=1e-6)
    assert diverged > 0


def test_separation_is_told_from_divergence():
    x = np.r_[np.linspace(-2, -0.1, 50), np.linspace(0.1, 2, 50)]
    frame = pd.DataFrame({"x": x, "report": (x > 0).astype(int)})
    for channel in (None, WARNER):
        with pytest.raises(SeparationError, match="'x'"):
            dn.logit("report ~ x", frame, channel=channel)
    # Quasi-complete: a category in which every report is the same.
    rng = np.random.default_rng(0)
    group = rng.choice(["a", "b"], 200)
    report = np.where(group == "a", 1, rng.integers(0, 2, 200))
    with pytest.raises(SeparationError, match="group"):
        dn.logit("report ~ group", pd.DataFrame({"group": group, "report": report}))
    with pytest.raises(SeparationError):
        dn.multinomial("report ~ x", pd.DataFrame({"x": x, "report": np.digitize(x, [-1, 1])}))
    fit = dn.logit("report ~ x", frame, channel=WARNER, penalty="jeffreys")
    assert 0 < fit.params["x"] < 50


@pytest.mark.parametrize("channel", [None, WARNER], ids=["direct", "Warner"])
@pytest.mark.parametrize("report", [0, 1])
@pytest.mark.parametrize("model", [dn.logit, dn.probit, dn.cloglog, dn.cauchit], ids=lambda model: model.__name__)
def test_every_link_notices_a_runaway(model, report, channel):
    # In group a every report is the same; links saturate at very different speeds.
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"group": ["a"] * 60 + ["b"] * 60, "report": [report] * 60 + rng.integers(0, 2, 60).tolist()})
    with pytest.raises(SeparationError):
        model("report ~ group - 1", frame, channel=channel)


def test_the_separation_search_looks_beyond_its_sample(monkeypatch):
    rng = np.random.default_rng(1)
    x = rng.normal(size=400)
    design = np.c_[np.ones(400), x]
    chance = np.eye(2)[(x > 0).astype(int)]
    assert separating(design, chance) is not None
    chance[np.argmax(x)] = [1, 0]  # one row against
    assert separating(design, chance) is None
    monkeypatch.setattr("deniable.regression.likelihood.identifiability._ROWS", 20)
    assert separating(design, chance) is None


def test_singular_designs_name_the_columns():
    frame = rare(1).assign(z=lambda d: 2 * d.x + 1)
    with pytest.raises(SingularDesignError, match="'x'") as caught:
        dn.logit("report ~ x + z", frame, channel=WARNER)
    assert set(caught.value.terms) == {"Intercept", "x", "z"}
    unused = frame.assign(c=pd.Categorical(["a", "b"] * 250, categories=["a", "b", "never"]))
    with pytest.raises(SingularDesignError, match="never"):
        dn.logit("report ~ c", unused, channel=WARNER)
    # Large offsets are no singularity.
    year = frame.assign(year=2000 + np.arange(500) % 10)
    assert np.isfinite(dn.logit("report ~ year", year, channel=dn.Warner(0.95)).std_error).all()


def test_too_little_to_estimate_from():
    with pytest.raises(TooFewReportsError, match="2 reports for 2 parameters"):
        dn.logit("report ~ x", rare(1).iloc[[0, 1]].assign(x=[0, 1]), channel=WARNER)
    with pytest.raises(TooFewReportsError):
        dn.logit("report ~ x", rare(1).iloc[:0], channel=WARNER)
    with pytest.raises(TooFewReportsError, match="a single cluster"):
        dn.logit("report ~ 1", rare(0).assign(c=1), channel=WARNER, clusters="c")


def test_a_channel_that_says_nothing():
    with pytest.raises(NotIdentifiedError, match="undetermined"):
        dn.logit("report ~ x", rare(1), channel=dn.Warner(0.5 + 1e-8))


def test_a_predictor_that_cannot_be_told_from_its_own_model():
    # The reports of x carry nothing (condition 2e5) and y is independent of them: the coefficient of x is free.
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.integers(0, 2, 400), "y": rng.normal(size=400)})
    with pytest.raises(EstimationError):
        dn.linear("y ~ x", frame, rr={"x": dn.Warner(0.500005)})


def test_categories_must_match():
    frame = rare(1)
    with pytest.raises(UnknownCategoryError, match="lie outside"):
        dn.logit("report ~ x", frame.assign(report=2), channel=WARNER)
    with pytest.raises(UnknownCategoryError, match="categories="):
        dn.logit("report ~ x", frame.assign(report="yes"), channel=WARNER)
    with pytest.raises(UnknownCategoryError, match="not among its categories"):
        dn.logit("report ~ x", frame.assign(report="maybe"), channel=dn.Warner(0.8, categories=("no", "yes")))
    with pytest.raises(UnknownCategoryError, match="not codes"):
        dn.logit("report ~ x", frame.assign(report=0.5), channel=WARNER)
    with pytest.raises(DesignError, match="do not agree"):
        dn.multinomial("report ~ x", frame, channel=[dn.KRR(3, epsilon=1.0), *[WARNER] * 499])
    with pytest.raises(DesignError, match=r"multinomial\(\)"):
        dn.logit("report ~ x", frame, channel=dn.KRR(3, epsilon=1.0))
    with pytest.raises(UnknownCategoryError, match="no channel is given"):
        dn.logit("report ~ x", frame, channel={0: WARNER}, design_column="x")
    with pytest.raises(InputError, match="design_column"):
        dn.logit("report ~ x", frame, channel={0: WARNER, 1: None})
    with pytest.raises(InputError, match="3 channels for 500 rows"):
        dn.logit("report ~ x", frame, channel=[WARNER] * 3)
    fit = dn.logit("report ~ s", frame.assign(s=["a", "b"] * 250), channel=dn.Warner(0.95))
    with pytest.raises(UnknownCategoryError, match="not fitted with"):
        fit.predict(pd.DataFrame({"s": ["c"]}))


def test_formulas_and_columns():
    frame = rare(1)
    for formula in ("report", "~ x", "report ~"):
        with pytest.raises(FormulaError, match="outcome ~ predictors"):
            dn.logit(formula, frame, channel=WARNER)
    for formula in ("report ~ x +* z", "report ~ nobody"):
        with pytest.raises(FormulaError, match="cannot be"):
            dn.logit(formula, frame, channel=WARNER)
    with pytest.raises(MissingColumnError, match="'nobody'"):
        dn.logit("nobody ~ x", frame, channel=WARNER)
    with pytest.raises(MissingValueError, match="missing"):
        dn.logit("report ~ x", frame.assign(x=[np.nan, *[1.0] * 499]), channel=WARNER)
    with pytest.raises(MissingValueError, match="1 missing"):
        dn.logit("report ~ x", frame.assign(report=[np.nan, *[1.0] * 499]), channel=WARNER)
    with pytest.raises(MissingValueError, match="clusters: 1 of 500 values are missing"):
        dn.logit("report ~ 1", frame, channel=WARNER, clusters=[None, *["a"] * 499])


@pytest.mark.parametrize(
    "options",
    [
        {"weights": -np.ones(500)},
        {"weights": np.ones(3)},
        {"weights": np.zeros(500)},
        {"clusters": [1, 2]},
        {"covariance": "magic"},
        {"covariance": "cluster"},
        {"penalty": "ridge"},
        {"penalty": "jeffreys", "rr": {"x": WARNER}},
    ],
    ids=str,
)
def test_bad_options(options):
    with pytest.raises(InputError):
        dn.logit("report ~ x", rare(0), channel=dn.Warner(0.95), **options)


def test_an_impossible_report_and_a_lost_ascent():
    class Impossible:
        def evaluate(self, _):
            return -np.inf, np.zeros(1), -np.eye(1)

        def reach(self, _):
            return 0.0

    class Lying(Impossible):
        def evaluate(self, params):
            return -float(abs(params[0])), np.array([1.0]), -np.eye(1)

    with pytest.raises(ConvergenceError, match="impossible"):
        ascend(Impossible(), np.zeros(1))
    with pytest.raises(ConvergenceError, match="short of a maximum"):
        ascend(Lying(), np.zeros(1))


def test_formulaic_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "formulaic", None)
    with pytest.raises(MissingExtraError, match=r"deniable\[regression\]"):
        dn.logit("report ~ x", rare(1), channel=WARNER)
