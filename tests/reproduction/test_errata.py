"""One test an erratum: docs/explanation/errata.md names each of these."""

from __future__ import annotations

import inspect
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.device.fake_limits import Limits
from deniable.errors import SingularChannelError
from deniable.extensions.blocks.fake_distribution import fake_weights
from deniable.extensions.blocks.paper_estimators import block_size
from deniable.extensions.designs.blocks import Blocks
from deniable.extensions.paired.pairing import joint_truthfulness, lowest_rho
from deniable.graphs import Graph, laplace_smooth, randomize
from deniable.numerics.simplex import norm_sub
from reproduction.rr_ind_joint import section_3_3, theorem_3
from reproduction.rr_ind_joint.synthetic import dependent, rounded
from reproduction.rrba.convergence import settled, trajectories
from reproduction.rrba.protocol import survey
from reproduction.simulated_counts import cramers_v, sampled
from reproduction.wang.cholesterol import LDL
from reproduction.wang.design_matrices import literal_laplace
from reproduction.wang.theorems_2_4 import COUNTEREXAMPLE, guess_error

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "errata.md"
SURVEY_PAIR = np.array([0.45, 0.25, 0.2, 0.1])


def rng():
    return np.random.default_rng(1)


def test_the_page_and_the_tests_name_each_other():
    named = re.findall(r"Test: `(\w+)`", " ".join(PAGE.read_text(encoding="utf-8").split()))
    here = {
        name for name, _ in inspect.getmembers(sys.modules[__name__], inspect.isfunction) if name.startswith("test_")
    }
    assert sorted(named) == sorted(here - {"test_the_page_and_the_tests_name_each_other"})
    assert PAGE.read_text(encoding="utf-8").count("\n### ") == len(named)


# -- RRBA ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cells", "true"), [(1, math.log(2)), (4, 1.609), (16, 2.833), (36, 3.611)])
def test_theorem_4_1(cells, true):
    p, fake = 0.5, 1 / cells
    assert math.log((p + (1 - p) * fake) / ((1 - p) * fake)) == pytest.approx(true, abs=1e-3)
    if cells > 1:
        assert dn.Mixture(p, [fake] * cells).epsilon == pytest.approx(true, abs=1e-3)


def test_learned_fakes_have_no_floor():
    limits = Limits.unfloored(4, dn.Mixture(0.5, [0.25] * 4)._shares[0])
    weights = fake_weights(np.array([[0.7, 0.4, 0.1, -0.2]]), np.array([[4, limits.keep, limits.floor]]))
    assert weights[0, 3] == 0
    assert dn.Mixture(0.5, (weights[0] / weights[0].sum()).tolist()).epsilon == math.inf


def test_a_views_answers_add_up():
    design = Blocks({name: [0, 1] for name in "AREOST"}, mode="deniability", keep=0.5, answer="all")
    assert design.claimed_epsilon == pytest.approx(3 * math.log(2), abs=1e-6)
    assert dn.Kronecker([dn.Mixture(0.5, [0.25] * 4)] * 3).epsilon == pytest.approx(3 * 1.609, abs=2e-3)


@pytest.mark.parametrize(("epsilon", "allowed", "used"), [(0.25, 0.221, 0.5), (0.35, 0.295, 0.4), (0.5, 0.393, 0.5)])
def test_the_tables_break_equation_6(epsilon, allowed, used):
    assert 1 - math.exp(-epsilon) == pytest.approx(allowed, abs=5e-4)
    assert used > 1 - math.exp(-epsilon)


def test_equation_4_is_unstable():
    # Expected counts, no noise: n clients saw even fakes, then T is wrong by e in one cell.
    p, e = 0.3, 0.01
    wrong = SURVEY_PAIR + np.array([e, -e, 0, 0])
    reports = p * SURVEY_PAIR + (1 - p) * SURVEY_PAIR
    found = (reports - (1 - p) * wrong) / p
    assert (found - SURVEY_PAIR)[0] == pytest.approx(-(1 - p) / p * e)
    assert abs((found - SURVEY_PAIR)[0]) > 2 * e


def test_equation_3_needs_a_projection():
    raw = np.array([0.6, -0.1, 0.5])
    assert (np.diff(np.cumsum(raw)) < 0).any()
    assert (np.diff(np.cumsum(norm_sub(raw))) >= 0).all()


