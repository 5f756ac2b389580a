"""One engine: every model reaches what another optimiser finds, starts and replicates are treated alike."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import minimize

import deniable as dn
from deniable.errors import ConvergenceError, EstimationError
from deniable.likelihood.em import enough, fit
from deniable.likelihood.gather import gather
from deniable.likelihood.hypothesis_models import GivenMargin, Independence, Loglinear, Saturated

DOMAIN = dn.Domain({"a": range(2), "b": range(3)})


def evidence_of(channel="krr", n=600, seed=1):
    rng = np.random.default_rng(seed)
    a = rng.random(n) < 0.3
    b = np.where(a, rng.choice(3, n, p=[0.6, 0.3, 0.1]), rng.choice(3, n, p=[0.2, 0.3, 0.5]))
    frame = pa.table({"a": a.astype(int), "b": b})
    return gather(dn.Joint(DOMAIN, 2.0, channel=channel).randomize(frame, source=dn.Seeded(seed)), ["a", "b"])


def softmax(x):
    shares = np.exp(x - x.max())
    return shares / shares.sum()


TABLES = {
    "saturated": (Saturated(), 6, lambda x: softmax(x).reshape(2, 3)),
    "independence": (Independence(0, 1), 5, lambda x: np.outer(softmax(x[:2]), softmax(x[2:]))),
    "no interaction": (Loglinear(DOMAIN, [("a",), ("b",)]), 5, lambda x: np.outer(softmax(x[:2]), softmax(x[2:]))),
    "margin": (
        GivenMargin((0,), np.array([[0.7], [0.3]])),
        6,
        lambda x: np.stack([0.7 * softmax(x[:3]), 0.3 * softmax(x[3:])]),
    ),
}


@pytest.mark.parametrize("channel", ["krr", "subset", "hashing", "hadamard"])
@pytest.mark.parametrize("name", TABLES)
def test_every_model_reaches_what_another_optimiser_finds(name, channel):
    model, parameters, table = TABLES[name]
    evidence = evidence_of(channel)
    found = fit(evidence, model, gap=1e-8)

    def negative(x):
        return -float(evidence.evaluate(table(x)[..., None])[0][0])

    other = minimize(negative, np.zeros(parameters), method="BFGS", options={"gtol": 1e-5})
    assert found.loglik[0] == pytest.approx(-other.fun, abs=1e-4)
    assert found.pi.sum() == pytest.approx(1)
    assert found.finished.all()


def test_replicates_are_fitted_as_if_alone():
    evidence = evidence_of("hadamard")
    counts = np.random.default_rng(0).multinomial(300, evidence.counts.ravel() / evidence.counts.sum(), size=4).T
    together = fit(evidence, Independence(0, 1), counts.astype(float), gap=1e-7)
    for i in range(4):
        alone = fit(evidence, Independence(0, 1), counts[:, [i]].astype(float), gap=1e-7)
        assert together.loglik[i] == pytest.approx(alone.loglik[0], abs=1e-6)


def test_of_several_starts_each_replicate_keeps_its_best():
    evidence = evidence_of()
    corner = np.full((2, 3, 1), 1e-3)
    corner[1, 2] = 1 - 5e-3
    starts = [None, np.outer(corner.sum(axis=1)[:, 0], corner.sum(axis=0)[:, 0]).reshape(2, 3, 1)]
    both = fit(evidence, Independence(0, 1), starts=starts, gap=1e-7)
    single = [fit(evidence, Independence(0, 1), starts=[start], gap=1e-7) for start in starts]
    assert both.loglik[0] == max(one.loglik[0] for one in single)
    assert both.evaluations > min(one.evaluations for one in single)  # only the best of the first steps goes on


def test_what_did_not_arrive_is_said_or_marked():
    evidence = evidence_of("hadamard")
    with pytest.raises(ConvergenceError, match="nats left to gain"):
        fit(evidence, gap=1e-12, most=5)
    found = fit(evidence, gap=1e-12, most=5, strict=False)
    assert not found.finished.any()
    assert found.gap[0] > 1e-12


def test_a_table_stops_where_nothing_would_show():
    pi = np.zeros((400, 1))
    pi[:300] = 1 / 300
    assert enough(pi) == pytest.approx(1.5)
    assert enough(pi[298:302]) == pytest.approx(0.01)


def test_moments_have_no_likelihood():
    with pytest.raises(EstimationError, match='method="wls"'):
        fit(gather(dn.Observation("x", dn.Unary(3, 1.0), [5, 4, 3, 10]), "x"))
