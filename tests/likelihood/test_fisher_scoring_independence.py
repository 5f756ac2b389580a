"""Independence of two attributes: where there is one hill, and what is done where it is certain."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable.channels.krr import KRR
from deniable.designs.observation import Observation
from deniable.likelihood import fisher_scoring_independence as margins
from deniable.likelihood.em import fit
from deniable.likelihood.evidence import of_counts
from deniable.likelihood.hypothesis_models import Independence

WHOLE = dn.Domain({"a": range(2), "b": range(3)})
A, B = np.array([0.7, 0.3]), np.array([0.6, 0.3, 0.1])
REPLICATES = 80


def asked(alone, together, seed=1):
    """Evidence of reports about a, about b and about both, so many each, and replicates of its counts."""
    groups = [(("a",), A, alone), (("b",), B, alone), (("a", "b"), np.outer(A, B).ravel(), together)]
    found, drawn, rng = [], [], np.random.default_rng(seed)
    for names, shares, n in groups:
        if not n:
            continue
        channel = KRR(len(shares), epsilon=1.0)
        y = rng.multinomial(n, channel.apply(shares), REPLICATES).T.astype(float)
        found.append(Observation(WHOLE.project(names), channel, y[:, 0].reshape(WHOLE.project(names).shape)))
        drawn.append(y)
    return of_counts(found, WHOLE), np.concatenate(drawn)


def loglik(known, y, a, b):
    return (y * np.log(known.probabilities(a, b))).sum(axis=0)


def test_where_one_hill_is_certain_the_likelihood_is_concave():
    evidence, y = asked(800, 100)
    known = margins._reports(evidence, REPLICATES)
    sure = known.one_hill(y)
    assert sure.all()
    rng = np.random.default_rng(2)
    for _ in range(50):  # corners of the margins among them
        (a, c), (b, d) = (rng.dirichlet(np.full(k, 0.3), (2, REPLICATES)).transpose(0, 2, 1) for k in (2, 3))
        middle = loglik(known, y, (a + c) / 2, (b + d) / 2)
        assert (middle >= (loglik(known, y, a, b) + loglik(known, y, c, d)) / 2 - 1e-9).all()


def test_one_hill_is_certain_exactly_where_the_stated_norm_is_below_one():
    evidence, y = asked(400, 90)
    scale, offset = (
        {k: f(KRR(k, epsilon=1.0).matrix()) for k in (2, 3, 6)} for f in (lambda p: p[0, 0] - p[0, 1], np.min)
    )
    expected = []
    for one in y.T:
        bend_a, bend_b = (seen * (scale[k] / (scale[k] + offset[k])) ** 2 for k, seen in ((2, one[:2]), (3, one[2:5])))
        back = one[5:].reshape(2, 3) * scale[6] / offset[6]
        expected.append(np.linalg.norm(back / np.sqrt(np.outer(bend_a, bend_b))) < 1)
    found = margins._reports(evidence, REPLICATES).one_hill(y)
    assert 0 < sum(expected) < REPLICATES
    assert found.tolist() == expected
    only_both, y = asked(0, 500)
    assert not margins._reports(only_both, REPLICATES).one_hill(y).any()
    other = margins._reports(evidence, 1)  # a few replicates are fitted in another form, which does not look
    assert not other.one_hill(evidence.counts).any()


@pytest.mark.parametrize(("alone", "together"), [(800, 100), (40, 300)])
def test_the_climb_that_is_left_out_would_not_have_ended_higher(alone, together, monkeypatch):
    evidence, y = asked(alone, together)
    model = Independence(0, 1)
    best = fit(evidence, counts=y, gap=1e-3, newton=True)
    starts = model.starts(best.pi)
    found = fit(evidence, model, y, starts=starts, gap=1e-3)
    monkeypatch.setattr(margins._Own, "one_hill", lambda _, y: np.zeros(y.shape[1], dtype=bool))
    full = fit(evidence, model, y, starts=starts, gap=1e-3)
    assert found.loglik == pytest.approx(full.loglik, abs=1.5e-3)
    assert (found.evaluations < full.evaluations) == (alone > together)


def test_a_share_of_next_to_nothing_that_would_grow_is_not_settled():
    evidence, y = asked(800, 100)
    known = margins._reports(evidence, REPLICATES)
    inside = np.log(np.concatenate([A, B]))[:, None].repeat(REPLICATES, axis=1)
    assert margins._settled(known, y, inside, r=2, gap=1e-3).all()
    inside[2] = -30.0  # most of b is there
    assert not margins._settled(known, y, inside, r=2, gap=1e-3).any()
