"""Groups that share a shift, where some prefer not to say: complete cases, and the likelihood written out."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import deniable as dn
from chequered import black
from deniable.device.protocol.answer_encoding import SKIPPED
from deniable.errors import SmallCellWarning
from deniable.regression.random_intercept_missing import unshifted, with_levels

DOMAIN = dn.Domain({"a": ["no", "yes", SKIPPED], "c": ["no", "yes", SKIPPED]})
WORDS = np.array(["no", "yes"])
DESIGNS = {"joint": dn.Joint(DOMAIN, 3.5), "independent": dn.Independent(DOMAIN, 7.0)}


def people(seed, groups, size, *, at_random=False):
    """What is so and what people say: groups differ in the answers, and unless at random in who gives none."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups), size)
    z = rng.integers(-1, 2, len(group))
    a = rng.random(len(group)) < expit(0.5 * z)
    c = rng.random(len(group)) < expit(-0.7 + 1.2 * a + 0.5 * z + 0.9 * rng.normal(size=groups)[group])
    truth = pd.DataFrame({"g": group, "z": z, "a": WORDS[a.astype(int)], "c": c.astype(int)})
    if at_random:
        no_a, no_c = rng.random(len(group)) < 0.15, rng.random(len(group)) < expit(-1 + 0.8 * z)
    else:
        no_a = rng.random(len(group)) < 0.05 + 0.15 * a + 0.1 * (group % 2)
        no_c = rng.random(len(group)) < expit(-2.2 + a + 1.2 * (group % 3 == 0))
        c = np.where(no_a, rng.random(len(group)) < 0.9, c)
        truth["c"] = c.astype(int)
    said = truth.assign(a=np.where(no_a, SKIPPED, truth.a), c=np.where(no_c, SKIPPED, WORDS[c.astype(int)]))
    return truth, said


@cache
def asked(name, groups, size, at_random=False):
    truth, said = people(4, groups, size, at_random=at_random)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallCellWarning)  # nobody is behind these rows
        return truth, said, DESIGNS[name].randomize(said, keep=["g", "z"], source=dn.Seeded(5))


def near(fit, plain):
    """Six standard errors at a fixed seed: a false alarm in 2e-9 of all seeds, for each number."""
    assert list(fit.params.index) == list(plain.params.index)
    assert (np.abs(fit.params - plain.params) < 6 * fit.std_error).all()
    assert (fit.std_error < 0.5).all()
    assert abs(np.log(fit.scale / plain.scale)) < 6 * fit.scale_std_error / fit.scale < 4


@pytest.mark.parametrize(("name", "formula"), black(DESIGNS, ["c ~ a + z", "c ~ z"]))
def test_dropped_is_who_would_not_answer(name, formula):
    truth, said, reports = asked(name, 10, 600)
    complete = (said.c != SKIPPED) & ((said.a != SKIPPED) | ("a" not in formula))
    plain = dn.random_intercept(formula, truth[complete], groups="g")
    found = dn.random_intercept(formula, reports, groups="g", missing="drop")
    near(found, plain)
    assert "takes no part (missing='drop')" in str(found.summary())

    # The same of the population's cells, those of some predictors and a group.
    names = ["g", "a", "z"] if "a" in formula else ["g", "z"]
    cells = truth.groupby(names).size().rename("size").reset_index()
    shares, known = (dn.poststratify(one, cells, by="g") for one in (found, plain))
    assert (np.abs(shares.values - known.values) < 6 * shares.std_error).all()
    assert (shares.std_error < 0.15).all()
    assert "like everybody" in str(shares.summary())


