"""Designs: what is asked, what it costs, what is counted."""

import json
import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dn
from deniable.designs.ballots import even_share
from deniable.designs.kinds.views import greedy, round_robin, views
from deniable.device.epsilon import exp_below
from deniable.errors import (
    DesignError,
    InputError,
    MissingColumnError,
    NotExecutableError,
    SmallCellWarning,
    UnknownAttributeError,
)

DOMAIN = dn.Domain({"a": ["n", "y"], "b": [0, 1, 2], "c": ["n", "y"], "d": [False, True]})
EPSILON = 2.0
DESIGNS = {
    "independent": dn.Independent(DOMAIN, EPSILON),
    "joint": dn.Joint(DOMAIN, EPSILON),
    "clusters": dn.Clusters(DOMAIN, [["d", "a"], ["b"], ["c"]], EPSILON),
    "sampled": dn.Sampled(DOMAIN, EPSILON),
    "views one": dn.Views(DOMAIN, 2, EPSILON),
    "views all": dn.Views(DOMAIN, 2, EPSILON, answer="all"),
    "triples": dn.Views(DOMAIN, 3, EPSILON),
}
every_design = pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS.keys())


def people(n, seed=0, library=pa.table):
    rng = np.random.default_rng(seed)
    a = rng.random(n) < 0.3
    return library(
        {
            "a": np.where(a, "y", "n"),
            "b": np.where(a, 2, rng.integers(0, 3, n)),
            "c": np.where(rng.random(n) < 0.1, "y", "n"),
            "d": a ^ (rng.random(n) < 0.2),
            "region": np.where(rng.random(n) < 0.5, "north", "south"),
        }
    )


# -- what it costs ---------------------------------------------------------------------------------------------


@every_design
def test_epsilon_is_the_total_of_a_respondent_and_never_above_the_request(design):
    assert design.ratio <= exp_below(EPSILON)
    assert EPSILON * (1 - 1e-3) <= design.epsilon <= EPSILON


@every_design
def test_composition_is_exact(design):
    dearest = max(
        math.prod((design.questions[index].channel.ratio for index in ballot), start=Fraction(1))
        for ballot in design.ballots
    )
    assert design.ratio == dearest
    assert isinstance(design.ratio, Fraction)


@given(st.floats(1e-3, 50), st.integers(1, 64))
def test_shares_never_exceed_the_total(total, parts):
    share = even_share(total, parts)
    assert Fraction(share) * parts <= Fraction(total)
    assert share == pytest.approx(total / parts, rel=1e-15)


def test_an_epsilon_for_each_attribute():
    design = dn.Independent(DOMAIN, {"a": 0.5, "b": 1.0, "c": 0.25, "d": 0.25})
    realised = {question.name: question.channel.epsilon for question in design.questions}
    assert realised == pytest.approx({"a": 0.5, "b": 1.0, "c": 0.25, "d": 0.25}, rel=1e-3)
    assert design.epsilon <= 2.0
    with pytest.raises(DesignError, match=r"each of \['a', 'b', 'c', 'd'\]"):
        dn.Independent(DOMAIN, {"a": 1.0})


@pytest.mark.parametrize("epsilon", [0, -1, math.inf, math.nan])
def test_an_impossible_epsilon_is_refused(epsilon):
    with pytest.raises(DesignError, match="positive and finite"):
        dn.Joint(DOMAIN, epsilon)


def test_a_device_with_a_zero_is_not_run():
    with pytest.raises(NotExecutableError, match=r"Mangat\(0.7\).*epsilon is infinite"):
        dn.Independent({"a": [0, 1]}, channels={"a": dn.Mangat(0.7)})


def test_stated_devices_are_run_by_their_integers():
    design = dn.Independent({"a": [0, 1]}, channels={"a": dn.Warner(0.8)})
    channel = design.questions[0].channel
    assert channel.bits == 32
    assert channel.epsilon == pytest.approx(math.log(4), rel=1e-8)


@every_design
def test_the_statement_says_what_a_report_can_tell(design):
    told = str(design.describe())
    assert "epsilon per respondent: 2.0000" in told or "epsilon per respondent: 1.99" in told
    assert "50%" in told
    assert "5%" in told
    assert type(design).__name__ in told


# -- what is asked ---------------------------------------------------------------------------------------------


@every_design
def test_no_ballot_asks_an_attribute_twice(design):
    for ballot in design.ballots:
        asked = [name for index in ballot for name in design.questions[index].attributes]
        assert len(asked) == len(set(asked))


