"""The design in blocks: limits, fakes, running it, what it says about itself."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import deniable as dn
from apart import by_block
from chequered import times
from deniable.device.epsilon import epsilon_of, exp_below
from deniable.device.fake_limits import WHOLE, Limits
from deniable.device.protocol.fake_blocks import check, check_chain
from deniable.errors import DesignError, InputError, MissingColumnError, NotCoveredError
from deniable.extensions.blocks.aggregator import Aggregator
from deniable.extensions.blocks.block_reports import BlockReports
from deniable.extensions.blocks.fake_distribution import fake_weights, first_mixture
from deniable.extensions.designs.blocks import Blocks

DOMAIN = dn.Domain({"a": [0, 1], "b": [0, 1, 2], "c": ["x", "y"]})
PI = dn.Table(DOMAIN, np.array([[[6, 1], [1, 2], [2, 1]], [[1, 3], [2, 1], [1, 4]]]) / 25)


# -- limits and fakes -----------------------------------------------------------------------------------------


@given(
    cells=st.integers(2, 5000),
    epsilon=st.floats(0.01, 8),
    phi=st.fractions(Fraction(1, 100), 1, max_denominator=100),
)
def test_limits_use_epsilon_up_and_never_exceed_it(cells, epsilon, phi):
    limits = Limits.of(cells, epsilon, phi)
    ratio = 1 + Fraction(limits.keep, limits.floor)
    assert ratio <= exp_below(epsilon)
    assert epsilon_of(ratio) > epsilon * 0.99
    assert limits.keep + cells * limits.floor <= WHOLE
    # The formula of the docstring, in floats.
    odds = math.expm1(epsilon)
    assert limits.keep / WHOLE == pytest.approx(odds * float(phi) / (cells + odds * float(phi)), rel=1e-3, abs=1e-9)


def test_with_all_fakes_even_it_is_k_rr():
    limits = Limits.of(6, 1.0, Fraction(1))
    mixture, krr = first_mixture(limits), dn.KRR(6, epsilon=1.0)
    np.testing.assert_allclose(mixture.matrix(), krr.matrix(), atol=2e-4)


@given(
    st.lists(st.lists(st.floats(-5, 5), min_size=2, max_size=6), min_size=1, max_size=4),
    st.floats(0.05, 6),
    st.fractions(Fraction(1, 50), 1, max_denominator=50),
)
def test_every_estimate_becomes_fakes_within_the_limits(rows, epsilon, phi):
    limits = [Limits.of(len(row), epsilon, phi) for row in rows]
    padded = np.full((len(rows), 6), -np.inf)
    for line, row in zip(padded, rows, strict=True):
        line[: len(row)] = row
    weights = fake_weights(padded, np.array([(x.cells, x.keep, x.floor) for x in limits]))
    for line, limit in zip(weights.tolist(), limits, strict=True):
        assert sum(line) + limit.keep == WHOLE
        assert min(line[: limit.cells]) >= limit.floor
        assert not any(line[limit.cells :])


def test_fakes_are_the_projection_mixed_with_the_even_distribution():
    limits = Limits.of(4, 1.0, Fraction(1, 2))
    weights = fake_weights(np.array([[0.7, 0.5, -0.1, -0.1]]), np.array([(4, limits.keep, limits.floor)]))[0]
    expected = 0.5 / 4 + 0.5 * np.array([0.6, 0.4, 0, 0])
    np.testing.assert_allclose(weights / weights.sum(), expected, atol=1e-8)


@pytest.mark.parametrize("phi", [0, -1, 1.5])
def test_an_impossible_phi_is_refused(phi):
    with pytest.raises(DesignError):
        Blocks(DOMAIN, phi=phi)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"answer": "two"}, '"one" or "all"'),
        ({"mode": "trust"}, '"ldp" or "deniability"'),
        ({"keep": 0.5}, "keep follows from epsilon and phi"),
        ({"block_size": 0}, "at least 1 respondent"),
        ({"block_size": 2.5}, r"at least 1 respondent, and a whole number of them, not 2\.5"),
        ({"block_size": "many"}, "a whole number of them, not 'many'"),
        ({"k": 1.5}, r"between 1 and \d attributes, not 1\.5"),
        ({"k": "2"}, "not '2'"),
        ({"mode": "deniability", "keep": 1.0}, "between 0 and 1"),
    ],
)
def test_impossible_designs_are_refused(arguments, message):
    with pytest.raises(DesignError, match=message):
        Blocks(DOMAIN, **arguments)


# -- the design -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", ["one", "all"])
def test_the_total_is_the_respondents(answer):
    design = Blocks({name: [0, 1] for name in "abcdef"}, epsilon=1.0, answer=answer)
    assert 0.999 < design.epsilon <= 1.0
    assert design.width == (1 if answer == "one" else 3)
    assert design.claimed_epsilon == design.epsilon


def test_the_papers_composition_over_a_view_is_counted():
    design = Blocks({name: [0, 1] for name in "abcdef"}, answer="all", mode="deniability", keep=0.5)
    assert design.epsilon == math.inf
    assert design.claimed_epsilon == pytest.approx(3 * math.log(2), rel=1e-8)
    text = str(design.describe())
    assert "Claimed epsilon" in text
    assert "over 3 answer(s)): 2.0794" in text
    assert "True epsilon: infinite" in text
    assert "claimed 2.079" in repr(design)


def test_without_keep_deniability_takes_the_papers_p():
    design = Blocks(DOMAIN, epsilon=0.5, mode="deniability")
    assert design.limits[0].keep / WHOLE == pytest.approx(1 - math.exp(-0.5), abs=1e-9)
    assert design.claimed_epsilon == pytest.approx(0.5, abs=1e-8)


def test_it_is_its_plain_data():
    for design in (
        Blocks(DOMAIN, 2, 0.7, phi=Fraction(1, 3), block_size=9),
        Blocks(DOMAIN, mode="deniability", keep=0.4),
    ):
        data = json.loads(json.dumps(design.to_dict()))
        assert Blocks.from_dict(data) == design
        assert Blocks.from_dict(data).id == design.id
        with pytest.raises(DesignError, match="its own parameters"):
            Blocks.from_dict({**data, "surprise": 1})
        with pytest.raises(DesignError, match="not a design in blocks"):
            Blocks.from_dict({key: value for key, value in data.items() if key != "phi"})
    data["questions"][0]["most_kept"] += 1
    with pytest.raises(DesignError, match="its own parameters"):
        Blocks.from_dict(data)


def test_it_covers_what_a_respondent_is_asked():
    four = {name: [0, 1] for name in "abcd"}
    assert Blocks(four, answer="one").covers(["a", "b"])
    assert not Blocks(four, answer="one").covers(["a", "b", "c"])
    design = Blocks(four, answer="all")
    assert design.covers(["a", "b", "c", "d"])
    with pytest.raises(NotCoveredError, match="no question asks exactly"):
        design.question_of(["a"])


# -- running it -----------------------------------------------------------------------------------------------


def test_running_it_publishes_a_chain_that_anybody_can_check():
    design = Blocks(DOMAIN, epsilon=2.0, block_size=40)
    seen = []
    reports = design.randomize(
        _frame(200),
        source=dn.Seeded(1),
        progress=lambda done, n: seen.append((done, n)),
    )
    assert seen == [(40, 200), (80, 200), (120, 200), (160, 200), (200, 200)]
    assert len(reports.published) == 5
    assert check_chain(reports.published, design) is reports.published[-1]
    assert reports.ratio <= design.ratio
    assert reports.describe().epsilon <= 2.0
    assert reports.disclosed == 0


def _frame(n, seed=0):
    import pyarrow as pa

    cells = np.random.default_rng(seed).choice(PI.values.size, size=n, p=PI.values.ravel())
    codes = np.stack(np.unravel_index(cells, PI.shape), axis=1)
    return pa.table({**DOMAIN.decode(codes), "region": pa.array(["n", "s"] * (n // 2))})


def test_the_sampler_gives_each_block_its_own_mixture():
    # One respondent's truth, 600 respondents a block, three blocks: reports against the integers of their block. Six
    # chi-squares below 1e-8 each would be a false alarm with probability below 1e-7.
    domain = dn.Domain({"a": [0, 1], "b": [0, 1, 2]})
    design = Blocks(domain, epsilon=1.0, block_size=6000)
    for truth in ([0, 2], [1, 0]):
        reports = design.run(np.tile(truth, (18_000, 1)), source=dn.Seeded(3))
        cell = truth[0] * 3 + truth[1]
        for index, block in enumerate(reports.published):
            expected = np.array(block.fakes[0], dtype=float)
            expected[cell] += block.keep[0]
            counts = np.bincount(reports.answers[reports.blocks == index, 0], minlength=6)
            assert stats.chisquare(counts, expected / WHOLE * counts.sum()).pvalue > 1e-8


def test_pooled_and_block_by_block_counting_agree():
    design = Blocks(DOMAIN, epsilon=2.0, block_size=100)
    reports = design.simulate(PI, 3000, source=dn.Seeded(2))
    whole = reports.tabulate(["a", "b"])
    direct = next(o for o in whole if set(o.domain) == {"a", "b"})
    parts = by_block(reports, ["a", "b"])
    assert direct.n == sum(o.n for o in parts)
    np.testing.assert_array_equal(direct.counts, [o.counts.ravel() for o in parts])
    own = np.array([o.channel.solve(o.shares) for o in parts])
    pooled = np.average(own, axis=0, weights=[o.n for o in parts])
    np.testing.assert_allclose(dn.estimate([direct], ["a", "b"], method="inversion").values.ravel(), pooled, atol=1e-12)
    # Two independent ways to maximum likelihood: one channel for all blocks, or one each.
    together = dn.estimate([direct], ["a", "b"], method="mle", gap=1e-9).values
    apart = dn.estimate(parts, ["a", "b"], method="mle", gap=1e-9).values
    np.testing.assert_allclose(together, apart, atol=1e-4)


def test_estimates_are_unbiased_and_their_errors_honest():
    # Every cell's mean within 6 standard errors, and its mean squared error within what a chi-square of so many degrees
    # of freedom is in all but 1e-6 of all seeds.
    surveys = times(400, 120)
    design = Blocks(DOMAIN, epsilon=3.0, block_size=50)
    source = dn.Seeded(4)
    results = [
        dn.estimate(design.simulate(PI, 900, source=source), ["a", "c"], method="inversion") for _ in range(surveys)
    ]
    truth = PI.project(["a", "c"]).values
    values = np.array([r.values for r in results])
    variances = np.mean([r.std_error**2 for r in results], axis=0)
    z = (values.mean(axis=0) - truth) / np.sqrt(variances / len(values))
    assert np.abs(z).max() < 6
    squares = ((values - truth) ** 2).sum(axis=0) / variances
    assert stats.chi2.ppf(5e-7, surveys) < squares.min()
    assert squares.max() < stats.chi2.isf(5e-7, surveys)


@pytest.mark.parametrize("answer", ["one", "all"])
def test_every_question_is_answered_by_those_who_drew_it(answer):
    design = Blocks({name: [0, 1] for name in "abcde"}, answer=answer, block_size=30)
    reports = design.run(np.zeros((600, 5), dtype=np.uint8), source=dn.Seeded(0))
    observed = reports.tabulate()
    assert len(observed) == len(design.questions) == 10
    per_ballot = np.bincount(reports.ballots, minlength=len(design.ballots))
    for index, o in enumerate(observed):
        ballot = next(b for b, questions in enumerate(design.ballots) if index in questions)
        assert o.n == per_ballot[ballot]


def test_reports_survive_being_written_down():
    design = Blocks(DOMAIN, block_size=50)
    reports = design.randomize(_frame(200), keep=["region"], source=dn.Seeded(5))
    again = BlockReports(reports.to_frame(), design, reports.published)
    assert again.to_frame().equals(reports.to_frame())
    np.testing.assert_array_equal(again.blocks, reports.blocks)
    one, two = dn.estimate(again, ["a", "b"]), dn.estimate(reports, ["a", "b"])
    np.testing.assert_array_equal(one.values, two.values)
    by = dn.estimate(reports, ["a"], by="region")
    assert set(by) == {"n", "s"}
    with pytest.raises(MissingColumnError, match="'dn_block'"):
        BlockReports(reports.to_frame().drop(["dn_block"]), design, reports.published)
    with pytest.raises(InputError, match="3 published blocks"):
        BlockReports(reports.to_frame(), design, reports.published[:3])


def test_deniability_says_how_many_are_disclosed_with_certainty():
    design = Blocks(DOMAIN, mode="deniability", keep=0.5, block_size=50)
    reports = design.simulate(PI, 1000, source=dn.Seeded(6), update="last")
    shown = 0
    for ballot, answer, block in zip(reports.ballots, reports.answers[:, 0], reports.blocks, strict=True):
        shown += reports.published[block].fakes[design.ballots[ballot][0]][answer] == 0
    assert shown > 0
    assert reports.disclosed == shown / 1000
    assert reports.ratio == math.inf
    text = str(reports.describe())
    assert "True epsilon: infinite" in text
    assert f"{reports.disclosed:.2%} reported a cell that no fake could be" in text
    assert f"{reports.disclosed:.2%} disclosed with certainty" in repr(reports)


def test_simulating_needs_a_population():
    design = Blocks(DOMAIN)
    with pytest.raises(InputError, match="negative cells"):
        design.simulate(dn.Table(DOMAIN, np.linspace(-1, 5, 12)), 10)
    with pytest.raises(InputError, match="at least 1"):
        design.simulate(PI, 0)


def test_an_audit_finds_no_more_than_epsilon():
    assert dn.audit(Blocks(DOMAIN, epsilon=1.0, block_size=500)).lower_bound <= 1.0


# -- whatever is accepted keeps the bound -----------------------------------------------------------------------


@given(st.data())
def test_whatever_fakes_are_accepted_the_bound_holds(data):
    design = Blocks(DOMAIN, epsilon=data.draw(st.floats(0.1, 4)), answer=data.draw(st.sampled_from(["one", "all"])))
    block = Aggregator(design).block
    keep, fakes = [], []
    for limits in design.limits:
        cells, spare = limits.cells, WHOLE - limits.keep
        kept = limits.keep - data.draw(st.integers(-3, 3)) * data.draw(st.sampled_from([0, 0, 0, 1]))
        cuts = sorted(data.draw(st.lists(st.integers(0, spare), min_size=cells - 1, max_size=cells - 1)))
        raw = np.diff([0, *cuts, spare])
        # Mostly lifted to the floor, sometimes left as drawn.
        if data.draw(st.booleans()):
            raw = limits.floor + raw * (spare - cells * limits.floor) // spare
            raw[0] += spare - raw.sum()
        raw[0] += limits.keep - kept
        keep.append(kept)
        fakes.append(tuple(int(weight) for weight in raw))
    offered = type(block)(design.id, 0, design.id, tuple(keep), tuple(fakes))
    try:
        check(offered, design)
    except dn.DeniableError:
        return
    for ballot in design.ballots:
        spent = Fraction(1)
        for index in ballot:
            mixture = dn.Mixture.from_weights(offered.keep[index], offered.fakes[index], 32)
            weights = mixture.weights()
            spent *= max(Fraction(int(row.max()), int(row.min())) for row in weights)
        assert spent <= exp_below(design.requested)
        assert epsilon_of(spent) <= design.epsilon <= design.requested
