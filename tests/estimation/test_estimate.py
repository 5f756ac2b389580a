"""Estimates: unbiased, with errors that are right, by every design and method."""

from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import deniable as dn
from chequered import one_of
from deniable.core.rows import NUMBERS
from deniable.core.table import product
from deniable.errors import InputError, NotCoveredError, TooFewReportsError, UnknownAttributeError
from deniable.estimation.inversion import pooled_inverse
from deniable.likelihood.covariance_operator import Dispersion, Sample
from deniable.likelihood.evidence import of_counts
from deniable.numerics.simplex import norm_sub

DOMAIN = dn.Domain({"a": [0, 1], "b": [0, 1, 2], "c": [0, 1]})
TRUTH = dn.Table(DOMAIN, [[[0.30, 0.02], [0.10, 0.05], [0.05, 0.08]], [[0.02, 0.20], [0.05, 0.03], [0.10, 0.00]]])
DESIGNS = {
    "independent": dn.Independent(DOMAIN, 3.0),
    "joint": dn.Joint(DOMAIN, 1.0),
    "clusters": dn.Clusters(DOMAIN, [["c", "a"], ["b"]], 2.0),
    "views one": dn.Views(DOMAIN, 2, 1.0),
    "views all": dn.Views(DOMAIN, 2, 2.0, answer="all"),
}
every_design = pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS.keys())
PAIR = ["b", "a"]


def simulated(design, repetitions, n=2000, attributes=PAIR, seed=1, **options):
    source = dn.Seeded(seed)
    return [dn.estimate(design.simulate(TRUTH, n, source=source), attributes, **options) for _ in range(repetitions)]


@cache
def repeated(name):
    """Two hundred surveys of each design, which several tests look at."""
    return simulated(DESIGNS[name], 200, method="inversion")


@pytest.mark.parametrize("name", one_of(2, DESIGNS))
def test_both_plain_estimates_are_unbiased_and_their_standard_errors_are_right(name):
    runs = repeated(name)
    truth = TRUTH.project(PAIR).values
    for values, variances in (
        ([run.values for run in runs], [run.dispersion.variances for run in runs]),
        ([run.efficient.values for run in runs], [run.std_error**2 for run in runs]),
    ):
        spread = np.std(values, axis=0, ddof=1)
        # 2 x 6 cells x 5 designs: |z| > 5.6 has a chance below 1e-6 in all.
        assert (np.abs(np.mean(values, axis=0) - truth) / (spread / np.sqrt(len(runs))) < 5.6).all()
        # The spread of 200 draws is .7 to 1.3 times the stated one in all but 4e-9 of all seeds: a chi-square of 199.
        assert spread == pytest.approx(np.sqrt(np.mean(variances, axis=0)), rel=0.3)


@pytest.mark.parametrize("name", DESIGNS)
def test_the_covariance_operator_is_the_covariance(name):
    runs = repeated(name)
    values = np.array([run.efficient.values.ravel() for run in runs])
    claimed = np.mean([run.covariance.matrix() for run in runs], axis=0)
    observed = np.cov(values.T)
    scale = np.sqrt(np.outer(np.diag(claimed), np.diag(claimed)))
    # A correlation estimated from 200 draws has an error of at most .071 sqrt(2); a variance, whose law is skew, is at
    # most 1.66 times the true one in all but 1e-8 of all seeds. 36 entries x 5 designs.
    assert (np.abs(observed - claimed) / scale).max() < 0.66
    # It is the covariance of shares that sum to one.
    assert np.abs(claimed.sum(axis=0)).max() < 1e-12


