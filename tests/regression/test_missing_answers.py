"""Regressions where some prefer not to say: against complete cases, the likelihood written out, and derivatives."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from chequered import black
from deniable.device.protocol.answer_encoding import SKIPPED
from deniable.errors import DesignError, InputError, SmallCellWarning
from deniable.regression.likelihood.responses import CLOGLOG, Binary
from deniable.regression.missing_answers import Answered, answers

N = 6000
DOMAIN = dn.Domain({"a": ["no", "yes", SKIPPED], "c": ["no", "yes", SKIPPED], "b": ["0", "1", "2", SKIPPED]})
WORDS = np.array(["no", "yes"])
DESIGNS = {
    "joint": dn.Joint(DOMAIN.project(["a", "c"]), 3.0),
    "independent": dn.Independent(DOMAIN.project(["a", "c", "b"]), 9.0),
    "sets": dn.Joint(DOMAIN.project(["a", "c"]), 3.0, channel="subset"),
}


def people(seed=1):
    """Truths, and what people say: who has a = yes refuses more often, and refusers are quite unlike the others."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=N).round()
    a = (rng.random(N) < 1 / (1 + np.exp(-0.5 * z))).astype(int)
    c = (rng.random(N) < 1 / (1 + np.exp(0.8 - 1.5 * a - 0.5 * z))).astype(int)
    b = rng.binomial(2, 0.2 + 0.4 * a)
    w = a + 0.5 * z + rng.normal(size=N)
    no_a = rng.random(N) < np.where(a == 1, 0.25, 0.08)
    c, w = np.where(no_a, rng.random(N) < 0.9, c), np.where(no_a, w - 2 - z, w)
    no_c, no_b = rng.random(N) < 1 / (1 + np.exp(2 - a - 0.4 * z)), rng.random(N) < 0.1 + 0.15 * a
    truth = pd.DataFrame({"a": WORDS[a], "c": WORDS[c.astype(int)], "b": b, "z": z, "w": w})
    said = truth.assign(
        a=np.where(no_a, SKIPPED, truth.a), c=np.where(no_c, SKIPPED, truth.c), b=np.where(no_b, SKIPPED, b.astype(str))
    )
    return truth, said


TRUTH, SAID = people()
COMPLETE = {name: (SAID[name] != SKIPPED).to_numpy() for name in "abc"}


def disguised(design, said, *keep):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallCellWarning)  # nobody is behind these rows
        return design.randomize(said[[*design.domain, *keep]], keep=keep, source=dn.Seeded(3))


@cache
def sent(name):
    return disguised(DESIGNS[name], SAID, "z", "w")


def near(fit, plain):
    """Six standard errors at a fixed seed: a false alarm in 2e-9 of all seeds, for each coefficient."""
    found, true = fit.params.to_numpy(), plain.params.to_numpy()
    assert (np.abs(found - true) < 6 * fit.std_error.to_numpy()).all()
    assert (fit.std_error.to_numpy() < 0.7).all()


FITS = {
    "logit": (dn.logit, "c ~ a + z", "ac"),
    "cloglog": (dn.cloglog, "c ~ a", "ac"),
    "an open predictor": (dn.logit, "c ~ z", "c"),
    "multinomial": (dn.multinomial, "c ~ a + z", "ac"),
    "linear": (dn.linear, "w ~ a + z", "a"),
}


@pytest.mark.parametrize(("model", "name"), black(FITS, DESIGNS, of=4))
def test_dropped_is_who_would_not_answer(model, name):
    fit, formula, asked = FITS[model]
    kept = np.logical_and.reduce([COMPLETE[one] for one in asked])
    plain = TRUTH[kept].assign(c=(TRUTH[kept].c == "yes").astype(int))
    found = fit(formula, sent(name), missing="drop")
    near(found, fit(formula, plain))
    assert "takes no part (missing='drop')" in str(found.summary())
    assert len(found.params) == len(fit(formula, plain).params)


