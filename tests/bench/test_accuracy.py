"""The accuracy bench on its cheap rows: the printed factors of k-RR and sets, and every claim but the simulated one."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.bench import accuracy


def test_the_cheap_rows_are_as_printed():
    found = accuracy.measure(small=("cdf 7", "mean, shares"), large=(), mixes=("survey",), epsilons=(1.0,), surveys=2)
    assert found.rows["k-RR"] == pytest.approx([1.53, 1.69], abs=0.006)
    assert found.rows["sets"] == pytest.approx([1.31, 1.69], abs=0.006)
    assert found.rows["bound"] == ["certified", "certified"]
    assert all(claim.met for claim in found.claims[:-1])  # two surveys say nothing about the last
    assert len(found.claims) == 5


def test_simulated_errors_are_the_loss():
    # 400 surveys; a sum of squares varies at most like one of them, so by sqrt(2 / 400) = 7%, and five of these
    # deviations are passed with probability below 1e-6.
    rows = accuracy.wanted_rows("cdf 7")
    channel = accuracy.optimal_channel(rows, 2.0)
    assert accuracy.errors(channel, rows, 2000, 400, seed=5) == pytest.approx(channel.loss, rel=0.36)


def test_all_that_is_wanted_has_rows():
    assert {name: accuracy.wanted_rows(name).shape for name in (*accuracy.SMALL, *accuracy.LARGE)} == {
        "cdf 7": (6, 7),
        "cdf 11": (10, 11),
        "pairs of 3": (12, 8),
        "mean, shares": (6, 5),
        "mean of 11": (1, 11),
        "associations": (12, 8),
        "cdf 64": (63, 64),
        "cdf 128": (127, 128),
    }
    assert np.isfinite(accuracy.wanted_rows("associations")).all()
