"""What is simulated as counts leads to the same evidence as the same reports one by one."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from scipy.stats import chi2_contingency

import deniable as dn
from deniable.channels.sets.possible_sets import draw_sets, places_of, possible_sets
from deniable.channels.sets.two_level import TwoLevel
from deniable.designs.observation import Observation
from deniable.designs.question import Question
from deniable.designs.reports.reordered import in_one_order
from deniable.designs.reports.reports import Reports
from deniable.designs.reports.set_reports import Sets
from deniable.designs.reports.tallies import Tallies
from deniable.errors import InputError
from deniable.likelihood.gather import gather

PAIR = dn.Domain({"a": ["x", "y"], "b": ["p", "q", "r"]})
THREE = dn.Domain({"a": ["x", "y", "z"], "b": ["no", "yes"], "c": ["k", "l", "m", "n"]})
WIDE = dn.Domain({name: range(6) for name in "abc"})
MANY = dn.Domain({name: range(3) for name in "abcdefgh"})  # more cells than attributes can ride along
KINDS = {
    "subset": dn.SubsetSelection(6, 2.0),
    "unary": dn.Unary(6, 2.0),
    "symmetric": dn.Unary(6, 2.0, symmetric=True),
    "two level": TwoLevel(dn.Unary(6, 2.0), dn.KRR(2, 1.5)),
    "two level subset": TwoLevel(dn.SubsetSelection(6, 2.0), dn.KRR(2, 1.5)),
    "hadamard": dn.HadamardResponse(6, 2.0),
}
DESIGNS = {
    **{name: dn.Joint(PAIR, channel=channel) for name, channel in KINDS.items()},
    "product": dn.Independent(PAIR, 3.0, channel="unary"),
    "too large a product": dn.Independent(WIDE, 4.0, channel="unary"),
    "sets and k-RR": dn.Design(
        THREE, [Question(["a"], dn.Unary(3, 1.5)), Question(["b", "c"], dn.KRR(8, 2.0))], [[0, 1]]
    ),
    "sets and hashes": dn.Design(
        THREE, [Question(["a"], dn.Unary(3, 1.5)), Question(["b", "c"], dn.LocalHashing(8, 2.0))], [[0, 1]]
    ),
    "sampled": dn.Sampled(THREE, 2.0, channel="subset"),
    "views": dn.Views(THREE, 2, 2.0, channel="subset"),
    "many views": dn.Views(MANY, 2, 2.0, channel="subset"),
}


def randomized(design, n, seed):
    codes = np.column_stack(
        [
            np.random.default_rng([seed, axis]).choice(size, n, p=np.arange(size, 0, -1) * 2 / (size * (size + 1)))
            for axis, size in enumerate(design.domain.shape)
        ]
    )
    return Reports.of_codes(design, *design.randomize_codes(codes, source=dn.Seeded(seed)))


def as_drawn(reports):
    """The same reports as if a simulation had drawn them."""
    design, drawn = reports.design, []
    for ballot in range(len(design.ballots)):
        told = design.told(ballot, design.domain.names)
        codes = reports.codes(ballot, told)
        if not told.channel.is_support:
            drawn.append(Observation(told.domain, told.channel, reports.count(ballot, told), population=reports.n))
            continue
        every, times = possible_sets(told.channel), np.ones(len(codes), dtype=np.int64)
        if every is not None:
            codes, times = every, np.bincount(places_of(told.channel, codes), minlength=len(every))
        drawn.append(Observation.of_sets(told.domain, told.channel, Sets(codes, times), population=reports.n))
    return Tallies(design, design.domain.names, tuple(drawn), reports.n)


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("n", [150, 3000])
def test_counts_and_records_lead_to_the_same_numbers(name, n):
    reports = randomized(DESIGNS[name], n, 5)
    tallies = deepcopy(as_drawn(reports))
    for attributes in (["a"], ["b"], ["b", "a"]):
        if not reports.design.covers(attributes) or (name == "sets and hashes" and "b" in attributes):
            continue  # hashes are too many to list
        one, other = dn.estimate(reports, attributes), dn.estimate(tallies, attributes)
        assert other.method == one.method
        assert other.used == one.used
        for found in ("values", "std_error", "n"):
            assert getattr(other, found) == pytest.approx(getattr(one, found), rel=1e-9, abs=1e-9)
        for clip in (True, False):
            shown, seen = one.interval(clip=clip), other.interval(clip=clip)
            assert seen.low == pytest.approx(shown.low, rel=1e-9, abs=1e-9, nan_ok=True)
            assert seen.high == pytest.approx(shown.high, rel=1e-9, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("name", ["unary", "two level subset", "product", "sets and k-RR", "views"])
def test_tests_of_counts_and_records_are_the_same(name):
    reports = randomized(DESIGNS[name], 1500, 6)
    one, other = (dn.independence(each, "a", "b", replicates=19) for each in (reports, as_drawn(reports)))
    assert other.statistic == pytest.approx(one.statistic, rel=1e-6)


def test_sets_that_are_too_many_to_list_have_the_same_errors_both_ways():
    reports = randomized(dn.Joint(WIDE.project("a"), channel=dn.LocalHashing(6, 2.0)), 800, 7)
    tallies = Tallies(reports.design, ("a",), tuple(reports.tabulate(["a"])), reports.n)
    one, other = dn.estimate(reports, "a"), dn.estimate(tallies, "a")
    assert other.std_error == pytest.approx(one.std_error)
    assert other.interval(clip=False).low == pytest.approx(one.interval(clip=False).low)


@pytest.mark.parametrize("name", [name for name in DESIGNS if name not in ("hadamard", "many views")])
def test_simulated_sets_come_as_often_as_randomized_ones(name):
    """A chi-square test of all possible sets; eleven designs of at most 4 tables: a false alarm in one of 2e8 runs."""
    design, n = DESIGNS[name], 20_000
    shares = [np.arange(size, 0, -1) / sum(range(size + 1)) for size in design.domain.shape]
    whole = shares[0]
    for each in shares[1:]:
        whole = np.multiply.outer(whole, each)
    drawn = design.simulate(dn.Table(design.domain, whole), n, source=dn.Seeded(8))
    for attributes in (["a"], ["a", "b"]):
        if name in ("sets and hashes", "too large a product") and len(attributes) > 1:
            continue  # too many to list
        found = [gather(each, attributes) for each in (drawn, randomized(design, n, 9))]
        keyed = [{(g.said.part, g.said.channel, g.said.how): g.said for g in evidence.groups} for evidence in found]
        assert keyed[0].keys() == keyed[1].keys()
        for key, said in keyed[0].items():
            counts = np.array([said.counts, keyed[1][key].counts])
            often = counts.sum(axis=0) >= 10
            pooled = np.column_stack([counts[:, often], counts[:, ~often].sum(axis=1) + 1])
            assert chi2_contingency(pooled).pvalue > 1e-10


@pytest.mark.parametrize("name", ["subset", "unary", "two level", "product", "sampled", "views"])
def test_a_billion_respondents_are_a_multinomial_of_the_possible_sets(name):
    design = DESIGNS[name]
    drawn = design.simulate(dn.Table(design.domain, np.ones(design.domain.shape)), 10**9, source=dn.Seeded(10))
    kept = [o for o in drawn.observations if o.channel.is_support]
    assert kept
    assert all(len(o.sets.codes) <= len(possible_sets(o.channel)) for o in kept)
    found = dn.estimate(drawn, "a")
    assert found.method == "mle"
    assert np.abs(found.values - 1 / found.values.size).max() < 6 * found.std_error.max() < 6e-3


def test_only_what_sets_hold_is_drawn_where_they_are_too_many():
    for channel in (dn.LocalHashing(6, 2.0), dn.Unary(16, 2.0)):
        truth = np.full(channel.inputs, 1 / channel.inputs)
        assert draw_sets(channel, truth, 50, np.random.default_rng(0)) is None


@pytest.mark.parametrize("name", ["subset", "unary", "two level", "product", "sets and k-RR"])
def test_sets_are_seen_in_another_order_of_categories(name):
    design = DESIGNS[name]
    drawn = as_drawn(randomized(design, 500, 11))
    turned = next(
        dn.Observation(dn.Domain({name: v.categories[::-1]}), dn.KRR(len(v), 1.0), np.ones(len(v)))
        for name, v in design.domain.items()
    )
    moved = in_one_order([turned, drawn])[1]
    assert moved is not drawn
    for attributes in (["a"], ["b"]):
        one, other = dn.estimate(drawn, attributes), dn.estimate(moved, attributes)
        categories = one.table.domain[attributes[0]].categories
        places = [other.table.domain[attributes[0]].categories.index(each) for each in categories]
        assert other.method == one.method == "mle"
        assert other.values[places] == pytest.approx(one.values, abs=1e-6)
        assert other.std_error[places] == pytest.approx(one.std_error, abs=1e-6)


def test_observations_of_a_simulation_are_counts_as_those_of_reports_are():
    reports = randomized(DESIGNS["unary"], 300, 12)
    (one,), (other,) = reports.tabulate(["a", "b"]), as_drawn(reports).tabulate(["a", "b"])
    assert other.sets is None
    assert (other.counts == one.counts).all()


def test_sets_that_are_not_those_that_were_counted_are_refused():
    channel, sets = dn.Unary(2, 1.0), Sets(np.array([[1], [3]]), np.array([4, 6]))
    seen = Observation.of_sets(dn.Domain({"a": ["x", "y"]}), channel, sets, population=10)
    assert seen.counts.tolist() == [10, 6, 10]
    with pytest.raises(InputError, match="10 sets cannot be what 11 reports"):
        dn.Observation("a", channel, [10, 6, 11], sets=sets)