@pytest.mark.parametrize("gamma", [0.0, 0.01, 0.5, 0.99])
def test_gamma_does_nothing(gamma):
    noisy = np.array([70.0, 40.0, 5.0, -15.0])
    near = norm_sub(noisy, total=100)

    def objective(x):
        return gamma * np.abs(noisy - x).sum() ** 2 + (1 - gamma) * ((noisy - x) ** 2).sum()

    others = rng().dirichlet(np.ones(4), size=2_000) * 100
    others = np.concatenate([others, 0.99 * near + 0.01 * others])
    assert min(objective(x) for x in others) >= objective(near)


def test_blocks_do_not_converge():
    # Early and late blocks' squared errors over 300 surveys: equal; the ratio of two such means has an error of .08.
    found = survey(rng(), np.repeat(SURVEY_PAIR[None], 300, axis=0), 0.5)
    squares = ((found.blocks - SURVEY_PAIR) ** 2).sum(axis=2).mean(axis=1)
    assert squares[-8:].mean() == pytest.approx(squares[4:12].mean(), rel=0.3)
    assert squares[4:].mean() == pytest.approx((1 - (SURVEY_PAIR**2).sum()) / (250 * 0.25), rel=0.2)
    worse = (found.l2(found.last_two) ** 2).mean() / (found.l2(found.pooled) ** 2).mean()
    assert 13 < worse < 30


def test_delta_star_lacks_p():
    path = trajectories(rng(), 0.3, 0.5, 250, 100, projected=True)
    assert (settled(path, 0.5, 250, corrected=False) >= 0).mean() < 0.5
    assert (settled(path, 0.5, 250, corrected=True) >= 0).mean() > 0.9


def test_a_block_as_large_as_the_table():
    assert block_size(4, keep=0.5, error=0.1) == 300


def test_the_consistency_program_is_infeasible():
    # Cells abc of three binary attributes; margins AB and BC that differ on B.
    a_b, b_c = np.array([[0.3, 0.2], [0.2, 0.3]]), np.array([[0.3, 0.22], [0.2, 0.28]])
    cells = np.indices((2, 2, 2)).reshape(3, -1)
    rows = [(cells[0] == i) & (cells[1] == j) for i in (0, 1) for j in (0, 1)]
    rows += [(cells[1] == i) & (cells[2] == j) for i in (0, 1) for j in (0, 1)]
    matrix, wanted = np.array(rows, dtype=float), np.concatenate([a_b.ravel(), b_c.ravel()])
    best = np.linalg.lstsq(matrix, wanted, rcond=None)[0]
    assert np.abs(matrix @ best - wanted).max() > 1e-3


@pytest.mark.parametrize("cells", [4, 8, 16])
def test_the_laplace_noise_is_too_large(cells):
    counts = np.zeros(cells)
    counts[0], moved = 1, np.zeros(cells)
    moved[1] = 1
    assert np.abs(counts - moved).sum() == 2  # whatever the number of cells


def test_learning_fakes_never_wins():
    # The decomposition of the proof, cell by cell.
    t, epsilon = 4, 1.3
    fakes = rng().dirichlet(np.ones(t))
    odds = math.expm1(epsilon)
    p = odds * fakes.min() / (1 + odds * fakes.min())
    share = 1 - p / (odds / (odds + t))
    rest = ((1 - p) * fakes - p / odds) / share
    assert rest.min() >= -1e-15
    assert rest.sum() == pytest.approx(1)
    p0 = odds / (odds + t)
    krr = p0 * np.eye(t) + (1 - p0) / t
    mixture = p * np.eye(t) + (1 - p) * fakes[:, None]
    assert np.allclose((1 - share) * krr + share * rest[:, None], mixture)


def test_alarm_has_105_categories():
    from deniable.datasets import network

    assert sum(network("alarm").domain.shape) == 105


# -- JRR ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.6, 0.8])
def test_rho_does_not_reach_minus_one(p):
    assert float(lowest_rho(p)) == pytest.approx(-(1 - p) / p)
    assert joint_truthfulness(p, lowest_rho(p))[0][0] == 0
    with pytest.raises(dn.DeniableError, match=r"P\(00\)"):
        joint_truthfulness(p, -0.99)


def test_the_jrr_theorem_is_an_average():
    told = dn.Coins.of(0.7242, -0.19).privacy(10_000, 500)
    assert told.claimed_epsilon == pytest.approx(1.0, abs=1e-3)
    assert told.partner_epsilon == pytest.approx(1.83, abs=5e-3)
    assert told.epsilon == pytest.approx(2.43, abs=5e-3)
    assert dn.Coins.of(0.8, -0.25).privacy(100, 1).partner_epsilon == math.inf


