"""Weighted estimates of every design: against the unweighted ones, textbook formulas on open answers, a jackknife."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import deniable as dn
from chequered import one_of
from deniable.designs.design import Design
from deniable.designs.question import Question
from deniable.errors import InputError, MissingValueError, TooFewReportsError, UnknownAttributeError
from deniable.sampling.read_sampling import sampling_of
from every_design import every_design

DOMAIN = dn.Domain({"a": range(2), "b": range(3), "c": range(2)})
N, CLUSTERS = 480, 24


DESIGNS = {
    **every_design(DOMAIN, N, block_size=120),
    "unary": dn.Joint(DOMAIN, 3.0, channel="unary"),  # not a third of the respondents a pair: too few for a jackknife
    "block design": Design(
        DOMAIN, [Question(("a", "c"), dn.BlockDesign(4, 2.0)), Question(("b",), dn.KRR(3, 2.0))], [[0, 1]]
    ),
}
del DESIGNS["paired"], DESIGNS["paired_items"]  # their respondents are not drawn one by one
del DESIGNS["blocks, all of 4"], DESIGNS["blocks, all of 5"]  # a pair is asked of hardly a hundred: too few likewise


def people(seed=1):
    """Clusters of twenty in four strata; clusters and weights go together with the answers."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(CLUSTERS), N // CLUSTERS)
    stratum, level = cluster % 4, rng.beta(2, 3, CLUSTERS)[cluster]
    a = (rng.random(N) < level).astype(int)
    b = np.minimum((rng.random(N) * 3 * (0.6 + 0.4 * level)).astype(int) + a * rng.integers(0, 2, N), 2)
    columns = {"a": a, "b": b, "c": rng.integers(0, 2, N), "sex": rng.integers(0, 2, N), "age": rng.integers(0, 3, N)}
    weights = (1 + 3 * level + rng.random(N)) * 50
    return pa.table({**columns, "weight": weights, "stratum": stratum, "cluster": cluster})


KEPT = ["sex", "age", "weight", "stratum", "cluster"]
DRAWN = {"weights": "weight", "strata": "stratum", "clusters": "cluster"}


@pytest.fixture(params=DESIGNS, ids=str)
def reports(request):
    return sent(DESIGNS[request.param])


def sent(design):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # weights single people out, which is warned about
        return design.randomize(people(), keep=KEPT, source=dn.Seeded(5))


def column(reports, name):
    return reports.public[name].to_numpy()


def drawn_of(reports):
    return sampling_of(reports, **DRAWN)


def textbook(z, weights, stratum, cluster):
    """The covariance of sum w z, written out stratum by stratum, cluster by cluster."""
    total = 0.0
    for h in np.unique(stratum):
        sums = np.array(
            [(weights[cluster == c, None] * z[cluster == c]).sum(axis=0) for c in np.unique(cluster[stratum == h])]
        )
        away = sums - sums.mean(axis=0)
        total = total + len(sums) / (len(sums) - 1) * away.T @ away
    return total


@pytest.mark.parametrize("asked", [["a", "b"], ["c"]], ids="*".join)
def test_equal_weights_change_nothing(reports, asked):
    if not reports.design.covers(asked):
        asked = asked[:1]
    plain, weighted = dn.estimate(reports, asked), dn.estimate(reports, asked, weights=np.full(N, 7.0))
    assert weighted.n == plain.n
    assert weighted.values == pytest.approx(plain.values, abs=1e-12)
    assert weighted.efficient.values == pytest.approx(plain.efficient.values, abs=1e-12)
    # Counts of sets do not show how reports vary, their channel does; weighted reports do themselves.
    by_moments = plain.pooled is not None and not plain.pooled.weighed.has_likelihood
    variances, rel = plain.covariance.variances, 0.2 if by_moments else 1e-9
    assert weighted.covariance.variances == pytest.approx(variances, rel=rel)
    if not by_moments:
        assert weighted.covariance.matrix() == pytest.approx(plain.covariance.matrix(), rel=rel, abs=1e-15)
    assert weighted.unbiased.values == pytest.approx(plain.unbiased.values, abs=1e-12)
    sets = any(sample.observation.is_support for sample in plain.dispersion.samples)
    assert weighted.dispersion.variances == pytest.approx(plain.dispersion.variances, rel=0.2 if sets else 1e-9)
    # Student's t with 479 degrees of freedom exceeds the normal's by .26%.
    assert weighted.interval().low == pytest.approx(
        plain.interval().low, abs=(0.2 if by_moments else 0.015) * plain.std_error.max()
    )


