"""Wanted numbers as texts: what is written is read as the same, and what is not understood names its place."""

from __future__ import annotations

import pytest

import deniable as dn
from deniable.aims.category_scores import category_scores
from deniable.aims.parse import gathered
from deniable.errors import InputError

DOMAIN = dn.Domain({"age": [20, 30, 40], "sex": ["F", "M"], "pay": ["< 10", "10 to < 30", ">= 30"]})
TEXTS = [
    "age",
    "age * sex",
    "mean(age)",
    "mean(age; scores 1 2 5) weight 2.5",
    "cdf(age)",
    "quantiles(age; 0.25 0.5)",
    "quantiles(age; 0.5; edges 15 25 35 45)",
    "ranges(age; 20..30, 30..40)",
    "difference(age by sex)",
    "difference(age by sex; groups F..M; scores 0 1 3) weight 2",
    "mean(age; scores 0.1 - 1e-09) weight 0.12345678901234566",
    "association(age, sex)",
]


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_read_is_written_alike_and_means_the_same(text):
    one = dn.read_wanted(text)
    assert str(one) == text
    again = dn.read_wanted(str(one))
    assert (again.rows(DOMAIN) == one.rows(DOMAIN)).all()


def test_other_ways_to_write_the_same():
    assert dn.read_wanted("shares(age)") == dn.Wanted.shares("age")
    assert dn.read_wanted("table(age, sex)") == dn.Wanted.table("age", "sex")
    assert dn.read_wanted(" quantiles( age )") == dn.Wanted.quantiles("age")
    assert dn.read_wanted("difference(age by sex; scores 0 1 3; groups F..M)") == dn.Wanted.difference(
        "age", "sex", groups=[("F", "M")], scores=[0, 1, 3]
    )
    assert gathered([["age", "sex"], "mean(age)", dn.Wanted.cdf("age")]) == (
        dn.Wanted.table("age", "sex"),
        dn.Wanted.mean("age"),
        dn.Wanted.cdf("age"),
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "mode(age)",
        "mean()",
        "mean(age, sex)",
        "mean(age; edges 1 2)",
        "mean(age; scores a b)",
        "quantiles(age; high)",
        "quantiles(age; 0.5; 0.7)",
        "ranges(age)",
        "ranges(age; 20)",
        "difference(age)",
        "difference(age by sex by pay)",
        "cdf(age; 3)",
        "age * ",
        "mean(age) weight heavy",
    ],
)
def test_what_is_not_understood_says_what_would_be(text):
    with pytest.raises(InputError, match="write for example"):
        dn.read_wanted(text)


def test_bins_count_as_their_middles_and_what_is_no_number_stands_aside():
    assert category_scores(DOMAIN["pay"]) == [0.0, 20.0, 40.0]
    assert category_scores(dn.Variable("n", ("0", "1", "7", "(prefer not to say)"))) == [0.0, 1.0, 7.0, None]
    assert category_scores(dn.Variable("mood", ("bad", "so-so", "good"))) == [0.0, 1.0, 2.0]
    aside = dn.Domain({"n": ("0", "1", "2", "(prefer not to say)")})
    rows = dn.Wanted.mean("n").rows(aside)
    assert rows.tolist() == [[0.0, 0.5, 1.0, 0.0], [0.5, 0.5, 0.5, 0.0]]  # N and D of the quotient


def test_a_channel_for_a_mean_with_some_aside_tells_that_mean():
    domain = dn.Domain({"n": ("0", "1", "2", "(prefer not to say)")})
    design = dn.Optimal(domain, "mean(n)", 1.0)
    table = dn.Table(domain, [0.2, 0.3, 0.4, 0.1])
    reports = design.simulate(table, 200_000, source=dn.Seeded(2))
    found = dn.mean(reports, "n", scores=category_scores(domain["n"]))
    assert abs(found.value - 1.1 / 0.9) < 7 * found.std_error
