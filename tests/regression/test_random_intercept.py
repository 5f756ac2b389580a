"""The random intercept against numerical integration and simulation."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad

import deniable as dn
from deniable.errors import ConvergenceError, DivergenceError, InputError, TooFewReportsError
from deniable.regression import random_intercept as mixed
from deniable.regression.integrated_likelihood import Marginal
from deniable.regression.likelihood.mixture_likelihood import Cell, Factor, Likelihood
from deniable.regression.likelihood.responses import LOGIT, Binary

DEVICE = dn.Warner(0.85)


def sample(seed, groups=80, size=30, spread=1.0):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups), size)
    x = rng.normal(size=groups * size)
    eta = -0.5 + 0.8 * x + spread * rng.normal(size=groups)[group]
    truth = (rng.random(len(x)) < 1 / (1 + np.exp(-eta))).astype(int)
    return pd.DataFrame({"group": group, "x": x, "report": DEVICE.randomize(truth, source=dn.Seeded(seed))})


def marginal(frame, nodes=25):
    design = np.c_[np.ones(len(frame)), frame.x]
    factor = Factor(Binary(LOGIT), DEVICE.matrix()[frame.report], (design,), (slice(0, 2),))
    return Marginal(Likelihood((Cell((factor,)),), np.ones(len(frame)), 2), frame.group.to_numpy(), nodes)


def test_the_integral_equals_numerical_integration():
    frame = sample(1, groups=6)
    params = np.array([-0.4, 0.7, np.log(1.3)])
    rows, total = DEVICE.matrix()[frame.report], 0.0
    for group in range(6):
        mine = (frame.group == group).to_numpy()

        def integrand(b, mine=mine):
            share = 1 / (1 + np.exp(-(-0.4 + 0.7 * frame.x.to_numpy()[mine] + 1.3 * b)))
            return np.prod(rows[mine, 0] * (1 - share) + rows[mine, 1] * share) * np.exp(-(b**2) / 2)

        total += np.log(quad(integrand, -9, 9, epsabs=0, epsrel=1e-12, limit=400)[0] / np.sqrt(2 * np.pi))
    assert marginal(frame).value(params)[0] == pytest.approx(total, abs=1e-6)


def test_the_gradient_is_the_derivative():
    frame = sample(2, groups=20)
    objective, params, h = marginal(frame, nodes=35), np.array([-0.4, 0.7, 0.1]), 1e-5
    gradient = objective.value(params)[1]
    for place in range(3):
        step = np.zeros(3)
        step[place] = h
        slope = (objective.value(params + step)[0] - objective.value(params - step)[0]) / (2 * h)
        assert gradient[place] == pytest.approx(slope, abs=1e-4)


def test_it_recovers_the_truth_and_more_nodes_change_nothing():
    frame = sample(3)
    fit = dn.random_intercept("report ~ x", frame, channel=DEVICE, groups="group")
    for term, truth in (("Intercept", -0.5), ("x", 0.8)):
        assert abs(fit.params[term] - truth) < 5.5 * fit.std_error[term]  # false alarm 4e-8 each
    assert abs(np.log(fit.scale)) < 5.5 * fit.scale_std_error / fit.scale
    more = dn.random_intercept("report ~ x", frame, channel=DEVICE, groups="group", nodes=45)
    np.testing.assert_allclose(fit.params, more.params, atol=1e-5)
    assert fit.loglik == pytest.approx(more.loglik, abs=1e-5)
    assert fit.no_groups().pvalue < 1e-6
    assert fit.loglik > fit.fixed.loglik
    assert fit.aic == pytest.approx(-2 * fit.loglik + 6)
    assert "random intercept per group" in str(fit)
    assert "<table>" in fit._repr_html_()
    assert "random intercept" in repr(fit)


def hidden(seed, groups=6, size=100):
    """A predictor that went through a device too: its share differs between groups."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups), size)
    x = (rng.random(groups * size) < 0.2 + 0.6 * group / groups).astype(int)
    eta = -0.5 + 1.5 * x + 1.5 * rng.normal(size=groups)[group]
    truth = (rng.random(len(x)) < 1 / (1 + np.exp(-eta))).astype(int)
    x, y = (DEVICE.randomize(column, source=dn.Seeded(seed + i)) for i, column in enumerate((x, truth)))
    return pd.DataFrame({"group": group, "x": x, "y": y})