@pytest.mark.parametrize("asked", one_of(2, [["a", "b"], ["a"]]), ids="*".join)
def test_errors_are_those_of_leaving_clusters_out(reports, asked):
    if not reports.design.covers(asked):
        asked = asked[:1]
    found = dn.estimate(reports, asked, **DRAWN)
    w, stratum, cluster = (column(reports, name) for name in ("weight", "stratum", "cluster"))
    total = 0.0
    for h in range(4):
        inside = [c for c in range(CLUSTERS) if c % 4 == h]
        each = []
        for c in inside:
            less = np.where(cluster == c, 0.0, np.where(stratum == h, w * len(inside) / (len(inside) - 1), w))
            each.append(dn.estimate(reports, asked, "norm_sub", weights=less).efficient.values.ravel())
        away = np.array(each) - np.mean(each, axis=0)
        total = total + (len(inside) - 1) / len(inside) * (away**2).sum(axis=0)
    # Six clusters a stratum: jackknife and linearization differ by terms of the next order in one over that.
    assert found.std_error.ravel() == pytest.approx(np.sqrt(total), rel=0.15)
    assert found.dispersion.df == found.pooled.df == drawn_of(reports).df


def test_open_answers_have_the_textbook_formula():
    reports = sent(dn.Joint(DOMAIN, 20.0))  # the truth but once in 10^8 answers
    found = dn.estimate(reports, ["a", "b"], **DRAWN)
    w, stratum, cluster = (column(reports, name) for name in ("weight", "stratum", "cluster"))
    cell = reports.answers[:, 0] // 2
    hit = (cell[:, None] == np.arange(6)).astype(float)
    share = (w[:, None] * hit).sum(axis=0) / w.sum()
    assert found.values.ravel() == pytest.approx(share, abs=1e-6)
    expected = textbook((hit - share) / w.sum(), w, stratum, cluster)
    assert found.covariance.matrix() == pytest.approx(expected, rel=1e-4, abs=1e-9)
    assert found.dispersion.matrix() == pytest.approx(expected, rel=1e-4, abs=1e-9)
    # Totals: what each respondent stands for, summed.
    totals = found.totals()
    assert totals.population == pytest.approx(w.sum())
    assert totals.values.ravel() == pytest.approx((w[:, None] * hit).sum(axis=0), rel=1e-6)
    assert totals.covariance == pytest.approx(textbook(hit, w, stratum, cluster), rel=1e-4, abs=1e-2)
    known = found.totals(1000.0)
    assert known.std_error == pytest.approx(1000 * found.std_error)
    # Parts of the population keep the whole sample's clusters.
    by = dn.estimate(reports, ["a", "b"], by="sex", **DRAWN)[1]
    inside = column(reports, "sex") == 1
    share = (w[inside, None] * hit[inside]).sum(axis=0) / w[inside].sum()
    z = np.where(inside[:, None], hit - share, 0.0) / w[inside].sum()
    k = (1 - 1 / N) / (1 - 1 / inside.sum())  # a mean of its own was estimated
    assert by.n == inside.sum()
    assert by.covariance.matrix() == pytest.approx(k * textbook(z, w, stratum, cluster), rel=1e-4, abs=1e-9)


