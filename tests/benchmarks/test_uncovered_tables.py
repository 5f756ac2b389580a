"""The measurement of tables out of pairs, on a small case."""

from __future__ import annotations

from itertools import combinations

from benchmarks.accuracy import uncovered_tables


def test_it_prints_every_engine_beside_the_others(monkeypatch):
    some = lambda names, k: list(combinations(names, k))[::20]  # noqa: E731 - one of twenty triples
    monkeypatch.setattr(uncovered_tables, "combinations", some)
    outcome = uncovered_tables.measure([("survey", 20_000, 3.0)])
    assert [(claim.unit, claim.at_most) for claim in outcome.claims] == [("s", True)]
    assert {"product", "ipf", "loglinear"} <= set(outcome.rows["engine"])
    by = dict(zip(outcome.rows["engine"], outcome.rows["distance"], strict=True))
    assert by["loglinear"] < by["product"] * 2
    text = str(outcome)
    assert "Synthetic records of survey" in text
    assert "results say that the product is likely nearer" in text