@pytest.mark.parametrize("missing", ["drop", "model"])
def test_numbers_beside_a_refusal_are_numbers_again(missing):
    reports = sent("independent")
    kept = COMPLETE["b"] & COMPLETE["a"] if missing == "drop" else COMPLETE["b"]
    rows = SAID[kept]
    terms = [np.ones(len(rows)), rows.a == "yes"] + ([rows.a == SKIPPED] if missing == "model" else [])
    found = dn.linear("b ~ a", reports, missing=missing)
    named = {"Intercept": 0, "a[T.yes]": 1, f"a[T.{SKIPPED}]": 2}
    true = np.linalg.lstsq(np.column_stack(terms).astype(float), TRUTH.b[kept].astype(float), rcond=None)[0]
    for term, value in found.params.items():
        assert abs(value - true[named[term]]) < 6 * found.std_error[term] < 1.5
    assert answers(["0", "1", SKIPPED]) == (0, 1)
    assert answers(["0", "1.5", SKIPPED]) == (0.0, 1.5)
    assert answers(["0", "1"]) == ("0", "1")


def test_a_number_predicts_where_who_refuses_is_dropped():
    kept = COMPLETE["b"] & COMPLETE["c"]
    plain = TRUTH[kept].assign(c=(TRUTH[kept].c == "yes").astype(int))
    near(dn.logit("c ~ b", sent("independent"), missing="drop"), dn.logit("c ~ b", plain))


def test_correlations_are_of_who_answers():
    found = dn.correlate(sent("independent"), "b", "a")
    kept = COMPLETE["b"] & COMPLETE["a"]
    true = np.corrcoef(TRUTH.b[kept], TRUTH.a[kept] == "yes")[0, 1]
    assert abs(found.value - true) < 6 * found.std_error < 0.5
    assert "takes no part" in str(found.summary())


def test_modelled_is_everybody_where_refusals_are_missing_at_random():
    # Who refuses depends on a and z alone, and nobody refuses a: the outcome is missing at random.
    rng = np.random.default_rng(2)
    z, a = rng.normal(size=N).round(), rng.integers(0, 2, N)
    c = (rng.random(N) < 1 / (1 + np.exp(0.8 - 1.5 * a - 0.5 * z))).astype(int)
    refuses = rng.random(N) < 1 / (1 + np.exp(1.5 - 1.2 * a - z))
    said = pd.DataFrame({"a": WORDS[a], "c": np.where(refuses, SKIPPED, WORDS[c]), "z": z})
    domain = dn.Domain({"a": ["no", "yes"], "c": ["no", "yes", SKIPPED]})
    reports = disguised(dn.Joint(domain, 3.0), said, "z")
    found = dn.logit("c ~ a + z", reports, missing="model")
    near(found, dn.logit("c ~ a + z", pd.DataFrame({"a": WORDS[a], "c": c, "z": z})))
    assert "missing at random" in str(found.summary())


def test_modelled_predictors_have_a_category_of_their_own():
    reports = sent("joint")
    found = dn.linear("w ~ a", reports, missing="model")
    known = dn.linear("w ~ a", reports)
    assert list(found.params.index) == list(known.params.index)
    assert found.params.to_numpy() == pytest.approx(known.params.to_numpy())
    assert "category of its own" in str(found.summary())


def test_the_likelihood_is_the_one_written_out():
    reports = sent("joint")
    fit = dn.logit("c ~ a + z", reports, missing="drop")
    value = dict(zip(map(str, fit.labels), fit.values, strict=True))
    P, z = reports.design.questions[0].channel.matrix(), reports.public["z"].to_numpy()
    chance = np.zeros(N)

    def linear(kind):
        return value[f"{kind}Intercept"] + value[f"{kind}z"] * z

    def logistic(kind, more=0.0):
        return 1 / (1 + np.exp(-(linear(kind) + more)))

    powers = np.exp(np.stack([np.zeros(N), linear("a = yes: "), linear(f"a = {SKIPPED}: ")]))
    of_a = powers / powers.sum(axis=0)
    for a, name in enumerate(("no", "yes", SKIPPED)):
        if name == SKIPPED:
            yes, skips = logistic(f"c | a = {SKIPPED}: "), logistic(f"c | a = {SKIPPED}: c = {SKIPPED}: ")
        else:
            moved = (value["a[T.yes]"], value[f"c = {SKIPPED}: a[T.yes]"]) if name == "yes" else (0, 0)
            yes, skips = logistic("", moved[0]), logistic(f"c = {SKIPPED}: ", moved[1])
        of_c = np.stack([(1 - skips) * (1 - yes), (1 - skips) * yes, skips])
        for c in range(3):
            chance += of_a[a] * of_c[c] * P[reports.answers[:, 0], 3 * a + c]
    assert np.log(chance).sum() == pytest.approx(fit.loglik, abs=1e-6)


