"""The planner: its errors are those that simulated surveys have, and it prefers what has the smallest."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chi2

import deniable as dn
from chequered import one_of, times
from deniable.designs.registry import DESIGNS
from deniable.errors import DesignError, InputError, UnknownAttributeError
from deniable.likelihood.efficient_estimate import efficient_from
from deniable.planning.expected_reports import expected_evidence
from deniable.planning.forecast import plan

DOMAIN = dn.Domain({"a": [0, 1], "b": [0, 1, 2], "c": [0, 1], "d": [0, 1]})
TRUTH = dn.Table(DOMAIN, np.random.default_rng(0).dirichlet(np.full(24, 3.0)))


@cache
def without_a_truth():
    return plan(DOMAIN, 1.0, [["a", "b"], ["c", "d"]], 10_000)


def test_every_candidate_spends_the_same_epsilon_and_the_best_comes_first():
    forecast = without_a_truth()
    names = [c.name for c in forecast.candidates]
    plain = [name for name in names if not name.endswith(", least variance")]
    proposing = {kind for kind in DESIGNS if "propose" in vars(DESIGNS[kind])}
    assert {name.partition(",")[0] for name in plain} == proposing - {
        "paired"
    }  # which speaks of one attribute at a time
    assert {c.kind for c in forecast.candidates} == proposing - {"paired"}
    assert {name.removesuffix(", least variance") for name in names} == set(plain)
    assert all(0.99 <= c.design.epsilon <= 1.0 for c in forecast.candidates)
    covering = [c for c in forecast.candidates if c.covers_all]
    errors = [forecast.error(c) for c in covering]
    assert errors == sorted(errors)
    assert forecast.recommended is forecast.candidates[0].design
    assert plain[-1] == "sampled"  # no pair is ever observed
    assert "Recommended" in str(forecast)


RUNS = times(80, 40)


@cache
def two_tables():
    return plan(DOMAIN, 2.0, [["a", "b"], ["c", "d"]], 20_000, truth=TRUTH)


@pytest.mark.parametrize(
    "name",
    one_of(2, ["independent", "joint", "views, one answer", "clusters", "joint, least variance", "views, all answers"]),
)
def test_forecast_errors_are_what_simulation_shows(name):
    forecast, source = two_tables(), dn.Seeded(0)
    one = next(c for c in forecast.candidates if c.name == name)
    repeated = [one.design.simulate(TRUTH, forecast.n, source=source) for _ in range(RUNS)]
    for i, table in enumerate(forecast.tables):
        truth = TRUTH.project(table)
        errors = [dn.estimate(tallies, table, "inversion").values - truth.values for tallies in repeated]
        measured = np.sqrt(np.mean(np.square(errors)))
        # A mean square over its expectation is within these in all but 2e-7 of all seeds even if all 4 - 6 cells move
        # as one (a chi-square of so many), and they do not.
        least, most = chi2.ppf([1e-7, 1 - 1e-7], RUNS) / RUNS
        assert least < (measured / one.std_error[i]) ** 2 < most


def test_single_questions_prefer_sampling_and_costs_are_those_of_the_channel():
    forecast = plan(DOMAIN, 1.0, ["a", "b", "c", "d"], 10_000)
    assert [c.name for c in forecast.candidates[:2]] == ["optimal", "sampled"]
    alone = plan({"a": [0, 1]}, 1.0, ["a"], 1000)
    assert [c.name for c in alone.candidates] == ["independent", "paired"]
    from deniable.planning.power import sample_cost

    cost = alone.candidates[0].cost[0]
    # The estimate's variance has n - 1 where the forecast of direct questions has n.
    assert cost == pytest.approx(sample_cost(dn.KRR(2, epsilon=1.0)), rel=2e-3)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0, 6.0])
@pytest.mark.parametrize("shares", [[0.98, 0.02], [0.5, 0.5]])
def test_pairs_are_proposed_at_the_true_epsilon_where_they_gain_nothing(shares, epsilon):
    truth = dn.Table(dn.Domain({"x": ["no", "yes"]}), shares)
    forecast = plan(truth.domain, epsilon, ["x"], 10_000, truth=truth)
    paired = forecast.candidates[-1]
    assert (paired.name, paired.is_correlated) == ("paired", True)
    assert 0.999 * epsilon < paired.design.epsilon <= epsilon
    assert paired.gain[0] == 1.0
    assert forecast.recommended is not paired.design
    assert "would gain nothing at this true epsilon" in str(forecast)
    assert "A dash: nobody would tell it; pairs are not compared with the best" in str(forecast)
    assert paired.design.plan()  # devices are served it


def test_no_coins_of_a_pair_are_better_at_the_same_true_epsilon():
    """Every correlation, by the formula of the variance; why stands at `Paired.propose`."""
    for epsilon in (0.1, 1.0, 3.0, 6.0):
        most = 1 / (1 + np.exp(-epsilon))
        d = np.linspace(0, most - 0.5, 50, endpoint=False)[1:, None]
        p, share = most - d, np.linspace(0, 1, 21)
        variances = (p * (1 - p) - d**2 * (1 - 2 * share) ** 2) / (2 * p - 1) ** 2
        assert (variances > most * (1 - most) / (2 * most - 1) ** 2).all()


@pytest.mark.parametrize("tables", [["x", "y"], [["x", "y"]]])
def test_pairs_that_could_not_be_served_are_not_proposed(tables):
    domain = {"x": ["no", "yes"], "y": ["no", "perhaps", "yes"]}
    assert "paired" not in [one.name for one in plan(domain, 2.0, tables, 1000).candidates]


def test_a_dash_is_said_to_be_what_it_is(monkeypatch):
    def refuse(*_arguments):
        raise InputError("too many cells")

    plain = plan({"x": [0, 1], "y": [0, 1, 2]}, 1.0, ["x", "y"], 1000, truth={"x": [3, 1]})
    assert plain.floor is not None
    assert "A dash: nobody would tell it." in str(plain)
    monkeypatch.setattr("deniable.planning.forecast.best_floor", refuse)
    unknown = plan(plain.domain, 1.0, ["x", "y"], 1000, truth={"x": [3, 1]})
    assert unknown.floor is None
    assert "A dash: nobody would tell it, or, under times the best, that the best is not known." in str(unknown)


def test_pairing_shows_its_gain_and_is_never_recommended():
    truth = dn.Table(dn.Domain({"x": ["no", "yes"]}), [0.98, 0.02])
    mine = dn.Paired.best(truth.domain, 1.0, 10_000, expected={"x": 0.02}, coin=5.0)
    forecast = plan(truth.domain, 1.0, ["x"], 10_000, truth=truth, also={"mine": mine})
    paired = next(one for one in forecast.candidates if one.name == "mine")
    assert paired.is_correlated
    assert paired.gain[0] == pytest.approx(0.684, abs=5e-4)
    # The error is smaller than the recommended one's, at an epsilon that is only claimed.
    assert paired.std_error[0] < forecast.candidates[0].std_error[0]
    assert 1.0 < paired.design.epsilon <= 5.0
    assert forecast.recommended is not mine
    assert "not epsilon-LDP" in str(forecast)
    assert "never recommended" in str(forecast)


def test_forecast_errors_of_pairs_are_what_simulation_shows():
    truth = dn.Table(dn.Domain({"x": ["no", "yes"], "y": [0, 1, 2]}), [[0.85, 0.05, 0.05], [0.02, 0.02, 0.01]])
    expected = {name: truth.project([name]).values.tolist() for name in ("x", "y")}
    mine = dn.Paired.best(truth.domain, 2.0, 4_000, expected=expected, coin=5.0)
    forecast = plan(truth.domain, 2.0, ["x", "y"], 4_000, truth=truth, also={"mine": mine})
    paired = forecast.candidates[-1]
    assert paired.name == "mine"
    for i, name in enumerate(("x", "y")):
        source = dn.Seeded(i)
        errors = [
            dn.estimate(paired.design.simulate(truth, 4_000, source=source), [name], "inversion").values
            - truth.project([name]).values
            for _ in range(100)
        ]
        # A mean square of 100 runs over one or two free cells: .42 to 1.93 times its expectation (a chi-square of 100).
        assert 0.65 < np.sqrt(np.mean(np.square(errors))) / paired.std_error[i] < 1.39


def test_a_plan_of_paired_respondents_alone_is_none(monkeypatch):
    monkeypatch.setattr("deniable.planning.forecast.DESIGNS", {"paired": DESIGNS["paired"]})
    with pytest.raises(DesignError, match="no kind of design"):
        plan({"x": [0, 1]}, 1.0, ["x"], 1000)


def test_other_sizes_and_epsilons():
    forecast = plan(DOMAIN, 1.0, [["a", "b"]], 10_000)
    assert forecast.at(n=40_000).candidates[0].std_error[0] == pytest.approx(
        forecast.candidates[0].std_error[0] / 2, rel=1e-3
    )
    assert forecast.at(epsilon=2.0).candidates[0].std_error[0] < forecast.candidates[0].std_error[0]


def test_a_design_that_tells_too_little_comes_behind():
    domain = DOMAIN.project(["a", "b", "c"])
    ours = dn.Joint(domain.project(["a", "b"]), 1.0)
    forecast = plan(domain, 1.0, [["a", "b"], ["c"]], 1000, also={"ours": ours})
    found = next(c for c in forecast.candidates if c.name == "ours")
    assert np.isnan(found.std_error[1])
    assert not found.covers_all
    assert (found.kind, found.options) == (None, None)


def test_forecasts_show_themselves():
    forecast = plan(DOMAIN.project(["a", "b"]), 1.0, [["a", "b"], ["b"]], 10_000)  # drawn at many epsilons
    assert forecast.to_frame().num_rows == 2 * len(forecast.candidates)
    assert "<table>" in forecast._repr_html_()
    assert repr(forecast).startswith("<Forecast of")
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    axes = forecast.plot()
    assert axes[0].get_xlabel().startswith("respondents")
    assert len(axes[0].lines) == sum(c.covers_all for c in forecast.candidates) < len(forecast.candidates)
    plt.close(axes[0].figure)


def test_bad_plans_are_refused_by_name():
    with pytest.raises(UnknownAttributeError, match="no attribute"):
        plan(DOMAIN, 1.0, [["a", "z"]], 1000)
    with pytest.raises(InputError, match="name the tables"):
        plan(DOMAIN, 1.0, [], 1000)
    with pytest.raises(InputError, match="at least 2"):
        plan(DOMAIN, 1.0, ["a"], 1)
    with pytest.raises(InputError, match="whole number"):
        plan(DOMAIN, 1.0, ["a"], 100.5)
    for epsilon in (-1.0, 0.0, np.inf, np.nan):
        with pytest.raises(InputError, match="positive and finite"):
            plan(DOMAIN, epsilon, ["a"], 1000)
    with pytest.raises(UnknownAttributeError, match="'ab'"):
        plan(DOMAIN, 1.0, "ab", 1000)


@pytest.mark.parametrize("channel", ["krr", "subset", "hadamard"])
def test_what_is_forecast_is_what_an_estimate_states(channel):
    domain = dn.Domain({name: range(3) for name in "abc"})
    truth = dn.Table(domain, np.random.default_rng(1).dirichlet(np.ones(27)))
    design, n = dn.Views(domain, 2, 1.0, channel=channel), 200_000
    evidence, assumed = expected_evidence(design, truth, n, ["a", "b"])
    codes = np.stack(
        np.unravel_index(np.random.default_rng(2).choice(27, n, p=truth.values.ravel()), (3, 3, 3)), axis=1
    )
    reports = dn.Reports.of_codes(design, *design.randomize_codes(codes, source=dn.Seeded(1)))
    stated = dn.estimate(reports, ["a", "b"])
    # Every share of reports is known to a few thousandths: the stated errors differ from the expected ones by less.
    assert np.sqrt(efficient_from(evidence, assumed.values).variances) == pytest.approx(stated.std_error, rel=0.02)
    assert (stated.std_error < np.sqrt(stated.dispersion.variances)).all()


def test_without_aims_every_share_and_every_pair_is_wanted():
    domain = dn.Domain({name: [0, 1, 2] for name in "abcd"})
    forecast = plan(domain, 1.0, n=5000)
    assert len(forecast.wanted) == 4 + 6
    assert list(forecast.summary().columns)[2:5] == ["every share", "every pair", "worst share"]
    best = forecast.candidates[0]
    assert best.worst_share == pytest.approx(max(best.std_error))  # at even shares all cells of a table are alike
    stated = plan(domain, 1.0, [*domain, *map(list, combinations(domain, 2))], 5000)
    np.testing.assert_equal(*([one.std_error for one in found.candidates] for found in (stated, forecast)))
    assert plan({"a": [0, 1]}, 1.0, n=100).names == ("a",)


def test_without_a_number_of_respondents_the_worst_share_is_within_five_points():
    forecast = plan({"a": [0, 1], "b": [0, 1, 2]}, 1.0)
    assert forecast.solved
    assert 1.96 * forecast.candidates[0].worst_share == pytest.approx(0.05, rel=1e-3)
    assert f"{forecast.n} respondents bring the worst share within 5 points" in str(forecast)
    assert not forecast.at(n=100).solved
    with pytest.raises(InputError, match="are no shares"):
        plan({"mood": [1, 2, 3]}, 1.0, "mean(mood)")


@pytest.mark.parametrize(
    "name", one_of(2, ["optimal", "tables, least variance", "independent", "joint", "views, one answer"])
)
def test_closed_forms_are_what_the_evidence_gives(name, monkeypatch):
    domain = dn.Domain({"a": [0, 1], "b": [0, 1, 2], "c": [0, 1, 2, 3]})
    wanted = ["a", ["a", "b"], dn.Wanted.table("c", "b", weight=2)]
    closed = {one.name: one for one in plan(domain, 1.5, wanted, 5000).candidates}[name]
    monkeypatch.setattr("deniable.planning.design_variances._ALIKE", ())
    long = {one.name: one for one in plan(domain, 1.5, wanted, 5000).candidates}[name]
    assert closed.std_error == pytest.approx(long.std_error, rel=2e-3)
    assert closed.reports == pytest.approx(long.reports, rel=1e-3)
    assert closed.cost == pytest.approx(long.cost, rel=4e-3)
    assert (closed.loss, closed.worst_share) == pytest.approx((long.loss, long.worst_share), rel=4e-3)


def test_an_error_of_a_mean_is_in_its_own_unit():
    domain = dn.Domain(
        {"mood": [10, 20, 30, 40], "age": ["0 to < 20", "20 to < 60", "60 to < 100", "prefer not to say"]}
    )
    wanted = ["mean(mood)", "mean(age)", "quantiles(mood; 0.5)", "cdf(mood)"]
    design = dn.Joint(domain, 2.0)
    forecast = plan(domain, 2.0, wanted, 20_000, also={"mine": design})
    mine = next(one for one in forecast.candidates if one.name == "mine")
    even, source = dn.Table(domain, np.full(domain.shape, 1 / 16)), dn.Seeded(3)
    repeated = [design.simulate(even, 20_000, source=source) for _ in range(60)]
    for place, found in enumerate(
        ([dn.mean(one, "mood").value for one in repeated], [dn.mean(one, "age").value for one in repeated])
    ):
        # A mean square of 60 is .33 to 2.3 times its expectation in all but 1e-7 of all seeds (a chi-square of 60).
        assert 0.57 < np.std(found) / mine.std_error[place] < 1.52
    told = forecast.summary().columns
    assert "%" not in str(told["mean(mood)"][0])
    assert "%" in str(told["cdf(mood)"][0])
    assert [one.unit(domain) for one in forecast.wanted] == [30.0, 70.0, 4.0, None]
