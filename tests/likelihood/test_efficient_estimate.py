"""The efficient estimate: Wilson for one k-RR, the inverse of the information, and errors that surveys show."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import deniable as dn
from chequered import one_of
from deniable.likelihood.efficient_estimate import efficient_from
from deniable.likelihood.gather import gather

Z2 = 1.959963984540054**2


def test_for_one_krr_it_is_inversion_and_wilsons_interval():
    observation = dn.Observation("x", dn.KRR(4, 1.0), [50, 30, 15, 5])
    found, plain = efficient_from(gather(observation, "x")), dn.estimate(observation, "x", "inversion")
    assert found.values == pytest.approx(plain.unbiased.values)
    assert found.matrix() == pytest.approx(plain.dispersion.matrix())
    # Wilson's interval of a report's share, mapped through the channel: pi = (lambda - q) / (p - q).
    n, share = 100, np.array([50, 30, 15, 5]) / 100
    middle, half = share + Z2 / (2 * n), np.sqrt(Z2 * share * (1 - share) / n + Z2**2 / (4 * n**2))
    channel = observation.channel
    for end, sign in zip(found.score_interval(Z2), (-1, 1), strict=True):
        wilson = (middle + sign * half) / (1 + Z2 / n)
        assert end == pytest.approx((wilson - channel.q) / (channel.p - channel.q))


def test_its_variance_at_the_truth_is_the_inverse_of_the_information():
    domain = dn.Domain({name: [0, 1] for name in "abcd"})
    design = dn.Views(domain, 2, 1.0)
    truth = np.random.default_rng(1).dirichlet(np.ones(16)).reshape(domain.shape)
    table = dn.Table(domain, truth)
    n, pair = 60_000.0, table.project(["a", "b"]).values.ravel()
    expected = []
    for question in design.questions:
        own = table.project(question.attributes)
        counts = n / 6 * question.channel.apply(own.values.ravel())
        expected.append(dn.Observation(own.domain, question.channel, counts))
    evidence = gather(expected, ["a", "b"])
    found = efficient_from(evidence, pair)
    assert found.values.ravel() == pytest.approx(pair)
    stated = np.linalg.inv(evidence.information(pair)) - np.outer(pair, pair) / evidence.n
    assert found.matrix() == pytest.approx(stated, rel=1e-3)


@pytest.mark.parametrize("channel", one_of(2, ["krr", "subset", "unary", "hadamard", "hashing"]))
def test_its_errors_are_those_of_repeated_surveys(channel):
    domain = dn.Domain({"a": range(2), "b": range(3), "c": range(2)})
    design = dn.Views(domain, 2, 2.0, channel=channel)
    shares = np.random.default_rng(3).dirichlet(np.full(12, 0.7))
    rng, runs = np.random.default_rng(4), 90
    values, variances, covers = [], [], []
    truth = shares.reshape(domain.shape).sum(axis=2)
    for run in range(runs):
        codes = np.stack(np.unravel_index(rng.choice(12, 1500, p=shares), domain.shape), axis=1)
        frame = pa.table(dict(zip(domain, codes.T, strict=True)))
        found = efficient_from(gather(design.randomize(frame, source=dn.Seeded(run)), ["a", "b"]))
        assert found.determined
        values.append(found.values)
        variances.append(found.variances)
        low, high = found.score_interval(Z2)
        covers.append((low <= truth) & (truth <= high))
    spread, stated = np.var(values, axis=0, ddof=1), np.mean(variances, axis=0)
    # Of 90 draws a cell's variance is .37 to 2.08 times the true one in all but 2e-8 of all seeds (a chi-square of 89);
    # 6 cells x 5 channels. Their means are within 5.8 standard errors of the truth likewise.
    assert (spread > 0.37 * stated).all()
    assert (spread < 2.08 * stated).all()
    assert (np.abs(np.mean(values, axis=0) - truth) < 5.8 * np.sqrt(stated / runs)).all()
    # 540 intervals that each hold with 93% or more: 66 or fewer of 90 in a cell has a chance of 3e-7 in all.
    assert np.sum(covers, axis=0).min() > 66


def test_pooling_shrinks_the_error_of_a_pair_to_two_thirds():
    domain = dn.Domain({f"x{i}": [0, 1] for i in range(8)})
    even = dn.Table(domain, np.full(domain.shape, 1 / 256))
    found = dn.estimate(dn.Views(domain, 2, 1.0).simulate(even, 2_000_000, source=dn.Seeded(1)), ["x0", "x1"])
    ratio = np.sqrt((found.std_error**2).sum() / found.dispersion.variances.sum())
    assert 0.64 < ratio < 0.66
    assert found.n < found.pooled.evidence.n
    assert any("about x0 through" in line for line in found.used)


def test_what_was_only_counted_has_score_intervals_too():
    observation = dn.Observation("x", dn.Unary(4, 1.0), [30, 45, 60, 40, 100])
    found = efficient_from(gather(observation, "x"))
    low, high = found.score_interval(Z2)
    assert (low < found.values).all()
    assert (found.values < high).all()
    assert found.values.sum() == pytest.approx(1)
    a, b, c = found.along(np.eye(found.domain.cells)).variance_at
    # The variance stated is that of a possible table; that at the estimate itself differs where it is negative.
    assert a[1:] == pytest.approx(found.variances[1:], rel=0.06)
    assert (b != 0).all()
    assert (c < 0).all()
