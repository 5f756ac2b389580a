"""Derived measures: against closed forms, dense covariances, statsmodels on undisguised tables, and simulation."""

import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from statsmodels.stats.contingency_tables import Table2x2

import deniable as dn
from chequered import one_of
from deniable.errors import InputError
from deniable.estimation.estimator import estimate
from deniable.inference.measures import association_measures as m
from deniable.inference.measures import two_by_two
from deniable.inference.measures.delta_method import Measure, derived, gradient
from deniable.inference.measures.phi_squared import null_spread
from deniable.inference.measures.two_by_two import fieller

JOINT = np.array([[0.30, 0.10, 0.05], [0.05, 0.20, 0.30]])


def table(channel, counts, method="mle", names=("a", "b")):
    return estimate(dn.Observation(list(names), channel, counts), list(names), method)


def kronecker(n=40_000, epsilon=2.0, pi=JOINT):
    channel = dn.Kronecker([dn.KRR(pi.shape[0], epsilon=epsilon), dn.KRR(pi.shape[1], epsilon=epsilon)])
    return table(channel, n * channel.apply(pi))


def plain(counts):
    """A disguise so weak (1e-8 of the answers) that formulas for undisguised tables hold to 6 digits."""
    r, c = np.shape(counts)
    return table(dn.Kronecker([dn.ForcedResponse([1e-8] * r), dn.ForcedResponse([1e-8] * c)]), counts)


def test_an_interval_is_looked_for_once_a_level():
    asked = []

    def ends(level):
        asked.append(level)
        return 0.1, 0.3

    found = Measure("m", 0.2, 0.05, "inverted test", ends=ends)
    assert [tuple(map(float, found.interval())), found.std_error > 0] == [(0.1, 0.3), True]
    assert "0.3" in str(found)
    found.interval(0.9)
    assert asked == [0.95, 0.9]


def test_complex_step_is_exact_and_falls_back_where_it_would_be_wrong():
    x = np.array([[0.3, 0.2], [0.1, 0.4]])
    slope = gradient(lambda t: np.exp(t[0, 0]) * np.sqrt(t[1, 1]) / t.sum(), x)
    assert slope[0, 0] == pytest.approx(np.exp(0.3) * np.sqrt(0.4) * (1 - 1), abs=1e-15)
    assert slope[1, 1] == pytest.approx(np.exp(0.3) * (0.5 / np.sqrt(0.4) - np.sqrt(0.4)), rel=1e-14)
    # abs drops the imaginary part, float() refuses it, max compares real parts only: differences must step in.
    assert gradient(lambda t: np.abs(t[0, 0] - 1) + t[0, 1], x)[0, 0] == pytest.approx(-1, abs=1e-6)
    assert gradient(lambda t: float(t[0, 0]) ** 2, x)[0, 0] == pytest.approx(0.6, abs=1e-6)
    assert gradient(lambda t: max(t[0, 0], t[1, 1]) ** 2, x)[1, 1] == pytest.approx(0.8, abs=1e-6)
    with pytest.raises(InputError, match="one number"):
        derived(kronecker(), lambda t: t[0])


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_delta_method_equals_the_dense_quadratic_form(epsilon):
    found = kronecker(epsilon=epsilon)
    covariance = found.dispersion.matrix()
    slope = -(np.log(JOINT) + 1).ravel()
    # A fitted table stops within a fraction of its standard errors of the best one.
    assert m.entropy(found).value == pytest.approx(-(JOINT * np.log(JOINT)).sum(), abs=0.1 * m.entropy(found).std_error)
    found = estimate(found.dispersion.samples[0].observation, ["a", "b"], "inversion")
    assert m.entropy(found).std_error == pytest.approx(np.sqrt(slope @ covariance @ slope), rel=1e-8)
    assert m.entropy(found, "bits").value == pytest.approx(m.entropy(found).value / np.log(2))
    assert m.entropy(found, "bits").name == "entropy (bits)"


