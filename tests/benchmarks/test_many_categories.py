"""The measurement of many categories, small."""

from __future__ import annotations

from pathlib import Path

import pytest

import deniable as dn
from benchmarks.accuracy.many_categories import factor, factors, least, measure
from benchmarks.benchmark import text_table


def test_the_least_is_subset_selection_s():
    for k, epsilon in ((5, 2.0), (16, 1.0), (50, 0.5)):
        assert factor(dn.SubsetSelection(k, epsilon), epsilon) == pytest.approx(1, abs=2e-3)  # epsilon is rounded down
        assert least(k, epsilon) > 0


@pytest.mark.parametrize("k", [50, 500, 50_000])
def test_the_how_to_shows_what_is_printed(k):
    page = Path(__file__).parents[2] / "docs" / "how-to" / "many-categories.md"
    assert f"```text\n{text_table(factors(k))}\n```\n" in page.read_text(encoding="utf-8")


def test_every_claim_is_met_on_small_numbers():
    assert measure((16,), k=5000, n=2000).met