@every_design
def test_operator_diagonal_quadratic_and_matrix_agree(design):
    estimate = dn.estimate(design.simulate(TRUTH, 3000, source=dn.Seeded(3)), PAIR)
    matrix = estimate.covariance.matrix()
    assert matrix == pytest.approx(matrix.T, abs=1e-15)
    assert np.sqrt(np.diag(matrix)) == pytest.approx(estimate.std_error.ravel())
    w = np.random.default_rng(0).normal(size=(3, 2))
    assert estimate.covariance.quadratic(w) == pytest.approx(w.ravel() @ matrix @ w.ravel())
    assert (estimate.covariance @ w).ravel() == pytest.approx(matrix @ w.ravel())


def test_dispersion_is_equation_18():
    channel, n = dn.KRR(4, 1.0), 500
    counts = np.array([200, 150, 100, 50])
    estimate = dn.estimate(dn.Observation("x", channel, counts), "x", method="inversion")
    inverse, share = np.linalg.inv(channel.matrix()), counts / n
    expected = inverse @ (np.diag(share) - np.outer(share, share)) @ inverse.T / (n - 1)
    assert estimate.covariance.matrix() == pytest.approx(expected, rel=1e-10)
    assert estimate.values == pytest.approx(inverse @ share)


def test_the_fixed_population_variance_is_that_of_the_disguise_alone():
    # The same 1000 people disguised again and again; only half are asked.
    rng = np.random.default_rng(5)
    people = rng.choice(3, 1000, p=[0.7, 0.2, 0.1])
    frame = pa.table({"x": people, "y": rng.integers(0, 2, 1000)})
    design = dn.Sampled({"x": [0, 1, 2], "y": [0, 1]}, 1.0)
    runs = [
        dn.estimate(design.randomize(frame, source=dn.Seeded(seed)), "x", method="inversion", population="fixed")
        for seed in range(250)
    ]
    spread = np.std([run.values for run in runs], axis=0)
    claimed = np.sqrt(np.mean([run.std_error**2 for run in runs], axis=0))
    assert spread == pytest.approx(claimed, rel=0.3)  # in all but 6e-11 of all seeds: a chi-square of 249


def test_the_fixed_population_errors_are_smaller_and_exact_without_sampling():
    channel = dn.KRR(3, 2.0)
    observation = dn.Observation("x", channel, [500, 300, 200])
    fixed = dn.estimate(observation, "x", population="fixed")
    sampled = dn.estimate(observation, "x")
    pi, inverse = fixed.unbiased.values, np.linalg.inv(channel.matrix())
    assert fixed.std_error**2 == pytest.approx(((inverse**2) @ observation.shares - pi) / 1000)
    assert (fixed.std_error < sampled.std_error).all()
    assert np.diag(fixed.covariance.matrix()) == pytest.approx(fixed.std_error**2)


@every_design
def test_constrained_methods_give_distributions_and_keep_the_unbiased_core(design):
    tallies = design.simulate(TRUTH, 800, source=dn.Seeded(7))
    raw, efficient = (dn.estimate(tallies, PAIR, method=method) for method in ("inversion", "wls"))
    assert raw.efficient.values == pytest.approx(raw.values)  # whose errors are stated
    for method in ("mle", "norm_sub", "shrink", "auto"):
        estimate = dn.estimate(tallies, PAIR, method=method)
        assert estimate.values.min() >= 0
        assert estimate.values.sum() == pytest.approx(1)
        assert np.array_equal(estimate.unbiased.values, raw.values)
        assert np.array_equal(estimate.interval().low, efficient.interval().low)
        assert np.array_equal(estimate.std_error, efficient.std_error)


def test_the_product_method_is_the_product_of_marginals():
    tallies = DESIGNS["independent"].simulate(TRUTH, 5000, source=dn.Seeded(8))
    expected = product([dn.estimate(tallies, name, method="inversion").table for name in ("b", "c")])
    assert dn.estimate(tallies, ["b", "c"], method="product").table.allclose(expected)


