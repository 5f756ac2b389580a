"""Evidence against likelihoods written out: every design, every report, cell by cell."""

from __future__ import annotations

from math import prod

import numpy as np
import pyarrow as pa
import pytest

import deniable as dn
from deniable.channels.kronecker import Kronecker
from deniable.designs.design import Design
from deniable.designs.question import Question
from deniable.errors import (
    DesignError,
    EstimationError,
    InputError,
    NotCoveredError,
    UnknownAttributeError,
    UnknownCategoryError,
)
from deniable.likelihood import gather as module
from deniable.likelihood.gather import gather
from deniable.likelihood.report_likelihoods import Counted, Listed, Moments
from deniable.sampling.read_sampling import sampling_of
from every_design import lopsided

DOMAIN = dn.Domain({"a": range(2), "b": range(3), "c": range(2)})
FOUR = dn.Domain({name: range(2) for name in "abcd"})
MANY = dn.Domain({"a": range(2), "b": range(3), "c": range(5)})
N = 400


DESIGNS = {
    "independent": dn.Independent(DOMAIN, 2.0),
    "joint": dn.Joint(DOMAIN, 1.0),
    "clusters": dn.Clusters(DOMAIN, [["a", "b"], ["c"]], 2.0),
    "views": dn.Views(DOMAIN, 2, 1.0),
    "all of a view": dn.Views(FOUR, 2, 2.0, answer="all"),
    "sampled": dn.Sampled(DOMAIN, 1.0),
    "blocks": dn.Blocks(DOMAIN, 2, 2.0, block_size=90),
    "blocks, all of a view": dn.Blocks(FOUR, 2, 2.0, answer="all", block_size=90),
    "unary": dn.Joint(DOMAIN, 1.5, channel="unary"),
    "subset": dn.Views(DOMAIN, 2, 1.5, channel="subset"),
    "hashing": dn.Joint(DOMAIN, 1.5, channel="hashing"),
    "hashed views": dn.Views(DOMAIN, 2, 1.5, channel="hashing"),
    "many sets": dn.Joint(MANY, 1.5, channel="unary"),
    "sets side by side": dn.Independent(DOMAIN, 3.0, channel="unary"),
    "hadamard": dn.Views(DOMAIN, 2, 1.5, channel="hadamard"),
    "dense": Design(
        DOMAIN, [Question(("a", "b"), lopsided(6, truth=6000)), Question(("c",), lopsided(2, truth=6000))], [[0, 1]]
    ),
    "other question": Design(
        DOMAIN, [Question(("a", "b"), lopsided(6, truth=6000)), Question(("b", "c"), dn.KRR(6, 1.0))], [[0], [1]]
    ),
}


def reports_of(design, n=N, seed=1):
    rng = np.random.default_rng(seed)
    frame = {name: rng.choice(len(v), n, p=rng.dirichlet(np.ones(len(v)))) for name, v in design.domain.items()}
    return design.randomize(pa.table(frame), source=dn.Seeded(seed))


def law(reports, row, index, place):
    """P of a question as it was asked of one respondent: reports x cells; for sets, the row of the report alone."""
    channel = reports.design.questions[index].channel
    if isinstance(reports.design, dn.Blocks):
        block = reports.published[reports.blocks[row]]
        keep, fakes = block.keep[index], np.array(block.fakes[index])
        return (keep * np.eye(len(fakes)) + fakes[:, None]) / 2**32
    return None if channel.is_support else channel.matrix()


def written_out(reports, row, evidence, part):
    """Pr(what a respondent reported about `part` | cell of the evidence's table), from the matrices themselves."""
    digits = dict(
        zip(evidence.domain, np.indices(evidence.domain.shape).reshape(len(evidence.domain), -1), strict=True)
    )
    result = np.ones(evidence.cells)
    for place, index in enumerate(reports.design.ballots[reports.ballots[row]]):
        question = reports.design.questions[index]
        if not set(question.attributes) & set(part):
            continue
        shape = reports.design.domain.project(question.attributes).shape
        answer = int(reports.answers[row, place])
        matrix = law(reports, row, index, place)
        truth = np.ravel_multi_index(
            [digits.get(name, np.zeros(evidence.cells, int)) for name in question.attributes], shape
        )
        if set(question.attributes) <= set(part):
            mine = question.channel.likelihood(np.array([answer]))[0] if matrix is None else matrix[answer]
        else:
            # Summed over all answers that agree with this one on the asked attributes; what the others are does not
            # matter then, which `digits` = 0 above relies on and the second line below checks.
            parts = np.array(np.unravel_index(np.arange(prod(shape)), shape))
            kept = [i for i, name in enumerate(question.attributes) if name in part]
            agree = (parts[kept] == parts[kept][:, [answer]]).all(axis=0)
            mine = matrix[agree].sum(axis=0)
            for cell in range(len(mine)):
                alike = (parts[kept] == parts[kept][:, [cell]]).all(axis=0)
                assert np.allclose(mine[alike], mine[cell])
        result *= mine[truth]
    return result