def test_hidden_predictors_are_summed_over_inside_the_integral():
    frame = hidden(5)
    fit = dn.random_intercept("y ~ x", frame, channel=DEVICE, groups="group", rr={"x": DEVICE}, rr_models={"x": "1"})
    beta, slope, share, scale = *fit.values[:2], 1 / (1 + np.exp(-fit.values[2])), np.exp(fit.values[3])
    rows, total = DEVICE.matrix(), 0.0
    for group in range(6):
        mine = frame[frame.group == group]

        def integrand(b, mine=mine):
            each = 0.0
            for x in (0, 1):
                yes = 1 / (1 + np.exp(-(beta + slope * x + scale * b)))
                outcome = rows[mine.y, 0] * (1 - yes) + rows[mine.y, 1] * yes
                each = each + (share if x else 1 - share) * rows[mine.x, x] * outcome
            return np.prod(each) * np.exp(-(b**2) / 2)

        total += np.log(quad(integrand, -9, 9, epsabs=0, epsrel=1e-12, limit=400)[0] / np.sqrt(2 * np.pi))
    assert fit.loglik == pytest.approx(total, abs=1e-6)
    objective, h = Marginal(fit.fixed.likelihood, frame.group.to_numpy()), 1e-5
    away = fit.values + np.array([0.1, -0.1, 0.2, 0.3])
    together = objective.compact()
    assert together.likelihood.rows < objective.likelihood.rows
    assert together.value(away)[0] == pytest.approx(objective.value(away)[0], rel=1e-12)
    for place, step in enumerate(h * np.eye(4)):
        rise = (objective.value(away + step)[0] - objective.value(away - step)[0]) / (2 * h)
        assert objective.value(away)[1][place] == pytest.approx(rise, abs=1e-4)
        assert together.value(away)[1][place] == pytest.approx(rise, abs=1e-4)


def test_attributes_that_ride_along_are_summed_over_inside_the_integral():
    rng = np.random.default_rng(8)
    people = pd.DataFrame({name: rng.integers(0, 2, 300) for name in "acu"})
    people["g"], people["z"] = np.arange(300) % 3, rng.integers(-1, 2, 300)
    reports = dn.Joint(dn.Domain({name: [0, 1] for name in "acu"}), 2.0, channel="unary").randomize(
        people, keep=["g", "z"], source=dn.Seeded(8)
    )
    likelihood = dn.logit("c ~ a + z", reports, rr_models={"a": "z"}).likelihood
    groups = people.g.to_numpy()
    objective = Marginal(likelihood, groups).compact()
    assert any(len(cell.factors) == 3 for cell in likelihood.cells)  # the outcome, a, and what rides along
    params = 0.3 * rng.normal(size=likelihood.size + 1)

    # The same by the likelihood of the rows, with everybody's intercept moved.
    b, apart = np.linspace(-9, 9, 1801, retstep=True)
    total = 0.0
    for group in range(3):
        mine = likelihood.take(np.flatnonzero(groups == group))
        moved = np.tile(params[:-1], (len(b), 1))
        moved[:, 0] += np.exp(params[-1]) * b
        logs = np.array([mine.loglik(each) for each in moved]) - b**2 / 2 - np.log(2 * np.pi) / 2
        total += logs.max() + np.log(np.exp(logs - logs.max()).sum() * apart)
    value, gradient = objective.value(params)
    assert value == pytest.approx(total + likelihood.value(params[:-1]) - likelihood.loglik(params[:-1]), abs=1e-6)
    for place, step in enumerate(1e-5 * np.eye(len(params))):
        rise = (objective.value(params + step)[0] - objective.value(params - step)[0]) / 2e-5
        assert gradient[place] == pytest.approx(rise, abs=1e-4)


def test_shares_of_a_hidden_predictor_may_differ_between_groups():
    few = dn.random_intercept("y ~ x", hidden(6), channel=DEVICE, groups="group", rr={"x": DEVICE})
    assert any("C(group)" in str(label) for label in few.fixed.labels)
    assert not few.notes
    many = dn.random_intercept("y ~ x", hidden(6, groups=20), channel=DEVICE, groups="group", rr={"x": DEVICE})
    assert "rr_models" in many.notes[0]
    assert "rr_models" in str(many)


def test_groups_that_do_not_differ_are_told():
    # Half of such samples have their maximum at no difference at all; this seed is one of them.
    with pytest.raises(DivergenceError, match="clusters="):
        dn.random_intercept("report ~ x", sample(1, groups=20, spread=0.0), channel=DEVICE, groups="group")


def test_a_spread_that_runs_to_zero_is_told_after_a_few_steps(monkeypatch):
    frame, evaluated = sample(7, spread=0.0), []
    evaluate = Marginal.evaluate
    monkeypatch.setattr(Marginal, "evaluate", lambda *given: evaluated.append(1) or evaluate(*given))
    with pytest.raises(DivergenceError, match="runs to zero"):
        dn.random_intercept("report ~ x", frame, channel=DEVICE, groups="group")
    assert len(evaluated) < 8  # half an e-fold a step would be a dozen


def test_a_start_that_runs_away_says_what_to_leave_out(monkeypatch):
    def running(*_, **__):
        raise DivergenceError("coefficients run away")

    monkeypatch.setattr(mixed, "logit", running)
    with pytest.raises(DivergenceError, match=r'run away.*rr_models=\{"x": "1"\}'):
        dn.random_intercept("y ~ x", hidden(6), channel=DEVICE, groups="group", rr={"x": DEVICE})
    with pytest.raises(DivergenceError, match=r"^coefficients run away"):
        dn.random_intercept("report ~ x", sample(4, groups=10), channel=DEVICE, groups="group")