def test_the_product_means_the_same_whether_a_question_covers_the_table_or_not():
    domain = dn.Domain({"a": [0, 1], "b": [0, 1, 2]})
    truth = dn.Table(domain, np.outer([0.998, 0.002], [0.9, 0.1, 0.0]))
    for design in (dn.Independent(domain, 1.0), dn.Sampled(domain, 1.0)):  # the second asks nobody both
        tallies = design.simulate(truth, 900, source=dn.Seeded(1))
        one_way = [dn.estimate(tallies, name, method="inversion").table for name in domain]
        assert min(table.values.min() for table in one_way) < 0
        found = dn.estimate(tallies, list(domain), method="product").table
        assert found.allclose(product([dn.Table(table.domain, norm_sub(table.values)) for table in one_way]))


def test_the_classic_estimators_are_inversions():
    joint = DESIGNS["joint"].simulate(TRUTH, 5000, source=dn.Seeded(9))
    counts = joint.observations[0].counts
    inverse = np.linalg.inv(DESIGNS["joint"].questions[0].channel.matrix())
    assert dn.estimate(joint, ["a", "b", "c"], "inversion").values.ravel() == pytest.approx(
        inverse @ counts / counts.sum()
    )
    split = DESIGNS["independent"].simulate(TRUTH, 5000, source=dn.Seeded(10))
    matrices = [question.channel.matrix() for question in DESIGNS["independent"].questions]
    whole = np.kron(np.kron(matrices[0], matrices[1]), matrices[2])
    shares = split.observations[0].shares.ravel()
    assert dn.estimate(split, ["a", "b", "c"], "inversion").values.ravel() == pytest.approx(
        np.linalg.solve(whole, shares)
    )


def test_pooling_weighs_by_precision_and_beats_either_sample():
    precise, rough = dn.KRR(2, 2.0), dn.KRR(2, 0.5)
    observations = [dn.Observation("x", precise, [600, 400]), dn.Observation("x", rough, [520, 480])]
    pooled = dn.estimate(observations, "x", method="inversion")
    alone = [dn.estimate(o, "x", method="inversion") for o in observations]
    assert pooled.std_error.max() < min(one.std_error.max() for one in alone)
    weights = [sample.weight for sample in pooled.dispersion.samples]
    assert sum(weights) == pytest.approx(1)
    assert weights[0] / weights[1] == pytest.approx(
        rough.variance([0.5, 0.5], 1)[0] / precise.variance([0.5, 0.5], 1)[0]
    )


def test_weights_do_not_look_at_the_answers():
    rough = dn.Observation("x", dn.KRR(2, 0.5), [500, 500])
    weights = {
        pooled_inverse(of_counts([dn.Observation("x", dn.KRR(2, 2.0), counts), rough])).samples[0].weight
        for counts in ([900, 100], [100, 900], [500, 500])
    }
    assert len(weights) == 1


def test_a_channel_that_cannot_be_collapsed_is_estimated_whole_and_projected():
    rng = np.random.default_rng(3)
    matrix = rng.dirichlet(np.full(4, 2.0), 4).T + np.eye(4)
    channel = dn.Dense(matrix / matrix.sum(axis=0))
    domain = dn.Domain({"a": [0, 1], "c": [0, 1]})
    observation = dn.Observation(domain, channel, [300, 200, 250, 250])
    both = dn.estimate(observation, ["a", "c"], method="inversion")
    one = dn.estimate(observation, "c", method="inversion")
    assert one.values == pytest.approx(both.values.sum(axis=0))
    w = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert one.std_error[0] ** 2 == pytest.approx(both.covariance.quadratic(w))
    assert one.interval().low == pytest.approx(one.interval(method="wald").low, abs=1e-3)
    assert one.pooled.evidence.nuisance == ("a",)
    assert dn.estimate(observation, "c", method="mle").values.sum() == pytest.approx(1)


