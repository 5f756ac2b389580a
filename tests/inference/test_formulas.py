"""Formulas of docstrings, computed again another way: in exact fractions, or with long doubles."""

from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

import deniable as dn


def test_sum_score_equals_exact_sums_over_patterns():
    # The estimate is a mean of products of unbiased scores; here by summing over all truths of all patterns.
    p, f0, f1 = Fraction(4, 5), Fraction(1, 10), Fraction(3, 10)
    inverses = []
    for a, b, c, d in ((p, 1 - p, 1 - p, p), (f0 + 1 - f0 - f1, f0, f1, 1 - f0)):
        det = a * d - b * c  # of [[a, b], [c, d]], rows reports and columns truths
        inverses.append([[d / det, -b / det], [-c / det, a / det]])  # [truth][report]
    reports = [(0, 0)] * 40 + [(0, 1)] * 25 + [(1, 0)] * 20 + [(1, 1)] * 15
    scores = []
    for u in reports:
        score = [Fraction(0)] * 3
        for truth in product((0, 1), repeat=2):
            score[sum(truth)] += inverses[0][truth[0]][u[0]] * inverses[1][truth[1]][u[1]]
        scores.append(score)
    n = len(reports)
    means = [sum(score[s] for score in scores) / n for s in range(3)]
    variances = [sum((score[s] - means[s]) ** 2 for score in scores) / (n - 1) / n for s in range(3)]
    found = dn.compliance.sum_score(np.array(reports), [dn.Warner(0.8), dn.ForcedResponse([0.1, 0.3])])
    assert found.values == pytest.approx([float(mean) for mean in means], abs=1e-12)
    assert found.std_error**2 == pytest.approx([float(v) for v in variances], abs=1e-14)


def test_lie_detector_equals_exact_fractions():
    p1, p2 = Fraction(41, 50), Fraction(2, 5)
    l1, l2, n = Fraction(312, 1000), Fraction(648, 1000), 1000
    others = (l2 - l1) / (p1 - p2)
    pi = 1 - others
    t = (l1 - others * (1 - p1)) / pi
    # Derivatives of (pi, t) by (lambda_1, lambda_2), each with the variance lambda (1 - lambda) / (n - 1).
    d_pi = (1 / (p1 - p2), -1 / (p1 - p2))
    top = l1 - others * (1 - p1)
    d_top = (1 + (1 - p1) / (p1 - p2), -(1 - p1) / (p1 - p2))
    d_t = [(d_top[i] * pi - top * d_pi[i]) / pi**2 for i in (0, 1)]
    variances = [lam * (1 - lam) / (n - 1) for lam in (l1, l2)]
    found = dn.compliance.sld({"a": (688, 312), "b": (352, 648)}, p={"a": 0.82, "b": 0.4})
    assert list(found.params.values()) == pytest.approx([float(pi), float(t)], abs=1e-12)
    expected = [float(sum(d[i] ** 2 * variances[i] for i in (0, 1))) ** 0.5 for d in (d_pi, d_t)]
    assert list(found.std_error.values()) == pytest.approx(expected, rel=1e-10)


def test_correlation_error_equals_the_influence_function():
    # The delta method with five means equals the variance of r's influence function: a standardised product of scores.
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 500)
    device = dn.Warner(0.8)
    report, y = device.randomize(truth, source=dn.Seeded(3)), 1.5 * truth + rng.normal(size=500)
    z = (report.astype(np.longdouble) - np.longdouble("0.2")) / np.longdouble(
        "0.6"
    )  # unbiased for 0 or 1, and its square
    w = y.astype(np.longdouble)
    mx, my = z.mean(), w.mean()
    vx, vy = mx - mx**2, (w**2).mean() - my**2
    r = ((z * w).mean() - mx * my) / np.sqrt(vx * vy)
    cov_part = ((z - mx) * (w - my) - ((z * w).mean() - mx * my)) / np.sqrt(vx * vy)
    x_part = (z - mx) * (1 - 2 * mx) / vx
    y_part = ((w - my) ** 2 - vy) / vy
    influence = cov_part - r * (x_part + y_part) / 2
    found = dn.correlate(pd.DataFrame({"x": report, "y": y}), "x", "y", channels={"x": device})
    assert found.value == pytest.approx(float(r), abs=1e-12)
    n = len(y)
    assert found.std_error == pytest.approx(float(np.sqrt((influence**2).sum() / (n - 1) / n)), rel=1e-9)
