"""Two groups compared, and one share through a whole design: against all counts summed, and closed forms."""

import numpy as np
import pytest
from scipy.stats import binom, norm

import deniable as dn
from deniable.errors import InputError, NotCoveredError

FORCED = dn.ForcedResponse([1 / 6, 1 / 6])


def by_hand(n, first, second, z, alternative):
    """Every pair of counts, the pooled z of each, and the probabilities of those that are rejected."""
    x, y = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    mean = (x + y) / (2 * n)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (x - y) / n / np.sqrt(2 * mean * (1 - mean) / n)
    found = np.nan_to_num(found, nan=0.0, posinf=0.0, neginf=0.0)
    rejects = {"greater": found > z, "less": found < -z, "two-sided": np.abs(found) > z}[alternative]
    return float((np.outer(binom.pmf(x[:, 0], n, first), binom.pmf(y[0], n, second)) * rejects).sum())


@pytest.mark.parametrize("n", [3, 40, 151])
@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_power_is_the_sum_over_all_counts(n, alternative):
    first, second = (1 / 6 + 2 / 3 * p for p in (0.5, 0.2))
    z = norm.ppf(0.95 if alternative == "greater" else 0.975)
    found = dn.power(FORCED, n, prevalence=(0.5, 0.2), alternative=alternative)
    assert float(found) == pytest.approx(by_hand(n, first, second, z, alternative), abs=1e-9)
    mirrored = "less" if alternative == "greater" else alternative
    assert float(dn.power(FORCED, n, prevalence=(0.2, 0.5), alternative=mirrored)) == pytest.approx(float(found))
    assert "pooled two-sample" in str(found)


def test_normal_and_exact_stand_side_by_side():
    n = dn.sample_size(FORCED, (0.3, 0.2), alternative="two-sided")
    shares = np.array([1 / 6 + 2 / 3 * p for p in (0.3, 0.2)])
    mean = shares.mean()
    sds = np.sqrt(2 * mean * (1 - mean)), np.sqrt((shares * (1 - shares)).sum())
    wanted = ((norm.ppf(0.975) * sds[0] + norm.ppf(0.8) * sds[1]) / np.ptp(shares)) ** 2
    assert n.normal == int(np.ceil(wanted))
    assert n.reached >= 0.8
    assert int(n) == pytest.approx(n.normal, rel=0.03)
    at = dn.power(FORCED, int(n), prevalence=(0.3, 0.2), alternative="two-sided")
    assert float(at) == pytest.approx(at.normal, abs=0.01)
    assert "normal approximation" in str(at)
    one = dn.power(FORCED, 300, prevalence=0.2, null=0.1)
    assert one.normal == pytest.approx(
        norm.cdf((2 / 3 * 0.1 * np.sqrt(300) - norm.ppf(0.95) * np.sqrt(shares_of(0.1))) / np.sqrt(shares_of(0.2)))
    )
    many = dn.power(dn.Warner(0.7), 300_000, prevalence=(0.1, 0.097))
    assert float(many) == many.normal


def shares_of(prevalence):
    share = 1 / 6 + 2 / 3 * prevalence
    return share * (1 - share)


def test_crosswise_turns_the_direction_round():
    assert float(dn.power(dn.Crosswise(0.25), 300, prevalence=(0.3, 0.1))) == pytest.approx(
        float(dn.power(dn.Warner(0.75), 300, prevalence=(0.3, 0.1))), abs=1e-9
    )


def test_a_share_through_a_design_has_the_efficient_error():
    domain = dn.Domain({"x": ["no", "yes"], "y": range(3)})
    alone = dn.Joint({"x": ["no", "yes"]}, 1.0)
    found = dn.power(alone, 800, prevalence=0.2, null=0.1, attributes=["x"])
    exact = dn.power(alone.questions[0].channel, 800, prevalence=0.2, null=0.1)
    assert float(found) == pytest.approx(exact.normal, abs=1e-4)
    n = dn.sample_size(alone, 0.2, null=0.1, attributes="x")
    assert int(n) == pytest.approx(exact_size(alone), abs=2)
    # One in two is asked for x by Sampled, and everybody by Joint about both.
    sampled = dn.power(dn.Sampled(domain, 1.0), 1600, prevalence=0.2, null=0.1, attributes=["x"])
    assert float(sampled) == pytest.approx(float(found), abs=1e-3)
    views = dn.Views({name: ["no", "yes"] for name in "xyz"}, 2, 1.0)
    planned = dn.plan(views.domain, 1.0, [["x"]], 2000, truth=dn.Table(views.domain.project(["x"]), [0.8, 0.2]))
    assert planned.candidates
    assert 0 < dn.power(views, 2000, prevalence=0.2, attributes=["x"]) < 1


def exact_size(design):
    return dn.sample_size(design.questions[0].channel, 0.2, null=0.1).normal


def test_refusals():
    with pytest.raises(InputError, match="null= is for one prevalence"):
        dn.power(FORCED, 100, prevalence=(0.3, 0.2), null=0.1)
    with pytest.raises(InputError, match="two prevalences, not 3"):
        dn.power(FORCED, 100, prevalence=(0.3, 0.2, 0.1))
    with pytest.raises(InputError, match="nothing to detect"):
        dn.power(FORCED, 100, prevalence=(0.3, 0.3))
    with pytest.raises(InputError, match="other side"):
        dn.power(FORCED, 100, prevalence=(0.2, 0.3))
    design = dn.Sampled({"x": [0, 1], "y": [0, 1]}, 1.0)
    with pytest.raises(InputError, match="name the attribute"):
        dn.power(design, 100, prevalence=0.2)
    with pytest.raises(InputError, match="through one channel"):
        dn.power(design, 100, prevalence=(0.3, 0.2), attributes=["x"])
    with pytest.raises(InputError, match="other side"):
        dn.power(design, 100, prevalence=0.2, null=0.3, attributes=["x"])
    with pytest.raises(NotCoveredError):
        dn.power(design, 100, table=dn.Table(design.domain, np.full(4, 0.25)))