def test_margins_are_met_and_leave_no_variance():
    reports = sent(dn.Joint(DOMAIN, 20.0))
    sex, age = column(reports, "sex"), column(reports, "age")
    margins = {"sex": {0: 600, 1: 400}, "age": {0: 200, 1: 500, 2: 300}}
    raked = dn.rake(reports, margins, **DRAWN)
    for names, known in margins.items():
        codes = {"sex": sex, "age": age}[names]
        assert {v: raked.weights[codes == v].sum() for v in known} == pytest.approx(known)
    # Factors of one margin times factors of the other, nothing else.
    factor = np.log(raked.weights / column(reports, "weight"))
    cells = np.array([[factor[(sex == s) & (age == t)][0] for t in range(3)] for s in range(2)])
    assert np.ptp(cells - cells[:1], axis=1) == pytest.approx(0, abs=1e-9)
    # Post-stratification by sex, its variance written out: residuals from the strata's own means.
    one = dn.rake(reports, {"sex": {0: 0.6, 1: 0.4}}, **DRAWN, population=1000)
    found = dn.estimate(reports, "a", weights=one)
    w, stratum, cluster = one.weights, column(reports, "stratum"), column(reports, "cluster")
    yes = (reports.answers[:, 0] // 6).astype(float)
    means = np.array([(w * yes)[sex == s].sum() / w[sex == s].sum() for s in range(2)])
    assert found.values[1] == pytest.approx(0.6 * means[0] + 0.4 * means[1], abs=1e-6)
    expected = textbook(((yes - means[sex]) / w.sum())[:, None], w, stratum, cluster)
    assert found.std_error[1] ** 2 == pytest.approx(expected[0, 0], rel=1e-3)
    # The size of the population is known, so totals vary as shares do.
    assert found.totals().std_error == pytest.approx(1000 * found.std_error, rel=1e-6)
    # An attribute that margins explain altogether has no error left.
    assert one.covariance((sex.astype(np.int64), np.eye(2))) == pytest.approx(0, abs=1e-12)


def test_raked_weights_are_for_answers_without_a_design_too():
    people = pd.DataFrame({"smokes": ["no", "yes"] * 60, "sex": ["F"] * 80 + ["M"] * 40})
    design = dn.Joint({"smokes": ["no", "yes"]}, 2.0)
    reports = design.randomize(people, keep=["sex"], source=dn.Seeded(1))
    raked = dn.rake(reports, {"sex": {"F": 510, "M": 490}})
    wanted = dn.estimate(reports, "smokes", "inversion", weights=raked)
    found = dn.prevalence(reports.labelled()["smokes"], design.questions[0].channel, raked, categories=["no", "yes"])
    np.testing.assert_allclose(found.unbiased.values, wanted.unbiased.values, rtol=1e-12)
    np.testing.assert_allclose(found.std_error, wanted.std_error, rtol=1e-12)
    with pytest.raises(InputError, match="know strata and clusters already"):
        dn.prevalence(
            reports.labelled()["smokes"], dn.KRR(2, 1.0), raked, strata=people["sex"], categories=["no", "yes"]
        )


def test_raked_errors_are_those_of_raking_again():
    reports, margins = sent(DESIGNS["views"]), {"sex": {0: 0.6, 1: 0.4}, "age": {0: 0.2, 1: 0.5, 2: 0.3}}
    raked = dn.rake(reports, margins, **DRAWN)
    found = dn.estimate(reports, ["a", "b"], weights=raked)
    pooled = found.pooled
    place, table = pooled.linear
    rng = np.random.default_rng(1)
    drawn = np.concatenate([counts for _, counts in raked.bootstrap(place, len(table), 400, rng)], axis=1)
    # A sum of six variances, each from 400 replicates and with few clusters: within a quarter.
    assert (pooled.again(drawn) @ pooled.evidence.margin.T).var(axis=0).sum() == pytest.approx(
        pooled.variances.sum(), rel=0.25
    )


def test_rescaled_bootstrap_has_the_linearized_variance():
    # Of a linear sum the expectation over Rao and Wu's draws is the formula itself.
    reports = sent(DESIGNS["joint"])
    sampling = sampling_of(reports, "weight", "stratum", "cluster")
    place, z = np.arange(N), np.random.default_rng(2).normal(size=(N, 1))
    counts = np.concatenate([c for _, c in sampling.bootstrap(place, N, 4000, np.random.default_rng(3))], axis=1)
    drawn = (z.T @ counts).ravel()
    # A variance from 4000 normal draws has relative sd sqrt(2 / 4000) = .022: six of them.
    assert drawn.var() == pytest.approx(sampling.covariance((place, z))[0, 0], rel=0.135)


def test_replicate_weights_estimate_again():
    reports = sent(DESIGNS["views"])
    w, cluster = column(reports, "weight"), column(reports, "cluster")
    replicates = np.stack([np.where(cluster == c, 0, w * CLUSTERS / (CLUSTERS - 1)) for c in range(CLUSTERS)], axis=1)
    sampling = dn.replicate_weights(reports, replicates, "jk1", weights="weight")
    found = dn.estimate(reports, ["a", "b"], weights=sampling)
    each = [
        dn.estimate(reports, ["a", "b"], "norm_sub", weights=column).efficient.values.ravel() for column in replicates.T
    ]
    away = np.array(each) - np.mean(each, axis=0)
    expected = (CLUSTERS - 1) / CLUSTERS * (away**2).sum(axis=0)
    # The replicates above weight reports at their own plausible tables, ours all at the one of the whole sample.
    assert found.std_error.ravel() == pytest.approx(np.sqrt(expected), rel=0.05)
    assert found.std_error == pytest.approx(
        dn.estimate(reports, ["a", "b"], weights="weight", clusters="cluster").std_error, rel=0.15
    )
    assert found.pooled.df == CLUSTERS - 1
    same = dn.replicate_weights(reports, replicates, "jkn", weights=w, scales=np.full(CLUSTERS, 1 - 1 / CLUSTERS))
    assert dn.estimate(reports, "a", weights=same).std_error == pytest.approx(
        dn.estimate(reports, "a", weights=sampling).std_error
    )
    halves = dn.replicate_weights(reports, replicates, "fay", weights=w, rho=0.5)
    whole = dn.replicate_weights(reports, replicates, "brr", weights=w)
    assert dn.estimate(reports, "a", weights=halves).std_error == pytest.approx(
        2 * dn.estimate(reports, "a", weights=whole).std_error
    )


def test_tables_that_no_question_covers():
    reports = sent(DESIGNS["views"])
    found = dn.estimate(reports, ["a", "b", "c"], **DRAWN)
    assert "Rao and Wu" in found.reason
    assert (found.std_error > 0).all()
    assert found.dispersion.df == drawn_of(reports).df
    whole = dn.replicate_weights(reports, np.ones((N, 4)), "brr", weights="weight")
    with pytest.raises(InputError, match="instead of replicate weights"):
        dn.estimate(reports, ["a", "b", "c"], weights=whole)


def test_refusals():
    reports = sent(DESIGNS["joint"])
    with pytest.raises(TooFewReportsError, match=r"1 of 2 strata hold a single cluster.*join them"):
        dn.estimate(reports, "a", strata=np.repeat([0, 1], [N - 5, 5]), clusters=np.repeat([0, 1, 2], [N - 10, 5, 5]))
    with pytest.raises(InputError, match="lie in more than one stratum"):
        dn.estimate(reports, "a", strata="sex", clusters="cluster")
    with pytest.raises(UnknownAttributeError, match=r"no public column 'wgt'.*keep=\['wgt'\]"):
        dn.estimate(reports, "a", weights="wgt")
    with pytest.raises(InputError, match="one value for each of the 480 reports, not 3"):
        dn.estimate(reports, "a", weights=[1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="numbers from 0 upwards"):
        dn.estimate(reports, "a", weights=np.full(N, -1.0))
    with pytest.raises(InputError, match="not all of them zero"):
        dn.estimate(reports, "a", weights=np.zeros(N))
    with pytest.raises(MissingValueError, match="1 of 480 values are missing"):
        dn.estimate(reports, "a", weights=np.where(np.arange(N) == 7, np.nan, 1.0))
    with pytest.raises(InputError, match='population="fixed"'):
        dn.estimate(reports, "a", weights="weight", population="fixed")
    with pytest.raises(InputError, match="holds counts"):
        dn.estimate(dn.Observation("x", dn.KRR(2, 1.0), [3, 7]), "x", weights=[1.0])
    paired = dn.Paired({"a": [0, 1]}, 0.7, -0.2, respondents=100)
    sent_in_pairs = paired.randomize(pa.table({"a": [0, 1] * 50}), source=dn.Seeded(1))
    with pytest.raises(InputError, match=r"cannot be weighted one by one.*Independent"):
        dn.estimate(sent_in_pairs, "a", weights=np.ones(100))
    with pytest.raises(InputError, match="to rake"):
        dn.estimate(reports, "a", weights=dn.rake(reports, {"sex": {0: 1, 1: 2}}), clusters="cluster")
    with pytest.raises(InputError, match="needs the size of the population"):
        dn.estimate(reports, "a").totals()


def test_nobody_is_no_sample():
    none = dn.Joint({"a": [0, 1]}, 1.0).randomize({"a": []}, source=dn.Seeded(1))
    for drawn in ({"weights": []}, {"strata": []}, {"clusters": []}):
        with pytest.raises(dn.DeniableError, match=r"no respondents|not all of them zero"):
            dn.estimate(none, "a", **drawn)


def test_samples_that_show_no_variance_are_refused():
    reports = sent(DESIGNS["joint"])
    with pytest.raises(TooFewReportsError, match=r"one respondent carries 100.0% of all weight"):
        dn.estimate(reports, "a", weights=np.where(np.arange(N) == 3, 1e9, 1.0))
    with pytest.raises(TooFewReportsError, match="lie in 1 cluster, no more than one a stratum"):
        dn.estimate(reports, "a", by="sex", clusters="sex")
    with pytest.raises(TooFewReportsError, match="lie in 1 cluster"):
        dn.homogeneity(reports, "a", by="sex", clusters="sex")


def test_refusals_of_margins():
    reports = sent(DESIGNS["joint"])
    with pytest.raises(InputError, match="sum to different numbers: sex to 3, age to 6"):
        dn.rake(reports, {"sex": {0: 1, 1: 2}, "age": {0: 1, 1: 2, 2: 3}})
    with pytest.raises(dn.DeniableError, match="does not say how many there are"):
        dn.rake(reports, {"age": {0: 0.5, 1: 0.5}})
    with pytest.raises(InputError, match="nobody with age 3 answered"):
        dn.rake(reports, {"age": {0: 0.5, 1: 0.2, 2: 0.2, 3: 0.1}})
    with pytest.raises(InputError, match="at least one margin"):
        dn.rake(reports, {})
    with pytest.raises(InputError, match="already"):
        dn.rake(reports, {"sex": {0: 1, 1: 2}}, weights=dn.rake(reports, {"sex": {0: 1, 1: 2}}))
    crossed = dn.rake(reports, {("sex", "age"): {(s, a): 1 / 6 for s in range(2) for a in range(3)}})
    table = dn.Table(dn.Domain({"sex": range(2), "age": range(3)}), np.full(6, 80.0))
    assert dn.rake(reports, [table]).weights == pytest.approx(crossed.weights)
    assert dn.rake(reports, table).weights == pytest.approx(crossed.weights)
    for strange in (7, "sex", [table, {"sex": 1}]):
        with pytest.raises(InputError, match=r"a mapping such as .*, a table, a crosstab, or a list of these; not"):
            dn.rake(reports, strange)
    for known in (510, [1, 2], "F"):
        with pytest.raises(InputError, match="the numbers of 'sex' are a mapping from names"):
            dn.rake(reports, {"sex": known})
    with pytest.raises(InputError, match="the margin of sex must be numbers"):
        dn.rake(reports, {"sex": {0: "many", 1: 2}})


def test_crosstabs_and_named_series_are_margins_by_their_labels():
    reports, rng = sent(DESIGNS["joint"]), np.random.default_rng(5)
    everybody = pd.DataFrame({"sex": rng.integers(0, 2, 3000), "age": rng.integers(0, 3, 3000)})
    counts = {(s, a): ((everybody.sex == s) & (everybody.age == a)).sum() for s in range(2) for a in range(3)}
    usual = dn.rake(reports, {("sex", "age"): counts}).weights
    crosstab = pd.crosstab(everybody.age, everybody.sex)  # the other way round, and with rows and columns turned
    turned = crosstab.loc[[2, 0, 1], [1, 0]]
    without_names = pd.DataFrame(crosstab.T.to_numpy(), index=pd.Index([0, 1]), columns=pd.Index([0, 1, 2]))
    several = everybody.value_counts()  # a series by two levels
    for margins in (
        crosstab,
        turned,
        [crosstab],
        several,
        {("sex", "age"): turned},
        {("age", "sex"): turned},
        {("sex", "age"): without_names},
        {("sex", "age"): several.swaplevel()},
    ):
        assert dn.rake(reports, margins).weights == pytest.approx(usual)
    ages = everybody["age"].value_counts()
    both = dn.rake(reports, [ages, everybody["sex"].value_counts()]).weights
    assert both == pytest.approx(dn.rake(reports, {"age": ages, "sex": everybody["sex"].value_counts()}).weights)
    with pytest.raises(InputError, match="by their names whose labels these are"):
        dn.rake(reports, without_names)
    with pytest.raises(InputError, match="labels are of 'age', 'sex', the numbers are wanted of 'sex', 'region'"):
        dn.rake(reports, {("sex", "region"): crosstab})
    with pytest.raises(dn.DeniableError, match="All"):
        dn.rake(reports, pd.crosstab(everybody.age, everybody.sex, margins=True))
    with pytest.raises(InputError, match="twice"):
        dn.rake(reports, pd.concat([crosstab, crosstab]))


def test_refusals_of_replicates():
    reports = sent(DESIGNS["joint"])
    with pytest.raises(InputError, match="choose from 'jk1'"):
        dn.replicate_weights(reports, np.ones((N, 4)), "jk2", weights="weight")
    with pytest.raises(InputError, match="two or more columns with a row for each of the 480"):
        dn.replicate_weights(reports, np.ones((N, 1)), "jk1", weights="weight")
    with pytest.raises(InputError, match='scales= goes with "jkn"'):
        dn.replicate_weights(reports, np.ones((N, 4)), "jkn", weights="weight")
    with pytest.raises(InputError, match="rho lies between"):
        dn.replicate_weights(reports, np.ones((N, 4)), "fay", weights="weight", rho=1.0)
    by_name = dn.replicate_weights(reports, ["weight", "weight"], "bootstrap", weights="weight")
    with pytest.raises(TooFewReportsError, match="the same weights, up to a factor, in every replicate"):
        dn.estimate(reports, "a", weights=by_name)
