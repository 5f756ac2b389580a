"""Maximum likelihood: the certificate is true, the acceleration helps, many kinds of observations fit together."""

import numpy as np
import pytest

import deniable as dn
from deniable.core.table import Table
from deniable.errors import ConvergenceError, EstimationError
from deniable.likelihood.em import likelihood, maximum_likelihood
from deniable.likelihood.evidence import of_counts

DOMAIN = dn.Domain({"a": range(3), "b": range(4)})
TRUTH = Table(DOMAIN, np.random.default_rng(0).dirichlet(np.full(12, 0.5)))


def observed(seed=1, n=3000):
    """Reports of three kinds about overlapping attributes."""
    views = dn.Views(DOMAIN, 2, 1.0).simulate(TRUTH, n, source=dn.Seeded(seed)).tabulate(["a", "b"])
    split = dn.Independent(DOMAIN, 2.0).simulate(TRUTH, n, source=dn.Seeded(seed + 1)).tabulate(["a", "b"])
    single = dn.Sampled(DOMAIN, 1.0).simulate(TRUTH, n, source=dn.Seeded(seed + 2)).tabulate(["a", "b"])
    return [*views, *split, *single]


def test_the_fit_maximises_the_likelihood_found_by_another_optimiser():
    from scipy.optimize import minimize

    observations = observed()
    fit = maximum_likelihood(of_counts(observations, DOMAIN), gap=1e-6)

    def negative(free):
        pi = np.exp(free - free.max())
        pi /= pi.sum()
        loglik, gradient = likelihood(of_counts(observations, DOMAIN), Table(DOMAIN, pi))
        flat = gradient.ravel()
        return -loglik, -(pi * (flat - (pi * flat).sum()))

    other = minimize(negative, np.zeros(12), jac=True, method="BFGS", options={"maxiter": 3000, "gtol": 1e-6})
    assert fit.loglik == pytest.approx(-other.fun, abs=1e-3)
    assert fit.loglik >= -other.fun - 1e-6


def test_the_certified_gap_bounds_what_is_left_to_gain():
    observations = observed()
    best = maximum_likelihood(of_counts(observations, DOMAIN), gap=1e-9).loglik
    for gap in (100.0, 1.0, 1e-2):
        fit = maximum_likelihood(of_counts(observations, DOMAIN), gap=gap)
        assert fit.gap <= gap
        assert best - fit.loglik <= fit.gap + 1e-9


def test_the_certificate_is_what_the_gradient_says():
    """max(g) - n, and no smaller number would bound the gain: the best is reached along one cell."""
    observations = observed()
    fit = maximum_likelihood(of_counts(observations, DOMAIN), gap=1.0)
    _, gradient = likelihood(of_counts(observations, DOMAIN), fit.table)
    assert fit.gap == pytest.approx(gradient.max() - sum(o.n for o in observations), rel=1e-9)
    # The gain that is left is nearly all of the certificate where one cell holds everything: pi moves there in the end.
    sure = dn.Observation("x", dn.KRR(2, other=1, bits=16), [10**6, 0])
    even = Table(sure.domain, np.array([0.999_999, 1e-6]))
    loglik, slope = likelihood(of_counts([sure]), even)
    best = maximum_likelihood(of_counts([sure], sure.domain), gap=1e-9).loglik
    assert best - loglik == pytest.approx(slope.max() - sure.n, rel=1e-3)


def test_a_leap_never_brings_a_cell_to_zero():
    """EM multiplies: a cell that an extrapolation set to zero would stay there, with gain left for good."""
    observation = dn.Observation("x", dn.KRR(5, 1.0), [187, 254, 272, 158, 129])
    fit = maximum_likelihood(of_counts([observation], observation.domain), gap=1e-4, most=500)
    slow = maximum_likelihood(of_counts([observation], observation.domain), gap=1e-4, accelerate=False)
    assert fit.gap <= 1e-4
    assert fit.table.values == pytest.approx(slow.table.values, abs=1e-3)
    assert (fit.evaluations, slow.evaluations > 10) == (1, True)  # by a closed form, and not by it


def test_the_gradient_is_the_derivative():
    observations = observed()
    pi, step = TRUTH.values, 1e-6
    _, gradient = likelihood(of_counts(observations, DOMAIN), TRUTH)
    for cell in ((0, 0), (1, 2), (2, 3)):
        up, down = pi.copy(), pi.copy()
        up[cell] += step
        down[cell] -= step
        numeric = (
            likelihood(of_counts(observations, DOMAIN), Table(DOMAIN, up))[0]
            - likelihood(of_counts(observations, DOMAIN), Table(DOMAIN, down))[0]
        ) / (2 * step)
        assert gradient[cell] == pytest.approx(numeric, rel=1e-5)
    # Euler: the likelihood of shares is homogeneous, so pi . g counts the reports.
    assert (pi * gradient).sum() == pytest.approx(sum(o.n for o in observations))


def test_acceleration_reaches_the_same_fit_with_far_fewer_evaluations():
    observations = observed()[-3:]
    fast = maximum_likelihood(of_counts(observations, DOMAIN), gap=1e-3)
    slow = maximum_likelihood(of_counts(observations, DOMAIN), gap=1e-3, accelerate=False)
    assert fast.loglik == pytest.approx(slow.loglik, abs=2e-3)
    assert fast.evaluations < slow.evaluations / 5


def test_an_interior_maximum_is_the_inversion():
    # With one square channel and all unbiased cells positive, maximum likelihood and inversion agree.
    observation = dn.Observation("x", dn.KRR(3, 2.0), [500, 300, 200])
    fit = maximum_likelihood(of_counts([observation], observation.domain), gap=1e-10)
    assert fit.table.values == pytest.approx(dn.estimate(observation, "x", "inversion").values, abs=1e-6)


def test_giving_up_is_said_with_what_is_left():
    with pytest.raises(ConvergenceError, match=r"after \d+ evaluations with .* nats left to gain"):
        maximum_likelihood(of_counts(observed(), DOMAIN), gap=1e-9, most=10)


def test_a_table_too_large_is_refused_before_it_starts():
    domain = dn.Domain({f"x{i}": range(2) for i in range(21)})
    channel = dn.Kronecker([dn.KRR(2, 1.0)] * 21)
    observation = dn.Observation(domain, channel, np.ones(channel.output_shape, dtype=np.uint8))
    with pytest.raises(EstimationError, match=r"2097152 cells is too large.*norm_sub"):
        maximum_likelihood(of_counts([observation], domain))


def test_progress_is_reported():
    seen = []
    fit = maximum_likelihood(of_counts(observed(), DOMAIN), progress=lambda used, gap: seen.append((used, gap)))
    used, gaps = zip(*seen, strict=True)
    assert list(used) == sorted(set(used))
    assert (used[0], used[-1]) == (1, fit.evaluations)
    assert gaps[-1] == pytest.approx(fit.gap)
