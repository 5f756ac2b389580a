"""Rivals, written anew: their matrices keep their epsilon, and their closed forms are those of the channels."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

import deniable as dn
from benchmarks.accuracy import rivals
from benchmarks.accuracy.against_rivals import YES_NO, measured, table, tables
from deniable.optimal.channel_problem import Problem
from deniable.optimal.optimal_channel import closed_form
from deniable.optimal.question_mix import information

CDF = Problem.of(np.tril(np.ones((9, 9)))[:-1], 1.0)


@pytest.mark.parametrize("make", [rivals.square_wave, rivals.hierarchy])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_channels_keep_their_epsilon(make, epsilon):
    matrix = make(16, epsilon)
    np.testing.assert_allclose(matrix.sum(axis=0), 1)
    assert (matrix.max(axis=1) / matrix.min(axis=1)).max() <= exp(epsilon) * (1 + 1e-9)


def test_what_is_told_is_what_the_channel_tells():
    """Second way: the loss of the channel's own matrix, or the variance of its shares."""
    assert rivals.alike(rivals.told_by_krr(9, 1.0), CDF) == pytest.approx(CDF.loss(dn.KRR(9, 1.0).matrix()), rel=3e-3)
    block = dn.BlockDesign(9, 1.0, order=3).matrix()
    assert rivals.alike(information(9, 1.0), CDF) <= CDF.loss(block)
    shares = Problem.of(np.eye(9), 1.0)
    for told, channel in ((rivals.told_by_oue, dn.OUE(9, 1.0)), (rivals.told_by_olh, dn.OLH(9, 1.0))):
        # Without the sum to one the summed variance is larger; what is told is of contrasts alone.
        assert rivals.alike(told(9, 1.0), shares) < channel.variance(np.full(9, 1 / 9), 1).sum()


def test_the_factorization_is_a_channel_that_is_no_better_than_the_floor():
    found = rivals.factorization(CDF, steps=40)
    assert closed_form(CDF) < found < CDF.loss(dn.KRR(9, 1.0).matrix())


@pytest.mark.parametrize(("make", "epsilon"), [(rivals.duchi, 1.0), (rivals.piecewise, 3.0)])
def test_means_are_as_exact_as_simulated(make, epsilon):
    """A million reports each: the mean squared error of one is known to about 0.3%; 2% are six standard errors."""
    rng, t, n = np.random.default_rng(3), 11, 1_000_000
    x = rng.integers(0, t, n) * 2 / (t - 1) - 1
    e = exp(epsilon)
    if make is rivals.duchi:
        said = np.where(rng.random(n) < 0.5 + x * (e - 1) / (2 * e + 2), 1, -1) * (e + 1) / (e - 1)
    else:
        r = exp(epsilon / 2)
        c = (r + 1) / (r - 1)
        left = (c + 1) / 2 * x - (c - 1) / 2
        near = rng.random(n) < r / (r + 1)
        inside, outside = left + rng.random(n) * (c - 1), rng.random(n) * (c + 1)
        outside = np.where(outside < left + c, -c + outside, left + c - 1 + (outside - left - c))
        said = np.where(near, inside, outside)
    assert ((said - x.mean()) ** 2).mean() * ((t - 1) / 2) ** 2 == pytest.approx(make(t, epsilon), rel=0.02)


def test_nobody_is_below_the_floor():
    found = tables(YES_NO, 2, 1.0)
    assert min(value for value in found.values() if not np.isnan(value)) >= 1
    assert found["ours: optimal"] == min(value for value in found.values() if not np.isnan(value))
    assert np.isnan(found["RS+FD"])
    assert found["InpHT"] == pytest.approx(1.59, abs=0.01)
    assert np.isnan(tables(dn.Domain({"a": range(3), "b": range(2)}), 2, 1.0)["InpHT"])
    assert tables(YES_NO, 1, 1.0)["RS+FD"] > 1
    shown = table(measured({"pairs": lambda epsilon: tables(YES_NO, 2, epsilon)}, (1.0, 2.0)))
    assert "RS+FD" not in shown
    assert "epsilon 2" in shown