def test_derivatives_of_who_answers():
    response, rng = Answered(Binary(CLOGLOG), 1), np.random.default_rng(5)
    eta, data = rng.normal(size=(6, 2)), np.vstack([rng.random((4, 3)), np.eye(3)[1:]])
    _, score, curve = response.parts(eta, data)
    total = sum(np.exp(response.parts(eta, np.tile(np.eye(3)[v], (6, 1)))[0]) for v in range(3))
    assert total == pytest.approx(1)
    for k in range(2):
        step = 1e-5 * np.eye(2)[k]
        above, below = response.parts(eta + step, data), response.parts(eta - step, data)
        assert (above[0] - below[0]) / 2e-5 == pytest.approx(score[:, k], abs=1e-8)
        assert (above[1] - below[1]) / 2e-5 == pytest.approx(curve.rows[:, k], abs=1e-7)


def elsewhere(place):
    """The same reports where each attribute lists "prefer not to say" at a place of its own."""
    order = list(np.insert([0, 1], place, 2))  # the codes of a, and of c, as they were
    was = [3 * a + c for a in order for c in order]
    domain = dn.Domain({name: [DOMAIN[name].categories[code] for code in order] for name in "ac"})
    told = sent("joint").to_frame()
    return dn.Reports(told.assign(**{"dn_answer_a*c": np.argsort(was)[told["dn_answer_a*c"]]}), dn.Joint(domain, 3.0))


def same(found, known):
    assert list(found.params.index) == list(known.params.index)
    assert found.params.to_numpy() == pytest.approx(known.params.to_numpy(), abs=1e-5)
    assert found.std_error.to_numpy() == pytest.approx(known.std_error.to_numpy(), rel=1e-4)
    assert found.loglik == pytest.approx(known.loglik, abs=1e-6)


@pytest.mark.parametrize("formula", ["c ~ z", "c ~ a + z"])
@pytest.mark.parametrize("fit", [dn.multinomial, dn.logit])
def test_where_a_refusal_is_listed_changes_nothing(fit, formula):
    known = fit(formula, sent("joint"), missing="drop")
    for place in (0, 1):
        same(fit(formula, elsewhere(place), missing="drop"), known)


def test_where_a_refusal_is_listed_among_several_answers_changes_nothing():
    device, names = dn.KRR(4, 2.5), ["0", "1", "2", SKIPPED]
    codes = device.randomize(np.array([names.index(b) for b in SAID.b]), source=dn.Seeded(6))
    frame = SAID.assign(b=np.array(names)[codes])
    known = dn.multinomial("b ~ z", frame, device, categories=names, missing="drop")
    near(known, dn.multinomial("b ~ z", SAID[COMPLETE["b"]], categories=names[:3]))
    for place in range(3):
        listed = [*names[:place], SKIPPED, *names[place:3]]
        same(dn.multinomial("b ~ z", frame, device, categories=listed, missing="drop"), known)


def test_what_is_refused_says_why():
    reports = sent("joint")
    with pytest.raises(InputError, match='missing is "drop" or "model"'):
        dn.logit("c ~ a", reports, missing="ignore")
    with pytest.raises(DesignError, match='missing="drop"'):
        dn.logit("c ~ a", reports)
    with pytest.raises(InputError, match="no penalty"):
        dn.logit("c ~ z", reports, missing="drop", penalty="jeffreys")
    with pytest.raises(DesignError, match='say missing="drop"'):
        dn.linear("b ~ a", sent("independent"))


def test_what_follows_a_fit_is_of_who_answers():
    found = dn.logit("c ~ z", sent("joint"), missing="drop")
    assert found.truths == ("no", "yes")
    predicted = found.predict(pd.DataFrame({"z": [0.0]}))
    assert float(predicted["estimate"].iloc[0]) == pytest.approx(1 / (1 + np.exp(-found.params["Intercept"])))
    effects = found.marginal_effects()
    assert len(effects) == 1
    assert found.lr_test().pvalue < 1e-3
