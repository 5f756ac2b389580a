"""The language of wanted numbers: each kind against its definition, and every refusal."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable.aims.aim import asked_of, made, matrix_of
from deniable.aims.parse import gathered
from deniable.errors import InputError, UnknownAttributeError, UnknownCategoryError

DOMAIN = dn.Domain({"age": [20, 30, 60], "sex": ["F", "M"], "owns": ["no", "yes"]})
RNG = np.random.default_rng(5)
SHARES = RNG.dirichlet(np.ones(6)).reshape(3, 2)


def test_tables_and_shares_are_cells():
    np.testing.assert_array_equal(dn.Wanted.table("age", "sex").rows(DOMAIN), np.eye(6))
    np.testing.assert_array_equal(dn.Wanted.shares("sex", weight=4).rows(DOMAIN), 2 * np.eye(2))


def test_a_mean_is_of_scores_scaled_to_range_one():
    np.testing.assert_allclose(dn.Wanted.mean("age").rows(DOMAIN), [[0, 0.25, 1]])
    np.testing.assert_allclose(dn.Wanted.mean("sex").rows(DOMAIN), [[0, 1]])
    np.testing.assert_allclose(dn.Wanted.mean("age", scores=[5, -5, 0]).rows(DOMAIN), [[1, 0, 0.5]])


def test_a_cdf_leaves_out_what_is_always_one():
    np.testing.assert_array_equal(dn.Wanted.cdf("age").rows(DOMAIN), [[1, 0, 0], [1, 1, 0]])


def test_ranges_hold_both_ends():
    wanted = dn.Wanted.ranges("age", [(20, 30), (60, 60)])
    np.testing.assert_array_equal(wanted.rows(DOMAIN), [[1, 1, 0], [0, 0, 1]])


def quantile(shares, level, edges):
    """By interpolating the distribution function: the second way."""
    return np.interp(level, np.concatenate([[0], np.cumsum(shares)]), edges) / (edges[-1] - edges[0])


def numerical(function, shares, step=1e-6):
    """The derivative, cell by cell."""
    moves = np.eye(shares.size).reshape(-1, *shares.shape) * step
    return np.array([(function(shares + move) - function(shares - move)) / (2 * step) for move in moves])


@pytest.mark.parametrize("level", [0.1, 0.5, 0.93])
def test_quantiles_are_derivatives_of_interpolated_ones(level):
    shares, edges = SHARES.sum(axis=1), [15.0, 25.0, 45.0, 90.0]
    rows = dn.Wanted.quantiles("age", [level], edges=edges).rows(DOMAIN, shares)
    np.testing.assert_allclose(rows[0], numerical(lambda pi: quantile(pi, level, edges), shares), rtol=1e-5, atol=1e-9)


def test_differences_are_derivatives_of_conditional_means():
    scores = np.array([0, 0.25, 1])
    rows = dn.Wanted.difference("age", by="sex", scores=[20, 30, 60]).rows(DOMAIN, SHARES)

    def difference(pi):
        means = scores @ pi / pi.sum(axis=0)
        return means[0] - means[1]

    np.testing.assert_allclose(rows[0], numerical(difference, SHARES), rtol=1e-6)
    each = dn.Wanted.difference("age", by="sex", groups=[("M", "F")]).rows(DOMAIN, SHARES)
    np.testing.assert_allclose(-scores @ each, rows[0], rtol=1e-12)


def test_associations_are_what_no_margin_tells():
    rows = dn.Wanted.association("age", "sex").rows(DOMAIN)
    additive = np.add.outer([0.1, 0.2, 0.0], [0.05, 0.15])
    np.testing.assert_allclose(rows @ additive.ravel(), 0, atol=1e-15)
    np.testing.assert_allclose(rows @ rows, rows, atol=1e-15)
    assert np.linalg.matrix_rank(rows) == 2


def test_lists_are_read_as_tables_and_lifted_to_the_whole_domain():
    wanted = gathered(["sex", ["owns", "age"], dn.Wanted.mean("age")])
    assert [one.attributes for one in wanted] == [("sex",), ("owns", "age"), ("age",)]
    truth = dn.Table(DOMAIN, RNG.dirichlet(np.ones(12)))
    rows = matrix_of(DOMAIN, wanted, truth)
    expected = [truth.project(one.attributes).values.ravel() for one in wanted[:2]]
    mean = truth.project("age").values @ [0, 0.25, 1]
    np.testing.assert_allclose(rows @ truth.values.ravel(), np.concatenate([*expected, [mean]]))
    assert asked_of(DOMAIN, wanted[:1]).names == ("sex",)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: gathered([]), "nothing is wanted"),
        (lambda: dn.read_wanted("sum(age)"), "wants 'sum', which is none of 'association', 'cdf'"),
        (lambda: made("mean", ("age", "sex"), 1.0, {}), "is about one attribute"),
        (lambda: made("difference", ("age",), 1.0, {}), "is about two attributes, not 'age'"),
        (dn.Wanted.table, "name each attribute"),
        (lambda: dn.Wanted.table("age", "age"), "name each attribute"),
        (lambda: dn.Wanted.shares("age", weight=0), "above 0"),
        (lambda: dn.Wanted.shares("age", weight=float("nan")), "above 0"),
        (lambda: dn.Wanted.association("age"), "two attributes or more"),
        (lambda: dn.Wanted.quantiles("age", [1.0]), "between 0 and 1"),
        (lambda: dn.Wanted.quantiles("age", edges=[0, 1]).rows(DOMAIN), "4 rising numbers"),
        (lambda: dn.Wanted.quantiles("age", [0.9]).rows(DOMAIN, np.array([0.5, 0.4, 0])), "nobody"),
        (lambda: dn.Wanted.mean("age", scores=[1, 2]).rows(DOMAIN), "must be 3 numbers"),
        (lambda: dn.Wanted.mean("age", scores=[1, 1, 1]).rows(DOMAIN), "not all the same"),
        (lambda: dn.Wanted.ranges("age", [(60, 20)]).rows(DOMAIN), "earlier to a later"),
        (lambda: dn.Wanted.difference("age", "sex").rows(DOMAIN, np.eye(3, 2) * [1, 0]), "nobody"),
    ],
)
def test_what_makes_no_sense_is_refused(make, error):
    with pytest.raises(InputError, match=error):
        make()


def test_unknown_names_are_refused_as_everywhere():
    with pytest.raises(UnknownAttributeError):
        dn.floor(DOMAIN, "income", 1.0)
    with pytest.raises(UnknownCategoryError):
        dn.Wanted.ranges("age", [(20, 31)]).rows(DOMAIN)