def test_modelled_is_everybody_where_refusals_are_missing_at_random():
    truth, said, reports = asked("joint", 10, 600, at_random=True)
    found = dn.random_intercept("c ~ a + z", reports, groups="g", missing="model")
    stated = pd.Categorical(said.a, categories=["no", "yes", SKIPPED])
    known = dn.random_intercept("c ~ a + z", truth.assign(a=stated), groups="g")
    assert set(found.params.index) == {"Intercept", "a[T.yes]", f"a[T.{SKIPPED}]", "z"}
    assert (np.abs(found.params - known.params[found.params.index]) < 6 * found.std_error).all()
    assert (found.std_error < 0.5).all()
    assert "category of its own" in str(found.summary())
    found = dn.random_intercept("c ~ z", reports, groups="g", missing="model")
    known = dn.random_intercept("c ~ z", truth, groups="g")
    near(found, known)
    assert "missing at random" in str(found.summary())
    cells = truth.groupby(["g", "z"]).size().rename("size").reset_index()
    shares, of_all = (dn.poststratify(one, cells) for one in (found, known))
    assert abs(shares.overall.value - of_all.overall.value) < 6 * shares.overall.std_error < 0.12
    assert abs(shares.overall.value - truth.c.mean()) < 6 * shares.overall.std_error
    assert "missing at random" in str(shares.summary())
    assert "like everybody" not in str(shares.summary())


def test_many_groups_share_a_model_of_who_prefers_not_to_say():
    truth, said, reports = asked("joint", 40, 150, at_random=True)
    found = dn.random_intercept("c ~ z", reports, groups="g", missing="drop")
    near(found, dn.random_intercept("c ~ z", truth[said.c != SKIPPED], groups="g"))
    assert "not on g besides" in str(found.summary())
    assert len(found.values) == 5  # two of the model, two of who prefers not to say, log s


def test_groups_that_refuse_unlike_each_other_do_not_pass_for_others():
    rng = np.random.default_rng(3)
    group, z = np.repeat(np.arange(10), 3000), rng.integers(0, 2, 30_000)
    shift = np.linspace(-1.5, 1.5, 10)[group]
    c, no = rng.random(30_000) < expit(z - 1 + shift), rng.random(30_000) < np.where(shift > 0, 0.6, 0.05)
    said = pd.DataFrame({"c": np.where(no, SKIPPED, WORDS[c.astype(int)]), "g": group, "z": z})
    reports = dn.Joint(DOMAIN.project(["c"]), 1.5).randomize(said, keep=["g", "z"], source=dn.Seeded(3))
    found = dn.random_intercept("c ~ z", reports, groups="g", missing="drop")
    known = dn.random_intercept("c ~ z", said[~no].assign(c=c[~no].astype(int)), groups="g")
    assert abs(found.params["z"] - known.params["z"]) < 6 * found.std_error["z"] < 0.6
    # With one level for all groups the scale is a fifth too large; its error is 0.04 from noise alone.
    assert found.scale == pytest.approx(known.scale, rel=0.12)


def test_a_predictor_that_some_refuse_beside_an_open_outcome():
    truth, said, _ = asked("joint", 10, 600)
    design = dn.Joint(DOMAIN.project(["a"]), 2.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallCellWarning)
        reports = design.randomize(said[["a"]].assign(y=truth.c, g=truth.g), keep=["y", "g"], source=dn.Seeded(6))
    found = dn.random_intercept("y ~ a", reports, groups="g", missing="drop")
    complete = truth[said.a != SKIPPED]
    near(found, dn.random_intercept("y ~ a", complete.assign(y=complete.c), groups="g"))


def test_columns_of_a_frame_are_read_like_reports():
    _, said, _ = asked("joint", 10, 600)
    device, names = dn.KRR(3, 3.5), np.array(["no", "yes", SKIPPED])
    codes = device.randomize(np.array([list(names).index(c) for c in said.c]), source=dn.Seeded(7))
    given = {"groups": "g", "missing": "drop"}
    framed = dn.random_intercept(
        "c ~ z", said.assign(c=names[codes]), device, categories=tuple(names.tolist()), **given
    )
    reports = dn.Reports(
        pd.DataFrame({"dn_answer_c": codes, "g": said.g, "z": said.z}), dn.Joint(DOMAIN.project(["c"]), channel=device)
    )
    known = dn.random_intercept("c ~ z", reports, **given)
    assert framed.params.to_numpy() == pytest.approx(known.params.to_numpy(), abs=1e-5)
    assert framed.loglik == pytest.approx(known.loglik, abs=1e-6)


@cache
def small():
    reports = asked("independent", 4, 300)[2]
    return reports, dn.random_intercept("c ~ a + z", reports, groups="g", missing="drop", rr_models={"a": "z"})


