"""One question: against formulas written out here, statsmodels, and a plain loop for the survey estimator."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom, multinomial, norm
from statsmodels.stats.proportion import proportion_confint

import deniable as dn
from deniable.errors import (
    InputError,
    MissingValueError,
    SingularChannelError,
    TooFewReportsError,
    UnknownCategoryError,
)
from deniable.estimation.intervals import likelihood_ratio
from deniable.inference.prevalence import prevalence
from deniable.inference.unrelated_question import unrelated_two_samples
from deniable.sampling.read_sampling import sampling

DEVICES = {
    "warner": (dn.Warner(0.8), 0.2, 0.8),
    "crosswise": (dn.Crosswise(0.25), 0.75, 0.25),
    "forced": (dn.ForcedResponse([1 / 6, 1 / 12]), 1 / 12, 10 / 12),
    "unrelated": (dn.UnrelatedQuestion(0.7, 0.3), 0.09, 0.79),
    "triangular": (dn.Triangular(0.3), 0.3, 1.0),
    "mangat": (dn.Mangat(0.7), 0.3, 1.0),
}


def answers(yes, n):
    return np.repeat([1, 0], [yes, n - yes])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("yes", "n"), [(61, 200), (0, 50), (50, 50), (900, 2500)])
def test_moment_estimate_error_and_mle_are_the_textbook_ones(device, yes, n):
    channel, if_no, if_yes = DEVICES[device]
    found = prevalence(answers(yes, n), channel)
    share = yes / n
    expected = (share - if_no) / (if_yes - if_no)
    assert found.unbiased.values == pytest.approx([1 - expected, expected], abs=1e-12)
    clipped = min(max(expected, 0), 1)
    error = np.sqrt(share * (1 - share) / (n - 1)) / abs(if_yes - if_no)
    if expected != clipped:  # what it is at the end: reports that are all alike do not show how they vary
        there = if_no + clipped * (if_yes - if_no)
        error = np.sqrt(there * (1 - there) / n) / abs(if_yes - if_no)
    if if_no + clipped * (if_yes - if_no) in (0, 1):  # Wilson's for none of n ends at z^2 / (n + z^2)
        z = norm.ppf(0.975)
        error = z**2 / (n + z**2) / (2.5 * z) / abs(if_yes - if_no)
    assert found.std_error == pytest.approx([error, error], abs=1e-12)
    # With two categories the likelihood has one peak, so the constrained maximum is the clipped moment estimate.
    assert found.values == pytest.approx([1 - clipped, clipped], abs=1e-12)


def test_warner_1965_worked_by_hand():
    # p = .7, 100 of 250 say yes: pi = (.4 + .7 - 1) / .4 = .25, Var = .4 x .6 / (249 x .16).
    found = prevalence(answers(100, 250), dn.Warner(0.7))
    assert found.values[1] == pytest.approx(0.25)
    assert found.std_error[1] ** 2 == pytest.approx(0.24 / (249 * 0.16))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("method", "theirs"), [("wilson", "wilson"), ("clopper_pearson", "beta")])
@pytest.mark.parametrize(("yes", "n"), [(61, 200), (0, 50), (50, 50), (3, 40)])
def test_intervals_are_those_of_a_plain_share_mapped_through_the_device(device, method, theirs, yes, n):
    channel, if_no, if_yes = DEVICES[device]
    ends = np.sort((np.array(proportion_confint(yes, n, 0.1, theirs)) - if_no) / (if_yes - if_no))
    low, high = prevalence(answers(yes, n), channel).interval(0.9, method, clip=False)
    # Wilson's interval of a share is unclipped by nature but statsmodels clips rounding errors at 0 and 1.
    assert [low[1], high[1]] == pytest.approx(ends, abs=1e-9)


def test_profile_interval_solves_its_equation():
    yes, n, z2 = 61, 200, 3.841458820694124

    def fall(share):
        return 2 * (binom.logpmf(yes, n, yes / n) - binom.logpmf(yes, n, share)) - z2

    expected = [brentq(fall, 1e-9, yes / n, xtol=1e-14), brentq(fall, yes / n, 1 - 1e-9, xtol=1e-14)]
    ends = likelihood_ratio(np.array(61.0), np.array(200.0), z2)
    assert list(map(float, ends)) == pytest.approx(expected, abs=1e-10)
    low, high = prevalence(answers(yes, n), dn.Warner(0.8)).interval(0.95, "profile")
    assert [low[1], high[1]] == pytest.approx((np.array(expected) - 0.2) / 0.6, abs=1e-9)
    assert likelihood_ratio(np.array(0.0), np.array(9.0), z2)[0] == 0


def test_bootstrap_interval_is_near_walds_for_many_reports():
    found = prevalence(answers(3000, 10000), dn.Warner(0.8))
    low, high = found.interval(0.95, "bootstrap", source=dn.Seeded(1))
    wald = found.interval(0.95, "wald")
    # A 2.5% quantile of 9999 replicates has standard error .027 sd: 6 of them are .16 sd.
    assert abs(low - wald.low).max() < 0.17 * found.std_error[0]
    assert abs(high - wald.high).max() < 0.17 * found.std_error[0]


def test_simultaneous_intervals_are_bonferronis_and_two_cells_are_one_question():
    codes = np.repeat(np.arange(4), [40, 30, 20, 10])
    found = prevalence(codes, dn.KRR(4, epsilon=2.0))
    one, every = found.interval(1 - 0.05 / 4), found.interval(0.95, simultaneous=True)
    assert one.low == pytest.approx(every.low)
    two = prevalence(answers(5, 20), dn.Warner(0.8))
    assert two.interval(simultaneous=True).low == pytest.approx(two.interval().low)


def test_coverage_of_simultaneous_intervals():
    channel, pi, n, runs = dn.KRR(4, epsilon=1.0), np.array([0.6, 0.25, 0.1, 0.05]), 1000, 600
    drawn = multinomial.rvs(n, channel.apply(pi), size=runs, random_state=5)
    held = sum(
        dn.estimate(dn.Observation("x", channel, counts), "x", "inversion")
        .interval(0.95, simultaneous=True)
        .contains(pi)
        .all()
        for counts in drawn
    )
    assert binom.cdf(541, runs, 0.95) < 1e-6
    assert held > 541


def test_labels_codes_series_and_categories():
    import pandas as pd
    import polars as pl

    channel = dn.Warner(0.8, categories=("no", "yes"))
    plain = prevalence([1, 0, 0, 1, 1], channel)
    for values in (
        ["yes", "no", "no", "yes", "yes"],
        pd.Series(["yes", "no", "no", "yes", "yes"], name="cheated"),
        pl.Series("cheated", ["yes", "no", "no", "yes", "yes"]),
        pd.Series(["yes", "no", "no", "yes", "yes"], dtype="category"),
        np.array([True, False, False, True, True]),
        pd.Series([1, 0, 0, 1, 1], dtype="Int64"),
    ):
        found = prevalence(values, channel)
        assert found.values == pytest.approx(plain.values)
    assert prevalence(pd.Series([1, 0, 1], name="cheated"), channel).attributes == ("cheated",)
    numbered = prevalence([2, 1, 1, 2, 2], dn.Warner(0.8), categories=(1, 2))
    assert numbered.values == pytest.approx(plain.values)
    assert prevalence([2, 0, 1, 2], dn.Kuk(0.8, 0.2, repetitions=2)).values.shape == (2,)


@pytest.mark.parametrize(
    ("values", "channel", "error", "told"),
    [
        (["maybe", "yes"], dn.Warner(0.8, categories=("no", "yes")), UnknownCategoryError, "in 1 of 2 rows"),
        ([0, 1, 2], dn.Warner(0.8), UnknownCategoryError, "not among"),
        ([0, 1, 3], dn.Kuk(0.8, 0.2, repetitions=2), UnknownCategoryError, "outside 0 .. 2"),
        ([0.0, np.nan], dn.Warner(0.8), MissingValueError, "missing"),
        (["yes", None], dn.Warner(0.8, categories=("no", "yes")), MissingValueError, "missing"),
        (["yes", "no"], dn.Warner(0.8), InputError, "categories="),
        ([1], dn.Warner(0.8), TooFewReportsError, "1 report; .* at least 2$"),
        ([[0, 1]], dn.Warner(0.8), InputError, "one value a respondent"),
    ],
)
def test_bad_reports_are_refused_by_name(values, channel, error, told):
    with pytest.raises(error, match=told):
        prevalence(values, channel)


def test_missing_values_of_any_library_are_refused():
    import pandas as pd
    import polars as pl

    for values in (pd.Series([1, None, 0], dtype="Int64"), pl.Series([1, None, 0]), pd.Series([1.0, None])):
        with pytest.raises(MissingValueError, match="1 of"):
            prevalence(values, dn.Warner(0.8))
    with pytest.raises(MissingValueError, match="by"):
        prevalence([0, 1, 1], dn.Warner(0.8), by=["a", None, "b"])


def test_bad_arguments_are_refused_by_name():
    with pytest.raises(InputError, match="3 categories were named"):
        prevalence([0, 1], dn.Warner(0.8), categories=("a", "b", "c"))
    with pytest.raises(InputError, match="one value for each of the 2"):
        prevalence([0, 1], dn.Warner(0.8), weights=[1.0])
    with pytest.raises(InputError, match="from 0 upwards"):
        prevalence([0, 1], dn.Warner(0.8), weights=[1.0, -1.0])
    with pytest.raises(InputError, match="more than one stratum"):
        prevalence([0, 1, 1, 0], dn.Warner(0.8), strata=[0, 0, 1, 1], clusters=["a", "b", "b", "c"])
    with pytest.raises(TooFewReportsError, match="single cluster"):
        prevalence([0, 1, 1], dn.Warner(0.8), strata=[0, 0, 1])
    with pytest.raises(InputError, match="needs every cell to be one binomial"):
        prevalence([0, 1, 1, 2], dn.Kuk(0.8, 0.2, repetitions=2)).interval(method="clopper_pearson")
    with pytest.raises(InputError, match="method must be"):
        prevalence([0, 1], dn.Warner(0.8)).interval(method="magic")
    with pytest.raises(InputError, match="use"):
        prevalence([0, 1, 1], dn.Warner(0.8), weights=[1, 2, 3]).interval(method="bootstrap")


def test_one_point_and_one_interval_are_shown_and_fewer_than_chance_explains_is_said():
    found = prevalence(answers(16, 100), dn.Warner(0.8))
    assert found.unbiased.values[1] == pytest.approx((0.16 - 0.2) / 0.6)
    low, high = found.interval()
    assert (found.values[1], low[1]) == pytest.approx((0, 0), abs=1e-12)
    assert high[1] == found.interval(clip=False).high[1] > 0
    assert "than chance alone" not in str(found)
    far = prevalence(answers(5, 200), dn.Warner(0.8))
    assert far.interval(clip=False).high[1] < 0
    assert np.isnan([*far.interval()]).all()
    assert "interval would end below 0%" not in str(far)  # that fewer came than chance explains says it
    assert "Fewer reports of '1'" in str(far)
    assert str(far).splitlines()[1].split() == ["0", "100.0%", "4.71%", "-"]


def _reference(codes, w, strata, clusters, score):
    """The textbook linearization of a weighted mean, looped."""
    mean = (w * score[codes]).sum() / w.sum()
    z = w * (score[codes] - mean) / w.sum()
    variance = 0.0
    for stratum in np.unique(strata):
        names = np.unique(clusters[strata == stratum])
        totals = np.array([z[(strata == stratum) & (clusters == name)].sum() for name in names])
        variance += len(names) / (len(names) - 1) * ((totals - totals.mean()) ** 2).sum()
    return mean, variance


def test_weights_strata_and_clusters_agree_with_a_plain_loop():
    rng = np.random.default_rng(3)
    n, channel = 600, dn.KRR(3, epsilon=1.5)
    strata = rng.integers(0, 4, n)
    clusters = strata * 100 + rng.integers(0, 8, n)
    codes, w = rng.integers(0, 3, n), rng.gamma(2, size=n)
    found = prevalence(codes, channel, w, strata=strata, clusters=clusters)
    q = channel.solve(np.eye(3))
    for v in range(3):
        mean, variance = _reference(codes, w, strata, clusters, q[v])
        assert found.values[v] == pytest.approx(mean, abs=1e-12)
        assert found.std_error[v] ** 2 == pytest.approx(variance, rel=1e-9)
    assert found.dispersion.quadratic([1, 1, 1]) == pytest.approx(0, abs=1e-15)
    assert found.dispersion.df == sampling(n, w, strata, clusters).df < len(np.unique(clusters)) - 4
    assert found.interval().contains(found.values).all()


def test_equal_weights_give_the_plain_answer():
    codes = answers(61, 200)
    plain, weighted = prevalence(codes, dn.Warner(0.8)), prevalence(codes, dn.Warner(0.8), np.full(200, 3.5))
    assert weighted.values == pytest.approx(plain.values)
    assert weighted.std_error == pytest.approx(plain.std_error)
    assert weighted.n == 200


def test_groups_and_their_differences():
    codes = np.concatenate([answers(60, 150), answers(40, 160)])
    group = np.repeat(["women", "men"], [150, 160])
    found = prevalence(codes, dn.Warner(0.8), by=group)
    assert list(found) == ["men", "women"]
    assert found["women"].values[1] == pytest.approx((0.4 - 0.2) / 0.6)
    gap = found.difference("women", "men")
    assert gap.values[1] == pytest.approx((0.4 - 0.25) / 0.6)
    assert gap.std_error[1] == pytest.approx(np.sqrt(0.24 / 149 + 0.1875 / 159) / 0.6)
    # Newcombe (1998), method 10, for the shares of reports, mapped through the device.
    from statsmodels.stats.proportion import confint_proportions_2indep

    ends = confint_proportions_2indep(60, 150, 40, 160, method="newcomb")
    low, high = gap.interval()
    assert [low[1], high[1]] == pytest.approx(np.array(ends) / 0.6, abs=1e-9)
    assert "women less men" in str(found.differences("men")[0])
    assert found.to_frame().num_rows == 4
    with pytest.raises(UnknownCategoryError, match="no group"):
        found["children"]


@pytest.mark.parametrize("how", [{}, {"weights": "even"}, {"clusters": "of four"}])
def test_a_group_of_one_report_is_refused_in_its_own_place(how):
    rng = np.random.default_rng(3)
    codes, group = rng.integers(0, 2, 121), np.array(["men", "women", "women"] * 40 + ["nobody else"])
    drawn = {
        name: np.arange(121) // 4 if name == "clusters" else np.where(np.arange(121) % 2, 1.0, 2.0) for name in how
    }
    found = prevalence(codes, dn.Warner(0.8), by=group, **drawn)
    # The others are as they are where that one is in a larger group.
    joined = prevalence(codes, dn.Warner(0.8), by=np.where(group == "nobody else", "men", group), **drawn)
    assert list(found) == ["men", "women"]
    assert found["women"].values == pytest.approx(joined["women"].values)
    assert found["women"].std_error == pytest.approx(joined["women"].std_error)
    assert found.difference("women", "men").std_error.shape == (2,)
    assert "1 of 30 answers needed" in str(found)
    frame = found.to_frame().to_pydict()
    assert frame["group"] == [name for name in ("men", "nobody else", "women") for _ in range(2)]
    assert np.isnan(frame["estimate"]).tolist() == [False, False, True, True, False, False]
    assert found.plot() is not None
    with pytest.raises(TooFewReportsError, match=r"group 'nobody else': 1 of 30 answers needed.*Join this group"):
        found["nobody else"]
    with pytest.raises(TooFewReportsError, match=r"no group can be shown: a: 1 of 30 answers needed; b: 1 of 30"):
        prevalence([0, 1], dn.Warner(0.8), by=["a", "b"])


def test_a_group_without_any_weight_is_refused_in_its_own_place():
    codes, group = np.arange(90) % 2, np.arange(90) % 3
    found = prevalence(codes, dn.Warner(0.8), np.where(group == 1, 0.0, 1.0), by=group)
    assert list(found) == [0, 2]
    assert found[2].n == 30
    assert found[2].std_error == pytest.approx(prevalence(codes[group == 2], dn.Warner(0.8)).std_error, rel=0.02)
    assert "nobody has any weight" in str(found)


def test_groups_tied_by_clusters_have_a_covariance():
    rng = np.random.default_rng(8)
    n = 400
    cluster, group = rng.integers(0, 40, n), rng.integers(0, 2, n)
    codes = (rng.random(n) < 0.3 + 0.4 * (cluster % 2)).astype(int)  # answers go by cluster, in both groups
    found = prevalence(codes, dn.Warner(0.9), clusters=cluster, by=group)
    gap = found.difference(1, 0)
    # The difference of two ratio means is itself linear in cluster totals: the same loop with one score a respondent.
    z = np.zeros(n)
    for g, sign in ((1, 1), (0, -1)):
        inside = group == g
        z[inside] = sign * (codes[inside] - codes[inside].mean()) / inside.sum() / 0.8
    totals = np.bincount(cluster, z)
    variance = len(totals) / (len(totals) - 1) * ((totals - totals.mean()) ** 2).sum()
    assert gap.std_error[1] ** 2 == pytest.approx(variance, rel=1e-9)
    assert gap.across[1] > 0
    assert (gap.interval().high > gap.values).all()


def test_unrelated_question_of_unknown_prevalence():
    first, second = answers(64, 200), answers(138, 300)
    found = unrelated_two_samples(first, second, p=(0.7, 0.3))
    # Greenberg et al.: pi = (l1 (1 - p2) - l2 (1 - p1)) / (p1 - p2).
    assert found.values[0] == pytest.approx((0.32 * 0.7 - 0.46 * 0.3) / 0.4)
    variance = (0.7**2 * 0.32 * 0.68 / 199 + 0.3**2 * 0.46 * 0.54 / 299) / 0.4**2
    assert found.std_error[0] == pytest.approx(np.sqrt(variance))
    assert found.unbiased == pytest.approx(found.values)
    assert found.interval().contains(found.values).all()
    wald = found.interval(method="wald")
    assert wald.high[0] - wald.low[0] == pytest.approx(2 * 1.959963984540054 * np.sqrt(variance))
    outside = unrelated_two_samples(answers(10, 200), answers(150, 200), p=(0.7, 0.3))
    assert outside.unbiased[0] < 0
    assert np.isnan(outside.interval().low[0])
    assert "Too few reports to tell the share of sensitive question" in str(outside)
    assert outside.values[0] == pytest.approx(0, abs=1e-9)
    grid = np.linspace(0, 1, 201)
    best = max(outside.loglik((x, y)) for x in grid for y in grid)
    assert outside.loglik(outside.values) >= best
    assert "sensitive question" in str(outside)
    with pytest.raises(SingularChannelError, match="must differ"):
        unrelated_two_samples(first, second, p=(0.5, 0.5))
    with pytest.raises(InputError, match="1 for yes"):
        unrelated_two_samples([2, 1], second, p=(0.7, 0.3))


def test_results_show_themselves():
    found = prevalence(answers(61, 200), dn.Warner(0.8), by=np.arange(200) % 2)
    assert "<table>" in found._repr_html_()
    assert "<table>" in found.difference(0, 1)._repr_html_()
    assert found.difference(0, 1).to_frame().num_rows == 2
    assert repr(found) == "<Prevalences of 2 groups: 0, 1>"


def test_mle_of_many_categories_equals_a_general_maximizer():
    from scipy.optimize import minimize

    counts, channel = np.array([500, 160, 120, 90]), dn.KRR(4, epsilon=1.0)  # the last two lie below the noise floor
    found = prevalence(np.repeat(np.arange(4), counts), channel)
    assert found.unbiased.values.min() < 0

    def loss(x):
        return -(counts * np.log(channel.apply(np.append(x, 1 - x.sum())))).sum()

    best = minimize(
        loss,
        np.full(3, 0.25),
        bounds=[(0, 1)] * 3,
        constraints={"type": "ineq", "fun": lambda x: 1 - x.sum()},
        method="SLSQP",
        options={"ftol": 1e-14},
    )
    assert found.values[:3] == pytest.approx(best.x, abs=1e-5)
    kuk = prevalence(np.repeat([0, 1, 2], [50, 30, 20]), dn.Kuk(0.8, 0.3, repetitions=2))
    share = np.linspace(0, 1, 100_001)
    lam = dn.Kuk(0.8, 0.3, repetitions=2).matrix() @ np.stack([1 - share, share])
    grid = share[np.argmax(np.array([50, 30, 20]) @ np.log(lam))]
    assert kuk.values[1] == pytest.approx(grid, abs=2e-5)
