"""What one block says, when the paper stops, how large a block must be."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from apart import by_block
from deniable.errors import InputError, TooFewReportsError
from deniable.extensions.blocks.paper_estimators import (
    block_estimates,
    block_size,
    block_variance,
    last_two,
    log_odds_interval,
    share_interval,
)
from deniable.extensions.designs.blocks import Blocks

DOMAIN = dn.Domain({"a": [0, 1], "b": [0, 1]})
PI = np.array([[0.5, 0.2], [0.2, 0.1]])


def paper(n, seed, update="last", **arguments):
    design = Blocks(DOMAIN, **{"mode": "deniability", "keep": 0.5, **arguments})
    return design.simulate(dn.Table(DOMAIN, PI), n, source=dn.Seeded(seed), update=update)


def test_block_variance_is_what_blocks_show():
    # 2000 blocks once T has settled: the mean squared distance has a relative standard error of about 2%; 6 of them.
    values, n = block_estimates(paper(500_000, 1, update="pooled"), ["a", "b"])
    squares = ((values[100:] - PI.ravel()) ** 2).sum(axis=1)
    error = squares.std() / np.sqrt(len(squares))
    assert set(n) == {250}
    assert abs(squares.mean() - block_variance(PI, 0.5, 250)) < 6 * error


def test_block_size_is_the_smallest_that_is_enough():
    for pi, keep, error in ((PI, 0.5, 0.1), ([0.9, 0.1], 0.2, 0.03), (np.full(16, 1 / 16), 0.3, 0.05)):
        size = block_size(pi, keep, error)
        assert block_variance(pi, keep, size) <= error**2 * (1 + 1e-6)
        assert block_variance(pi, keep, size - 1) > error**2
    assert block_size(6, 0.5) == block_size(np.full(6, 1 / 6), 0.5)
    assert block_size(6, 0.5, ballots=15) == 15 * block_size(6, 0.5)
    assert block_size(6, 0.5) > 6 * 50, "the paper's 'as many as cells' is far too few"
    with pytest.raises(InputError):
        block_size(4, keep=0)


def test_the_papers_estimate_is_the_mean_of_the_last_two_blocks():
    reports = paper(1000, 2)
    by_hand = np.mean([o.channel.solve(o.shares) for o in by_block(reports, ["a", "b"])[-2:]], axis=0)
    np.testing.assert_allclose(last_two(reports, ["a", "b"]).values.ravel(), by_hand, atol=1e-12)
    np.testing.assert_allclose(last_two(reports, ["b", "a"]).values, by_hand.reshape(2, 2).T, atol=1e-12)


def test_the_open_block_is_left_out_of_the_papers_estimate():
    reports = paper(1100, 2)  # four full blocks and 100 respondents of the fifth
    assert np.bincount(reports.blocks).tolist() == [250, 250, 250, 250, 100]
    values, _ = block_estimates(reports, ["a", "b"])
    np.testing.assert_allclose(last_two(reports, ["a", "b"]).values.ravel(), values[2:4].mean(axis=0), atol=1e-12)
    with pytest.raises(TooFewReportsError, match="no block is full yet"):
        last_two(paper(249, 2), ["a", "b"])


def test_share_intervals_are_symmetric_or_on_the_log_odds():
    low, high = share_interval(50, 100, 0.95)
    assert (float(low), float(high)) == pytest.approx((0.4020, 0.5980), abs=1e-4)
    low, high = share_interval(2, 100, 0.95)
    logit, reach = np.log(2 / 98), 1.959964 * np.sqrt(1 / 2 + 1 / 98)
    assert float(low) == pytest.approx(1 / (1 + np.exp(-(logit - reach))), rel=1e-6)
    assert float(high) == pytest.approx(1 / (1 + np.exp(-(logit + reach))), rel=1e-6)
    low, high = share_interval([0, 100], 100, 0.95)
    assert (low > 0).all()
    assert (high < 1).all()
    np.testing.assert_allclose(low, 1 - high[::-1])


def test_log_odds_intervals_cover():
    # 300 surveys, 4 cells, nominal .95. With .95 the mean of 300 has a standard error of .0126 at most: 6 of them.
    pi = dn.Table(DOMAIN, [[0.9, 0.07], [0.02, 0.01]])
    source, hits = dn.Seeded(5), []
    for _ in range(300):
        reports = Blocks(DOMAIN, mode="deniability", keep=0.6, block_size=50).simulate(pi, 200, source=source)
        hits.append(log_odds_interval(reports, ["a", "b"]).contains(pi.values))
    assert np.mean(hits, axis=0).min() > 0.95 - 6 * 0.0126


def test_where_counts_are_large_they_are_nearly_the_cores():
    reports = paper(20_000, 6)
    ours = log_odds_interval(reports, ["b", "a"])
    core = dn.estimate(reports, ["b", "a"], method="inversion").interval(method="wald")
    # Blocks differ in how likely a report is, which the one binomial ignores: a little wider, never narrower.
    width, true = ours.high - ours.low, core.high - core.low
    assert (width > true * 0.999).all()
    np.testing.assert_allclose(width, true, rtol=0.1)


def test_without_a_report_there_is_nothing():
    design = Blocks({name: [0, 1] for name in "abcdef"}, block_size=2)
    reports = design.run(np.zeros((2, 6), dtype=np.uint8), source=dn.Seeded(0))
    unasked = next(q.attributes for i, q in enumerate(design.questions) if i not in reports.ballots)
    for function in (block_estimates, log_odds_interval):
        with pytest.raises(TooFewReportsError, match="nobody was asked"):
            function(reports, unasked)


def test_the_paper_at_equal_epsilon_is_never_better_than_k_rr():
    # Closed forms: the block channel's variance with the best T (the truth itself, floored) against k-RR's.
    rng = np.random.default_rng(0)
    for _ in range(200):
        cells, epsilon = int(rng.integers(2, 12)), float(rng.uniform(0.2, 3))
        pi = rng.dirichlet(np.full(cells, rng.uniform(0.2, 3)))
        phi = float(rng.uniform(0.05, 1))
        odds = np.expm1(epsilon)
        keep = odds * phi / (cells + odds * phi)
        mixture = dn.Mixture(keep, (phi / cells + (1 - phi) * pi) / (phi / cells + (1 - phi) * pi).sum())
        p = (odds + 1) / (odds + cells)
        krr = dn.Mixture(p - (1 - p) / (cells - 1), np.full(cells, 1 / cells))
        assert mixture.variance(pi, 1).sum() >= krr.variance(pi, 1).sum() * (1 - 1e-6)