@pytest.fixture(params=DESIGNS, ids=str)
def design(request):
    return DESIGNS[request.param]


@pytest.mark.parametrize("asked", [["a", "b"], ["b"], ["c", "a"], ["a", "b", "c"]], ids="*".join)
def test_every_report_has_the_likelihood_that_its_channels_give_it(design, asked):
    reports = reports_of(design)
    evidence = gather(reports, asked)
    people = evidence.respondents
    assert evidence.asked.names == tuple(asked)
    assert evidence.n + evidence.silent == N == len(people.group)
    assert (people.group < 0).sum() == evidence.silent
    assert evidence.has_likelihood
    for row in range(0, N, 7):
        if people.group[row] < 0:
            assert not {n for q in design.ballots[reports.ballots[row]] for n in design.questions[q].attributes} & set(
                asked
            )
            continue
        group = evidence.groups[people.group[row]]
        found = group.rows(people.report[[row]])[0]
        expected = written_out(reports, row, evidence, group.said.part)
        assert found / found.max() == pytest.approx(expected / expected.max(), rel=1e-9)


def test_forward_backward_and_information_are_one_map(design):
    evidence = gather(reports_of(design), ["a", "b"])
    rng = np.random.default_rng(5)
    pi = rng.dirichlet(np.ones(evidence.cells), 3).T.reshape(*evidence.domain.shape, 3)
    y = rng.random((len(evidence.counts), 3))
    lam = evidence.forward(pi)
    assert (y * lam).sum(axis=0) == pytest.approx((pi * evidence.backward(y)).reshape(-1, 3).sum(axis=0))
    by_group = np.concatenate([group.forward(pi.reshape(-1, 3)) for group in evidence.likely])
    assert lam == pytest.approx(by_group)
    loglik, gradient = evidence.evaluate(pi)
    assert loglik == pytest.approx((evidence.counts * np.log(lam)).sum(axis=0))
    # Euler: the likelihood of shares is homogeneous, so pi . g counts the reports.
    assert (pi * gradient).reshape(-1, 3).sum(axis=0) == pytest.approx(np.full(3, evidence.n))
    first = pi[..., 0]
    information = evidence.information(first)
    assert information @ first.ravel() == pytest.approx(evidence.information_times(first, first[..., None]).ravel())
    w = rng.random((*evidence.domain.shape, 2))
    assert information @ w.reshape(-1, 2) == pytest.approx(evidence.information_times(first, w).reshape(-1, 2))
    assert information == pytest.approx(information.T)
    step = 1e-6 * (w[..., 0] - w[..., 0].mean())
    up, down = (evidence.evaluate((first + sign * step)[..., None])[0][0] for sign in (1, -1))
    assert (gradient[..., 0] * step).sum() == pytest.approx((up - down) / 2, rel=1e-4)


def test_the_information_of_counts_is_the_expected_one():
    evidence = gather(reports_of(DESIGNS["joint"]), ["a", "b"])
    (group,) = evidence.groups
    pi = np.random.default_rng(2).dirichlet(np.ones(6))
    p = group.said.channel.matrix()
    expected = N * p.T @ np.diag(1 / (p @ pi)) @ p
    assert evidence.information(pi) == pytest.approx(expected)
    assert evidence.information(pi) @ pi == pytest.approx(np.full(6, float(N)))


def test_kinds_of_groups():
    def kinds(name, asked=("a", "b")):
        return {type(group.said) for group in gather(reports_of(DESIGNS[name]), list(asked)).groups}

    assert kinds("joint") == kinds("unary") == kinds("subset") == kinds("hadamard") == {Counted}
    assert kinds("hashing") == kinds("many sets") == {Listed}
    assert kinds("blocks, all of a view", "abcd") == {Listed}