def test_reports_that_outnumber_truths_are_estimated_without_bias():
    channel, truth = dn.Kuk(0.8, 0.3, repetitions=3), np.array([0.8, 0.2])
    rng = np.random.default_rng(4)
    draws = [rng.multinomial(2000, channel.apply(truth)) for _ in range(200)]
    runs = [dn.estimate(dn.Observation("x", channel, counts), "x", method="inversion") for counts in draws]
    values = np.array([run.values for run in runs])
    assert np.abs(values.mean(axis=0) - truth).max() < 5.5 * values.std() / np.sqrt(200)
    assert values.std(axis=0) == pytest.approx(np.mean([run.std_error for run in runs], axis=0), rel=0.3)
    likely = [dn.estimate(dn.Observation("x", channel, counts), "x", method="mle").values for counts in draws]
    # Maximum likelihood uses the four reports at least as well as least squares does.
    assert np.std(likely, axis=0)[0] < 1.05 * values.std(axis=0)[0]


def test_groups_are_estimated_apart():
    rng = np.random.default_rng(6)
    region = np.where(rng.random(4000) < 0.5, "north", "south")
    frame = pd.DataFrame({"x": (rng.random(4000) < np.where(region == "north", 0.1, 0.6)) * 1, "region": region})
    reports = dn.Independent({"x": [0, 1]}, 3.0).randomize(frame, keep=["region"], source=dn.Seeded(1))
    found = dn.estimate(reports, "x", by="region")
    assert list(found) == ["north", "south"]
    assert found["north"].values[1] == pytest.approx(0.1, abs=0.1)
    assert found["south"].values[1] == pytest.approx(0.6, abs=0.1)
    with pytest.raises(InputError, match="by= takes one set of reports with public columns"):
        dn.estimate(dn.Observation("x", dn.KRR(2, 1.0), [1, 2]), "x", by="region")


# -- auto -----------------------------------------------------------------------------------------------------


def test_auto_fits_a_small_table_and_shrinks_a_noisy_one_and_says_why():
    small = dn.estimate(DESIGNS["joint"].simulate(TRUTH, 50_000, source=dn.Seeded(1)), PAIR)
    assert small.method == "mle"
    assert "times the average cell" in small.reason
    assert 0 <= small.gap < 0.1
    assert "nats" not in str(small)  # a machine's word: in JSON alone
    wide = dn.Domain({"x": range(16), "y": range(15)})
    even = dn.Table(wide, np.full(240, 1 / 240))
    noisy = dn.estimate(dn.Independent(wide, 2.0).simulate(even, 5000, source=dn.Seeded(2)), ["x", "y"])
    assert noisy.method == "shrink"
    assert "mostly noise" in noisy.reason
    assert "kept" in noisy.reason


def test_one_attribute_is_never_shrunk():
    design = dn.Independent({"x": range(50)}, 0.5)
    tallies = design.simulate(dn.Table({"x": range(50)}, np.full(50, 0.02)), 200, source=dn.Seeded(1))
    assert dn.estimate(tallies, "x").method == "mle"


def test_shrinking_moves_between_the_product_and_the_joint_table():
    wide = dn.Domain({"x": range(8), "y": range(8)})
    dependent = dn.Table(wide, np.eye(8) / 8)
    strong = dn.estimate(dn.Joint(wide, 4.0).simulate(dependent, 100_000, source=dn.Seeded(3)), ["x", "y"], "shrink")
    assert "kept 100%" in strong.reason or "kept 99%" in strong.reason
    even = dn.Table(wide, np.full(64, 1 / 64))
    errors = {
        method: np.mean(
            [
                ((dn.estimate(t, ["x", "y"], method).values - 1 / 64) ** 2).mean()
                for t in (dn.Independent(wide, 1.0).simulate(even, 2000, source=dn.Seeded(s)) for s in range(20))
            ]
        )
        for method in ("inversion", "norm_sub", "shrink")
    }
    assert errors["shrink"] < errors["norm_sub"] / 3 < errors["inversion"] / 3


# -- how it shows itself ------------------------------------------------------------------------------------------


