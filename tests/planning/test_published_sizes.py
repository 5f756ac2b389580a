"""A published program's sample sizes stop short: it takes the first n whose power is within .01 of the target.

Forced response, a sixth each: prevalence .2 against .1, one-sided, alpha .05, power .8: it says 256, its formula needs
264. Two groups of .3 and .2, two-sided: it says 735 a group, its formula needs 754.
"""

import numpy as np
import pytest
from scipy.stats import norm

import deniable as dn

FORCED = dn.ForcedResponse([1 / 6, 1 / 6])


def spread(prevalence):
    """The standard error of an estimated prevalence, n = 1."""
    return float(np.sqrt(FORCED.variance(np.array([1 - prevalence, prevalence]), 1)[1]))


def first(difference, null, alternative, z, power):
    """The least n at which the normal formula reaches a power."""
    return int(np.ceil(((z * null + norm.ppf(power) * alternative) / difference) ** 2))


@pytest.mark.parametrize(("power", "n"), [(0.79, 256), (0.8, 264)])
def test_one_sample(power, n):
    assert first(0.1, spread(0.1), spread(0.2), norm.ppf(0.95), power) == n
    assert dn.sample_size(FORCED, 0.2, null=0.1).normal == 264


@pytest.mark.parametrize(("power", "n"), [(0.79, 735), (0.8, 754)])
def test_two_groups(power, n):
    null, alternative = np.hypot(spread(0.2), spread(0.2)), np.hypot(spread(0.3), spread(0.2))
    assert first(0.1, null, alternative, norm.ppf(0.975), power) == n