def test_questions_that_cannot_be_reduced_bring_their_other_attributes_along():
    evidence = gather(reports_of(DESIGNS["hadamard"]), ["a", "b"])
    assert evidence.nuisance == ("c",)
    assert evidence.cells == 12
    assert evidence.margin @ np.arange(12.0) == pytest.approx(np.arange(12.0).reshape(6, 2).sum(axis=1))
    assert gather(reports_of(DESIGNS["views"]), ["a", "b"]).nuisance == ()
    assert "c ride along" in evidence.used[-1]


def test_what_cannot_ride_along_counts_by_its_moments(monkeypatch):
    monkeypatch.setattr(module, "MOST_RIDING", 6)
    reports = reports_of(DESIGNS["subset"])
    evidence = gather(reports, ["a", "b"])
    assert evidence.nuisance == ()
    assert not evidence.has_likelihood
    moments = {group.said.part.names: group.said for group in evidence.groups if isinstance(group.said, Moments)}
    assert set(moments) == {("a",), ("b",)}
    for observation in reports.tabulate(["a"]):
        if set(observation.domain) == {"a", "c"}:
            alone = dn.estimate(observation, ["a"], "inversion")
            assert moments["a",].estimate == pytest.approx(alone.values)
            assert np.diag(moments["a",].covariance) == pytest.approx(alone.std_error**2, rel=0.3)
    pi = np.full((2, 3, 1), 1 / 6)
    step = np.zeros_like(pi)
    step[0, 1], step[1, 1] = 1e-6, -1e-6
    up, down = evidence.evaluate(pi + step)[0], evidence.evaluate(pi - step)[0]
    assert (evidence.evaluate(pi)[1] * step).sum() == pytest.approx(float((up - down)[0] / 2), rel=1e-5)


@pytest.mark.parametrize("channel", ["krr", "subset", "unary"])
def test_ballots_that_tell_alike_are_added_up(channel, monkeypatch):
    """Whatever place an attribute has in a question: what is gathered is the sum over ballots, weighted by reports."""
    monkeypatch.setattr(module, "MOST_RIDING", 12)
    domain = {"a": range(2), "b": range(3), "c": range(2), "d": range(3), "e": range(2)}
    rng = np.random.default_rng(4)
    people = {name: rng.choice(len(values), 900).tolist() for name, values in domain.items()}
    reports = dn.Views(domain, 2, 2.0, channel=channel).randomize(people, source=dn.Seeded(2))
    for asked in (["b"], ["a", "d"], ["c", "b"]):
        evidence = gather(reports, asked)
        assert len(evidence.groups) <= 6  # of 10 questions, of 4, 6 or 9 cells
        assert evidence.n + evidence.silent == 900
        for part in {group.said.part.names for group in evidence.groups}:
            alone = [
                o.n * _of_part(o, part) for o in reports.tabulate(asked) if set(o.domain) & set(asked) == set(part)
            ]
            mine = [group.said for group in evidence.groups if group.said.part.names == part]
            total = sum(said.observation().n * _of_part(said.observation(), part) for said in mine)
            assert total == pytest.approx(np.sum(alone, axis=0), abs=1e-9)


def _of_part(observation, part):
    solved = observation.channel.solve(observation.shares).reshape(observation.domain.shape)
    return solved.sum(axis=tuple(axis for axis, name in enumerate(observation.domain) if name not in part))


def test_counts_alone_say_what_they_can():
    design = DESIGNS["views"]
    table = dn.Table(DOMAIN, np.full(DOMAIN.shape, 1 / 12))
    tallies = design.simulate(table, 1000, source=dn.Seeded(1))
    evidence = gather(tallies, ["a", "b"])
    assert evidence.n == 1000
    assert evidence.respondents is None
    product = dn.Observation(
        dn.Domain({"a": range(2), "b": range(3)}), Kronecker([dn.KRR(2, 1.0), dn.KRR(3, 1.0)]), np.ones((2, 3))
    )
    both = gather([tallies, product], ["a", "b"])
    assert both.n == 1006
    sets = gather(dn.Observation("x", dn.Unary(3, 1.0), [5, 4, 3, 10]), "x")
    assert isinstance(sets.groups[0].said, Moments)
    assert gather([product, dn.Observation("x", dn.KRR(2, 1.0), [30, 70])], "x").silent == 6