def test_association_measures_of_a_known_table():
    found = kronecker(n=10**9, epsilon=3.0)
    rows, columns = JOINT.sum(1), JOINT.sum(0)
    product = np.outer(rows, columns)
    phi2 = ((JOINT - product) ** 2 / product).sum()
    mi = (JOINT * np.log(JOINT / product)).sum()
    n = found.n
    assert m.chi2(found).value / n == pytest.approx(phi2, rel=1e-6)
    assert m.mutual_information(found).value == pytest.approx(mi, rel=1e-6)
    assert m.mutual_information(found, "bits").value == pytest.approx(mi / np.log(2), rel=1e-6)
    assert m.g2(found).value / (2 * n) == pytest.approx(mi, rel=1e-6)
    assert m.cramers_v(found).value == pytest.approx(np.sqrt(phi2), rel=1e-6)
    a, b = np.arange(2), np.arange(3)
    r = (a @ JOINT @ b - rows @ a * (columns @ b)) / np.sqrt(
        (rows @ a**2 - (rows @ a) ** 2) * (columns @ b**2 - (columns @ b) ** 2)
    )
    assert m.correlation(found).value == pytest.approx(r, rel=1e-9)
    assert m.correlation(found, [None, (0, 1, 5)]).value != pytest.approx(r)
    assert two_by_two.difference(found, outcome=2).value == pytest.approx(0.30 / 0.55 - 0.05 / 0.45, rel=1e-9)
    assert two_by_two.difference(found, outcome=0).value == pytest.approx(0.05 / 0.55 - 0.30 / 0.45, rel=1e-9)
    assert two_by_two.risk_ratio(found, outcome=2).value == pytest.approx((0.30 / 0.55) / (0.05 / 0.45), rel=1e-9)
    assert two_by_two.odds_ratio(found, outcomes=(0, 2)).value == pytest.approx(0.30 * 0.30 / (0.05 * 0.05), rel=1e-4)


def test_without_a_disguise_the_errors_are_the_textbook_ones():
    counts = np.array([[40.0, 20.0], [15.0, 50.0]])
    found, theirs = plain(counts), Table2x2(counts, shift_zeros=False)
    n = counts.sum()
    # Wald on the log scale, n - 1 in place of n.
    delta = two_by_two.odds_ratio(found, method="delta")
    assert delta.value == pytest.approx(theirs.oddsratio, rel=1e-4)
    assert delta.std_error / delta.value == pytest.approx(theirs.log_oddsratio_se * np.sqrt(n / (n - 1)), rel=1e-4)
    assert delta.interval().low == pytest.approx(
        delta.value * np.exp(-1.959963984540054 * delta.std_error / delta.value)
    )
    phi = m.phi(found)
    assert phi.value == pytest.approx((40 * 50 - 20 * 15) / np.sqrt(60 * 65 * 55 * 70), rel=1e-5)
    # The null mean of chi2 without a disguise is (r - 1)(c - 1).
    assert m.null_mean(found) == pytest.approx(1, rel=1e-5)
    assert m.null_mean(plain(np.full((3, 4), 20.0))) == pytest.approx(6, rel=1e-5)


def test_profile_interval_of_the_odds_ratio_solves_its_definition():
    counts, channel = np.array([[400.0, 250.0], [200.0, 330.0]]), dn.KRR(4, epsilon=2.0)
    found = table(channel, counts)
    low, high = two_by_two.odds_ratio(found).interval()

    def loglik(x):
        x = np.exp(x - np.logaddexp.reduce(x))
        return (counts.ravel() * np.log(channel.apply(x))).sum()

    best = -minimize(lambda x: -loglik(x), np.zeros(4), tol=1e-12).fun
    for psi in (float(low), float(high)):
        # x = (a, b, c, a-dependent): three free log-weights and the fourth fixed by the odds ratio.
        at = -minimize(
            lambda y, s=psi: -loglik(np.append(y, np.log(s) + y[1] + y[2] - y[0])), np.zeros(3), tol=1e-12
        ).fun
        assert 2 * (best - at) == pytest.approx(3.841458820694124, abs=2e-3)
    swapped = two_by_two.odds_ratio(estimate(dn.Observation(["a", "b"], channel, counts), ["b", "a"], "mle"))
    assert list(swapped.interval()) == pytest.approx([low, high], rel=1e-3)


def test_profile_interval_exists_where_the_plug_in_does_not():
    counts = np.array([[500.0, 350.0], [340.0, 150.0]])  # below the noise floor: the unbiased cell (1, 1) is negative
    found = table(dn.KRR(4, epsilon=1.0), counts)
    assert found.unbiased.values.min() < 0
    odds = two_by_two.odds_ratio(found)
    low, high = odds.interval()
    assert low == 0
    assert np.isfinite(high)
    assert np.isnan(two_by_two.odds_ratio(found, method="delta").std_error)