def test_an_estimate_shows_itself_within_its_range():
    frame = pd.DataFrame({"x": [0] * 300, "y": [0, 1] * 150})
    design = dn.Independent({"x": [0, 1, 2], "y": [0, 1]}, 1.0)
    estimate = dn.estimate(design.randomize(frame, source=dn.Seeded(2)), ["x", "y"])
    assert estimate.unbiased.values.min() < 0
    told = str(estimate)
    assert "-" not in told.split("300 reports", maxsplit=1)[0]
    assert "300 simulated reports about x and y.\n" in told
    assert "\nDetails: method mle: " in told
    assert told.splitlines()[0].split() == ["x", "y", "estimate", "std_error", "95%", "interval"]
    shown = estimate.to_frame()
    assert isinstance(shown, pd.DataFrame)
    assert list(shown.columns) == ["x", "y", *NUMBERS, "origin"]
    assert shown["estimate"].sum() == pytest.approx(1)
    assert "<table>" in estimate._repr_html_()
    assert repr(estimate) == "<Estimate of x x y: 6 cells, 300 reports, mle>"


def test_a_plot_shows_cells_intervals_and_truth():
    from matplotlib.figure import Figure

    estimate = dn.estimate(DESIGNS["joint"].simulate(TRUTH, 5000, source=dn.Seeded(1)), PAIR)
    ax = estimate.plot(Figure().subplots(), truth=TRUTH)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sorted(labels) == ["95% interval", "estimate (mle)", "truth"]
    assert len(ax.get_yticks()) == 6
    assert ax.get_lines()[0].get_xdata() == pytest.approx(TRUTH.project(PAIR).values.ravel())


# -- what cannot be done -------------------------------------------------------------------------------------------


def test_attributes_never_asked_together_are_refused_with_the_way_out():
    tallies = dn.Sampled(DOMAIN, 1.0).simulate(TRUTH, 1000, source=dn.Seeded(1))
    with pytest.raises(NotCoveredError, match=r"about 'a', 'b' together.*Independent, Joint, or Views with k=2"):
        dn.estimate(tallies, ["a", "b"], method="inversion")


def test_unknown_attributes_and_methods_are_named():
    tallies = DESIGNS["joint"].simulate(TRUTH, 1000, source=dn.Seeded(1))
    with pytest.raises(UnknownAttributeError, match="'z'"):
        dn.estimate(tallies, ["a", "z"])
    with pytest.raises(InputError, match="no method 'magic'; choose from"):
        dn.estimate(tallies, ["a"], method="magic")
    with pytest.raises(InputError, match='"super" or "fixed"'):
        dn.estimate(tallies, ["a"], population="all")


def test_one_report_is_too_few():
    with pytest.raises(TooFewReportsError, match="1 report about 'x'"):
        dn.estimate(dn.Observation("x", dn.KRR(2, 1.0), [1, 0]), "x")


@pytest.mark.parametrize(
    ("attributes", "counts", "message"),
    [
        (["x", "y"], [1, 2], "name 2 attributes but the counts have shape"),
        ("x", [1, 2, 3], "has 2 reports but the counts have shape"),
        ("x", [1, -2], "numbers from 0 upwards"),
        ("x", [1, float("nan")], "numbers from 0 upwards"),
    ],
)
def test_observations_that_do_not_fit_are_refused(attributes, counts, message):
    with pytest.raises(InputError, match=message):
        dn.Observation(attributes, dn.KRR(2, 1.0), counts)


def test_large_covariances_are_not_written_out():
    domain = dn.Domain({"x": range(5000)})
    sample = Sample(dn.Observation(domain, dn.KRR(5000, 4.0), np.ones(5000)), domain, 1.0)
    inverse = Dispersion([sample], domain)
    with pytest.raises(InputError, match=r"5000\^2 entries"):
        inverse.matrix()
    assert inverse.estimate.sum() == pytest.approx(1)