def test_weights_count_and_keep_the_number_of_reports(design):
    reports = reports_of(design)
    weights = np.random.default_rng(4).random(N) + 0.1
    plain, weighted = gather(reports, ["a", "b"]), gather(reports, ["a", "b"], sampling=sampling_of(reports, weights))
    people = weighted.respondents
    scaled = weights * N / weights.sum()
    assert people.weights == pytest.approx(scaled)
    assert weighted.n == plain.n
    for number, group in enumerate(weighted.groups):
        rows = people.group == number
        assert group.said.counts == pytest.approx(
            np.bincount(people.report[rows], scaled[rows], len(group.said.counts))
        )
    one = gather(reports, ["a", "b"], sampling=sampling_of(reports, np.full(N, 7.0)))
    assert one.counts == pytest.approx(plain.counts)


def test_several_sources_are_one_evidence():
    first, second = reports_of(DESIGNS["unary"]), reports_of(DESIGNS["hashing"], seed=2)
    third = reports_of(DESIGNS["hashing"], seed=3)
    evidence = gather([first, second, third], ["a", "b", "c"])
    assert [type(group.said) for group in evidence.groups] == [Counted, Listed]
    people = evidence.respondents
    assert people.n == 3 * N
    for row in (0, N, N + 5, 2 * N, 3 * N - 1):
        reports = (first, second, third)[row // N]
        found = evidence.groups[people.group[row]].rows(people.report[[row]])[0]
        assert found == pytest.approx(written_out(reports, row % N, evidence, "abc"))


def test_what_nobody_was_asked_together_is_refused():
    evidence = gather(reports_of(DESIGNS["sampled"]), ["a", "b"])
    with pytest.raises(NotCoveredError, match="Independent, Joint, or Views with k=2"):
        evidence.require()
    one = np.zeros((2, 3))
    one[0] = 1.0
    assert evidence.estimable(one)
    assert not evidence.estimable(np.eye(6)[0])
    assert not evidence.tells
    assert gather(reports_of(DESIGNS["views"]), ["a", "b"]).require().estimable(np.eye(6))
    assert evidence.used[0].startswith(f"{evidence.groups[0].said.n:.0f} reports about a through KRR(2)")
    assert evidence.used[-1] == f"{evidence.silent} reports speak of none of them"


def test_refusals():
    reports = reports_of(DESIGNS["views"])
    with pytest.raises(UnknownAttributeError, match="no attribute 'z' among"):
        gather(reports, ["a", "z"])
    nothing = dn.Joint({"a": [0, 1], "b": [0, 1]}, 1.0).simulate(
        dn.Table({"a": [0, 1], "b": [0, 1]}, [[0.25, 0.25]] * 2), 100, source=dn.Seeded(1)
    )
    with pytest.raises(UnknownAttributeError, match="speak of: 'a', 'b'"):
        gather(nothing, "z")
    for stranger in (np.ones((1, 1)), [reports, 3]):
        with pytest.raises(InputError, match="were expected, not"):
            gather(stranger, "a")
    with pytest.raises(DesignError, match="named twice"):
        gather(reports, ["a", "a"])
    with pytest.raises(UnknownCategoryError, match="in some reports"):
        gather([reports, dn.Observation(dn.Domain({"a": ["no", "yes"]}), dn.KRR(2, 1.0), [3, 7])], "a")
    paired = dn.Paired({"a": [0, 1]}, 0.7, -0.2, respondents=100)
    with pytest.raises(EstimationError, match="correlated"):
        gather(reports_of(paired, 100), "a")


def test_reports_that_stay_where_they_are_say_the_same(tmp_path):
    for name in ("views", "subset", "hashing"):
        reports = reports_of(DESIGNS[name])
        stored = dn.open_reports(reports.write(tmp_path / f"{name}.parquet"))
        here, there = gather(reports, ["a", "b"]), gather(stored, ["a", "b"])
        assert there.used == here.used
        assert there.counts == pytest.approx(here.counts)
        pi = np.random.default_rng(0).dirichlet(np.ones(here.cells)).reshape(*here.domain.shape, 1)
        assert there.evaluate(pi)[0] == pytest.approx(here.evaluate(pi)[0])
