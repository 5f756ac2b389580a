"""Least squares on unbiased scores: against least squares, formulas written out, and repeated surveys."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.errors import (
    DesignError,
    FormulaError,
    InputError,
    NotCoveredError,
    NotIdentifiedError,
    TooFewReportsError,
)
from deniable.regression.corrected_least_squares import LeastSquares

DOMAIN = dn.Domain({"a": ["no", "yes"], "b": [0, 1, 3], "c": ["no", "yes"]})
DEVICE, THREE = dn.Warner(0.85), dn.KRR(3, epsilon=2.0)


def people(n, seed=1):
    rng = np.random.default_rng(seed)
    z, a = rng.integers(-1, 2, n), rng.integers(0, 2, n)
    code = rng.binomial(2, 0.2 + 0.4 * a + 0.1 * z)
    words = np.array(["no", "yes"])
    return pd.DataFrame({"a": words[a], "b": np.array([0, 1, 3])[code], "c": words[rng.integers(0, 2, n)], "z": z})


def test_what_is_not_disguised_is_least_squares_with_the_sandwich():
    frame = people(300)
    direct = dn.Dense(np.eye(3), categories=(0, 1, 3))
    fit = dn.linear("b ~ a + z", frame, direct)
    x, y = np.c_[np.ones(300), frame.a == "yes", frame.z].astype(float), frame.b.to_numpy(dtype=float)
    plain = np.linalg.lstsq(x, y, rcond=None)[0]
    bread = np.linalg.inv(x.T @ x)
    meat = (x * (y - x @ plain)[:, None]).T @ (x * (y - x @ plain)[:, None])
    assert isinstance(fit, LeastSquares)
    assert fit.params.to_numpy() == pytest.approx(plain, rel=1e-9)
    assert fit.covariance.to_numpy() == pytest.approx(bread @ meat @ bread * 300 / 299, rel=1e-9)
    assert fit.predict(frame.head(2))["estimate"].to_numpy() == pytest.approx(x[:2] @ plain)
    assert fit.wald_test("z").pvalue == pytest.approx(fit.pvalue["z"])


def test_columns_of_a_frame_by_their_scores():
    rng = np.random.default_rng(2)
    x, b = rng.integers(0, 2, 4000), rng.integers(0, 3, 4000)
    frame = pd.DataFrame(
        {
            "x": DEVICE.randomize(x, source=dn.Seeded(1)),
            "b": np.array([0, 1, 3])[THREE.randomize(b, source=dn.Seeded(2))],
        }
    )
    fit = dn.linear("b ~ x", frame, THREE, rr={"x": DEVICE}, categories=(0, 1, 3))
    sx = np.linalg.inv(DEVICE.matrix())[1, frame.x]
    sy = np.array([0, 1, 3]) @ np.linalg.inv(THREE.matrix())[:, np.searchsorted([0, 1, 3], frame.b)]
    slope = (np.mean(sx * sy) - sx.mean() * sy.mean()) / (sx.mean() - sx.mean() ** 2)  # x^2 = x
    assert fit.params["x"] == pytest.approx(slope, rel=1e-9)
    assert "x" in str(fit)
    assert fit.hidden == ("x",)


def test_standard_errors_are_those_of_repeated_surveys():
    design, estimates, stated = dn.Views(DOMAIN, 2, 4.0), [], []
    truths = people(1200, seed=3)
    yes = pd.DataFrame({"a": truths.a == "yes", "c": truths.c == "yes", "z": truths.z}).astype(float)
    x = np.c_[np.ones(len(yes)), yes]
    true = np.linalg.lstsq(x, truths.b.to_numpy(dtype=float), rcond=None)[0]
    rng = np.random.default_rng(4)
    for survey in range(45):
        drawn = truths.iloc[rng.integers(0, len(truths), len(truths))].reset_index(drop=True)
        fit = dn.linear("b ~ a + c + z", design.randomize(drawn, keep=["z"], source=dn.Seeded(survey)))
        estimates.append(fit.params.to_numpy())
        stated.append(np.diagonal(fit.matrix))
    actual, mean = np.var(estimates, axis=0, ddof=1), np.mean(estimates, axis=0)
    # 45 surveys: a variance has 44 degrees of freedom, so it is .25 to 2.53 times the stated one in all but 8e-7 of all
    # seeds for four; a mean is within 5.5 of its stated standard errors likewise (small-sample bias is far below).
    ratio = actual / np.mean(stated, axis=0)
    assert ((ratio > 0.25) & (ratio < 2.53)).all()
    assert np.abs((mean - true) / np.sqrt(np.mean(stated, axis=0) / 45)).max() < 5.5


def test_pooling_is_never_worse_than_those_who_were_asked_everything():
    truths = people(6000, seed=5)
    reports = dn.Views(DOMAIN, 2, 4.0).randomize(truths, keep=["z"], source=dn.Seeded(6))
    pooled = dn.linear("b ~ a", reports)
    asked = [index for index, question in enumerate(reports.design.questions) if set(question.attributes) == {"a", "b"}]
    ballot = next(i for i, indices in enumerate(reports.design.ballots) if tuple(indices) == tuple(asked))
    alone = dn.linear("b ~ a", reports._rows(np.flatnonzero(reports.ballots == ballot)))
    assert (pooled.std_error < 1.001 * alone.std_error).all()
    assert len([line for line in pooled.used if "through" in line]) == 3


def test_weights_repeat_rows_and_clusters_are_respected():
    truths = people(800, seed=7)
    twice = truths.loc[truths.index.repeat(2)].reset_index(drop=True)
    direct = dn.Dense(np.eye(3), categories=(0, 1, 3))
    plain, heavy = (
        dn.linear("b ~ z", frame, direct, **more)
        for frame, more in ((twice, {}), (truths, {"weights": np.full(800, 2.0)}))
    )
    assert plain.params.to_numpy() == pytest.approx(heavy.params.to_numpy(), rel=1e-9)
    grouped = dn.linear("b ~ z", twice, direct, clusters=np.repeat(np.arange(800), 2))
    assert grouped.kind == "survey"
    assert grouped.std_error.to_numpy() == pytest.approx(heavy.std_error.to_numpy(), rel=1e-3)


def test_refusals():
    truths = people(400, seed=8)
    joint = dn.Joint(DOMAIN, 3.0).randomize(truths, keep=["z"], source=dn.Seeded(9))
    with pytest.raises(DesignError, match="no numbers"):
        dn.linear("a ~ z", joint)
    with pytest.raises(NotCoveredError, match="Views with k=2"):
        dn.linear("b ~ a", dn.Sampled(DOMAIN, 3.0).randomize(truths, source=dn.Seeded(9)))
    with pytest.raises(NotCoveredError, match="Views with k=3"):
        dn.linear("b ~ a * c", dn.Views(DOMAIN, 2, 3.0).randomize(truths, source=dn.Seeded(9)))
    with pytest.raises(InputError, match="penalty"):
        dn.linear("b ~ z", joint, penalty="jeffreys")
    with pytest.raises(InputError, match="sandwich"):
        dn.linear("b ~ z", joint, covariance="hessian")
    with pytest.raises(InputError, match="know from their design"):
        dn.linear("b ~ z", joint, THREE)
    with pytest.raises(InputError, match="channel="):
        dn.linear("z ~ 1", truths, categories=(0, 1))
    with pytest.raises(FormulaError, match="does not use"):
        dn.linear("b ~ z", truths.assign(a=0), THREE, rr={"a": DEVICE}, categories=(0, 1, 3))
    with pytest.raises(TooFewReportsError, match="no rows"):
        dn.linear("b ~ z", truths[:0], THREE, categories=(0, 1, 3))
    with pytest.raises(TooFewReportsError, match="a single cluster"):
        dn.linear("b ~ z", joint, clusters=np.zeros(400))
    partial = dn.Optimal(DOMAIN, [["a", "b"], ["c"]], 2.0).randomize(truths, source=dn.Seeded(9))
    with pytest.raises((NotCoveredError, NotIdentifiedError), match=r"together|only some sums"):
        dn.linear("b ~ a * c", partial)
    with pytest.raises(NotIdentifiedError, match="noise"):
        dn.linear("b ~ a", dn.Joint(DOMAIN, 0.05).randomize(truths[:40], source=dn.Seeded(1)))