def test_norm_sub_is_the_euclidean_projection():
    from scipy.optimize import minimize

    rng = np.random.default_rng(0)
    for _ in range(5):
        raw = rng.normal(0.2, 0.4, 6)
        nearest = minimize(
            lambda x, raw=raw: ((x - raw) ** 2).sum(),
            np.full(6, 1 / 6),
            jac=lambda x, raw=raw: 2 * (x - raw),
            bounds=[(0, None)] * 6,
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
            method="SLSQP",
            options={"ftol": 1e-14},
        ).x
        assert norm_sub(raw) == pytest.approx(nearest, abs=1e-6)
    assert norm_sub(np.array([[0.5, 0.5], [0.0, 0.0]])).shape == (2, 2)


def people_at_hand(n=400):
    rng = np.random.default_rng(1)
    a = rng.choice(2, n, p=[0.3, 0.7])
    return {"a": a, "b": np.where(rng.random(n) < 0.6, a, rng.choice(2, n)), "c": rng.choice(3, n)}


@pytest.mark.parametrize("channel", one_of(2, ["krr", "subset"]))
def test_errors_for_the_people_at_hand_are_those_of_the_estimate_from_all_reports(channel):
    """Answers fixed, ballots and disguise drawn anew 300 times: stated variance over actual.

    The summed variance of four cells that sum to one has about 2 degrees of freedom or more a survey: its ratio to the
    truth varies by sqrt(2 / (2 x 299)) = 6%. .7 to 1.4 is missed by chance less than once in 1e6; the variance of a
    superpopulation would be 1.6 times as large at least.
    """
    people = people_at_hand()
    truth = np.bincount(2 * people["a"] + people["b"], minlength=4).reshape(2, 2) / 400
    design = dn.Views({"a": [0, 1], "b": [0, 1], "c": [0, 1, 2]}, 2, 4.0, channel=channel)
    columns = {name: column.tolist() for name, column in people.items()}
    found, stated, larger, held = [], [], [], 0
    for seed in range(300):
        reports = design.randomize(columns, source=dn.Seeded(seed))
        fixed = dn.estimate(reports, ["a", "b"], "norm_sub", population="fixed")
        assert "errors from all" in fixed.reason
        found.append(fixed.efficient.values)
        stated.append((fixed.std_error**2).sum())
        held += int(fixed.interval(0.95).contains(truth).sum())
        if seed < 20:
            usual = dn.estimate(reports, ["a", "b"], "norm_sub")
            assert usual.efficient.values == pytest.approx(fixed.efficient.values)
            larger.append((usual.std_error**2).sum())
    actual = np.var(found, axis=0, ddof=1).sum()
    assert 0.7 < np.mean(stated) / actual < 1.4
    assert np.mean(larger) / actual > 1.45
    assert 0.90 < held / 1200 < 0.985  # four cells of 300 surveys, 95%: seven standard errors below, and few above
    assert np.mean(found, axis=0) == pytest.approx(truth, abs=5.5 * np.sqrt(actual / 300))


def test_several_fixed_populations_are_known_by_the_reports_that_cover_the_table():
    columns = {name: column.tolist() for name, column in people_at_hand().items()}
    design = dn.Views({"a": [0, 1], "b": [0, 1], "c": [0, 1, 2]}, 2, 4.0)
    several = [design.randomize(columns, source=dn.Seeded(seed)) for seed in (1, 2)]
    fixed = dn.estimate(several, ["a", "b"], population="fixed")
    assert fixed.pooled is None
    assert "several populations" in fixed.reason
    covering = [o for each in several for o in each.tabulate(["a", "b"]) if set(o.domain) == {"a", "b"}]
    assert fixed.values == pytest.approx(dn.estimate(covering, ["a", "b"]).values, abs=1e-3)
    assert fixed.efficient.values == pytest.approx(fixed.unbiased.values)
