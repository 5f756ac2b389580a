"""Questions that a public condition puts to some: what is said of them is said of those who were asked."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from chequered import one_of
from deniable.channels.dense import Dense
from deniable.core.labels import Labels
from deniable.device.protocol.answer_encoding import NOT_ASKED
from deniable.estimation.notes.refused import answers_about, unanswered
from deniable.likelihood.gather import gather
from deniable.likelihood.report_likelihoods import Moments
from every_design import answered, every_design

YES_NO = ["no", "yes"]
DOMAIN = dn.Domain({"fiddles": [*YES_NO, NOT_ASKED], "steals": [*YES_NO, NOT_ASKED], "smokes": YES_NO})
RULES = {"works": ("full time", "part time")}
LABELS = Labels(show_if={"fiddles": RULES, "steals": RULES})
DESIGNS = {
    "joint": dn.Joint(DOMAIN, 3.0),
    "independent": dn.Independent(DOMAIN, 6.0),
    "views": dn.Views(DOMAIN, 2, 3.0),
    "clusters": dn.Clusters(DOMAIN, [["fiddles", "steals"], ["smokes"]], 5.0),
    "subset": dn.Joint(DOMAIN, 3.0, channel="subset"),
    "hadamard": dn.Joint(DOMAIN, 3.0, channel="hadamard"),
    "optimal": dn.Optimal(DOMAIN, [["fiddles", "steals"]], 3.0),
    "blocks": dn.Blocks(DOMAIN, 2, 3.0, block_size=1000),
}
FIDDLES, STEALS = 0.4, 0.3


def people(seed, n=3000):
    """Half of them work; among these the two are independent."""
    rng = np.random.default_rng(seed)
    works = rng.choice(["full time", "part time", "not"], n, p=[0.3, 0.2, 0.5])
    asked = np.isin(works, RULES["works"])
    some = {
        name: np.where(asked, np.where(rng.random(n) < share, "yes", "no"), NOT_ASKED)
        for name, share in (("fiddles", FIDDLES), ("steals", STEALS))
    }
    return pd.DataFrame({"works": works, **some, "smokes": rng.choice(YES_NO, n)})


def sent(design, seed=1, n=3000):
    return design.randomize(people(seed, n), keep=["works"], source=dn.Seeded(seed)).with_labels(LABELS)


@pytest.fixture(scope="module", params=DESIGNS)
def reports(request):
    return sent(DESIGNS[request.param])


@pytest.fixture(scope="module")
def joint():
    return sent(DESIGNS["joint"])


EVERY = dn.Domain({"a": YES_NO, "b": [*YES_NO, NOT_ASKED], "c": YES_NO})
EVERY_DESIGN = {
    **every_design(EVERY, 1500, block_size=100),
    "paired": every_design(EVERY, 1500, epsilon=4.0)["paired"],
}
del EVERY_DESIGN["paired_items"]  # whose questions have two answers, so that they apply to everybody


def some_asked(design, seed=1, n=1500, share=0.3):
    """Reports of people of whom about half were asked b."""
    rng = np.random.default_rng(seed)
    works = rng.choice(["full time", "not"], n)
    b = np.where(works == "not", NOT_ASKED, np.where(rng.random(n) < share, "yes", "no"))
    frame = answered(pd.DataFrame({"works": works, "a": rng.choice(YES_NO, n), "b": b, "c": b == "yes"}), design)
    frame["c"] = np.where(frame["c"], "yes", "no")
    reports = design.randomize(frame, keep=["works"], source=dn.Seeded(seed))
    return reports.with_labels(Labels(show_if={"b": RULES})), frame


def asked_of(reports):
    return int(np.isin(reports.public["works"].to_numpy(), RULES["works"]).sum())


@pytest.mark.parametrize("name", ["joint", "independent", "views", "subset"])
def test_what_is_independent_among_those_asked_is_not_called_associated(name):
    method = "wald" if name == "joint" else "auto"
    tests = [
        dn.independence(sent(DESIGNS[name], seed), "fiddles", "steals", method, replicates=99) for seed in range(6)
    ]
    # Binomial(6, .01): five or more have a chance below 1e-9; all six of them were at the smallest p before.
    assert sum(test.pvalue <= 0.01 for test in tests) < 5
    assert "of people who were not asked" in str(tests[0])


def test_estimates_and_measures_are_of_those_who_were_asked(reports):
    found = dn.estimate(reports, ["fiddles", "steals"])
    truth = dn.Table.count(people(1), DOMAIN)
    true = found.true_shares(truth)
    assert true.sum() == pytest.approx(1)
    # Six standard errors of each of up to nine cells: below 1e-7.
    assert (np.abs(found.efficient.values - true) <= 6 * found.std_error + 0.02).all()
    assert f"{reports.n - asked_of(reports)} people were not asked" in str(found)
    assert found.values.shape == (2, 2)
    assert dn.odds_ratio(found).name == "odds ratio (steals yes to no, fiddles yes to no)"
    assert dn.cramers_v(found).value < 0.4  # .7 with those who were not asked


def test_an_estimate_is_that_of_the_columns_of_the_truths_that_apply(joint):
    inside = np.isin(joint.public["works"].to_numpy(), RULES["works"])
    channel = DESIGNS["joint"].questions[0].channel.collapse((3, 3, 2), (0, 1))
    counts = np.bincount(joint.answers[inside, 0] // 2, minlength=9)
    kept = [0, 1, 3, 4]
    domain = dn.Domain({"fiddles": YES_NO, "steals": YES_NO})
    by_hand = dn.estimate(dn.Observation(domain, Dense(channel.matrix()[:, kept]), counts), ["fiddles", "steals"])
    found = dn.estimate(joint, ["fiddles", "steals"])
    np.testing.assert_allclose(found.values, by_hand.values, atol=1e-3)
    np.testing.assert_allclose(found.std_error, by_hand.std_error, rtol=1e-3)
    assert found.n == by_hand.n == asked_of(joint)


@pytest.mark.parametrize("name", EVERY_DESIGN)
def test_no_design_has_an_answer_that_does_not_apply(name):
    """As the same reports of those who were asked say by themselves, where nobody is known not to have been."""
    reports, frame = some_asked(EVERY_DESIGN[name])
    found = dn.estimate(reports, "b")
    assert found.table.domain["b"].categories == ("no", "yes")
    assert f"{reports.n - asked_of(reports)} people were not asked" in str(found)
    true = (frame["b"][frame["works"] != "not"] == "yes").mean()
    assert abs(found.values[1] - true) < 6 * found.std_error[1]
    asked = dict(reports.with_labels(Labels()).groups("works"))["full time"]
    whole = dn.estimate(asked, "b")
    assert whole.values.shape == (3,)
    assert found.n == whole.n
    if name in ("unary", "subset", "hashing", "paired"):
        np.testing.assert_allclose(found.unbiased.values, whole.unbiased.values[:2], atol=1e-12)
    if name == "paired":
        np.testing.assert_allclose(found.std_error, whole.std_error[:2], rtol=1e-9)
        return
    # The likelihood of the whole channel, along the tables in which nobody has the third answer, is highest there.
    evidence = gather(asked, "b", everybody=True)
    if evidence.domain.names != ("b",) or any(isinstance(group.said, Moments) for group in evidence.groups):
        return
    shares = np.linspace(0.01, 0.99, 981)
    tables = np.stack([1 - shares, shares, np.zeros_like(shares)])
    height = sum(group.counts @ np.log(group.forward(tables)) for group in evidence.groups)
    assert abs(shares[height.argmax()] - found.efficient.values[1]) < 0.0011


@pytest.mark.parametrize("name", one_of(2, ["unary", "hashing", "blocks", "paired"]))
def test_errors_among_those_asked_are_those_of_repeated_surveys(name):
    """Sixty surveys: their spread is within 55% of what was said, which six standard errors of it are."""
    found = [dn.estimate(some_asked(EVERY_DESIGN[name], seed, 600)[0], "b", "inversion") for seed in range(60)]
    spread = np.std([each.efficient.values[1] for each in found], ddof=1)
    assert spread == pytest.approx(np.mean([each.std_error[1] for each in found]), rel=0.55)


def test_weights_of_one_change_nothing(joint):
    plain, weighted = (dn.estimate(joint, ["fiddles"], weights=w) for w in (None, np.ones(joint.n)))
    np.testing.assert_allclose(plain.efficient.values, weighted.efficient.values, atol=1e-9)
    assert weighted.n == asked_of(joint)
    test = dn.independence(joint, "fiddles", "steals", weights=np.ones(joint.n))
    assert test.pvalue > 1e-4
    assert test.df == pytest.approx(1)


@pytest.mark.parametrize("rest", [0.2, 5.0])
def test_what_the_others_weigh_changes_nothing(reports, rest):
    asked = np.isin(reports.public["works"].to_numpy(), RULES["works"])
    plain, weighted = (
        dn.estimate(reports, ["fiddles", "steals"], weights=np.where(asked, 1.0, other)) for other in (1.0, rest)
    )
    np.testing.assert_allclose(weighted.efficient.values, plain.efficient.values, atol=1e-6)
    np.testing.assert_allclose(weighted.std_error, plain.std_error, rtol=1e-3)
    for there, here in zip(weighted.interval(clip=False), plain.interval(clip=False), strict=True):
        np.testing.assert_allclose(there, here, atol=0.02 * plain.std_error.max())
    if plain.values.shape == (2, 2):
        there, here = (dn.odds_ratio(found).interval() for found in (weighted, plain))
        np.testing.assert_allclose([there.low, there.high], [here.low, here.high], rtol=0.02)


def test_regressions_are_of_those_who_were_asked(joint):
    weights = np.where(np.isin(joint.public["works"].to_numpy(), RULES["works"]), 2.0, 5.0)
    fit, weighted = dn.logit("fiddles ~ steals", joint), dn.logit("fiddles ~ steals", joint, weights=weights)
    assert fit.n == asked_of(joint)
    assert list(fit.params) == pytest.approx(list(weighted.params), abs=1e-4)
    assert abs(fit.params["steals[T.yes]"]) < 6 * fit.std_error["steals[T.yes]"]
    assert "people were not asked" in str(fit)


def test_correlations_and_least_squares_are_of_those_who_were_asked():
    """Who was not asked has another x altogether."""
    rng = np.random.default_rng(1)
    frame = people(1)
    asked = np.isin(frame["works"], RULES["works"])
    frame["works"] = np.where(asked, "full time", "not")
    frame["x"] = np.where(asked, (frame["fiddles"] == "yes") + rng.integers(0, 3, len(frame)), 50)
    frame = frame.astype({"x": int})
    for design in (DESIGNS["independent"], DESIGNS["subset"]):
        reports = design.randomize(frame, keep=["works", "x"], source=dn.Seeded(1)).with_labels(LABELS)
        found = dn.correlate(reports, "fiddles", "x")
        alone, weighted = (
            dn.correlate(part, "fiddles", "x", **more)
            for part, more in (
                (dict(reports.groups("works"))["full time"], {}),
                (reports, {"weights": np.where(asked, 2.0, 5.0)}),
            )
        )
        true = np.corrcoef(frame["fiddles"][asked] == "yes", frame["x"][asked])[0, 1]
        assert abs(found.value - true) < 6 * found.std_error
        assert found.n == alone.n == asked.sum()
        for other in (alone, weighted):
            assert (other.value, other.std_error) == pytest.approx((found.value, found.std_error), rel=1e-3)
        assert f"{(~asked).sum()} people were not asked" in str(found)


def test_means_say_how_many_were_not_asked(joint):
    scores = {"no": 0, "yes": 1}
    found = dn.mean(joint, "fiddles", scores=scores)
    assert found.value == pytest.approx(dn.estimate(joint, "fiddles").efficient.values[1], abs=1e-6)
    assert f"{joint.n - asked_of(joint)} people were not asked" in str(found)
    assert "not asked" not in str(dn.mean(joint, "smokes", scores=scores))


def test_groups_in_which_nobody_was_asked_are_left_out_and_counted(joint):
    test = dn.homogeneity(joint, "fiddles", by="works")
    assert "2 groups: 'full time', 'part time'" in str(test)
    assert f"Left out: {joint.n - asked_of(joint)} of people who were not asked" in str(test)
    inside = dn.independence(joint, "fiddles", "smokes", given="works", replicates=19)
    assert "in 2 groups" in str(inside)


def test_all_pairs_say_of_how_many(joint):
    pairs = dn.all_pairs(joint, method="wald")
    n = asked_of(joint)
    assert f"fiddles and steals {n}, fiddles and smokes {n}, steals and smokes {n}" in str(pairs)
    assert pairs["fiddles", "steals"].pvalue > 1e-4


def test_who_was_asked_everything_is_everybody(joint):
    found = dn.estimate(joint, "smokes")
    assert found.n == joint.n
    assert "not asked" not in str(found)


def test_synthetic_people_are_everybody(joint):
    made = dn.synthesize(joint, 500, source=dn.Seeded(1))
    assert NOT_ASKED in made["fiddles"].to_list()


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_files_remember_whom_a_question_was_put_to(joint, suffix, tmp_path):
    place = joint.write(tmp_path / f"r.{suffix}")
    expected = dn.estimate(joint, ["fiddles", "steals"])
    for read in (dn.read_reports(place), dn.open_reports(place)):
        found = dn.estimate(read, ["fiddles", "steals"])
        np.testing.assert_allclose(found.values, expected.values, atol=1e-12)
        assert found.n == asked_of(joint)


def test_without_the_public_column_the_category_stays(joint):
    frame = joint.to_frame().drop(columns="works")
    bare = dn.Reports(frame, joint.design).with_labels(LABELS)
    found = dn.estimate(bare, "fiddles")
    assert found.values.shape == (3,)
    told = 'About everybody, with "does not apply" as one of the answers to fiddles: the public columns that decide'
    for kept in (
        found,
        dn.cramers_v(dn.estimate(bare, ["fiddles", "smokes"])),
        dn.independence(bare, "fiddles", "smokes", replicates=19),
        dn.all_pairs(bare, ["fiddles", "smokes"], method="wald"),
        dn.logit("smokes ~ fiddles", bare),
        dn.correlate(bare, "fiddles", "smokes"),
    ):
        assert told in " ".join(str(kept).split())
    for other in (dn.estimate(joint, "fiddles"), dn.estimate(bare, "smokes")):
        assert "About everybody" not in str(other)


def test_nobody_who_was_asked_is_a_refusal():
    frame = people(1)
    frame["works"], frame["fiddles"] = "not", NOT_ASKED
    reports = DESIGNS["joint"].randomize(frame, keep=["works"], source=dn.Seeded(1)).with_labels(LABELS)
    with pytest.raises(dn.errors.TooFewReportsError, match="fiddles"):
        dn.estimate(reports, "fiddles")


def test_a_group_in_which_nobody_was_asked_says_so(joint):
    found = dn.estimate(joint, "fiddles", by="works")
    assert list(found) == ["full time", "part time"]
    assert (found.refused["not"].reason, found.refused["not"].n) == ("not asked", 0)
    assert "not  " in str(found)
    assert ", not 0, " in str(found)
    groups = dict(joint.groups("works"))
    assert unanswered([groups["not"]], ["fiddles", "smokes"]) == "not asked"
    assert unanswered([groups["not"]], ["smokes"]) == unanswered([*groups.values()], ["fiddles"]) == ""


def test_whoever_was_not_asked_has_not_answered():
    frame = people(1)
    frame.loc[20:, ["works", "fiddles", "steals"]] = "not", NOT_ASKED, NOT_ASKED
    with pytest.warns(match="fewer than 10"):
        reports = DESIGNS["joint"].randomize(frame, keep=["works"], source=dn.Seeded(1)).with_labels(LABELS)
    asked = asked_of(reports)
    assert 0 < asked < 30
    assert answers_about(reports, ["fiddles"]) == answers_about(reports, ["fiddles", "smokes"]) == asked
    assert answers_about(reports, ["smokes"]) == reports.n


TESTS_OF_ASSOCIATION = {
    "independence": lambda r: dn.independence(r, "fiddles", "steals", replicates=19),
    "independence, weighted": lambda r: dn.independence(r, "fiddles", "steals", weights=np.ones(r.n)),
    "conditional_independence": lambda r: dn.conditional_independence(r, "fiddles", "steals", "smokes", replicates=19),
    "all_pairs": lambda r: dn.all_pairs(r, ["fiddles", "steals"], replicates=19),
    "cramers_v": lambda r: dn.cramers_v(dn.estimate(r, ["fiddles", "steals"])),
    "mutual_information": lambda r: dn.mutual_information(dn.estimate(r, ["fiddles", "steals"])),
    "chi2": lambda r: dn.chi2(dn.estimate(r, ["fiddles", "steals"])),
    "g2": lambda r: dn.g2(dn.estimate(r, ["fiddles", "steals"])),
    "find_clusters": dn.find_clusters,
    "second_phase": lambda r: dn.second_phase(r, [["fiddles", "steals"]], 2.0),
}


@pytest.mark.parametrize("name", TESTS_OF_ASSOCIATION)
def test_association_is_not_told_where_nobody_knows_who_was_asked(name, joint):
    """As of `survey.design.randomize(people)` without the survey's words: who was not asked one was not the other."""
    bare = joint.with_labels(Labels())
    with pytest.raises(dn.errors.InvalidTestError, match=r"with_labels\(survey.labels\)"):
        TESTS_OF_ASSOCIATION[name](bare)
    TESTS_OF_ASSOCIATION[name](bare.with_labels(LABELS))


def test_within_the_groups_that_decide_association_is_told(joint):
    bare = joint.with_labels(Labels())
    assert dn.independence(bare, "fiddles", "steals", given="works", replicates=19).pvalue > 0.04
    dn.independence(bare, "fiddles", "steals", given="works", weights=np.ones(joint.n))
    pairs = dn.all_pairs(bare, method="wald")
    assert {frozenset(pair) for pair in pairs.pairs} == {
        frozenset(["fiddles", "smokes"]),
        frozenset(["steals", "smokes"]),
    }
    assert "Not tested: 'fiddles', 'steals' were put to some people only" in str(pairs)
