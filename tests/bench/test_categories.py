"""The measurement of many categories, small."""

from __future__ import annotations

import pytest

import deniable as dn
from deniable.bench.categories import factor, least, measure


def test_the_least_is_subset_selection_s():
    for k, epsilon in ((5, 2.0), (16, 1.0), (50, 0.5)):
        assert factor(dn.SubsetSelection(k, epsilon), epsilon) == pytest.approx(1, abs=2e-3)  # epsilon is rounded down
        assert least(k, epsilon) > 0


def test_every_claim_is_met_on_small_numbers():
    assert measure((16,), k=5000, n=2000).met