def test_a_ballot_that_asks_twice_is_refused():
    question = dn.Question(("a",), dn.KRR(2, 1.0))
    with pytest.raises(DesignError, match="disguised twice"):
        dn.Design(DOMAIN, [question, question], [[0, 1]])


def test_a_channel_of_the_wrong_size_is_refused():
    with pytest.raises(DesignError, match="'b' has 3 possible answers but its channel KRR"):
        dn.Independent(DOMAIN, channels={name: dn.KRR(2, 1.0) for name in DOMAIN})


def test_the_published_views_for_six_and_five_attributes():
    six = {frozenset(map("".join, view)) for view in round_robin("AREOST")}
    assert six == {frozenset(view.split()) for view in ("AR EO ST", "AE RS OT", "AT RE OS", "AO RT ES", "AS RO ET")}
    five = {frozenset(map("".join, view)) for view in round_robin("AREOS")}
    assert five == {frozenset(view.split()) for view in ("AR EO", "RE OS", "AE RS", "AO ES", "AS RO")}


@pytest.mark.parametrize("d", [2, 3, 4, 5, 8, 11, 20])
def test_round_robin_pairs_everybody_once_in_the_fewest_rounds(d):
    rounds = round_robin([str(i) for i in range(d)])
    assert len(rounds) == (d - 1 if d % 2 == 0 else d)
    pairs = [frozenset(pair) for view in rounds for pair in view]
    assert len(pairs) == len(set(pairs)) == math.comb(d, 2)
    assert all(len({name for pair in view for name in pair}) == 2 * len(view) for view in rounds)


@pytest.mark.parametrize(("d", "k"), [(6, 3), (7, 3), (9, 3), (8, 4), (5, 1), (4, 4)])
def test_greedy_covers_every_combination_once_in_disjoint_views(d, k):
    names = [f"v{i}" for i in range(d)]
    found = [combination for view in greedy(names, k) for combination in view]
    assert sorted(found) == sorted(combinations(names, k))
    for view in greedy(names, k):
        asked = [name for combination in view for name in combination]
        assert len(asked) == len(set(asked))


def test_impossible_views_are_refused():
    with pytest.raises(DesignError, match="between 1 and 4 attributes, not 5"):
        dn.Views(DOMAIN, 5)
    with pytest.raises(DesignError, match="too many to ask"):
        views([str(i) for i in range(200)], 4)
    with pytest.raises(DesignError, match='"one" or "all"'):
        dn.Views(DOMAIN, 2, answer="some")


def test_clusters_must_be_a_partition():
    with pytest.raises(DesignError, match="every attribute once"):
        dn.Clusters(DOMAIN, [["a", "b"]], 1.0)
    with pytest.raises(DesignError, match="3 clusters but 2 epsilons"):
        dn.Clusters(DOMAIN, [["a", "b"], ["c"], ["d"]], [1.0, 1.0])


def test_which_joint_tables_a_design_covers():
    assert DESIGNS["independent"].covers(["a", "b", "c", "d"])
    assert not DESIGNS["sampled"].covers(["a", "b"])
    assert DESIGNS["views one"].covers(["a", "b"])
    assert not DESIGNS["views one"].covers(["a", "b", "c"])
    assert DESIGNS["views all"].covers(["a", "b", "c", "d"])


# -- what is drawn ---------------------------------------------------------------------------------------------


def test_the_ballot_does_not_depend_on_the_values():
    # Same seed, other values: the same ballots are drawn, whatever the truth is.
    design = DESIGNS["views one"]
    one = design.randomize(people(500, seed=1), source=dn.Seeded(3))
    other = design.randomize(people(500, seed=2), source=dn.Seeded(3))
    assert np.array_equal(one.ballots, other.ballots)
    assert not np.array_equal(one.answers, other.answers)


def test_more_combinations_than_a_byte_holds_keep_their_numbers():
    """300 cells: the joint code of the last attributes must not wrap around at 256."""
    domain = dn.Domain({"a": range(15), "b": range(2), "c": range(10)})
    channel = dn.KRR(300, other=1, bits=32)  # as good as the truth: changes an answer in 299 of 2^32 draws
    design = dn.Joint(domain, channel=channel)
    codes = np.array(list(np.ndindex(15, 2, 10)), dtype=np.uint8)
    (question,) = design.questions
    np.testing.assert_array_equal(design.joint_codes(codes, question), np.arange(300))
    _, answers = design.randomize_codes(codes, source=dn.Seeded(1))
    assert answers.dtype == design.answer_dtype == np.uint16
    np.testing.assert_array_equal(answers[:, 0], np.arange(300))
    assert dn.Joint({"a": range(16), "b": range(16)}, 1.0).answer_dtype == np.uint8


