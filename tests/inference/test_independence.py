"""Association tests: against scipy, a slow independent maximizer, and their own level by simulation."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom, chi2, chi2_contingency, false_discovery_control

import deniable as dn
from apart import by_block
from chequered import one_of
from deniable.errors import InputError, InvalidTestError, NotCoveredError
from deniable.inference.hypothesis_tests import likelihood_ratio as ratio
from deniable.inference.hypothesis_tests.all_pairs import adjusted, all_pairs
from deniable.inference.hypothesis_tests.goodness_of_fit import goodness_of_fit, homogeneity
from deniable.inference.hypothesis_tests.independence import independence
from deniable.inference.hypothesis_tests.likelihood_ratio import independence_ratio
from deniable.inference.hypothesis_tests.pearson_and_wald import chi_square, wald_statistics
from deniable.inference.monte_carlo import p_value
from deniable.likelihood.em import fit, maximum_likelihood, water_fill
from deniable.likelihood.evidence import of_counts
from deniable.likelihood.hypothesis_models import Independence, OddsRatio, Saturated

PI = np.array([[0.30, 0.10, 0.05, 0.05], [0.02, 0.20, 0.08, 0.05], [0.05, 0.05, 0.03, 0.02]])
DOMAIN = dn.Domain({"a": [0, 1, 2], "b": ["w", "x", "y", "z"]})


def joint(n=5000, epsilon=1.0, pi=PI, seed=1, names=("a", "b")):
    channel = dn.KRR(pi.size, epsilon=epsilon)
    counts = np.random.default_rng(seed).multinomial(n, channel.apply(pi.ravel()))
    return dn.Observation(list(names), channel, counts.reshape(pi.shape))


def plausible(found):
    """Whether a statistic could come from a true H0: it exceeds this chi-square bound with probability 1e-7.

    (With cells near zero the likelihood ratio tends to be smaller than its chi-square.)
    """
    return found.statistic < chi2.isf(1e-7, found.df)


def softmax(x):
    return np.exp(x - np.logaddexp.reduce(x))


# -- the batched fits ------------------------------------------------------------------------------------------------


def test_water_filling_equals_em_and_stays_in_the_simplex():
    rng = np.random.default_rng(0)
    channel = dn.KRR(12, epsilon=1.0)
    counts = rng.multinomial(800, channel.apply(PI.ravel()), size=50).T.astype(float)
    observation = dn.Observation(["a", "b"], channel, counts[:, 0].reshape(3, 4))
    evidence = of_counts([observation])
    exact = fit(evidence, counts=counts).pi
    assert exact.min() >= 0
    assert exact.sum(axis=(0, 1)) == pytest.approx(np.ones(50))
    assert (exact == 0).any()
    assert Saturated().gap(exact, evidence.evaluate(exact, counts)[1]) == pytest.approx(np.zeros(50), abs=1e-8)
    for i in range(5):
        slow = maximum_likelihood(
            of_counts([dn.Observation(["a", "b"], channel, counts[:, i].reshape(3, 4))]), gap=1e-7
        )
        assert fit(evidence, counts=counts).loglik[i] == pytest.approx(slow.loglik, abs=1e-6)
    # A cell without a floor and without counts stays empty.
    assert water_fill(np.array([[5.0], [0.0], [5.0]]), np.array([0.1, 0.0, 0.1])).ravel().tolist() == [0.5, 0.0, 0.5]


def test_many_observations_are_fitted_like_one_after_the_other():
    rng = np.random.default_rng(3)
    channels = [dn.Mixture(0.5, softmax(rng.normal(size=12))) for _ in range(3)]
    blocks = [dn.Observation(["a", "b"], c, rng.multinomial(900, c.apply(PI.ravel())).reshape(3, 4)) for c in channels]
    margin = dn.Observation(["b"], dn.KRR(4, epsilon=1.0), [200, 300, 250, 250])
    observations = [*blocks, margin]
    evidence = of_counts(observations)
    slow = maximum_likelihood(evidence, gap=1e-7)
    fast = fit(evidence, gap=1e-6)
    assert fast.loglik[0] == pytest.approx(slow.loglik, abs=2e-6)
    assert fast.pi[..., 0] == pytest.approx(slow.table.values, abs=1e-3)


@pytest.mark.parametrize(
    "channel", [dn.KRR(6, epsilon=1.5), dn.Kronecker([dn.KRR(2, epsilon=1.0), dn.KRR(3, epsilon=1.0)])]
)
def test_the_independence_fit_equals_a_general_maximizer(channel):
    counts = np.array([[310.0, 220.0, 180.0], [150.0, 260.0, 130.0]])
    evidence = of_counts([dn.Observation(["a", "b"], channel, counts)])

    def loss(x):
        table = np.outer(softmax(np.append(x[:1], 0)), softmax(np.append(x[1:], 0)))
        return -(counts * np.log(channel.apply(table.reshape(channel.input_shape)).reshape(2, 3))).sum()

    best = min(minimize(loss, start, tol=1e-12).fun for start in (np.zeros(3), np.array([1.0, -1.0, 0.5])))
    found = fit(evidence, Independence(0, 1), gap=1e-6)
    assert found.loglik[0] == pytest.approx(-best, abs=1e-6)
    table = found.pi[..., 0]
    assert table == pytest.approx(np.outer(table.sum(1), table.sum(0)), abs=1e-12)


def test_models_return_tables_of_their_kind():
    counts = np.random.default_rng(1).gamma(1.0, size=(2, 3, 4, 5))
    conditional = Independence(0, 2, (1,)).maximize(counts)
    for b in range(3):
        inside = conditional[:, b, :, 0]
        assert inside * inside.sum() == pytest.approx(np.outer(inside.sum(1), inside.sum(0)))
    assert conditional.sum(axis=(0, 2)) == pytest.approx(counts.sum(axis=(0, 2)) / counts.sum(axis=(0, 1, 2)))
    free = Independence(0, 1).maximize(counts)  # the third axis stays free within each cell of the first two
    ab = free.sum(axis=2)
    assert ab == pytest.approx(ab.sum(axis=1, keepdims=True) * ab.sum(axis=0, keepdims=True))
    psi = np.array([0.2, 1.0, 5.0])
    odds = OddsRatio((0, 1), (0, 2), psi).maximize(np.random.default_rng(2).gamma(1.0, size=(2, 3, 3)))
    assert odds[0, 0] * odds[1, 2] / (odds[0, 2] * odds[1, 0]) == pytest.approx(psi)
    assert Saturated().maximize(counts).sum(axis=(0, 1, 2)) == pytest.approx(np.ones(5))


def test_bootstrap_p_value_counts_ties_and_the_observation_itself():
    assert p_value(3.0, np.array([1.0, 2.0, 3.0, 4.0])) == 3 / 5


# -- the tests -------------------------------------------------------------------------------------------------------


def test_auto_picks_the_test_that_holds():
    own = dn.Kronecker([dn.KRR(3, epsilon=1.0), dn.KRR(4, epsilon=1.0)])
    observation = dn.Observation(
        ["a", "b"], own, np.random.default_rng(2).multinomial(4000, own.apply(PI).ravel()).reshape(3, 4)
    )
    found = independence(observation, "a", "b")
    theirs = chi2_contingency(observation.counts, correction=False)
    assert found.method == "Pearson on the disguised table"
    assert (found.statistic, found.pvalue, found.df) == pytest.approx((theirs.statistic, theirs.pvalue, theirs.dof))
    together = independence(joint(), "a", "b", replicates=99, source=dn.Seeded(1))
    assert together.method.startswith("likelihood ratio")
    assert 1 / 100 <= together.pvalue <= 1


def test_likelihood_ratio_is_twice_the_gain_and_its_p_value_is_reproducible():
    observation = joint(pi=np.outer(PI.sum(1), PI.sum(0)), n=20_000)
    evidence = of_counts([observation])
    statistic = independence_ratio(evidence, "a", "b").statistic(evidence.counts, sharp=True).value
    expected = 2 * (fit(evidence).loglik - fit(evidence, Independence(0, 1), gap=1e-8).loglik)
    assert statistic == pytest.approx(expected, abs=5e-6)
    runs = [independence(observation, "a", "b", replicates=199, source=dn.Seeded(5)).pvalue for _ in range(2)]
    assert runs[0] == runs[1]
    # Far from the boundary the statistic is a chi-square with 6 degrees of freedom: the two p-values agree to six
    # standard errors of 99 replicates (.3). More are not drawn where nothing is near any limit.
    p = independence(observation, "a", "b", replicates=1999, source=dn.Seeded(6)).pvalue
    assert p == pytest.approx(chi2.sf(statistic[0], 6), abs=0.3)


@pytest.mark.parametrize("kind", ["joint", "own"])
def test_size_under_independence_and_power_against_dependence(kind):
    pi0 = np.outer([0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1])
    dependent = pi0 + 0.03 * np.outer([1, -1, 0], [1, 0, -1, 0])
    rng = np.random.default_rng(7)
    runs, n = 400, 20_000
    channel = (
        dn.KRR(12, epsilon=2.0) if kind == "joint" else dn.Kronecker([dn.KRR(3, epsilon=1.5), dn.KRR(4, epsilon=1.5)])
    )
    rejected = []
    for pi in (pi0, dependent):
        counts = rng.multinomial(n, channel.apply(pi.reshape(channel.input_shape)).ravel(), size=runs)
        observation = dn.Observation(["a", "b"], channel, counts[0].reshape(3, 4))
        if kind == "joint":
            ratio = independence_ratio(of_counts([observation]), "a", "b")
            t, reference = ratio.warp_speed(counts.T.astype(float), rng)
            rejected.append((t > np.quantile(reference, 0.95)).mean())
        else:
            tests = [
                independence(dn.Observation(["a", "b"], channel, c.reshape(3, 4)), "a", "b").pvalue for c in counts
            ]
            rejected.append((np.array(tests) < 0.05).mean())
    # Size: binomial(400, .05) has sd .0109, and warp speed doubles the variance: six sd.
    assert rejected[0] < 0.05 + 6 * 0.0154
    assert rejected[1] > 0.5


def test_wald_takes_the_larger_p_value_and_warns_when_reports_are_few():
    observation = joint(n=20_000)
    found = dn.estimate(observation, ["a", "b"], "inversion")
    w1, w0, df = wald_statistics(found.dispersion)
    quick = independence(observation, "a", "b", "wald")
    assert quick.statistic == pytest.approx(min(w1, w0))
    assert df == 6
    assert "below 20 a cell" in str(independence(joint(n=100), "a", "b", "wald"))
    # The quadratic form does not depend on which row and column are left out.
    turned = dn.Observation(["a", "b"], observation.channel, observation.counts.reshape(3, 4)[::-1, ::-1])
    assert independence(turned, "a", "b", "wald").statistic == pytest.approx(quick.statistic)
    # A direct check of the covariance: simulate d and compare.
    plain = joint(n=200_000, pi=np.outer(PI.sum(1), PI.sum(0)), seed=3)
    w1, w0, _ = wald_statistics(dn.estimate(plain, ["a", "b"], "inversion").dispersion)
    assert w1 == pytest.approx(w0, rel=0.1)


def test_wald_holds_its_level():
    pi, channel, runs, n = np.outer([0.6, 0.4], [0.5, 0.3, 0.2]), dn.KRR(6, epsilon=1.0), 300, 10_000
    counts = np.random.default_rng(9).multinomial(n, channel.apply(pi.ravel()), size=runs)
    p = [independence(dn.Observation(["a", "b"], channel, c.reshape(2, 3)), "a", "b", "wald").pvalue for c in counts]
    rejected = int((np.array(p) < 0.05).sum())
    assert binom.cdf(0, runs, 0.05) + binom.sf(38, runs, 0.05) < 1e-6
    assert 0 < rejected <= 38


@pytest.mark.parametrize("method", ["pearson_reconstructed", "pearson_raw", "pearson"])
def test_invalid_tests_are_refused_with_the_alternative(method):
    with pytest.raises(InvalidTestError, match=r"Pearson.*(auto|lrt)") as caught:
        independence(joint(), "a", "b", method)
    assert caught.value.alternative in ("auto", "lrt")


def test_designs_that_observe_no_pair_or_pair_respondents_are_refused():
    sampled = dn.Sampled(DOMAIN, epsilon=1.0).simulate(dn.Table(DOMAIN, PI), 1000, source=dn.Seeded(1))
    with pytest.raises(NotCoveredError, match="Sampled"):
        independence(sampled, "a", "b")

    class Coupled:
        correlated = "has correlated reports"
        domain = DOMAIN

    reports = dn.Independent(DOMAIN, 1.0).simulate(dn.Table(DOMAIN, PI), 1000, source=dn.Seeded(1))
    vars(reports)["design"] = Coupled()
    with pytest.raises(InvalidTestError, match="correlated"):
        independence(reports, "a", "b")
    with pytest.raises(InvalidTestError, match="correlated"):
        homogeneity({"x": reports, "y": reports}, "a")


def test_designs_that_do_are_tested():
    table = dn.Table(DOMAIN, PI)
    for design in (dn.Joint(DOMAIN, 2.0), dn.Views(DOMAIN, k=2, epsilon=2.0), dn.Independent(DOMAIN, 6.0)):
        tallies = design.simulate(table, 20_000, source=dn.Seeded(2))
        assert independence(tallies, "a", "b", replicates=199, source=dn.Seeded(1)).pvalue <= 0.005
    wide = dn.Domain({"a": [0, 1], "b": [0, 1], "c": [0, 1]})
    across = dn.Clusters(wide, [["a", "c"], ["b"]], epsilon=4.0).simulate(
        dn.Table(wide, np.full(8, 0.125)), 5000, source=dn.Seeded(3)
    )
    assert independence(across, "a", "b").method == "Pearson on the disguised table"
    assert independence(across, "a", "c", replicates=99).method.startswith("likelihood ratio")


def test_a_channel_that_does_not_collapse_is_tested_over_the_larger_table():
    rng = np.random.default_rng(4)
    mixing = 0.7 * np.eye(8) + 0.3 * rng.dirichlet(np.ones(8), size=8).T
    channel = dn.Dense(mixing / mixing.sum(axis=0))
    wide = dn.Domain({"a": [0, 1], "b": [0, 1], "c": [0, 1]})
    pi = np.einsum("a,b,abc->abc", [0.6, 0.4], [0.7, 0.3], rng.dirichlet([2, 2], size=(2, 2)))
    counts = rng.multinomial(20_000, channel.apply(pi.ravel()))
    found = independence(dn.Observation(wide, channel, counts), "a", "b", replicates=199, source=dn.Seeded(1))
    assert plausible(found)
    dependent = np.einsum("ab,abc->abc", [[0.45, 0.15], [0.1, 0.3]], rng.dirichlet([2, 2], size=(2, 2)))
    counts = rng.multinomial(20_000, channel.apply(dependent.ravel()))
    assert independence(dn.Observation(wide, channel, counts), "a", "b", replicates=199).pvalue == 1 / 200


def test_conditional_independence_tells_confounding_from_dependence():
    wide = dn.Domain({"a": [0, 1], "b": [0, 1], "c": [0, 1]})
    given_c = np.array([[0.9, 0.1], [0.2, 0.8]])  # Pr(a | c) and Pr(b | c)
    pi = np.einsum("c,ca,cb->abc", [0.5, 0.5], given_c, given_c)
    for design in (dn.Joint(wide, 3.0), dn.Independent(wide, 9.0)):
        tallies = design.simulate(dn.Table(wide, pi), 10_000, source=dn.Seeded(8))
        assert independence(tallies, "a", "b", replicates=199, source=dn.Seeded(1)).pvalue <= 0.005
        conditional = independence(tallies, "a", "b", given="c", replicates=199, source=dn.Seeded(1))
        assert plausible(conditional)
        assert conditional.df == 2
    with pytest.raises(InvalidTestError, match="sorted by a disguised report"):
        independence(tallies, "a", "b", "pearson", given="c")


def test_conditional_on_a_public_column_adds_groups_up():
    import pandas as pd

    rng = np.random.default_rng(2)
    n = 4000
    group = rng.integers(0, 2, n)
    frame = pd.DataFrame(
        {
            "a": (rng.random(n) < np.where(group, 0.8, 0.2)).astype(int),
            "b": (rng.random(n) < np.where(group, 0.7, 0.3)).astype(int),
            "region": np.where(group, "north", "south"),
        }
    )
    pair = dn.Domain({"a": [0, 1], "b": [0, 1]})
    own = dn.Independent(pair, 6.0).randomize(frame, keep=["region"], source=dn.Seeded(1))
    found = independence(own, "a", "b", given="region")
    parts = [independence(part, "a", "b") for _, part in own.groups("region")]
    assert found.statistic == pytest.approx(sum(part.statistic for part in parts))
    assert found.df == 2
    assert independence(own, "a", "b").pvalue < 1e-6
    assert plausible(found)
    together = dn.Joint(pair, 3.0).randomize(frame, keep=["region"], source=dn.Seeded(1))
    assert plausible(independence(together, "a", "b", given="region", replicates=199, source=dn.Seeded(1)))


def test_goodness_of_fit_is_exact_and_finds_a_wrong_distribution():
    observation = joint(n=20_000, epsilon=1.0)
    fits = goodness_of_fit(observation, ["a", "b"], PI, replicates=199, source=dn.Seeded(1))
    assert plausible(fits)
    assert fits.df == 11
    wrong = np.outer(PI.sum(1), PI.sum(0))
    assert goodness_of_fit(observation, ["a", "b"], wrong, replicates=199).pvalue == 1 / 200
    quick = goodness_of_fit(observation, ["a", "b"], PI, "pearson")
    lam = observation.channel.apply(PI.ravel()) * 20_000
    counts = observation.counts.ravel()
    assert quick.statistic == pytest.approx(((counts - lam) ** 2 / lam).sum())
    margin = dn.Observation(dn.Domain({"b": ["w", "x", "y", "z"]}), dn.KRR(4, epsilon=1.0), [400, 300, 200, 100])
    by_name = goodness_of_fit(margin, "b", {"w": 0.5, "x": 0.25, "y": 0.25}, "pearson")
    assert by_name.statistic == goodness_of_fit(margin, "b", [0.5, 0.25, 0.25, 0.0], "pearson").statistic
    with pytest.raises(InputError, match="sum to 1"):
        goodness_of_fit(margin, "b", [0.5, 0.5, 0.5, 0.0])
    device = dn.Observation("x", dn.Mangat(0.7), [50, 50])
    assert goodness_of_fit(device, "x", [0.0, 1.0]).pvalue == 0  # carriers never say no


def test_size_of_the_exact_goodness_of_fit():
    channel, pi = dn.KRR(3, epsilon=0.5), np.array([0.9, 0.09, 0.01])
    counts = np.random.default_rng(6).multinomial(300, channel.apply(pi), size=150)
    p = [
        goodness_of_fit(dn.Observation("x", channel, c), "x", pi, replicates=99, source=dn.Seeded(i)).pvalue
        for i, c in enumerate(counts)
    ]
    # At most .05, so at most binomial(150, .05).
    assert binom.sf(23, 150, 0.05) < 1e-6
    assert (np.array(p) <= 0.05).sum() <= 23


def test_homogeneity_across_groups():
    channel = dn.KRR(3, epsilon=1.0)
    rng = np.random.default_rng(5)
    same = {g: dn.Observation("x", channel, rng.multinomial(3000, channel.apply([0.5, 0.3, 0.2]))) for g in "abc"}
    found = homogeneity(same, "x")
    theirs = chi2_contingency(np.stack([o.counts for o in same.values()]))
    assert (found.statistic, found.pvalue, found.df) == pytest.approx((theirs.statistic, theirs.pvalue, theirs.dof))
    other = dn.KRR(3, epsilon=2.0)
    mixed = {**same, "d": dn.Observation("x", other, rng.multinomial(3000, other.apply([0.1, 0.3, 0.6])))}
    assert homogeneity(mixed, "x", replicates=199).pvalue == 1 / 200
    fine = {**same, "d": dn.Observation("x", other, rng.multinomial(3000, other.apply([0.5, 0.3, 0.2])))}
    assert plausible(homogeneity(fine, "x", replicates=199, source=dn.Seeded(1)))
    with pytest.raises(InputError, match="different channels"):
        homogeneity(mixed, "x", method="pearson")
    with pytest.raises(InputError, match="by="):
        homogeneity(dn.Reports(_frame(), dn.Independent({"x": [0, 1]}, 1.0)), "x")
    with pytest.raises(InputError, match="compared with each other"):
        homogeneity({"only": same["a"]}, "x")


def _frame():
    import pyarrow as pa

    return pa.table({"dn_answer_x": [0, 1]})


def test_all_pairs_with_multiplicity_control():
    wide = dn.Domain({"a": [0, 1], "b": [0, 1], "c": [0, 1], "d": [0, 1]})
    pi = np.full((2, 2, 2, 2), 1 / 16)
    pi += 0.03 * np.einsum("a,b,c,d->abcd", [1, -1], [1, -1], [1, 1], [1, 1])
    tallies = dn.Independent(wide, 12.0).simulate(dn.Table(wide, pi), 20_000, source=dn.Seeded(4))
    found = all_pairs(tallies)
    assert len(found.pairs) == 6
    assert found["b", "a"].pvalue < 1e-6
    assert found.v[0] == pytest.approx(0.48, abs=0.05)
    assert found.to_frame().num_rows == 6
    assert "***" in str(found)
    assert "<table>" in found._repr_html_()
    assert repr(found).startswith("<Pairs: 6 tests")
    views = dn.Sampled(wide, 1.0).simulate(dn.Table(wide, pi), 1000, source=dn.Seeded(4))
    with pytest.raises(NotCoveredError, match="no two attributes"):
        all_pairs(views)
    with pytest.raises(InputError, match="name the attributes"):
        all_pairs(joint())


def test_pairs_that_a_design_was_not_made_for_are_refused_with_the_reason():
    domain, even = dn.Domain({name: ["no", "yes"] for name in "abc"}), np.full((2, 2, 2), 1 / 8)

    def reports(*wanted):
        return dn.Optimal(domain, list(wanted), 1.0).simulate(dn.Table(domain, even), 2000, source=dn.Seeded(1))

    some = reports(("a", "b"), ("b", "c"))
    made_for_others = "were asked together.*tell other sums.*Name this table among what is wanted"
    with pytest.raises(NotCoveredError, match=f"'a', 'c' {made_for_others}"):
        independence(some, "a", "c")
    found = all_pairs(some, replicates=19)
    assert (found.pairs, found.skipped) == ((("a", "b"), ("b", "c")), (("a", "c"),))
    assert "Left out: 1 pair that reports do not tell about" in str(found)
    with pytest.raises(NotCoveredError, match=made_for_others):
        all_pairs(reports("a", "b", "c"))


def test_a_pair_among_many_is_tested_as_it_is_alone(monkeypatch):
    rng, common = np.random.default_rng(5), np.random.default_rng(6).integers(0, 2, 2000)
    shared = {"a": 0.6, "b": 0.6, "c": 0.6, "d": 0.0, "e": 0.0}
    people = {name: np.where(rng.random(2000) < s, common, rng.integers(0, 2, 2000)) for name, s in shared.items()}
    design = dn.Views({name: [0, 1] for name in people}, 2, 2.0)
    reports = design.randomize({name: column.tolist() for name, column in people.items()}, source=dn.Seeded(3))
    kinds = []
    together = ratio._together
    monkeypatch.setattr(ratio, "_together", lambda alike, *more: kinds.append(len(alike)) or together(alike, *more))
    pairs = all_pairs(reports, replicates=599)
    assert max(kinds) > 1
    assert sum(kinds) == len(pairs.pairs) == 10
    # Some need all replicates, some do not; each has its own stream.
    assert {len(test.simulated) for test in pairs.tests} == {99, 599}
    for pair in pairs.pairs:
        alone = independence(reports, *pair, replicates=599)
        assert alone.pvalue == pairs[pair].pvalue
        assert alone.statistic == pytest.approx(pairs[pair].statistic, abs=1e-8)
        assert pairs[pair].simulated == pytest.approx(alone.simulated, abs=1e-8)
        assert pairs[pair].notes == alone.notes


@pytest.mark.parametrize("channel", one_of(4, ["krr", "unary", "hadamard", "subset"]))
def test_pairs_of_other_sizes_are_tested_as_they_are_alone(channel):
    """Groups of reports come in another order for every pair, and are sorted before pairs are fitted together."""
    rng, sizes = np.random.default_rng(8), {"a": 2, "b": 3, "c": 2, "d": 3}
    people = {name: rng.integers(0, size, 600).tolist() for name, size in sizes.items()}
    design = dn.Views({name: list(range(size)) for name, size in sizes.items()}, 2, 2.0, channel=channel)
    reports = design.randomize(people, source=dn.Seeded(4))
    pairs = all_pairs(reports, replicates=99)
    for pair in pairs.pairs:
        alone = independence(reports, *pair, replicates=99)
        assert alone.pvalue == pairs[pair].pvalue
        assert alone.statistic == pytest.approx(pairs[pair].statistic, abs=1e-8)
        assert pairs[pair].simulated == pytest.approx(alone.simulated, abs=2e-3)


def test_heat_map_of_all_pairs():
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    wide = dn.Domain({"a": [0, 1], "b": [0, 1], "c": [0, 1]})
    tallies = dn.Independent(wide, 6.0).simulate(dn.Table(wide, np.full(8, 0.125)), 2000, source=dn.Seeded(4))
    axes = all_pairs(tallies).plot()
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b", "c"]
    assert len(axes.texts) == 6
    plt.close(axes.figure)


def test_adjusted_p_values():
    p = np.random.default_rng(1).random(20) ** 3
    assert adjusted(p, "bh") == pytest.approx(false_discovery_control(p))
    from statsmodels.stats.multitest import multipletests

    assert adjusted(p, "holm") == pytest.approx(multipletests(p, method="holm")[1])
    assert adjusted(p, "none") == pytest.approx(p)
    with pytest.raises(InputError, match="multiplicity"):
        adjusted(p, "magic")


def test_central_comparators_are_marked_and_take_true_counts():
    counts = dn.Table(DOMAIN, 10_000 * PI)
    for method in ("mcindep", "laplace"):
        found = independence(counts, "a", "b", method, epsilon=1.0, source=dn.Seeded(1), replicates=199)
        assert "entral" in found.method
        assert found.pvalue < 0.01
        with pytest.raises(InputError, match="trusted holder"):
            independence(joint(), "a", "b", method, epsilon=1.0)
        with pytest.raises(InputError, match="epsilon="):
            independence(counts, "a", "b", method)
    with pytest.raises(InputError, match="central comparators"):
        independence(counts, "a", "b")
    sparse = dn.Table(DOMAIN, np.where(PI > 0.1, 100, 0.0))
    assert independence(sparse, "a", "b", "mcindep", epsilon=0.1, source=dn.Seeded(1)).pvalue == 1
    rng = np.random.default_rng(3)
    p = [
        independence(
            dn.Table(DOMAIN, rng.multinomial(5000, np.outer(PI.sum(1), PI.sum(0)).ravel())),
            *("a", "b", "mcindep"),
            epsilon=0.5,
            replicates=99,
            source=dn.Seeded(i),
        ).pvalue
        for i in range(150)
    ]
    assert binom.sf(23, 150, 0.05) < 1e-6
    assert (np.array(p) <= 0.05).sum() <= 23


def test_unknown_questions_are_refused_by_name():
    with pytest.raises(InputError, match="there is no test"):
        independence(joint(), "a", "b", "magic")
    with pytest.raises(InputError, match="different attributes"):
        independence(joint(), "a", "a")
    assert chi_square(np.array([[3.0, 0.0, 4.0], [5.0, 0.0, 1.0]]))[1] == 1
    assert independence(joint(), "a", "b", "two_step", replicates=199, source=dn.Seeded(1)).pvalue <= 1


def test_likelihood_is_summed_over_blocks_with_their_own_fakes():
    import pyarrow as pa

    rng = np.random.default_rng(0)
    a, c = rng.integers(0, 2, (2, 4000))
    frame = pa.table({"a": a, "b": a + rng.integers(0, 2, 4000), "c": c})
    blocks = dn.Blocks(dn.Domain({"a": [0, 1], "b": [0, 1, 2], "c": [0, 1]}), k=2, epsilon=3.0)
    reports = blocks.randomize(frame, source=dn.Seeded(1))
    found = independence(reports, "a", "b", replicates=199, source=dn.Seeded(1))
    assert found.pvalue == 1 / 200
    # The same statistic from one observation a block: log-likelihoods add up.
    pairs = [o for pair in ("ab", "ac", "bc") for o in by_block(reports, list(pair))]
    apart = independence(pairs, "a", "b", replicates=9, source=dn.Seeded(1))
    assert found.statistic == pytest.approx(apart.statistic, abs=1e-5)