def _unrelated(channel):
    """The channel, and the shares of its reports about two attributes that have nothing to do with each other."""
    pi = np.outer([0.6, 0.4], [0.5, 0.3, 0.2])
    return channel, channel.apply(pi.reshape(channel.input_shape)).ravel()


UNRELATED = {
    "kronecker": _unrelated(dn.Kronecker([dn.KRR(2, epsilon=1.0), dn.KRR(3, epsilon=1.0)])),
    "joint": _unrelated(dn.KRR(6, epsilon=1.5)),
}


@pytest.mark.parametrize("design", one_of(2, UNRELATED))
def test_null_mean_is_what_simulation_shows_and_is_subtracted(design):
    channel, lam = UNRELATED[design]
    n, runs, rng = 20_000, 200, np.random.default_rng(4)
    raw, fixed = [], []
    for counts in rng.multinomial(n, lam, size=runs):
        found = table(channel, counts.reshape(2, 3), "inversion")
        raw.append(n * m.phi_squared(found.unbiased.values))
        fixed.append(m.chi2(found).value)
    expected = m.null_mean(table(channel, n * lam.reshape(2, 3)))
    # Means of 200 runs: six standard errors.
    error = np.std(raw) / np.sqrt(runs)
    assert np.mean(raw) == pytest.approx(expected, abs=6 * error)
    assert np.mean(fixed) == pytest.approx(0, abs=6 * error)


def test_weak_association_is_warned_about():
    weak = kronecker(
        n=5000, epsilon=1.0, pi=np.outer([0.5, 0.5], [0.4, 0.3, 0.3]) + 1e-3 * np.array([[1, -1, 0], [-1, 1, 0]])
    )
    assert "noise alone" in m.chi2(weak).warnings[0]
    assert m.cramers_v(weak).value == 0
    assert m.cramers_v(weak).interval().low == 0
    assert m.chi2(kronecker()).warnings == ()
    assert "cells lie within 2 standard errors" in str(m.entropy(kronecker(n=300, epsilon=0.5)))


def test_bootstrap_agrees_with_the_delta_method_where_that_is_good():
    found = kronecker(n=20_000, epsilon=2.0)
    for measure in (m.entropy, m.correlation, LAST["difference"], m.cramers_v, m.mutual_information):
        delta, boot = measure(found), measure(found, method="bootstrap", source=dn.Seeded(2))
        # The spread of 999 replicates has a relative standard error of 2.2%; six of them are 13%.
        assert boot.std_error == pytest.approx(delta.std_error, rel=0.15)
        low, high = boot.interval()
        assert low < delta.value < high
        assert boot.method == "bootstrap"


# Of attributes with three categories, the last.
LAST = {
    "odds_ratio": partial(two_by_two.odds_ratio, outcomes=(0, 2)),
    "risk_ratio": partial(two_by_two.risk_ratio, outcome=2),
    "difference": partial(two_by_two.difference, outcome=2),
}


def with_silence(n=10**7):
    """An odds ratio of 3 among those who answer; the silent half are of the second group alone."""
    domain = dn.Domain({"work": ["employed", "self"], "evades": ["no", "yes", "prefer not to say"]})
    shares = np.array([[0.30, 0.10, 0.02], [0.20, 0.20, 0.18]])
    channel = dn.KRR(6, epsilon=3.0)
    return estimate(dn.Observation(domain, channel, n * channel.apply(shares.ravel())), list(domain))


@pytest.mark.parametrize("name", ["odds_ratio", "risk_ratio", "difference"])
def test_beyond_two_categories_those_that_are_compared_are_named(name):
    found, measure = with_silence(), getattr(two_by_two, name)
    wanted = "outcomes=('no', 'yes')" if name == "odds_ratio" else "outcome='yes'"
    with pytest.raises(InputError, match=f"'evades' has the categories 'no', 'yes', 'prefer.*{re.escape(wanted)}"):
        measure(found)
    with pytest.raises(InputError, match="'evades' has the categories 'yes', 'prefer not to say': say"):
        measure(estimate_of_two(["yes", "prefer not to say"]))


def estimate_of_two(categories):
    domain = dn.Domain({"work": ["employed", "self"], "evades": categories})
    return estimate(dn.Observation(domain, dn.KRR(4, epsilon=3.0), [30, 30, 20, 40]), list(domain))