def lopsided(low=75):
    """Four groups where the trait is common and eight where it is rare, x = 1 asked mostly of the latter.

    Of those with x = 1 fewer say yes than the device makes of nobody having the trait, but not in every group.
    """
    common, rare = [(0, 100, 70), (1, 20, 10)], [(0, 200, low), (1, 60, 12)]
    rows = [
        (group, x, int(i < yes))
        for group in range(12)
        for x, n, yes in (common if group < 4 else rare)
        for i in range(n)
    ]
    return pd.DataFrame(rows, columns=["group", "x", "report"])


def test_groups_have_a_maximum_where_the_fit_without_them_has_none():
    device, frame = dn.Warner(0.75), lopsided()
    with pytest.raises(DivergenceError, match="keeps rising") as told:
        dn.logit("report ~ x", frame, device)
    fit = dn.random_intercept("report ~ x", frame, device, groups="group")
    assert np.abs(fit.marginal.value(fit.values)[1]).max() < 1e-4
    rng = np.random.default_rng(1)
    around = fit.values + rng.normal(size=(40, 3)) * rng.choice([0.1, 1.0, 4.0], (40, 1))
    assert max(fit.marginal.value(params)[0] for params in around) < fit.loglik
    assert "no maximum" in fit.notes[0]
    # Against what the likelihood without groups rises to, not against the penalised fit, which lies lower.
    assert fit.fixed.loglik < fit.alone == told.value.loglik
    assert fit.no_groups().statistic == pytest.approx(2 * (fit.loglik - told.value.loglik))


def test_a_maximum_that_neither_has_is_refused_with_both_reasons():
    frame = lopsided(20).query("group > 3")
    with pytest.raises(DivergenceError, match=r"neither without groups nor with them.*Without:.*With:"):
        dn.random_intercept("report ~ x", frame, dn.Warner(0.75), groups="group")


def test_refusals():
    frame = sample(4, groups=10)
    with pytest.raises(TooFewReportsError, match="groups"):
        dn.random_intercept("report ~ x", frame.assign(group=1), channel=DEVICE, groups="group")
    with pytest.raises(InputError, match="nodes"):
        dn.random_intercept("report ~ x", frame, channel=DEVICE, groups="group", nodes=1)


def test_weights_are_refused_with_the_way_out():
    frame = pd.DataFrame({"y": [0, 1] * 20, "x": [0, 0, 1, 1] * 10, "g": [0] * 20 + [1] * 20, "w": 1.0})
    with pytest.raises(InputError, match=r"Use logit\(\) with them and clusters='g'"):
        dn.random_intercept("y ~ x", frame, dn.Warner(0.8), groups="g", weights="w")
    with pytest.raises(InputError, match="takes no weight=: write weights="):
        dn.random_intercept("y ~ x", frame, dn.Warner(0.8), groups="g", weight="w")


def test_where_one_start_leads_nowhere_another_does(monkeypatch):
    frame = sample(1, groups=6)
    plain = dn.random_intercept("report ~ x", frame, DEVICE, groups="group")
    ascend, tried = mixed._ascend, []

    def stuck_at_first(objective, fixed, groups, params):
        tried.append(params)
        if len(tried) == 1:
            raise ConvergenceError("the likelihood stopped rising")
        return ascend(objective, fixed, groups, params)

    monkeypatch.setattr(mixed, "_ascend", stuck_at_first)
    found = dn.random_intercept("report ~ x", frame, DEVICE, groups="group")
    assert len(tried) == 2
    assert found.values == pytest.approx(plain.values, abs=1e-4)
    assert found.loglik == pytest.approx(plain.loglik, abs=1e-6)


def seldom(seed):
    """Eight groups, some of whose reports leave the integrand flat on one side of its mode."""
    rng = np.random.default_rng(seed)
    group, shift, x = np.repeat(np.arange(8), 80), rng.normal(0, 0.8, 8), rng.normal(size=640)
    truth = (rng.random(640) < 1 / (1 + np.exp(-(-1 + 0.5 * x + shift[group])))).astype(int)
    device = dn.Warner(0.75)
    return pd.DataFrame({"group": group, "x": x, "report": device.randomize(truth, source=dn.Seeded(seed))}), device


@pytest.mark.parametrize("seed", [3, 20])
def test_modes_are_found_where_plain_steps_go_to_and_fro(seed, monkeypatch):
    # With seed 20 unshortened steps never reach some group's mode, and the likelihood is torn; with seed 3 the
    # quadrature's own error hides the last rise. Either took tens of thousands of integrals.
    taken = []
    integrate = Marginal.integrate
    monkeypatch.setattr(Marginal, "integrate", lambda self, params: taken.append(1) or integrate(self, params))
    frame, device = seldom(seed)
    fit = dn.random_intercept("report ~ x", frame, device, groups="group")
    assert len(taken) < 200
    assert np.abs(fit.marginal.value(fit.values)[1]).max() < 1e-4
    more = dn.random_intercept("report ~ x", frame, device, groups="group", nodes=75)
    assert fit.loglik == pytest.approx(more.loglik, abs=1e-3)
    assert (np.abs(fit.params - more.params) < 0.01 * more.std_error).all()
