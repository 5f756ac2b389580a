"""Whatever a program hands over as an answer is understood, replaced or refused by what it is, and charged accordingly.

Understood: it has a code. Replaced: an answer of the right type that no category holds, whose silence would tell.
Refused: it could be no answer to this question, and nothing is drawn, charged or sent.
"""

from __future__ import annotations

import datetime as dt
import enum
import uuid
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from deniable.device.protocol.answer_encoding import read_answers
from deniable.errors import InputError

from .test_client import Server, device, survey_of

NUMBER = '[[questions]]\nname = "drinks"\ntext = "How many?"\nkind = "number"\nbins = [1, 8]\n'
PERSON = {"smokes": "yes", "drinks": 2}


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "no"

    def __eq__(self, _other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("yes")


class Whole(int):
    def __int__(self) -> int:
        return 7


class Floating(float):
    def __repr__(self) -> str:
        return "7"


class Word(enum.StrEnum):
    YES = "yes"


class Plain(enum.Enum):
    YES = "yes"


class Five(enum.IntEnum):
    FIVE = 5


class Scalar:
    """It looks like a scalar of an array library, and is none."""

    ndim = 0

    def item(self) -> object:
        raise AssertionError("nobody may ask")


class Held(Scalar):
    dtype = np.dtype("O")

    def item(self) -> object:
        return Held()


UNDERSTOOD = [
    ("smokes", "yes", "yes"),
    ("smokes", "Yes", "yes"),
    ("smokes", True, "yes"),
    ("smokes", np.True_, "yes"),
    ("smokes", np.array(False), "no"),
    ("smokes", np.str_("yes"), "yes"),
    ("smokes", np.array("yes"), "yes"),
    ("smokes", np.array("yes", dtype=object), "yes"),
    ("smokes", Word.YES, "yes"),
    ("smokes", Text("yes"), "yes"),
    ("smokes", pd.Series(["yes"], dtype="string")[0], "yes"),
    ("smokes", pd.array([True], dtype="boolean")[0], "yes"),
    ("drinks", 5, 5),
    ("drinks", Five.FIVE, 5),
    ("drinks", Whole(5), 5),
    ("drinks", np.int8(5), 5),
    ("drinks", np.uint64(5), 5),
    ("drinks", np.array(5), 5),
    ("drinks", np.ma.array(5), 5),
    ("drinks", np.array(5, dtype=object), 5),
    ("drinks", pd.Series([5], dtype="Int64")[0], 5),
    ("drinks", 10**5000, 10**5000),
    ("drinks", -(10**5000), -(10**5000)),
    ("drinks", 0.1, Decimal("0.1")),
    ("drinks", -0.0, Decimal("-0.0")),
    ("drinks", Floating(0.5), Decimal("0.5")),
    ("drinks", np.float64(0.1), Decimal("0.1")),
    ("drinks", np.float32(0.7), Decimal("0.7")),
    ("drinks", np.float16(0.7), Decimal("0.7")),
    ("drinks", Decimal("1e400000"), Decimal("1e400000")),
    ("drinks", Decimal("1e-999999"), Decimal("1e-999999")),
    ("drinks", Fraction(1, 3), Fraction(1, 3)),
    ("drinks", Fraction(1, 10**3000), Fraction(1, 10**3000)),
]
REPLACED = [
    ("smokes", "perhaps"),
    ("smokes", "yes "),
    ("smokes", ""),
    ("smokes", "\ud800"),
    ("smokes", "x" * 10**5),
    ("smokes", Text("zzz")),
    ("smokes", None),
    ("drinks", None),
]
REFUSED = [
    *((name, value) for name in PERSON for value in (float("nan"), np.nan, np.float32("inf"), -np.inf)),
    *((name, value) for name in PERSON for value in (Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity"))),
    *((name, value) for name in PERSON for value in (pd.NA, pd.NaT, np.ma.masked, np.ma.array(5, mask=True))),
    *((name, value) for name in PERSON for value in (np.datetime64("2020-01-01", "ns"), np.timedelta64(5, "ns"))),
    *((name, value) for name in PERSON for value in (np.datetime64("2020"), np.array("2020", dtype="M8[D]"))),
    *((name, value) for name in PERSON for value in (np.array(np.timedelta64(5), dtype=object), np.void(b"5"))),
    *((name, value) for name in PERSON for value in (pd.Timestamp("2020"), pd.Timedelta(5), pd.Period("2020"))),
    *((name, value) for name in PERSON for value in (dt.date(2020, 1, 1), uuid.UUID(int=5), Plain.YES)),
    *((name, value) for name in PERSON for value in (b"yes", bytearray(b"yes"), np.bytes_(b"5"), 5j, np.complex64(5))),
    *((name, value) for name in PERSON for value in (["yes"], ("yes",), {"yes"}, {"yes": 1}, np.array(["yes"]))),
    *((name, value) for name in PERSON for value in (np.array([5]), pd.Series([5]), object, Scalar(), Held())),
    ("smokes", np.ma.array("yes", mask=True)),
    *(("smokes", value) for value in (1, 10**5000, 1.5, np.float32(1), Decimal("1e400000"), Fraction(1, 3), Five.FIVE)),
    *(("drinks", value) for value in ("5", "1 to < 8", "", np.str_("5"), Word.YES, True, np.True_)),
]


def _said(case: object) -> str | None:
    return f"{type(case).__name__}" if not isinstance(case, str) else None


def test_there_are_many_kinds():
    assert len(UNDERSTOOD) + len(REPLACED) + len(REFUSED) > 120


@pytest.fixture(scope="module")
def survey():
    return survey_of(tail=NUMBER)


@pytest.mark.parametrize(("name", "value", "meant"), UNDERSTOOD, ids=_said)
def test_what_can_be_an_answer_is_understood(survey, name, value, meant):
    client = device(Server(survey))
    found = read_answers(client.design, client.form, {name: value})[name]
    assert str.__eq__(found, meant) if isinstance(meant, str) else found == meant
    assert type(found) is type(meant)
    assert client.answer({**PERSON, name: value}).delivered


@pytest.mark.parametrize(("name", "value"), REPLACED, ids=_said)
def test_an_answer_that_no_category_holds_is_replaced_and_told(survey, name, value):
    server = Server(survey)
    client = device(server)
    with pytest.raises(InputError, match="drawn evenly") as caught:
        client.answer({**PERSON, name: value})
    assert caught.value.sent.delivered
    assert len(server.received) == 1
    assert client.remaining < 5.0


@pytest.mark.parametrize(("name", "value"), REFUSED, ids=_said)
def test_what_can_be_no_answer_is_refused_before_anything_is_drawn(survey, name, value):
    server = Server(survey)
    client = device(server)
    with pytest.raises(InputError) as caught:
        client.answer({**PERSON, name: value})
    assert "evenly" not in str(caught.value)
    assert client.remaining == 5.0
    assert client._state.drawn(client.design.plan_id) is None
    assert server.received == []
    assert client.answer(PERSON).delivered


def test_whoever_knows_only_the_bin_has_a_number_in_it(survey):
    for coded in device(Server(survey)).design.asked_coded:
        for code, category in enumerate(coded.variable.categories):
            assert coded.code(coded.typed(category)) == code
        assert (coded.typed(5), coded.typed(None), coded.typed("perhaps")) == (5, None, "perhaps")


@pytest.mark.parametrize("digits", [10, 5000])
def test_whole_numbers_of_any_length_stand_beside_texts_that_write_them(digits):
    scale = '[[questions]]\nname = "sleep"\ntext = "How?"\nkind = "scale"\nfirst = 1\nlast = 5\n'
    for value in (10**digits, Decimal(f"1e{10 * digits}"), Decimal("1e999999999")):
        with pytest.raises(InputError, match="drawn evenly"):
            device(Server(survey_of(tail=scale))).answer({"smokes": "yes", "sleep": value})