def test_jrr_with_two_colluders():
    told = dn.Coins.of(0.7, -3 / 7).privacy(6, 2)
    assert told.claimed_epsilon == pytest.approx(1.516, abs=1e-3)
    assert told.exact_epsilon == pytest.approx(1.735, abs=1e-3)


@pytest.mark.parametrize("colluders", [0, 500, 2000])
def test_the_jrr_optimum_is_at_the_end(colluders):
    from deniable.extensions.paired.pairing import count_variance

    n, plain = 10_000, 1 / (1 + math.exp(-1))
    best = dn.paired_optimum(1.0, n, colluders, 0.02)
    for rho in np.linspace(-0.42, 0, 100):
        p = plain * (n - 1) / (n - 1 - colluders * rho)  # the theorem's constraint
        if p > 0.5 and rho >= -(1 - p) / p:
            assert count_variance(p, rho, n, 200) >= best.variance * (1 - 1e-9)


# -- RR vs Laplace --------------------------------------------------------------------------------------------------


def test_equation_21_literally():
    matrix = literal_laplace(6, 1.0)
    assert np.allclose(matrix.sum(axis=0), 1)
    assert np.log(matrix.max(axis=1) / matrix.min(axis=1)).max() == pytest.approx(23.15, abs=0.01)
    assert dn.BinnedLaplace(6, 1.0).epsilon <= 1


@pytest.mark.parametrize(("nominal", "true"), [(1, 0.832), (5, 3.151)])
def test_rounded_laplace_does_not_spend_its_budget(nominal, true):
    assert math.log(2 * math.exp(nominal / 2) - 1) == pytest.approx(true, abs=1e-3)
    assert dn.BinnedLaplace(2, nominal).epsilon == pytest.approx(true, abs=1e-3)


def test_theorem_2_last_line():
    channel = dn.KRR(2, epsilon=1.0)
    assert guess_error(channel, np.array([0.5, 0.5])) == pytest.approx(1 - (channel.p**2 + (1 - channel.p) ** 2))


def test_the_likeliest_guess_is_better():
    channel, pi = dn.KRR(2, epsilon=1.0), np.array([0.7, 0.3])
    assert guess_error(channel, pi) == pytest.approx(0.342, abs=1e-3)
    assert guess_error(channel, pi, likeliest=True) == pytest.approx(0.269, abs=1e-3)


def test_theorem_4_is_false():
    rr, lm = (guess_error(c, COUNTEREXAMPLE) for c in (dn.KRR(6, epsilon=1.0), dn.BinnedLaplace(6, 1.0)))
    assert (rr, lm) == (pytest.approx(0.449, abs=1e-3), pytest.approx(0.415, abs=1e-3))


def test_equation_7():
    # Mean of 20,000 values with a relative spread below 2%: within .001 but for one seed in a million.
    channel, pi, n = dn.KRR(2, epsilon=1.0), np.array([0.7, 0.3]), 248
    lam = sampled(rng(), channel, pi, n, 20_000)[1] / n
    seven = lam * (1 - lam) / ((n - 1) * (channel.p - channel.q) ** 2)
    assert seven.mean() == pytest.approx(channel.variance(pi, n)[1], rel=1e-3)
    fixed = dn.estimate(dn.Observation("a", channel, n * channel.apply(pi)), "a", "inversion", population="fixed")
    assert fixed.std_error[1] ** 2 == pytest.approx(
        channel.p * channel.q / (n * (channel.p - channel.q) ** 2), rel=1e-6
    )
    uneven = dn.Dense([[0.8, 0.3], [0.2, 0.7]])
    assert (0.7 - 1 + uneven.apply(pi)[1]) / (2 * 0.7 - 1) != pytest.approx(pi[1], abs=0.01)


def test_what_composes():
    one = dn.KRR(3, epsilon=1.0)
    assert dn.Kronecker([one, one, one]).epsilon == pytest.approx(3 * one.epsilon)
    graph = Graph([(0, 1)], nodes=4)
    assert randomize(graph, 1.0, reported_by="both").epsilon == pytest.approx(2 * randomize(graph, 1.0).epsilon)


def test_smooth_sensitivity_has_a_delta():
    released = laplace_smooth(Graph([(0, 1), (1, 2), (0, 2)], nodes=10), 1.0, source=dn.Seeded(1))
    assert released.delta > 0


