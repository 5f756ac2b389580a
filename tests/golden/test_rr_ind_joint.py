"""Right values for Kikuchi & Domingo-Ferrer, "Estimating Joint Probability of Independently Randomized Data"."""

import numpy as np
import pytest

import deniable as dn
from deniable.core.table import cramers_v, independent
from deniable.datasets import adult


def test_the_example_of_section_3_3():
    """The printed vector (.375, .075, .275, .375) sums to 1.1; this one is right."""
    coin = dn.Warner(0.75)
    observed = dn.Observation(["A", "B"], dn.Kronecker([coin, coin]), [[3, 2], [2, 3]])
    truth = np.array([[4, 0], [2, 4]]) / 10
    estimate = dn.estimate(observed, ["A", "B"], method="inversion")
    assert estimate.values == pytest.approx(np.array([[0.45, 0.05], [0.05, 0.45]]))
    assert np.abs(estimate.values - truth).mean() == pytest.approx(0.075)
    assert cramers_v(dn.Table(estimate.table.domain, truth)) == pytest.approx(0.67, abs=5e-3)
    assert cramers_v(dn.Table(estimate.table.domain, observed.counts)) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("pair", "v", "mse"),
    [
        (("sex", "income"), 0.2159802, 1.888e-3),
        (("sex", "race"), 0.1181155, 1.105e-4),
        (("education", "occupation"), 0.1873341, 2.148e-5),
    ],
)
def test_table_1_on_the_adult_data(pair, v, mse):
    """Cramer's V and the error of the product of marginals, without sampling noise as in the paper."""
    frame, domain = adult()
    truth = dn.Table.count(frame, domain.project(pair)).normalize()
    assert truth.values.size > 0
    assert cramers_v(truth) == pytest.approx(v, abs=5e-8)
    error = truth - independent(truth)
    assert (error.values**2).mean() == pytest.approx(mse, rel=5e-4)


@pytest.mark.parametrize(
    ("pair", "mse"),
    [(("sex", "income"), 4.0e-5), (("sex", "race"), 2.3e-5), (("education", "occupation"), 1.7e-6)],
)
def test_table_1_with_sampling_noise(pair, mse):
    """The printed 1e-33 is rounding error; keeping half and else drawing uniformly over all d has this error.

    The expected error is exact for a fixed population: the mean of ((Q o Q) lambda - pi) / n.
    """
    frame, domain = adult()
    truth = dn.Table.count(frame, domain.project(pair)).normalize()
    channel = dn.Kronecker([dn.Mixture(0.5, [1 / size] * size) for size in truth.shape])
    expected = (channel.solve_squared(channel.apply(truth.values)) - truth.values) / 32561
    assert expected.mean() == pytest.approx(mse, rel=0.03)


def test_equal_total_epsilon_favours_asking_jointly_for_the_joint_table():
    """The full table by RR-Joint is never worse than by RR-Ind-Joint; single marginals can be the other way round."""
    even = np.full((10, 10), 0.01)
    split = dn.Kronecker([dn.KRR(10, 0.5), dn.KRR(10, 0.5)])
    whole = dn.KRR(100, 1.0)
    assert whole.variance(even.ravel(), 1).mean() < split.variance(even, 1).mean()
    # The same reports seen through one attribute: 13 times worse for two attributes of ten categories.
    alone, collapsed = dn.KRR(10, 0.5), whole.collapse((10, 10), (0,))
    ratio = collapsed.variance(even[0] * 10, 1).mean() / alone.variance(even[0] * 10, 1).mean()
    assert ratio == pytest.approx(13, rel=0.1)


def test_the_error_falls_with_the_square_root_of_n():
    pi = np.array([0.5, 0.3, 0.2])
    channel = dn.KRR(3, 1.0)
    errors = [np.sqrt(channel.variance(pi, n).mean()) for n in (1e3, 1e5)]
    assert np.log(errors[1] / errors[0]) / np.log(100) == pytest.approx(-0.5)