def test_more_ballots_than_a_byte_holds_are_all_drawn():
    """300 ballots of one question: every one is drawn, and its answer goes through its own channel."""
    domain = dn.Domain({f"x{i}": range(2) for i in range(300)})
    faithful = dn.KRR(2, other=1, bits=32)
    questions = [dn.Question([name], faithful) for name in domain]
    design = dn.Design(domain, questions, [[index] for index in range(300)])
    truth = np.tile((np.arange(300) % 3 == 0).astype(np.uint8), (20_000, 1))
    drawn, answers = design.randomize_codes(truth, source=dn.Seeded(2))
    # Each of 300 ballots is missed by all 20,000 with probability (1 - 1/300)^20000 < 1e-28.
    assert set(drawn.tolist()) == set(range(300))
    np.testing.assert_array_equal(answers[:, 0], drawn % 3 == 0)


def test_ballots_are_equally_likely():
    n = 60_000
    drawn = np.bincount(DESIGNS["views one"].randomize(people(n), source=dn.Seeded(4)).ballots, minlength=6)
    # Chi-square with 5 degrees of freedom exceeds 40 with probability 1.5e-7.
    assert ((drawn - n / 6) ** 2 / (n / 6)).sum() < 40


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
@every_design
def test_reports_survive_the_trip_through_a_frame(design, library):
    reports = design.randomize(people(300, library=library), keep=["region"], source=dn.Seeded(5))
    frame = reports.to_frame()
    assert isinstance(frame, type(people(1, library=library)))
    again = dn.Reports(frame, design)
    assert np.array_equal(again.answers, reports.answers)
    assert np.array_equal(again.ballots, reports.ballots)
    assert again.public["region"].to_list() == reports.public["region"].to_list()


def test_a_disguised_table_has_the_columns_and_categories_it_came_with():
    shared = DESIGNS["independent"].randomize(people(100), keep=["region"], source=dn.Seeded(6)).labelled()
    assert shared.column_names == ["a", "b", "c", "d", "region"]
    assert set(shared["a"].to_pylist()) == {"n", "y"}
    assert DOMAIN.encode(shared).shape == (100, 4)
    joint = DESIGNS["joint"].randomize(people(100), source=dn.Seeded(6)).labelled()
    assert DOMAIN.encode(joint).shape == (100, 4)
    drawn = DESIGNS["sampled"].randomize(people(100), source=dn.Seeded(6))
    asked = drawn.labelled()
    assert asked.column_names == ["a", "b", "c", "d"]
    known = np.array([[value is not None for value in asked[name].to_pylist()] for name in "abcd"])
    assert (known == (np.arange(4)[:, None] == drawn.ballots)).all()  # each respondent answers the question drawn


def test_public_columns_that_single_people_out_are_warned_of():
    frame = people(200).append_column("id", pa.array(range(200)))
    with pytest.warns(SmallCellWarning, match="200 combinations of the public columns 'id'"):
        DESIGNS["joint"].randomize(frame, keep=["id"])


def test_a_sensitive_column_cannot_be_public_too():
    with pytest.raises(InputError, match="'a' would travel both in clear and disguised"):
        DESIGNS["joint"].randomize(people(20), keep=["a"])
    with pytest.raises(InputError, match="no column 'nowhere'"):
        DESIGNS["joint"].randomize(people(20), keep=["nowhere"])


def test_reports_of_another_design_are_refused():
    frame = DESIGNS["views one"].randomize(people(50)).to_frame()
    with pytest.raises(MissingColumnError, match="Is it the design these reports were made by"):
        dn.Reports(frame, DESIGNS["independent"])
    reports = DESIGNS["views one"].randomize(people(50))
    with pytest.raises(DesignError, match="another design"):
        DESIGNS["joint"].tabulate(reports)


def test_impossible_codes_are_refused():
    design = DESIGNS["independent"]
    good = design.randomize(people(50)).to_frame().to_pydict()
    with pytest.raises(InputError, match=r"'dn_answer_b' has 1 codes that no answer .* the first is 3"):
        dn.Reports(pa.table({**good, "dn_answer_b": [3, *good["dn_answer_b"][1:]]}), design)
    with pytest.raises(InputError, match="whole-number codes"):
        dn.Reports(pa.table({**good, "dn_answer_b": ["x"] * 50}), design)
    views_frame = DESIGNS["views one"].randomize(people(50)).to_frame().to_pydict()
    with pytest.raises(InputError, match=r"ballots must be 0 \.\. 5"):
        dn.Reports(pa.table({**views_frame, "dn_ballot": [6] * 50}), DESIGNS["views one"])


