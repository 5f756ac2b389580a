"""Tests hold their level where noise exceeds the margins, always answer, and give the same p for the same data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq
from scipy.stats import binom

import deniable as dn
from benchmarks.calibration import measure_coverage, sizes_of_tests
from chequered import one_of
from deniable.errors import NotCoveredError
from deniable.inference.attribute_pairs import residual_jacobian, residual_of
from deniable.inference.hypothesis_tests.likelihood_ratio import independence_ratio, interaction_ratio
from deniable.inference.measures.inverted_intervals import Inverted, _largest_phi
from deniable.inference.measures.phi_squared import information, phi_squared, strength
from deniable.inference.monte_carlo import seed_of
from deniable.likelihood.em import fit
from deniable.likelihood.evidence import of_counts
from deniable.likelihood.gather import gather
from deniable.likelihood.hypothesis_models import Apart, GivenMargin, Independence, OddsRatio, SameMargin, Saturated
from deniable.likelihood.null_table import likely_null, tempered_null
from deniable.likelihood.quasi_likelihood import countable
from deniable.likelihood.stacked_evidence import Stack

EVEN = np.full((5, 5), 0.04)


def joint(pi, n, epsilon, seed=1):
    channel = dn.KRR(pi.size, epsilon)
    counts = np.random.default_rng(seed).multinomial(n, channel.apply(pi.ravel()))
    return dn.Observation(["a", "b"], channel, counts.reshape(pi.shape))


# -- level -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", one_of(2, [1, 2, 9]))  # k-RR at epsilon 1 and at 3; rare at epsilon 1
def test_true_hypotheses_are_rarely_rejected_where_margins_are_noise(place):
    """The small twin of `make calibrate`: of 200 surveys at a size of .06, 31 or fewer are rejected but for 1e-6."""
    case = list(sizes_of_tests.independence_cases())[place]
    assert binom.sf(31, 200, 0.06) < 1e-6
    assert case.rejected(200, np.random.default_rng(5)) <= 31


def test_the_null_table_is_more_even_than_the_fitted_one_only_where_noise_explains_it():
    model = Independence(0, 1)
    for n, bounds in ((2000, (0.05, 1.0)), (10**9, (0.0, 1e-3))):
        evidence = of_counts([joint(np.outer([0.4, 0.3, 0.15, 0.1, 0.05], np.full(5, 0.2)), n, 1.0)])
        fitted = fit(evidence, model, gap=1e-6).pi
        null = likely_null(evidence, model, fitted)
        np.testing.assert_allclose(null[..., 0], np.outer(null[..., 0].sum(1), null[..., 0].sum(0)), atol=1e-12)
        # x = c d / D for the columns, which are even in truth: the formula, written out once more
        a, b = fitted[..., 0].sum(1), fitted[..., 0].sum(0)
        even = np.outer(a, np.full(5, 0.2))[..., None]
        fall = 2 * (evidence.evaluate(fitted)[0] - evidence.evaluate(even)[0])[0]
        x = min(1.0, 1.25 * 4 / max(fall, 1e-9))
        np.testing.assert_allclose(null[..., 0].sum(0), (1 - x) * b + x * 0.2, atol=1e-9)
        towards_even = 1 - np.abs(null[..., 0].sum(1) - 0.2).sum() / np.abs(a - 0.2).sum()
        assert bounds[0] <= towards_even <= bounds[1]


def test_a_log_linear_null_stays_in_its_model():
    pi = np.einsum("ik,jk,k->ijk", [[0.2, 0.6], [0.8, 0.4]], [[0.5, 0.1], [0.5, 0.9]], [0.3, 0.7])
    counts = 500 * dn.KRR(8, 1.0).apply(pi.ravel())
    evidence = of_counts([dn.Observation(["a", "b", "c"], dn.KRR(8, 1.0), counts.reshape(2, 2, 2))])
    null = tempered_null(evidence, 5, pi[..., None])[..., 0]
    given = null / null.sum(axis=(0, 1))
    np.testing.assert_allclose(given, np.einsum("ik,jk->ijk", given.sum(1), given.sum(0)), atol=1e-12)
    assert np.ptp(null) < np.ptp(pi)


# -- always an answer --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "n"), [(0.5, 200), (1.0, 2000), (3.0, 200)])
def test_many_cells_and_few_reports_are_answered(epsilon, n):
    found = dn.independence(joint(np.full((8, 8), 1 / 64), n, epsilon), "a", "b")
    assert 0 < found.pvalue <= 1
    rare = np.outer([0.6, 0.25, 0.1, 0.04, 0.01], [0.6, 0.25, 0.1, 0.04, 0.01])
    assert 0 < dn.independence(joint(rare, n, epsilon), "a", "b").pvalue <= 1


def test_what_a_fit_may_have_missed_is_counted_against_significance(monkeypatch):
    monkeypatch.setattr(
        "deniable.inference.hypothesis_tests.likelihood_ratio._WORK", 0.0
    )  # so that fits of replicates stop early
    monkeypatch.setattr("deniable.likelihood.newton._MOST", 1)
    design = dn.Joint({"a": range(3), "b": range(3)}, 1.0, channel="hadamard")
    tallies = design.simulate(dn.Table(design.domain, np.full((3, 3), 1 / 9)), 200, source=dn.Seeded(1))
    ratio = independence_ratio(countable(gather(tallies, ["a", "b"])), "a", "b")
    hasty = ratio.test(99, np.random.default_rng(1))
    monkeypatch.undo()
    full = ratio.test(99, np.random.default_rng(1))
    assert "counted against significance" in hasty.notes[0]
    assert full.notes == ()
    assert hasty.pvalue >= full.pvalue
    bracket = ratio.statistic(ratio.counts)
    assert bracket.low <= bracket.value <= bracket.high


# -- the same data, the same p -----------------------------------------------------------------------------------------


def test_the_same_reports_have_the_same_p_in_any_order_and_form(tmp_path):
    design = dn.Views({name: [0, 1, 2] for name in "abc"}, 2, 2.0)
    frame = pd.DataFrame(np.random.default_rng(3).integers(0, 3, (900, 3)), columns=list("abc"))
    reports = design.randomize(frame, source=dn.Seeded(4))
    p = dn.independence(reports, "a", "b", replicates=199).pvalue
    assert dn.independence(reports, "b", "a", replicates=199).pvalue == p
    path = tmp_path / "reports.parquet"
    reports.write(path)
    assert dn.independence(dn.read_reports(path), "a", "b", replicates=199).pvalue == p
    assert dn.all_pairs(reports, replicates=199)["a", "b"].pvalue == p
    assert dn.independence(reports.tabulate(["a", "b"])[::-1], "a", "b", replicates=199).pvalue == p
    one, other = joint(EVEN, 500, 1.0), joint(EVEN, 500, 1.0, seed=2)
    assert seed_of([of_counts([one])]) != seed_of([of_counts([other])])


# -- every design ------------------------------------------------------------------------------------------------------


def test_conditional_independence_from_pairs_says_what_it_assumes():
    domain = dn.Domain({"a": range(2), "b": range(2), "c": range(2)})
    mixed = np.einsum("k,ik,jk->ijk", [0.5, 0.5], [[0.8, 0.2], [0.2, 0.8]], [[0.7, 0.3], [0.3, 0.7]])  # a, b given c
    tied = mixed + 0.08 * np.einsum("i,j,k->ijk", [1, -1], [1, -1], [0.5, 0.5])
    p = []
    for table in (mixed, tied):
        views = dn.Views(domain, 2, 3.0).simulate(dn.Table(domain, table), 30_000, source=dn.Seeded(1))
        found = dn.conditional_independence(views, "a", "b", "c", replicates=99)
        assert "assuming no three-way interaction" in " ".join(found.notes)
        assert found.df == 1
        p.append(found.pvalue)
    assert p[0] > 0.05  # fixed seeds
    assert p[1] == 0.01
    alone = dn.Sampled(domain, 1.0).simulate(dn.Table(domain, mixed), 500, source=dn.Seeded(1))
    with pytest.raises(NotCoveredError, match="asks them together"):
        dn.conditional_independence(alone, "a", "b", "c")


def test_without_the_interaction_the_log_linear_test_is_the_conditional_one():
    domain = dn.Domain({"a": range(2), "b": range(3), "c": range(2)})
    table = np.random.default_rng(2).dirichlet(np.ones(12)).reshape(2, 3, 2)
    views = dn.Views(domain, 2, 3.0).simulate(dn.Table(domain, table), 5000, source=dn.Seeded(1))
    evidence = gather(views, ["a", "b", "c"])
    ratio, more = interaction_ratio(evidence, "a", "b")
    assert more == 2
    assert sorted(ratio.h0[0].model.generators) == [("a", "c"), ("b", "c")]
    loglinear = ratio.statistic(ratio.counts, sharp=True).null[0][..., 0]
    direct = fit(evidence, Independence(0, 1, (2,)), gap=1e-7).pi[..., 0]
    np.testing.assert_allclose(loglinear, direct, atol=2e-3)


def test_models_of_several_groups_are_fitted_to_their_best():
    rng = np.random.default_rng(4)
    counts = rng.gamma(2.0, size=(2, 3, 4, 1)) * 100
    same = SameMargin((1,)).maximize(counts)
    np.testing.assert_allclose(same.sum(axis=2)[0], same.sum(axis=2)[1])
    np.testing.assert_allclose(same.sum(axis=(1, 2)), 1)
    for model, table in ((SameMargin((1,)), same), (Apart(), Apart().maximize(counts))):
        # complete counts: the gradient of sum c log pi is c / pi, and nothing is left to gain
        assert model.gap(table, counts / table) == pytest.approx([0.0], abs=1e-9)
    for model in (SameMargin((1,)), Saturated(), GivenMargin((0,), np.full((2, 1), 0.5)), Independence(0, 1)):
        table = model.maximize(counts)
        product = np.ones_like(table)
        for factor in model.factors(table):
            product = product * factor.values
        np.testing.assert_allclose(product, table, atol=1e-12)
    channel = dn.KRR(12, 2.0)
    domain = dn.Domain({"a": range(3), "b": range(4)})
    parts = tuple(of_counts([dn.Observation(domain, channel, 500 * channel.apply(t.ravel()))]) for t in same[..., 0])
    found = fit(Stack(parts), SameMargin((1,)), gap=1e-7).pi
    np.testing.assert_allclose(found, same, atol=2e-3)
    odds = OddsRatio((0, 1), (0, 1), np.array([3.0])).maximize(counts[0].reshape(2, 2, 3, 1)).sum(axis=2)[..., 0]
    assert odds[0, 0] * odds[1, 1] / (odds[0, 1] * odds[1, 0]) == pytest.approx(3.0)


def test_one_attribute_of_a_pair_that_cannot_be_reduced_to_it():
    design = dn.Joint({"a": range(3), "b": range(3)}, 3.0, channel="hadamard")
    table = dn.Table(design.domain, np.outer([0.5, 0.3, 0.2], [0.6, 0.3, 0.1]))
    tallies = design.simulate(table, 4000, source=dn.Seeded(3))
    true = dn.goodness_of_fit(tallies, "a", [0.5, 0.3, 0.2], replicates=199)
    assert true.pvalue > 0.01  # fixed seed
    assert "left free" in true.notes[0]
    assert dn.goodness_of_fit(tallies, "a", [0.2, 0.3, 0.5], replicates=199).pvalue == 1 / 200
    low, high = dn.odds_ratio(dn.estimate(tallies, ["a", "b"]), groups=(0, 2), outcomes=(0, 2)).interval()
    assert low < 1 < high


# -- measures that cannot be negative ----------------------------------------------------------------------------------


def test_intervals_of_cramers_v_hold_it(monkeypatch):
    """Of 80 surveys with a coverage of .93 or more, 60 or fewer hold the truth once in 1e6 seeds."""
    monkeypatch.setattr(measure_coverage, "TABLES", dict(list(measure_coverage.TABLES.items())[:1]))
    monkeypatch.setattr(
        measure_coverage, "TABLES", {k: (pi, each[:1]) for k, (pi, each) in measure_coverage.TABLES.items()}
    )
    assert binom.cdf(60, 80, 0.93) < 1e-6
    for _, _, _, _, hits, _ in measure_coverage.covered(80, 3):
        assert hits > 60


def test_coverage_has_no_upper_bound_only_next_to_empty_cells():
    table = measure_coverage.TABLES["2x2, V .167"][0]
    assert [measure_coverage._in_doubt(table, 1.0, n) for n in (500, 1000, 4000)] == [True, False, False]
    assert measure_coverage._in_doubt(measure_coverage.TABLES["2x3, V .302, one empty"][0], 3.0, 100_000)


def _phi_at(line, inverted, value):
    return brentq(lambda t: inverted._at(line, t, most=True) - value, 0, 1)


def test_no_table_of_some_margins_has_a_larger_phi():
    rng = np.random.default_rng(1)
    for r, c in ((2, 2), (2, 3), (3, 4)):
        for _ in range(20):
            rows, columns = rng.dirichlet(np.ones(r)), rng.dirichlet(np.ones(c))
            bound, found = _largest_phi(rows, columns), []
            for _ in range(30):  # corners of all tables with these margins: cells filled in some order
                left, below, table = rows.copy(), columns.copy(), np.zeros((r, c))
                for i, j in rng.permutation(np.argwhere(table == 0)):
                    table[i, j] = min(left[i], below[j])
                    left[i] -= table[i, j]
                    below[j] -= table[i, j]
                found.append(float(np.sqrt(max(phi_squared(table), 0))))
            assert max(found) <= bound + 1e-9
            if r == c == 2:
                assert max(found) == pytest.approx(bound)


def test_a_margin_that_could_be_empty_leaves_open_how_strong_an_association_is():
    # True shares .1 and .1, V .556: the estimates' first row or column fell below zero, and V was said to lie below .2.
    channel = dn.KRR(4, 1.0)
    for table in ([[0.01, 0.077], [0.13, 0.782]], [[0.01, 0.13], [-0.043, 0.902]], [[-0.089, 0.044], [0.223, 0.822]]):
        counts = (500 * channel.apply(np.array(table).ravel())).reshape(2, 2)
        found = dn.estimate(dn.Observation(["a", "b"], channel, counts), ["a", "b"])
        v, shared = dn.cramers_v(found), dn.mutual_information(found)
        assert v.interval().low == 0
        assert 0.45 < v.interval().high <= 1
        assert 0.09 < shared.interval().high <= np.log(2)
        rare = min(found.efficient.values.sum(axis=1)[0], found.efficient.values.sum(axis=0)[0]) < 0.06
        assert any("cannot be told from empty" in each and "Merge" in each for each in v.warnings) == rare
    sure = dn.estimate(joint(np.array([[0.3, 0.1, 0.1], [0.1, 0.2, 0.2]]), 20_000, 2.0), ["a", "b"])
    assert dn.cramers_v(sure).warnings == ()


def test_an_inverted_interval_is_what_it_says():
    found = dn.estimate(joint(np.array([[0.3, 0.1, 0.1], [0.1, 0.2, 0.2]]), 20_000, 2.0), ["a", "b"])
    for squared, measure, drawn in ((True, phi_squared, "_squares"), (False, information, "_informations")):
        inverted = Inverted(found, measure, squared=squared)
        line = inverted._of(*inverted._margins)
        assert phi_squared(line.at(0.3)) == pytest.approx(0.09)  # phi(P + t D) = t
        whole = line.at(np.sqrt(phi_squared(found.efficient.values)))
        assert whole == pytest.approx(found.efficient.values, abs=1e-3)  # but for what noise explains
        tables = np.moveaxis(line.at(0.3)[..., None] + inverted._noise, -1, 0)
        again = [float(measure(table)) for table in tables[:20]]  # the measure itself, table by table
        if squared:  # over the estimate's own margins
            own = np.outer(*inverted._margins)
            again = [float(((t - np.outer(t.sum(axis=1), t.sum(axis=0))) ** 2 / own).sum()) for t in tables[:20]]
        assert getattr(inverted, drawn)(line)(0.3)[:20] == pytest.approx(again)
        assert inverted._seen == pytest.approx(float(measure(found.efficient.values)))
        low, high = (_phi_at(line, inverted, end) for end in inverted(0.95))
        for end, beyond in ((low, np.greater_equal), (high, np.less_equal)):  # 1,000 draws
            assert beyond(getattr(inverted, drawn)(line)(end), inverted._seen).mean() == pytest.approx(0.025, abs=0.004)
        if squared:
            v = low, high
    ends = dn.cramers_v(found).interval()
    assert [float(end) for end in ends] == pytest.approx(v, rel=1e-6)
    assert dn.mutual_information(found).interval().low > 0
    nothing = dn.estimate(joint(np.outer([0.5, 0.5], [0.2, 0.3, 0.5]), 2000, 1.0), ["a", "b"])
    assert dn.cramers_v(nothing).interval().low == 0


def test_what_noise_explains_of_a_residual_is_no_direction():
    # Of a table without association the whole residual is noise, and most of it lies where noise is largest.
    channel, shares = dn.KRR(12, 1.0), np.outer([0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1])
    shares[:2, :2] += 0.045 * np.array([[1, -1], [-1, 1]])
    counts = np.random.default_rng(2).multinomial(5000, channel.apply(shares.ravel()), size=40)
    true = Inverted(
        dn.estimate(dn.Observation(["a", "b"], channel, 1e9 * channel.apply(shares.ravel()).reshape(3, 4)), ["a", "b"]),
        phi_squared,
    )
    aim = true._residual / np.linalg.norm(true._residual)
    near = []
    for each in counts:
        found = Inverted(dn.estimate(dn.Observation(["a", "b"], channel, each.reshape(3, 4)), ["a", "b"]), phi_squared)
        near.append([(aim * d).sum() / np.linalg.norm(d) for d in (found._residual, found._direction)])
    whole, left = np.mean(near, axis=0)
    assert left > whole  # nearer to the true direction


def test_residuals_by_products_are_those_of_the_jacobian():
    rng = np.random.default_rng(1)
    rows, columns = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(4))
    matrix = rng.normal(size=(12, 12))
    np.testing.assert_allclose(
        residual_of(matrix, rows, columns), residual_jacobian(rows, columns) @ matrix, atol=1e-12
    )
    found = dn.estimate(joint(np.array([[0.3, 0.1, 0.1], [0.1, 0.2, 0.2]]), 20_000, 2.0), ["a", "b"])
    assert strength(found.pooled) == pytest.approx(dn.cramers_v(found).value, rel=1e-3)
