"""Joint randomized response (Zheng et al. 2025): the published example and theorem, and what follows from them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, norm

import deniable as dn
from deniable.extensions.paired.pairing import count_variance, joint_truthfulness, pair_up

N = 10_000


def test_the_example_of_two_people_who_both_say_yes():
    for rho, expected, variance in ((0, [0.04, 0.32, 0.64], 0.32), (-0.25, [0, 0.4, 0.6], 0.24)):
        joint = np.array(joint_truthfulness(0.8, rho), dtype=float)
        said = np.array([joint[0, 0], joint[0, 1] + joint[1, 0], joint[1, 1]])  # both tell the truth: two say yes
        np.testing.assert_allclose(said, expected, atol=1e-12)
        assert said @ (np.arange(3) - 1.6) ** 2 == pytest.approx(variance)
        assert count_variance(0.8, rho, 2, 2) == pytest.approx(variance / 0.36)


@pytest.mark.parametrize(
    ("colluders", "p", "rho", "variance", "ratio"),
    [(0, 0.7311, -0.3679, 6085, 0.661), (500, 0.7169, -0.3949, 6860, 0.745)],
)
def test_the_optimum_at_epsilon_one_and_two_hundred_yes(colluders, p, rho, variance, ratio):
    found = dn.paired_optimum(1.0, N, colluders, 0.02)
    assert (round(found.p, 4), round(found.rho, 4)) == (p, rho)
    assert (round(found.variance), round(found.gain, 3)) == (variance, ratio)


def test_more_colluders_end_the_gain():
    assert round(dn.paired_optimum(1.0, N, 1000, 0.02).gain, 3) == 0.854
    crowd = dn.paired_optimum(1.0, N, 2000, 0.02)
    assert crowd.rho == 0
    assert round(crowd.corner_variance / crowd.plain_variance, 2) == 1.20


@pytest.mark.parametrize(
    ("epsilon", "colluders", "ratios"),
    [
        (0.1, 0, [0.095, 0.166, 0.421, 0.674, 0.855, 1.0]),
        (1.0, 0, [0.632, 0.661, 0.765, 0.868, 0.941, 1.0]),
        (1.0, 500, [0.709, 0.745, 0.875, 1, 1, 1]),
    ],
)
def test_the_gain_by_share(epsilon, colluders, ratios):
    found = [dn.paired_optimum(epsilon, N, colluders, f).gain for f in (0, 0.02, 0.1, 0.2, 0.3, 0.5)]
    assert [round(gain, 3) for gain in found] == ratios


def test_without_colluders_the_gain_is_about_one_minus_e_to_minus_epsilon():
    for epsilon in (0.1, 0.5, 1.0, 2.0):
        for f in (0.0, 0.02, 0.2):
            expected = 1 - np.exp(-epsilon) * (1 - 2 * f) ** 2
            assert dn.paired_optimum(epsilon, N, 0, f).gain == pytest.approx(expected, abs=2e-4)


SETTINGS = [
    (p, part, f, n)
    for p, part in ((0.6, 1.0), (0.7311, 1.0), (0.8, 0.5))
    for f, n in ((0.0, 100), (0.1, 100), (0.5, 100), (0.2, 41))
]


def test_the_variance_theorem_by_monte_carlo():
    """Twelve settings, 1500 surveys each, through the same pairing, dealing and disguising that real answers take."""
    runs, source, z = 1500, dn.Seeded(2025), []
    for p, part, f, n in SETTINGS:
        design = dn.Paired({"x": [0, 1]}, p=p, rho=-part * (1 - p) / p)
        codes = (np.arange(n) < f * n).astype(np.uint8)
        yes = int(codes.sum())
        counts = np.empty(runs)
        for run in range(runs):
            said = design._disguised("x", codes, pair_up(n, source.stream()), source)
            counts[run] = (said.sum() - n * (1 - p)) / (2 * p - 1)
        expected = count_variance(p, -part * (1 - p) / p, n, yes)
        z.append((counts.mean() - yes) / np.sqrt(expected / runs))
        # The sample variance as a chi-square (counts are near normal), written as a standard normal number.
        tail = chi2.sf(counts.var(ddof=1) * (runs - 1) / expected, runs - 1)
        z.append(norm.isf(tail))
    large = np.sort(np.abs(z))
    # 24 standard normal numbers: one beyond 5.6 has probability 5e-7, two beyond 4.2 have 2e-7.
    assert large[-1] < 5.6
    assert large[-2] < 4.2
    # (With this seed the largest is 2.5.)