def test_measures_of_chosen_cells_name_them():
    found = with_silence()
    odds = two_by_two.odds_ratio(found, outcomes=("no", "yes"))
    assert odds.value == pytest.approx(3.0, rel=1e-3)
    assert odds.name == "odds ratio (evades yes to no, work self to employed)"
    risk, gap = two_by_two.risk_ratio(found, outcome="yes"), two_by_two.difference(found, outcome="yes")
    assert risk.value == pytest.approx((0.2 / 0.58) / (0.1 / 0.42), rel=1e-3)
    assert risk.name == "risk ratio (evades yes, work self to employed)"
    assert gap.name == "difference of proportions (evades yes, work self to employed)"
    turned = two_by_two.odds_ratio(found, groups=("self", "employed"), outcomes=("no", "yes"), method="delta")
    assert turned.value == pytest.approx(1 / 3, rel=1e-3)
    assert turned.name == "odds ratio (evades yes to no, work employed to self)"
    assert turned.name in str(turned)
    assert two_by_two.odds_ratio(estimate_of_two(["no", "yes"])).name == odds.name


def test_bad_questions_are_refused_by_name():
    found = kronecker()
    one_way = table(dn.Warner(0.8), [30, 70], names=("a",))
    with pytest.raises(InputError, match="joint table of two"):
        m.chi2(one_way)
    with pytest.raises(InputError, match="two-by-two"):
        m.phi(found)
    with pytest.raises(InputError, match="nats"):
        m.entropy(found, "bytes")
    with pytest.raises(InputError, match="two different categories"):
        two_by_two.odds_ratio(found, outcomes=(0, 7))
    with pytest.raises(InputError, match="scores were given"):
        m.correlation(found, [(0, 1, 2), None])
    with pytest.raises(InputError, match="method must be"):
        two_by_two.odds_ratio(found, outcomes=(0, 2), method="magic")
    with pytest.raises(InputError, match="between 0 and 1"):
        m.entropy(found).interval(95)


def test_measures_show_themselves():
    shown = m.entropy(kronecker())
    assert str(shown).startswith("measure")
    assert "<table>" in shown._repr_html_()
    assert float(shown) == shown.value
    assert shown.to_frame().num_rows == 1


def test_measures_say_how_their_intervals_were_made():
    found = kronecker()
    for measure in (m.chi2, m.g2, m.mutual_information, m.cramers_v):
        shown = measure(found)
        assert shown.method == shown.interval().method == "inverted test"
        assert shown.ends is not None
        assert measure(found, method="bootstrap", replicates=19).method == "bootstrap"
    for measure in (m.entropy, m.correlation, LAST["difference"]):
        shown = measure(found)
        assert shown.method == "delta method"
        assert shown.ends is None
    assert LAST["odds_ratio"](found).method == "profile likelihood"
    assert LAST["risk_ratio"](found).method == LAST["risk_ratio"](found).interval().method == "Fieller's interval"


@pytest.mark.parametrize("design", one_of(2, list(UNRELATED)[::-1]))
def test_without_association_errors_are_at_least_what_simulation_shows(design):
    channel, lam = UNRELATED[design]
    n, runs, rng = 20_000, 120, np.random.default_rng(4)
    expected = table(channel, n * lam.reshape(2, 3))
    stated = null_spread(expected, m.null_mean(expected))
    found = [m.chi2(table(channel, counts.reshape(2, 3))) for counts in rng.multinomial(n, lam, size=runs)]
    # A weighted sum of two squares: its spread over 120 surveys varies by an eighth, so five of these.
    assert np.std([each.value for each in found]) == pytest.approx(stated, rel=0.65)
    assert min(each.std_error for each in found) > 0.8 * stated  # the first order alone is nothing where phi is
    assert null_spread(expected, 1.0) < np.sqrt(2) * m.null_mean(expected)


def test_where_noise_drowns_a_rare_category_the_error_says_so():
    rare = kronecker(n=500, epsilon=0.2, pi=np.outer([0.98, 0.02], [0.7, 0.25, 0.05]))
    for measure in (m.chi2(rare), m.g2(rare), m.mutual_information(rare)):
        assert abs(measure.value) < 6 * measure.std_error
    assert 0 < m.cramers_v(rare).std_error <= 1


