"""What every design has from its two lists, questions and ballots: words, names, codes, counts and refusals."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dn
from deniable.errors import DesignError, InputError
from deniable.privacy.shuffle import amplified

DOMAIN = dn.Domain({"a": ["n", "y"], "b": [0, 1, 2], "c": ["n", "y"]})
TWO, THREE, SIX = dn.KRR(2, other=16384, bits=16), dn.KRR(3, other=8192, bits=16), dn.KRR(6, other=4096, bits=16)
A, B, C = dn.Question(["a"], TWO), dn.Question(["b"], THREE), dn.Question(["c"], TWO)

DRAWN = "Each respondent's own device draws one of {} ballots, whatever the answers are, and each ballot asks"


def design(*ballots):
    return dn.Design(DOMAIN, [A, B, C], ballots)


# -- in words ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ballots", "told"),
    [
        ([[0]], "Design over a, b, c. Each respondent answers 1 question: a, b, c."),
        ([[0, 1, 2]], "Design over a, b, c. Each respondent answers 3 questions: a, b, c."),
        (
            [[0], [1, 2]],
            f"Design over a, b, c. {DRAWN.format(2)} 1 to 2 questions, out of a, b, c.",
        ),
        (
            [[0, 2], [1, 2], [0, 1]],
            f"Design over a, b, c. {DRAWN.format(3)} 2 questions, out of a, b, c.",
        ),
    ],
)
def test_what_is_asked_is_said(ballots, told):
    statement = design(*ballots).describe()
    assert statement.notes == (told, "Columns declared public travel in clear and are outside this statement.")
    assert statement.ratio == design(*ballots).ratio


def test_a_kind_of_design_is_called_by_its_name():
    assert dn.Joint(DOMAIN, 1.0).describe().notes[0].startswith("Joint design over a, b, c. ")
    assert repr(design([0], [1])) == "<Design over a, b, c: 3 questions, 2 ballots, epsilon 1.79176 a respondent>"
    assert dn.Question(("a", "c"), SIX).name == "a*c"


def test_that_ballots_are_not_drawn_alike_is_said():
    drawn = dn.Design(DOMAIN, [A, B, C], [[0], [1, 2]], weights=[1, 3])
    assert (
        "draws one of 2 ballots, some more often than others but whatever the answers are" in drawn.describe().notes[0]
    )
    assert drawn.chances.tolist() == [0.25, 0.75]
    assert design([0], [1, 2]).chances.tolist() == [0.5, 0.5]


# -- what it costs and what it is called -------------------------------------------------------------------------------


def test_the_dearest_ballot_is_what_it_costs():
    several = design([0], [1], [0, 2], [1, 2])
    assert [several.ballot_ratio(ballot) for ballot in range(4)] == [3, 6, 9, 18]
    assert several.ratio == Fraction(18)


def test_the_plain_data_are_pinned():
    assert dn.Design({"a": ["n", "y"]}, [A], [[0]]).to_dict() == {
        "format": 1,
        "kind": "design",
        "domain": [{"name": "a", "categories": ["n", "y"]}],
        "questions": [{"attributes": ["a"], "channel": {"kind": "krr", "k": 2, "other": 16384, "bits": 16}}],
        "ballots": [[0]],
    }


def test_a_design_is_its_content():
    one, same, other = design([0], [1, 2]), design([0], [1, 2]), design([0], [2, 1])
    assert one == same
    assert hash(one) == hash(same) == hash(pickle.loads(pickle.dumps(one)))  # noqa: S301 - our own bytes
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301
    assert one != other
    assert one != one.canonical()


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ballots", [[], [[]], [[0], []]])
def test_every_ballot_asks_something(ballots):
    with pytest.raises(DesignError, match="at least one ballot, and every ballot at least one question"):
        design(*ballots)


def test_a_report_fits_one_number():
    assert dn.Design({"x": range(53)}, [dn.Question(["x"], dn.Unary(53, 1.0))], [[0]]).answer_dtype == np.uint64
    with pytest.raises(DesignError, match="does not fit one number"):
        dn.Design({"x": range(54)}, [dn.Question(["x"], dn.Unary(54, 1.0))], [[0]])


def test_a_column_is_public_or_disguised():
    frame = pa.table({"a": ["n"] * 20, "b": [0] * 20, "c": ["y"] * 20, "region": ["north"] * 20, "age": [7] * 20})
    asked = design([0, 1, 2])
    with pytest.raises(InputError, match="'a', 'c' would travel both in clear and disguised"):
        asked.randomize(frame, keep=["a", "region", "c"])
    with pytest.raises(InputError, match="no column 'place' to keep; it has 'a', 'b', 'c', 'region', 'age'"):
        asked.randomize(frame, keep=["region", "place"])
    assert asked.randomize(frame).public is None
    assert asked.randomize(frame, keep=["age"]).public.columns == ["age"]


def test_reports_of_another_design_are_not_counted():
    asked, other = design([0, 1]), design([0], [1])
    table = dn.Table(DOMAIN, np.full(12, 1 / 12))
    with pytest.raises(DesignError, match="another design"):
        asked.tabulate(other.simulate(table, 10))
    assert sum(observation.n for observation in asked.tabulate(asked.simulate(table, 10), ["a"])) == 10


# -- codes -------------------------------------------------------------------------------------------------------------


def test_attributes_are_the_digits_of_one_number():
    both = dn.Question(["b", "a"], SIX)
    asked = dn.Design(DOMAIN, [both, C], [[0, 1]])
    codes = np.array([[1, 2, 0], [0, 1, 1], [1, 0, 1]])
    assert asked.joint_codes(codes, both).tolist() == [5, 2, 1]
    assert asked.joint_codes(codes, C).tolist() == [0, 1, 1]
    assert asked.width == 2


@pytest.mark.parametrize(("cells", "dtype"), [(256, np.uint8), (257, np.uint16)])
def test_an_answer_is_written_in_the_smallest_type_that_holds_all(cells, dtype):
    assert dn.Joint({"x": range(cells)}, 1.0).answer_dtype == dtype


def test_joint_codes_are_as_narrow_as_they_can_be():
    square = dn.Joint({"a": range(16), "b": range(16)}, 1.0)
    codes = square.joint_codes(np.array([[15, 15]]), square.questions[0])
    assert (codes.dtype, codes.tolist()) == (np.uint8, [255])


def test_every_place_of_a_ballot_holds_its_own_question():
    sure = [dn.Question([name], dn.KRR(len(v), other=1, bits=32)) for name, v in DOMAIN.items()]
    asked = dn.Design(DOMAIN, sure, [[2, 0], [1]])
    codes = np.array([[1, 2, 0]] * 200)
    drawn, answers = asked.randomize_codes(codes, source=dn.Seeded(3))
    assert set(drawn.tolist()) == {0, 1}
    assert {tuple(row) for row in answers[drawn == 0].tolist()} == {(0, 1)}
    assert {tuple(row) for row in answers[drawn == 1].tolist()} == {(2, 0)}  # what is not asked is a zero


@pytest.mark.parametrize(("ballots", "dtype"), [(1, np.uint8), (256, np.uint8), (257, np.uint16)])
def test_a_ballot_is_written_in_the_smallest_type_that_holds_all(ballots, dtype):
    drawn, _ = design(*[[0]] * ballots).randomize_codes(np.zeros((5, 3), dtype=int), source=dn.Seeded(7))
    assert drawn.dtype == dtype


def test_an_audit_runs_records_that_differ_in_every_attribute():
    sure = [dn.Question([name], dn.KRR(k, other=1, bits=32)) for name, k in (("few", 2), ("many", 40))]
    cases, run = dn.Design({"few": range(2), "many": range(40)}, sure, [[0, 1]]).audit_cases()
    assert cases == 32
    assert run(np.array([0, 1, 31])).tolist() == [[0, 0, 0], [0, 1, 1], [0, 1, 31]]
    assert design([0]).audit_cases()[0] == 3


# -- what can be learned -----------------------------------------------------------------------------------------------


def test_some_ballot_has_to_ask_all_of_a_table():
    asked = dn.Design(DOMAIN, [dn.Question(["a", "b"], SIX), C], [[0], [1]])
    assert asked.covers(["b", "a"])
    assert asked.covers(["c"])
    assert not asked.covers(["a", "c"])


def test_what_a_ballot_tells_of_some_attributes():
    asked = dn.Design(DOMAIN, [dn.Question(["a", "b"], SIX), C], [[0, 1]])
    alone = asked.told(0, ["c"])
    assert (alone.domain.names, alone.channel.to_dict()) == (("c",), TWO.to_dict())
    assert [(column.place, column.attributes, column.collapsed) for column in alone.columns] == [(1, ("c",), None)]
    both = asked.told(0, ["c", "b"])
    assert both.domain.names == ("b", "c")
    assert [(column.place, column.attributes) for column in both.columns] == [(0, ("b",)), (1, ("c",))]
    assert both.columns[0].collapsed == ((2, 3), (1,))
    assert isinstance(both.channel, dn.Kronecker)
    assert asked.told(0, ["a", "b"]).columns[0].collapsed is None
    assert design([0]).told(0, ["c"]) is None


def test_what_ballots_tell_alike_is_one_and_counted_once(monkeypatch):
    views = dn.Views({name: [0, 1] for name in "abcd"}, 2, 1.0)
    told = [views.told(ballot, ["b"]) for ballot in views.asking("b")]
    assert views.asking(["b"]) == [k for k, (q,) in enumerate(views.ballots) if "b" in views.questions[q].attributes]
    assert views.asking(["no such"]) == []
    assert len({(id(each.domain), id(each.channel)) for each in told}) == 1
    pair = next(k for k in views.asking("b") if k not in views.asking("c"))
    assert views.told(pair, ["b", "c"]) is views.told(pair, ["b"])  # of c it tells nothing
    reports = views.randomize({name: [0, 1, 1] * 40 for name in "abcd"}, source=dn.Seeded(1))
    before = [
        [(o.domain, o.counts.tolist()) for o in reports.tabulate(names)] for names in (["a", "b"], ["b", "c"], ["a"])
    ]
    assert sum(o.n for o in reports.tabulate(["a", "b"])) == sum(len(reports.rows_of(b)) for b in views.asking("ab"))
    monkeypatch.setattr(dn.Reports, "codes", None)  # nobody looks at the answers again
    assert [
        [(o.domain, o.counts.tolist()) for o in reports.tabulate(names)] for names in (["a", "b"], ["b", "c"], ["a"])
    ] == before
    with pytest.raises(ValueError, match="read-only"):
        reports.count(0, views.told(0, ["a"]))[0] = 7


def test_some_sums_of_a_table_are_not_the_table():
    high, low = 3 << 14, 1 << 14
    same = dn.Dense.from_weights([[high, low, low, high], [low, high, high, low]], 16, partial=True)
    first = dn.Dense.from_weights([[high, high, low, low], [low, low, high, high]], 16, partial=True)
    for channel, told in ((same, []), (first, [["a"]])):
        asked = dn.Design(DOMAIN, [dn.Question(["a", "c"], channel), B], [[0], [1]])
        tables = [["a"], ["c"], ["a", "c"], ["a", "b"]]
        assert [names for names in tables if asked.covers(names)] == told
        assert asked.covers(["b"])


@pytest.mark.parametrize("ballots", [[[1]], [[0], [1]], [[1], [0, 2]], [[1, 2]]], ids=str)
def test_what_holds_of_one_channel_is_said_of_published_counts_only_where_all_go_through_it(ballots):
    asked = design(*ballots)
    clones = THREE.clones() if ballots == [[1]] else ()
    found = asked.amplified(300)
    assert found.epsilon == amplified(asked.ratio, 300, clones=clones).epsilon
    assert amplified(THREE.ratio, 300, clones=THREE.clones()).epsilon < amplified(THREE.ratio, 300).epsilon
    assert asked.describe(published=300).notes == (*asked.describe().notes, str(found))
    assert not asked.correlated  # if it did, there would be no such number
    with pytest.raises(InputError, match="no second number"):
        dn.Paired({"a": [0, 1]}, p=0.7, rho=-0.2).amplified(300)


def test_a_device_disguises_one_answer_not_those_to_questions_it_did_not_draw(monkeypatch):
    asked, disguise = [], dn.KRR.randomize

    def counted(channel, truths, **options):
        asked.append(len(truths))
        return disguise(channel, truths, **options)

    monkeypatch.setattr(dn.KRR, "randomize", counted)
    design([0], [1], [2], [0, 2]).randomize_codes(np.array([[1, 2, 0]]), source=dn.Seeded(2))
    assert asked in ([1], [1, 1])


def test_devices_are_served_everything_but_the_weights():
    drawn = dn.Design(DOMAIN, [A, B], [[0], [1]], weights=[1, 3])
    whole = drawn.to_dict()
    assert drawn.plan() == {**{name: part for name, part in whole.items() if name != "weights"}, "format": 1}
    assert whole["weights"] == [1, 3]


def test_what_is_simulated_is_a_population():
    assert design([0]).simulate(dn.Table(DOMAIN, [1.0, *[0.0] * 11]), 7).n == 7  # nobody in a cell is no obstacle
    table = dn.Table(DOMAIN, np.full(12, 1 / 12))
    asked = design([0, 1], [2])
    with pytest.raises(InputError, match="at least 1, not 0"):
        asked.simulate(table, 0)
    with pytest.raises(InputError, match="Seeded"):
        asked.simulate(table, 10, source=5)
    with pytest.raises(InputError, match="negative cells"):
        asked.simulate(dn.Table(DOMAIN, [-0.1, 1.1, *[0.0] * 10]), 10)
    one = asked.simulate(table, 1, source=dn.Seeded(4))
    assert (one.n, sum(observation.n for observation in one.tabulate())) == (1, 1)
    many = asked.simulate(table, 10**6, source=dn.Seeded(5))
    about = {observation.domain.names: observation for observation in many.tabulate()}
    # Half of them each, binomially: 7 standard deviations of 500 are exceeded with probability below 1e-11.
    assert abs(about["a", "b"].n - 500_000) < 3500
    assert {observation.population for observation in about.values()} == {10**6}
    part = asked.simulate(table.project(["c"]), 10**6, source=dn.Seeded(6))
    assert [observation.domain.names for observation in part.tabulate()] == [("c",)]


def test_a_channel_without_a_form_for_a_part_is_not_simulated_from_a_part():
    P = np.array([[0.5, 0.2, 0.1], [0.25, 0.6, 0.3], [0.25, 0.2, 0.6]])
    pair = dn.Dense(np.kron(P, [[0.75, 0.25], [0.25, 0.75]]))
    asked = dn.Design({"b": range(3), "a": ["n", "y"]}, [dn.Question(["b", "a"], pair)], [[0]])
    with pytest.raises(InputError, match="cannot be simulated from a table over 'b'"):
        asked.simulate(dn.Table(asked.domain, np.full(6, 1 / 6)).project(["b"]), 10)