# -- what is counted -------------------------------------------------------------------------------------------


@every_design
@pytest.mark.parametrize("attributes", [["a"], ["c", "a"], ["b", "a", "d"]])
def test_observations_count_every_respondent_who_was_asked(design, attributes):
    reports = design.randomize(people(400), source=dn.Seeded(7))
    asked = sum(
        any(name in attributes for index in design.ballots[ballot] for name in design.questions[index].attributes)
        for ballot in reports.ballots
    )
    observations = design.tabulate(reports, attributes)
    assert sum(o.n for o in observations) == asked
    assert all(set(o.domain) <= set(attributes) for o in observations)
    assert all(o.population == 400 for o in observations)


@every_design
def test_counting_agrees_with_a_loop_over_records(design):
    reports = design.randomize(people(200), source=dn.Seeded(8))
    for observation in design.tabulate(reports):
        question = next(q for q in design.questions if set(q.attributes) == set(observation.domain))
        counts = np.zeros(observation.channel.outputs)
        for ballot, answers in zip(reports.ballots, reports.answers, strict=True):
            for place, index in enumerate(design.ballots[ballot]):
                if design.questions[index] == question:
                    counts[answers[place]] += 1
        if len(design.ballots) == 1 or "all" not in getattr(design, "answer", "one"):
            assert np.array_equal(observation.counts.ravel(), counts)


@every_design
def test_tabulating_without_attributes_gives_every_question(design):
    reports = design.randomize(people(2000), source=dn.Seeded(9))
    found = {o.domain.names for o in design.tabulate(reports)}
    assert {frozenset(names) for names in found} == {frozenset(q.attributes) for q in design.questions}


@every_design
def test_narrowing_counts_equals_counting_less(design):
    reports = design.randomize(people(400), source=dn.Seeded(10))
    wide = design.tabulate(reports, ["a", "b", "c", "d"])
    for names in (["b"], ["a", "c"]):
        direct = design.tabulate(reports, names)
        narrowed = [o.narrow(names) for o in wide if o.narrow(names) is not None]
        assert sum(o.n for o in narrowed) == sum(o.n for o in direct)
        total = {o.domain.names: np.zeros(o.domain.shape) for o in direct}
        for o in narrowed:
            total[o.domain.names] = total.get(o.domain.names, 0) + o.counts.reshape(o.domain.shape)
        assert {k: v.tolist() for k, v in total.items()} == {
            names: sum(o.counts.reshape(o.domain.shape) for o in direct if o.domain.names == names).tolist()
            for names in total
        }


def test_groups_by_a_public_column():
    reports = DESIGNS["independent"].randomize(people(300), keep=["region"], source=dn.Seeded(11))
    parts = dict(reports.groups("region"))
    assert set(parts) == {"north", "south"}
    assert sum(part.n for part in parts.values()) == 300
    with pytest.raises(UnknownAttributeError, match=r"no public column 'arm'.*keep=\['arm'\]"):
        list(reports.groups("arm"))


# -- identity --------------------------------------------------------------------------------------------------


@every_design
def test_a_design_is_plain_data_with_a_stable_name(design):
    plain = json.loads(design.canonical())
    assert plain == json.loads(json.dumps(design.to_dict()))
    assert len(design.id) == 64
    assert plain["ballots"] == [list(ballot) for ballot in design.ballots]


def test_equal_designs_have_equal_names_and_others_do_not():
    assert dn.Views(DOMAIN, 2, 2.0) == DESIGNS["views one"]
    assert dn.Views(DOMAIN, 2, 2.0).id == DESIGNS["views one"].id
    assert len({design.id for design in DESIGNS.values()}) == len(DESIGNS)


def test_independent_wants_epsilon_or_channels():
    with pytest.raises(DesignError, match="either epsilon= "):
        dn.Independent(DOMAIN)
    with pytest.raises(DesignError, match=r"either epsilon= .* or a channel="):
        dn.Joint(DOMAIN)


def test_an_audit_of_a_design_stays_below_its_epsilon():
    # A correct randomizer is flagged with probability at most 1 - confidence, once.
    result = dn.audit(DESIGNS["views one"], runs=100_000, confidence=1 - 1e-7)
    assert result.lower_bound <= EPSILON
    assert result.lower_bound > 0.5