def test_the_delta_method_near_zero():
    # Spread of 4,000 projected estimates: known to 1.1%, and the ratio to 6 of that.
    channel, n = dn.KRR(6, epsilon=1.0), 248
    raw = channel.solve(sampled(rng(), channel, LDL, n, 4_000) / n)
    shares = np.array([norm_sub(x) for x in raw.T])
    found = -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=1)
    even = dn.estimate(dn.Observation("a", channel, n * channel.apply(LDL)), "a", "inversion")
    predicted = math.sqrt(even.dispersion.quadratic(-(np.log2(LDL) + 1 / math.log(2))))
    assert predicted / found.std() == pytest.approx(1.64, abs=0.12)


def test_plugged_in_chi_square():
    rows, columns, n = np.full(16, 1 / 16), np.full(15, 1 / 15), 32_561
    channel = dn.Kronecker([dn.KRR(16, epsilon=1.0), dn.KRR(15, epsilon=1.0)])
    even = dn.estimate(
        dn.Observation(["a", "b"], channel, n * channel.apply(np.outer(rows, columns))), ["a", "b"], "inversion"
    )
    assert dn.null_mean(even) == pytest.approx(2.116e6, rel=1e-3)


def test_two_to_three_orders():
    ratios = [
        float(dn.BinnedLaplace(6, e).variance(LDL, 1).sum() / dn.KRR(6, epsilon=e).variance(LDL, 1).sum())
        for e in (1.0, 2.0, 5.0, 8.0)
    ]
    assert ratios == [pytest.approx(x, rel=0.03) for x in (201, 120, 24.6, 7.2)]


# -- RR-Ind-Joint -----------------------------------------------------------------------------------------------------


def test_definition_1():
    matrix = dn.Warner(0.75).matrix()
    assert np.trace(matrix) != pytest.approx(1)
    assert np.allclose(matrix.sum(axis=0), 1)


def test_section_3_3():
    channel = dn.Kronecker([dn.Warner(0.75)] * 2)
    right = channel.solve(section_3_3.REPORTS)
    assert right.ravel().tolist() == pytest.approx([0.45, 0.05, 0.05, 0.45])
    assert cramers_v(right) == pytest.approx(0.8)
    assert np.abs(right - section_3_3.TRUTH).mean() == pytest.approx(0.075)
    expected = np.round(channel.apply(section_3_3.TRUTH), 1)
    assert expected.sum() == pytest.approx(1.1)
    assert channel.solve(expected).ravel().tolist() == pytest.approx(section_3_3.PRINTED)
    assert np.abs(channel.solve(expected) - section_3_3.TRUTH).mean() == pytest.approx(0.05)
    margins = np.outer(right.sum(axis=1), right.sum(axis=0))
    assert np.abs(margins - section_3_3.TRUTH).mean() == pytest.approx(0.15)


def test_section_3_4():
    keep = math.e / (math.e + 1)
    assert dn.Mixture(keep, [0.5, 0.5]).epsilon == pytest.approx(1.862, abs=1e-3)
    assert dn.KRR(2, epsilon=1.0).epsilon == pytest.approx(1.0, abs=1e-3)


def test_theorem_3():
    found = {line.what: line for line in theorem_3.ITEM.run(1, smoke=True)[0].lines}
    held = [line.holds for line in found.values()]
    assert held == [True, True, None, None, False]
    assert found["MAE over our bound V sqrt(d - 1) / d^2: largest"].ours <= 1


def test_an_error_of_1e_33():
    pi = dependent(5, 0.3)
    channel = dn.Kronecker([dn.Mixture(0.5, [0.2] * 5)] * 2)
    assert ((channel.solve(channel.apply(pi)) - pi) ** 2).mean() < 1e-31
    assert channel.variance(pi, 32_561).mean() > 1e-7
    with pytest.raises(SingularChannelError):
        dn.Warner(0.5)


def test_the_error_falls_with_the_root():
    # Rounding: a hundredfold n, a hundredth of the error or so. Sampling: a tenth.
    pi = dependent(10, 0.5)
    steps = [rounded(pi, 1.0, n) for n in (1_000, 100_000)]
    assert steps[1] < steps[0] / 30
    channel = dn.Kronecker([dn.KRR(10, epsilon=1.0)] * 2)
    few, many = (np.sqrt(channel.variance(pi, n)).mean() for n in (1_000, 100_000))
    assert few / many == pytest.approx(10)
