"""The log-linear fit through the channels, against other ways to the same table."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import deniable as dn
from apart import by_block
from deniable.errors import ConvergenceError, EstimationError
from deniable.estimation.joint_tables import loglinear
from deniable.estimation.joint_tables.loglinear import (
    _seconded,
    fit_loglinear,
    generators,
    loglinear_basis,
    score_loglinear,
)
from deniable.likelihood.em import Fitted, maximum_likelihood
from deniable.likelihood.evidence import of_counts
from deniable.likelihood.hypothesis_models import Loglinear
from deniable.numerics.proportional_fitting import fit_margins

DOMAIN = dn.Domain({"a": [0, 1], "b": [0, 1, 2], "c": [0, 1]})


def pairs(counts_of, epsilon=2.0, names="abc"):
    """One observation a pair, through k-RR."""
    found = []
    for pair in combinations(names, 2):
        part = DOMAIN.project(pair)
        channel = dn.KRR(part.cells, epsilon)
        found.append(dn.Observation(part, channel, counts_of(part, channel)))
    return found


def noisy(part, channel, seed=0, n=600):
    pi = np.random.default_rng(seed).dirichlet(np.ones(part.cells))
    return np.random.default_rng(seed + part.cells).multinomial(n, channel.apply(pi))


@pytest.fixture
def table():
    """A table without three-way interaction: log pi is a sum over pairs."""
    rng = np.random.default_rng(3)
    logs = rng.normal(size=(2, 3, 1)) + rng.normal(size=(2, 1, 2)) + rng.normal(size=(1, 3, 2))
    return dn.Table(DOMAIN, np.exp(logs) / np.exp(logs).sum())


def test_exact_reports_give_the_table_back(table):
    exact = pairs(lambda part, channel: 1e6 * channel.apply(table.project(part).values.ravel()))
    fit = fit_loglinear(of_counts(exact, DOMAIN), gap=1e-9)
    np.testing.assert_allclose(fit.table.values, table.values, atol=1e-6)
    assert fit.generators == (("a", "b"), ("a", "c"), ("b", "c"))


def test_iterative_proportional_fitting_finds_the_same_table(table):
    margins = [table.project(pair) for pair in combinations("abc", 2)]
    np.testing.assert_allclose(fit_margins(margins, DOMAIN).values, table.values, atol=1e-9)


def test_em_and_fisher_scoring_climb_the_same_hill():
    observed = pairs(noisy)
    slow = fit_loglinear(of_counts(observed, DOMAIN), scoring=False, gap=1e-6)
    quick = fit_loglinear(of_counts(observed, DOMAIN), scoring=True, gap=1e-9)
    # These pairs contradict each other, so the maximum has cells at zero, which EM approaches slowly.
    assert quick.loglik[0] - 0.01 < slow.loglik[0] < quick.loglik[0] + 1e-6
    np.testing.assert_allclose(slow.table.values, quick.table.values, atol=2e-3)
    assert quick.evaluations < slow.evaluations


def test_a_table_whose_every_other_cell_wants_to_be_empty_is_reached():
    # Noise of this size: one of sixteen such surveys ends in a corner, where score and information both vanish.
    domain, channel = dn.Domain({name: [0, 1] for name in "abc"}), dn.KRR(4, epsilon=0.3)
    counts = {"ab": [12, 22, 14, 12], "bc": [11, 11, 25, 13], "ac": [23, 12, 10, 15]}
    observed = [
        dn.Observation({name: [0, 1] for name in pair}, channel, np.reshape(seen, (2, 2)))
        for pair, seen in counts.items()
    ]
    found = fit_loglinear(of_counts(observed, domain))

    def loglik(table):
        margins = [dn.Table(domain, table).project(o.domain).values.ravel() for o in observed]
        return sum(float(o.counts.ravel() @ np.log(channel.apply(m))) for o, m in zip(observed, margins, strict=True))

    corners = [loglik(corner.reshape(2, 2, 2)) for corner in np.eye(8)]
    assert np.ravel(found.table.values)[np.argmax(corners)] > 0.999
    assert found.loglik[0] == pytest.approx(max(corners), abs=1e-3)
    # No table at all is likelier: the likelihood is concave in the table, and falls from here to every other corner.
    there = np.eye(8)[np.argmax(corners)].reshape(2, 2, 2)
    assert all(loglik(0.999 * there + 0.001 * e.reshape(2, 2, 2)) <= max(corners) for e in np.eye(8))


def test_what_scoring_cannot_judge_is_climbed_to_by_em_as_well():
    # A corner that is the best of its surroundings, with another hill a sixth of a nat higher.
    domain = dn.Domain({name: [0, 1] for name in "abc"})
    counts = {"a": [39, 41], "b": [35, 41], "c": [36, 42]}
    counts |= {"bc": [15, 42, 19, 16], "ab": [12, 17, 30, 15], "ac": [27, 20, 25, 28]}
    channels = {1: dn.KRR(2, epsilon=0.15), 2: dn.KRR(4, epsilon=0.5)}
    observed = [
        dn.Observation(domain.project(list(names)), channels[len(names)], np.reshape(seen, (2,) * len(names)))
        for names, seen in counts.items()
    ]
    evidence, pairs_of = of_counts(observed, domain), Loglinear(domain, (("a", "b"), ("a", "c"), ("b", "c")))
    scored = score_loglinear(evidence, pairs_of, evidence.counts, 1e-3)
    ended = {}
    for cell in (5, 0):  # the corner, and one that is none
        there = (0.99 * np.eye(8)[cell] + 0.01 / 8).reshape(2, 2, 2, 1)
        loglik, _ = evidence.evaluate(there)
        unsure = Fitted(there, loglik, np.array([np.inf]), 1, np.array([False]))
        ended[cell] = _seconded(evidence, pairs_of, evidence.counts, unsure, 1e-3)
        assert ended[cell].finished.all()
        assert ended[cell].loglik[0] == pytest.approx(evidence.evaluate(ended[cell].pi)[0][0])
        assert ended[cell].loglik[0] > loglik[0] - 1e-9
    assert ended[5].loglik[0] == pytest.approx(ended[0].loglik[0], abs=2e-3)  # both go to where EM goes
    assert abs(scored.loglik[0] - ended[0].loglik[0]) < 0.2


def test_no_direction_inside_the_model_improves_it():
    observed = pairs(noisy)
    fit = fit_loglinear(of_counts(observed, DOMAIN), gap=1e-10)
    basis = loglinear_basis(DOMAIN, fit.generators)
    assert np.linalg.matrix_rank(np.column_stack([np.ones(12), basis])) == basis.shape[1] + 1 == 10

    def loglik(theta):
        pi = np.exp(theta - theta.max()).reshape(DOMAIN.shape)
        pi /= pi.sum()
        total = 0.0
        for o in observed:
            lam = o.channel.apply(dn.Table(DOMAIN, pi).project(o.domain).values.ravel())
            total += (o.counts * np.log(lam)).sum()
        return total

    theta = np.log(fit.table.values).ravel()
    best = loglik(theta)
    assert best == pytest.approx(fit.loglik[0], abs=1e-9)
    for direction in np.random.default_rng(1).normal(size=(50, basis.shape[1])):
        for size in (1e-3, -1e-3, 0.1, -0.1):
            assert loglik(theta + size * (basis @ direction)) <= best + 1e-8


def test_where_everything_was_asked_it_is_maximum_likelihood():
    channel = dn.KRR(12, 2.0)
    observed = [dn.Observation(DOMAIN, channel, np.random.default_rng(0).multinomial(4000, np.full(12, 1 / 12)))]
    fit = fit_loglinear(of_counts(observed, DOMAIN), gap=1e-8)
    other = maximum_likelihood(of_counts(observed, DOMAIN), gap=1e-8)
    np.testing.assert_allclose(fit.table.values, other.table.values, atol=1e-5)


def test_contradicting_and_negative_tables_are_no_trouble():
    # Every pair says something else about the shared margins, and some unbiased cells are far below zero.
    extreme = {("a", "b"): [90, 1, 1, 1, 1, 6], ("a", "c"): [1, 1, 97, 1], ("b", "c"): [1, 50, 1, 1, 1, 46]}
    observed = pairs(lambda part, _: extreme[part.names], epsilon=1.0)
    for scoring in (True, False):
        fit = fit_loglinear(of_counts(observed, DOMAIN), scoring=scoring)
        assert fit.table.total == pytest.approx(1)
        assert (fit.table.values >= 0).all()


def test_the_structured_path_gives_the_same_fit(monkeypatch):
    observed = pairs(noisy)
    quick = fit_loglinear(of_counts(observed, DOMAIN), gap=1e-7)
    monkeypatch.setattr(loglinear, "_MATRIX", 0)
    np.testing.assert_allclose(
        fit_loglinear(of_counts(observed, DOMAIN), gap=1e-6).table.values, quick.table.values, atol=2e-3
    )


@pytest.mark.parametrize("scoring", [True, False])
def test_replicates_are_fitted_as_if_alone(scoring):
    observed = pairs(noisy)
    rng = np.random.default_rng(4)
    counts = [rng.multinomial(500, o.shares, size=5).T.astype(float) for o in observed]
    together = fit_loglinear(of_counts(observed, DOMAIN), counts=counts, scoring=scoring, gap=1e-5)
    for i in range(5):
        alone = [dn.Observation(o.domain, o.channel, c[:, i]) for o, c in zip(observed, counts, strict=True)]
        single = fit_loglinear(of_counts(alone, DOMAIN), scoring=scoring, gap=1e-5)
        np.testing.assert_allclose(together.tables[..., i], single.table.values, atol=5e-3)
        assert together.loglik[i] == pytest.approx(single.loglik[0], abs=0.02)


def test_attributes_in_any_order():
    observed = pairs(noisy)
    straight = fit_loglinear(of_counts(observed, DOMAIN)).table
    turned = fit_loglinear(of_counts(observed[::-1], DOMAIN.project(["c", "a", "b"]))).table
    np.testing.assert_allclose(turned.project(DOMAIN.names).values, straight.values, atol=1e-3)


def test_reports_in_blocks_go_through_one_channel():
    design = dn.Blocks(DOMAIN, epsilon=3.0, block_size=60)
    pi = dn.Table(DOMAIN, np.random.default_rng(0).dirichlet(np.ones(12)))
    reports = design.simulate(pi, 3000, source=dn.Seeded(1))
    whole = fit_loglinear(of_counts(reports.tabulate(), DOMAIN), gap=1e-7)
    apart = fit_loglinear(
        of_counts([o for pair in combinations("abc", 2) for o in by_block(reports, pair)], DOMAIN), gap=1e-7
    )
    np.testing.assert_allclose(whole.table.values, apart.table.values, atol=1e-3)


def test_generators_are_the_largest_sets_asked():
    def asked(*sets):
        found = []
        for names in sets:
            part = DOMAIN.project(list(names))
            found.append(dn.Observation(part, dn.KRR(part.cells, 1.0), np.zeros(part.shape)))
        return generators(of_counts(found, DOMAIN))

    assert asked("a", "ab", "b", "c") == (("a", "b"), ("c",))
    assert asked("ba", "cb") == (("a", "b"), ("b", "c"))
    assert asked("abc", "ab") == (("a", "b", "c"),)


def test_the_product_model_has_the_marginals_only():
    observed = pairs(noisy)
    fit = fit_loglinear(of_counts(observed, DOMAIN), sets=[("a",), ("b",), ("c",)], gap=1e-9)
    parts = [fit.table.project(name) for name in "abc"]
    np.testing.assert_allclose(fit.table.values, (parts[0] * parts[1] * parts[2]).values, atol=1e-9)


def test_too_large_a_table_is_refused():
    wide = dn.Domain({f"x{i}": range(8) for i in range(8)})
    part = wide.project(["x0", "x1"])
    with pytest.raises(EstimationError, match="too large for the log-linear fit"):
        fit_loglinear(of_counts([dn.Observation(part, dn.KRR(64, 1.0), np.ones(64))], wide))


def test_giving_up_is_an_error():
    with pytest.raises(ConvergenceError, match="stopped after"):
        fit_loglinear(of_counts(pairs(noisy), DOMAIN), scoring=False, gap=1e-12, most=20)
