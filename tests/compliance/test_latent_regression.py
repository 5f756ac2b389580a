"""Regressions with liars, cheaters and inattentive respondents: against closed forms, brute force and the truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import deniable as dn
from deniable.errors import DesignError, DivergenceError, InputError, NotIdentifiedError, UnknownCategoryError
from deniable.sampling.read_sampling import sampling

N = 6000


def share(eta):
    return 1 / (1 + np.exp(-eta))


def liars(seed=1, n=N):
    rng = np.random.default_rng(seed)
    x, group = rng.normal(size=n), rng.integers(0, 2, n)
    carrier, tells = rng.random(n) < share(-0.5 + x), rng.random(n) < 0.7
    yes = np.where(carrier, tells, rng.random(n) > np.array([0.8, 0.3])[group])
    return pd.DataFrame({"said": yes.astype(int), "x": x, "group": np.array(["a", "b"])[group]})


def cheaters(seed=2, n=N):
    rng = np.random.default_rng(seed)
    x, group = rng.normal(size=n), rng.integers(0, 2, n)
    carrier, cheats = rng.random(n) < share(-0.5 + x), rng.random(n) < 0.2
    yes = ~cheats & (carrier | (rng.random(n) < np.array([0.2, 0.7])[group]))
    return pd.DataFrame({"said": yes.astype(int), "x": x, "group": np.array(["a", "b"])[group]})


def anchored(seed=3, n=N):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    carrier, attends = rng.random(n) < share(-0.5 + x), rng.random(n) < 0.8
    item = np.where(attends, rng.random(n) < np.where(carrier, 0.15, 0.85), rng.random(n) < 0.5)
    anchor = np.where(attends, rng.random(n) < 0.85, rng.random(n) < 0.5)
    income = 2.0 * carrier + x + rng.normal(size=n)
    voted = rng.random(n) < share(-0.5 + 1.5 * carrier)
    said = {"said": item, "anchor": anchor, "voted": voted}
    return pd.DataFrame({**{name: each.astype(int) for name, each in said.items()}, "x": x, "income": income})


P, DEVICES = {"a": 0.8, "b": 0.3}, {"a": dn.Triangular(0.2), "b": dn.Triangular(0.7)}
ANCHOR = {"anchor": "anchor", "p": 0.15, "anchor_p": 0.15}


def test_without_predictors_it_is_the_lie_detector():
    frame = liars()
    fit = dn.compliance.sld_regression("said ~ 1", frame, groups="group", p=P)
    plain = dn.compliance.sld(frame.said, frame.group, p=P)
    assert share(fit.values) == pytest.approx([plain.params["carriers"], plain.params["truthful carriers"]], abs=1e-6)
    assert fit.loglik == pytest.approx(plain.loglik, rel=1e-9)
    slope = share(fit.values[0]) * (1 - share(fit.values[0]))
    assert fit.std_error["Intercept"] * slope == pytest.approx(plain.std_error["carriers"], rel=1e-3)  # n - 1 there


def test_without_predictors_it_is_cheating_detection():
    frame = cheaters()
    fit = dn.compliance.cdm_regression("said ~ 1", frame, groups="group", channels=DEVICES)
    plain = dn.compliance.cdm_triangular(frame.said, frame.group, p={"a": 0.2, "b": 0.7})
    carriers, cheats = share(fit.values)
    assert (1 - cheats) * carriers == pytest.approx(plain.params["honest carriers"], abs=1e-6)
    assert cheats == pytest.approx(plain.params["cheaters"], abs=1e-6)
    assert fit.loglik == pytest.approx(plain.loglik, rel=1e-9)


FITS = {
    "sld": lambda: (dn.compliance.sld_regression("said ~ x", liars(), groups="group", p=P), (-0.5, 1, np.log(7 / 3))),
    "cdm": lambda: (
        dn.compliance.cdm_regression("said ~ x", cheaters(), groups="group", channels=DEVICES),
        (-0.5, 1, np.log(1 / 4)),
    ),
    "anchored": lambda: (dn.compliance.anchored_regression("said ~ x", anchored(), **ANCHOR), (-0.5, 1, np.log(4))),
    "predictor": lambda: (
        dn.compliance.anchored_predictor("income ~ said + x", anchored(), trait="said", **ANCHOR),
        (0, 2, 1, 0, -0.5, 1, np.log(4)),
    ),
    "predictor, logit": lambda: (
        dn.compliance.anchored_predictor("voted ~ said", anchored(), trait="said", model="logit", **ANCHOR),
        (-0.5, 1.5, None, np.log(4)),
    ),
}


@pytest.mark.parametrize("name", FITS)
def test_the_truth_is_recovered(name):
    fit, truth = FITS[name]()
    errors = np.sqrt(np.diagonal(fit.matrix))
    # Within 5.5 standard errors: a false alarm in 4e-8 of all seeds, each.
    for value, error, true in zip(fit.values, errors, truth, strict=True):
        assert true is None or abs(value - true) < 5.5 * error
    assert fit.main == len(fit.params)
    assert str(fit)


def test_the_likelihood_is_the_sum_over_traits_and_manners():
    frame = anchored(n=300)

    def loglik(values):
        pi, a = share(values[0] + values[1] * frame.x.to_numpy()), share(values[2])
        same = 0.15 * pi + 0.85 * (1 - pi)
        item = np.where(frame.said == 1, same, 1 - same)
        anchor = np.where(frame.anchor == 1, 0.85, 0.15)
        return np.log(a * item * anchor + (1 - a) / 4).sum()

    fit = dn.compliance.anchored_regression("said ~ x", frame, **ANCHOR)
    assert fit.loglik == pytest.approx(loglik(fit.values), rel=1e-10)
    assert -minimize(lambda v: -loglik(v), fit.values).fun == pytest.approx(fit.loglik, abs=1e-5)


def test_weights_repeat_rows():
    frame = liars(n=1500)
    twice = pd.concat([frame, frame[:500]])
    heavy = np.where(np.arange(1500) < 500, 2.0, 1.0)
    fit, repeated = (
        dn.compliance.sld_regression("said ~ x", data, groups="group", p=P, **more)
        for data, more in ((frame, {"weights": heavy}), (twice, {}))
    )
    assert fit.values == pytest.approx(repeated.values, rel=1e-5)
    assert fit.kind == "survey"
    assert fit.freedom == sampling(1500, heavy).df_beside(2)
    anchor = anchored(n=900)
    shares = dn.compliance.anchored_crosswise(
        anchor.said, anchor.anchor, p=0.15, anchor_p=0.15, weights=np.full(900, 3.0)
    )
    plain = dn.compliance.anchored_crosswise(anchor.said, anchor.anchor, p=0.15, anchor_p=0.15)
    assert shares.params == pytest.approx(plain.params)
    assert shares.std_error == pytest.approx(plain.std_error)


def test_bounds_hold_the_truth_without_an_anchor():
    frame = anchored()
    found = dn.compliance.crosswise_bounds(frame.said, p=0.15, attentive=0.75)
    everybody, some = found.params.values()
    known = dn.compliance.anchored_crosswise(frame.said, frame.anchor, p=0.15, anchor_p=0.15)
    low, high = sorted((everybody, some))
    assert low < known.params["carriers"] < high
    assert everybody == pytest.approx(known.params["carriers, uncorrected"])
    assert next(iter(found.std_error.values())) == pytest.approx(known.std_error["carriers, uncorrected"], rel=1e-9)
    far = dn.compliance.crosswise_bounds([1] * 80 + [0] * 20, p=0.15, attentive=0.1)
    assert list(far.params.values())[1] == pytest.approx(0.0, abs=1e-9)
    assert "could not have given" in far.notes[1]
    with pytest.raises(NotIdentifiedError, match="1/2"):
        dn.compliance.crosswise_bounds([0, 1, 1], p=0.5)


def test_self_protection_is_estimated_where_only_the_comparison_runs_away():
    # Forced response: "yes" in at least a sixth of all reports. The second item has fewer than that because a third of
    # the respondents say no to everything; taken for honest, they drive its share to zero.
    device, rng = dn.ForcedResponse([1 / 12, 1 / 6]), np.random.default_rng(5)
    truth = rng.random((3000, 4)) < [0.3, 0.02, 0.2, 0.25]
    said = np.where(
        truth,
        device.randomize(np.ones((3000, 4), dtype=int), source=dn.Seeded(1)),
        device.randomize(np.zeros((3000, 4), dtype=int), source=dn.Seeded(2)),
    )
    said[rng.random(3000) < 0.3] = 0
    found = dn.compliance.self_protective(said, [device] * 4)
    assert abs(found.params["self-protective"] - 0.3) < 5.5 * found.std_error["self-protective"]  # false alarm 4e-8
    assert found.naive["item 2 among the others"] < 1e-3
    assert found.compliance.pvalue < 1e-6


def test_refusals():
    frame = liars(n=300)
    with pytest.raises(NotIdentifiedError, match="differ"):
        dn.compliance.sld_regression("said ~ x", frame, groups="group", p={"a": 0.5, "b": 0.5})
    with pytest.raises(UnknownCategoryError, match="'b'"):
        dn.compliance.sld_regression("said ~ x", frame, groups="group", p={"a": 0.5})
    with pytest.raises(DesignError, match="two truths"):
        dn.compliance.cdm_regression(
            "said ~ x", frame, groups="group", channels={"a": dn.KRR(3, epsilon=1.0), "b": DEVICES["b"]}
        )
    with pytest.raises(InputError, match="does not use"):
        dn.compliance.anchored_predictor("income ~ x", anchored(n=50), trait="said", **ANCHOR)
    with pytest.raises(InputError, match="linear"):
        dn.compliance.anchored_predictor("income ~ said", anchored(n=50), trait="said", model="probit", **ANCHOR)
    with pytest.raises(NotIdentifiedError, match="1/2"):
        dn.compliance.anchored_regression("said ~ x", anchored(n=50), anchor="anchor", p=0.5, anchor_p=0.15)
    honest = frame.assign(said=np.where(frame.group == "a", 1, 1))
    with pytest.raises(DivergenceError, match="runs away"):
        dn.compliance.sld_regression("said ~ 1", honest, groups="group", p=P)