def test_the_likelihood_is_the_one_written_out():
    reports, fit = small()
    value = dict(zip(map(str, fit.fixed.labels), fit.values, strict=False))
    levels = np.insert(fit.values[len(value) : -1].reshape(3, 3), 0, 0.0, axis=1)  # of what, of which group
    z, group = reports.public["z"].to_numpy(), reports.public["g"].to_numpy()
    said_a, said_c = (q.channel.matrix()[reports.answers[:, i]] for i, q in enumerate(reports.design.questions))
    b, step = np.linspace(-9, 9, 1201, retstep=True)
    total = 0.0
    for g in range(4):
        mine = group == g
        own_z = z[mine][:, None]

        def linear(kind, z=own_z):
            return value[f"{kind}Intercept"] + value[f"{kind}z"] * z

        powers = np.exp([0 * own_z, linear("a = yes: "), linear(f"a = {SKIPPED}: ")])
        each = 0.0
        for a, kind in enumerate(("no", "yes", SKIPPED)):
            if kind == SKIPPED:
                yes = expit(linear(f"c | a = {SKIPPED}: ") + levels[1, g])
                skips = expit(linear(f"c | a = {SKIPPED}: c = {SKIPPED}: ") + levels[2, g])
            else:
                moved = (value["a[T.yes]"], value[f"c = {SKIPPED}: a[T.yes]"]) if kind == "yes" else (0, 0)
                yes = expit(linear("") + moved[0] + fit.scale * b)
                skips = expit(linear(f"c = {SKIPPED}: ") + moved[1] + levels[0, g])
            told = said_c[mine][:, :, None]
            heard = (1 - skips) * (told[:, 0] * (1 - yes) + told[:, 1] * yes) + skips * told[:, 2]
            each = each + (powers[a] / powers.sum(axis=0)) * said_a[mine][:, [a]] * heard
        logs = np.log(each).sum(axis=0) - b**2 / 2 - np.log(2 * np.pi) / 2
        total += logs.max() + np.log(np.exp(logs - logs.max()).sum() * step)
    assert fit.loglik == pytest.approx(total, abs=1e-5)


def test_it_is_a_maximum_and_its_derivatives_are_right():
    _, fit = small()
    objective, rng = fit.marginal, np.random.default_rng(9)
    assert np.abs(objective.value(fit.values)[1]).max() < 1e-3
    around = fit.values + 0.2 * rng.normal(size=(20, len(fit.values)))
    assert max(objective.value(each)[0] for each in around) < objective.value(fit.values)[0]
    value, gradient = objective.value(around[0])
    for place, step in enumerate(1e-5 * np.eye(len(fit.values))):
        rise = (objective.value(around[0] + step)[0] - objective.value(around[0] - step)[0]) / 2e-5
        assert gradient[place] == pytest.approx(rise, abs=1e-3)
    assert np.isfinite(value)


def test_split_cells_are_the_same_likelihood():
    reports, fit = small()
    groups = reports.public["g"].to_numpy()
    for whole in (fit.fixed.likelihood, with_levels(fit.fixed.likelihood, groups)):
        split, rng = unshifted(whole), np.random.default_rng(10)
        params = 0.3 * rng.normal(size=whole.size)
        for found, known in zip(split.evaluate(params), whole.evaluate(params), strict=True):
            assert found == pytest.approx(known, rel=1e-8, abs=1e-6)


def test_attributes_that_ride_along_are_split_alike():
    _, said, _ = asked("joint", 10, 600)
    domain = dn.Domain({**{name: DOMAIN[name].categories for name in "ca"}, "u": ["no", "yes"]})
    said = said.assign(u=WORDS[np.arange(len(said)) % 2])[:900]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallCellWarning)
        reports = dn.Joint(domain, 4.0, channel="unary").randomize(said, keep=["g"], source=dn.Seeded(8))
    whole = dn.logit("c ~ 1", reports, missing="drop").likelihood
    params = 0.3 * np.random.default_rng(11).normal(size=whole.size)
    for found, known in zip(unshifted(whole).evaluate(params), whole.evaluate(params), strict=True):
        assert found == pytest.approx(known, rel=1e-8, abs=1e-6)
