"""High-precision references: every closed form again in 50 digits, nothing shared with the library."""

from decimal import Decimal as D  # noqa: N817 - formulas stay readable
from decimal import getcontext
from fractions import Fraction
from math import comb

import numpy as np
import pytest

import deniable as dn

getcontext().prec = 50
Z = D("1.9599639845400542355245944305205515279555500778695")  # the 97.5% quantile of the normal distribution


def test_k_ary_prevalence_and_its_error():
    channel, counts = dn.KRR(4, epsilon=1.0), [410, 300, 180, 110]
    a, b = D(channel.keep) / 2**channel.bits, D(channel.other) / 2**channel.bits
    n = D(sum(counts))
    found = dn.prevalence(np.repeat(np.arange(4), counts), channel)
    low, high = found.interval(0.95, clip=False)
    for v, count in enumerate(counts):
        share = count / n
        assert found.unbiased.values[v] == pytest.approx(float((share - b) / (a - b)), rel=1e-12)
        error = (share * (1 - share) / (n - 1)).sqrt() / (a - b)
        assert found.dispersion.variances[v] ** 0.5 == pytest.approx(float(error), rel=1e-12)
        middle = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
        half = Z / (1 + Z**2 / n) * (share * (1 - share) / n + Z**2 / (4 * n**2)).sqrt()
        assert low[v] == pytest.approx(float((middle - half - b) / (a - b)), abs=1e-12)
        assert high[v] == pytest.approx(float((middle + half - b) / (a - b)), abs=1e-12)


def test_entropy_information_and_odds_with_their_errors():
    counts = [[330, 120, 150], [140, 260, 200]]
    forced = D("0.05")
    channel = dn.ForcedResponse([0.05] * 6)  # six cells, the truth told with probability .7
    found = dn.estimate(dn.Observation(["a", "b"], channel, counts), ["a", "b"], "inversion")
    n, keep = D(1200), 1 - 6 * forced
    lam = [D(c) / n for row in counts for c in row]
    pi = [(x - forced) / keep for x in lam]

    def error(slope):
        """Cov = (Q diag(lam) Q' - pi pi') / (n - 1) with Q = (I - forced 11') / keep, so g = Q' slope."""
        g = [(s - forced * sum(slope)) / keep for s in slope]
        second = sum(x * h**2 for x, h in zip(lam, g, strict=True))
        first = sum(x * s for x, s in zip(pi, slope, strict=True))
        return float(((second - first**2) / (n - 1)).sqrt())

    entropy = dn.entropy(found)
    assert entropy.value == pytest.approx(float(-sum(x * x.ln() for x in pi)), rel=1e-10)
    assert entropy.std_error == pytest.approx(error([-x.ln() - 1 for x in pi]), rel=1e-9)
    rows, columns = [sum(pi[:3]), sum(pi[3:])], [pi[j] + pi[j + 3] for j in range(3)]
    logs = [(x / p).ln() for x, p in zip(pi, [r * c for r in rows for c in columns], strict=True)]
    mutual = dn.mutual_information(found, correct=False)
    assert mutual.value == pytest.approx(float(sum(x * log for x, log in zip(pi, logs, strict=True))), rel=1e-9)
    # d I / d pi_ij = log(pi_ij / (pi_i pi_j)) - 1, up to a constant that the covariance does not see.
    assert mutual.std_error == pytest.approx(error(logs), rel=1e-8)
    odds = dn.odds_ratio(found, method="delta", outcomes=(0, 1))
    assert odds.value == pytest.approx(float(pi[0] * pi[4] / (pi[1] * pi[3])), rel=1e-10)
    slope = [1 / pi[0], -1 / pi[1], D(0), -1 / pi[3], 1 / pi[4], D(0)]
    assert odds.std_error / odds.value == pytest.approx(error(slope), rel=1e-9)


def test_null_mean_of_chi2():
    channel = dn.Kronecker([dn.Warner(0.8), dn.Warner(0.7)])
    found = dn.estimate(dn.Observation(["a", "b"], channel, [[300, 220], [260, 240]]), ["a", "b"], "inversion")
    product = D(1)
    for yes, p in ((D(500) / 1020, D("0.8")), (D(460) / 1020, D("0.7"))):
        pi = (yes - (1 - p)) / (2 * p - 1)
        # ((Q o Q) lambda)_v - pi_v^2 is the variance lambda (1 - lambda) / (2p - 1)^2 of either category.
        spread = yes * (1 - yes) / (2 * p - 1) ** 2
        product *= spread / pi + spread / (1 - pi)
    assert dn.null_mean(found) == pytest.approx(float(product), rel=1e-10)


def test_exact_power_in_fractions():
    null, share, n = Fraction(1, 5), Fraction(13, 50), 324  # Warner(.8): prevalence 0 and .1

    def tails(p):
        """Pr(X >= c) for c = n, n - 1, ..., 0."""
        total = Fraction(0)
        for c in range(n, -1, -1):
            total += comb(n, c) * p**c * (1 - p) ** (n - c)
            yield c, total

    critical = min(c for c, tail in tails(null) if tail <= Fraction(5, 100))
    exact = dict(tails(share))[critical]
    assert float(dn.power(dn.Warner(0.8), n, prevalence=0.1)) == pytest.approx(float(exact), rel=1e-9)
    assert exact > Fraction(8, 10)