# -- empty categories --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cells", [[[-0.05, -0.05], [0.5, 0.6]], [[0.03, -0.08], [0.5, 0.55]], [[1.0, 0.0], [0.0, 0.0]]], ids=str
)
@pytest.mark.parametrize("how", ["delta", "profile"])
def test_where_a_group_may_be_empty_intervals_hold_what_a_measure_can_be_and_say_what_to_do(cells, how):
    channel = dn.KRR(4, epsilon=1.0)
    found = table(channel, (500 * channel.apply(np.array(cells).ravel())).reshape(2, 2))
    odds, risk = two_by_two.odds_ratio(found, method=how), two_by_two.risk_ratio(found)
    for ratio in (odds, risk):
        assert list(ratio.interval()) == [0, np.inf]
        assert np.isnan(ratio.std_error)
        assert any("Merge" in told for told in ratio.warnings)
    for measure, ends in ((m.phi, (-1, 1)), (m.correlation, (-1, 1)), (two_by_two.difference, (-np.inf, np.inf))):
        low, high = measure(found).interval()
        assert ends[0] <= low <= -0.85 < 0.9 <= high <= ends[1]


def test_fiellers_interval_holds_the_ratios_that_its_test_does_not_reject():
    found = kronecker(n=3000, epsilon=2.0)
    x, covariance, z = found.efficient.values, found.covariance.matrix(), 1.959963984540054
    low, high = LAST["risk_ratio"](found).interval()

    def rejected(rho):
        """Of A - rho B, with a gradient by differences."""
        flat = x.ravel()

        def f(t):
            t = t.reshape(x.shape)
            return t[-1, -1] * t[0].sum() - rho * t[0, -1] * t[-1].sum()

        slope = np.array([(f(flat + 1e-6 * e) - f(flat - 1e-6 * e)) / 2e-6 for e in np.eye(len(flat))])
        return f(flat) ** 2 > z**2 * slope @ covariance @ slope

    assert 0 < low < high < np.inf
    assert [rejected(rho) for rho in (low * 0.999, low * 1.001, high * 0.999, high * 1.001)] == [1, 0, 0, 1]


@pytest.mark.parametrize(
    ("a", "b", "ends"),
    [
        (4.0, -3.0, (0, np.inf)),  # a share that is surely negative says nothing
        (-4.0, 3.0, (0, np.inf)),
        (1.0, 1.0, (0, np.inf)),
        (0.0, 4.0, (0, 0.562)),  # z / sqrt(16 - z^2)
        (4.0, 0.0, (1 / 0.562, np.inf)),
    ],
)
def test_fiellers_interval_where_parts_may_be_nothing(a, b, ends):
    assert fieller(a, b, np.eye(2), 1.96**2, least=0.0) == pytest.approx(ends, rel=1e-3)


@pytest.mark.parametrize(
    "listing", [("no", "yes"), ("yes", "no"), (False, True), (True, False), ("1", "0"), ("0", "1")]
)
def test_a_correlation_has_the_sign_of_yes_whichever_answer_is_listed_first(listing):
    yes = next(each for each in listing if each in ("yes", True, "1"))
    no = next(each for each in listing if each != yes)
    people = pd.DataFrame({"a": [yes, no] * 500, "b": [2, 0] * 400 + [0, 2] * 100})
    reports = dn.Joint({"a": list(listing), "b": [0, 1, 2]}, 8.0).randomize(people, source=dn.Seeded(2))
    assert dn.correlation(dn.estimate(reports, ["a", "b"])).value == pytest.approx(0.6, abs=0.1)
    assert dn.correlate(reports, "a", "b").value == pytest.approx(0.6, abs=0.1)


def test_measures_of_few_reports_say_that_they_are_rough():
    """In 54% to 88% of surveys they held the truth: 50 people through Views of six, n 200 and a group of 10%."""
    even = np.full((2, 2), 0.25)
    rare = np.array([[0.91, 0.01], [0.04, 0.04]])
    for pi, n, told in (
        (even, 12, "Only 12 reports about a and b together: error and interval are rough."),
        (rare, 60, "Only some 3 of 60 respondents are in the rarest category of a and b: error"),
        (even, 60, None),
        (rare, 600, None),
    ):
        found = table(dn.KRR(4, 4.0), np.round(n * dn.KRR(4, 4.0).apply(pi.ravel())).reshape(2, 2))
        for measure in (m.phi, two_by_two.risk_ratio, m.cramers_v, two_by_two.difference, m.entropy):
            said = [note for note in measure(found).warnings if "rough" in note]
            assert (len(said) == 1 and said[0].startswith(told)) if told else not said
        assert any("rough" in note for note in m.phi(found, method="bootstrap", replicates=9).warnings) == bool(told)
