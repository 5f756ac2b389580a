"""Every error by a real call: what is wrong, what was expected, and the way out are in its message."""

from __future__ import annotations

import asyncio
import copy
import inspect
import pickle
import re
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import deniable as dn
from deniable import errors
from deniable.collection.group_commit import Writer
from deniable.core.results import pyplot
from deniable.device.ledger_events import Asked
from deniable.device.protocol.canonical_json import decode
from deniable.device.protocol.collector_connection import Line
from deniable.device.protocol.http_transport import Http, Response
from deniable.device.protocol.messages import Report
from deniable.device.protocol.problem_details import problem
from deniable.device.verify import verify
from deniable.likelihood.em import maximum_likelihood
from deniable.likelihood.evidence import of_counts
from deniable.storage.sqlite import SqliteStore
from deniable.storage.store import Row
from deniable.surveys.survey import parse_survey

DOMAIN = dn.Domain({"smokes": ["no", "yes"], "drinks": ["no", "yes"]})
ROWS = pa.table({"smokes": ["no", "yes"] * 20, "drinks": ["no", "no", "yes", "yes"] * 10})
WIDE = dn.Domain({f"q{i}": [0, 1] for i in range(21)})
COUNTS = dn.Observation("a", dn.KRR(3, 1.0), [900, 80, 20])
OTHERS = dn.Observation("a", dn.KRR(3, 2.0), [700, 200, 100])
PEOPLE = {"x": [0.0, 1.0, 2.0, 3.0] * 5, "twice": [0.0, 2.0, 4.0, 6.0] * 5, "y": [0, 0, 1, 1] * 5}


def people(**columns):
    return pa.table({**PEOPLE, **columns})


def charge_twice():
    ledger = dn.Ledger(limit=5.0)
    for _ in range(2):
        ledger.charge(Asked("survey-a", ballot=0, ratio=Fraction(3)))


def plot_without_matplotlib():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "matplotlib", None)
        patch.setitem(sys.modules, "matplotlib.pyplot", None)
        pyplot()


class Strange:
    """Something else than a collector."""

    def request(self, *_request, **_limits):
        return Response(404, b"<h1>Not here</h1>")


def store_into(sabotage):
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "reports.sqlite")
        try:
            store.register("a" * 64, b"body")
            store.add([Row(bytes(16), 1, "x")])
            store._reports._tails[-1].db.execute(sabotage)
            store.add([Row(number.to_bytes(16, "big"), 1, "x" * 1000) for number in range(100)])
        finally:
            store.close()


# The error, a call that raises it, what its message must say (in this order), and attributes it must carry.
CASES = [
    (
        errors.InputError,
        lambda: dn.KRR(3, 1.0).randomize([0, 1, 7]),
        ["1 codes lie outside 0 .. 2", "KRR(3)"],
        {"rows": 1},
    ),
    (
        errors.MissingColumnError,
        lambda: DOMAIN.encode(ROWS.drop_columns("drinks")),
        [
            "no column 'drinks'",
            "it has 1, whose names are not repeated here",
            "Rename the columns, or project the domain",
        ],
        {"columns": ["drinks"]},
    ),
    (
        errors.MissingValueError,
        lambda: DOMAIN["smokes"].encode(["no", None, "yes"]),
        ["'smokes' has 1 missing values in 3 rows", "declare a category"],
        {"attribute": "smokes", "rows": 1},
    ),
    (
        errors.UnknownCategoryError,
        lambda: DOMAIN["smokes"].encode(["no", "maybe", "maybe"]),
        ["'smokes' holds string values", "'no', 'yes'", "in 2 of 3 rows, the first in row 2", "Add the category"],
        {"attribute": "smokes", "first": 1, "rows": 2},
    ),
    (
        errors.UnknownAttributeError,
        lambda: DOMAIN["age"],
        ["no attribute 'age'", "'smokes', 'drinks'"],
        {"attribute": "age"},
    ),
    (
        errors.FormulaError,
        lambda: dn.logit("y on x", people(), dn.Warner(0.8)),
        ['"outcome ~ predictors"', "'y on x'"],
        {"formula": "y on x"},
    ),
    (
        errors.DesignError,
        lambda: dn.KRR(4, -1.0),
        ["epsilon = -1.0 cannot be used", "above 0", "between 0.1 and 5"],
        {"epsilon": -1.0},
    ),
    (
        errors.ProbabilityError,
        lambda: dn.Dense([[0.8, 0.2], [0.3, 0.7]]),
        ["column 0", "sums to 1.1, not to 1", "transpose the matrix"],
        {"column": 0, "total": pytest.approx(1.1)},
    ),
    (
        errors.SingularChannelError,
        lambda: dn.Warner(0.5),
        ["Warner(0.5) cannot be inverted", "(a)", "(b)", "(c)", "Move the probabilities apart"],
        {},
    ),
    (
        errors.NotExecutableError,
        lambda: dn.Mangat(0.7).randomize([0, 1]),
        ["Mangat(0.7)", "epsilon is infinite", "Choose probabilities above zero"],
        {"channel": "Mangat(0.7)"},
    ),
    (
        errors.PrecisionError,
        lambda: dn.KRR(4, 30.0),
        ["4 categories cannot meet epsilon 30 within 0.1%", "nearest below it is 22.", "Ask for fewer"],
        {"requested": 30.0},
    ),
    (
        errors.EstimationError,
        lambda: maximum_likelihood(of_counts([COUNTS], WIDE)),
        [f"{3 * 2**21} cells is too large", "ask for fewer attributes", 'method="inversion"'],
        {"cells": 3 * 2**21},
    ),
    (
        errors.NotCoveredError,
        lambda: dn.estimate(dn.Sampled(DOMAIN, 1.0).randomize(ROWS), ["smokes", "drinks"]),
        ["'smokes', 'drinks' together", "cover 'drinks', 'smokes'", "Independent, Joint, or Views with k=2"],
        {"attributes": ("smokes", "drinks")},
    ),
    (
        errors.TooFewReportsError,
        lambda: dn.estimate(dn.Observation("a", dn.KRR(2, 1.0), [1, 0]), "a"),
        ["1 report about 'a'", "at least 2"],
        {"n": 1},
    ),
    (
        errors.ConvergenceError,
        lambda: maximum_likelihood(of_counts([COUNTS, OTHERS]), most=1),
        ["stopped after 1 evaluations", "nats left to gain (in 1 of 1 fits)", "Raise the gap, or ask for fewer"],
        {},
    ),
    (
        errors.InvalidTestError,
        lambda: dn.independence(dn.Joint(DOMAIN, 1.0).randomize(ROWS), "smokes", "drinks", method="pearson"),
        [
            "the test always rejects",
            "'smokes' and 'drinks' each have a channel of their own",
            'use method="lrt" or "auto"',
        ],
        {},
    ),
    (
        errors.SingularDesignError,
        lambda: dn.logit("y ~ x + twice", people(), dn.Warner(0.8)),
        ["'x', 'twice' are linear combinations", "leave one of them out"],
        {"terms": ["x", "twice"]},
    ),
    (
        errors.SeparationError,
        lambda: dn.logit("y ~ x", people()),
        ["tell the reports apart", "running away: 'Intercept', 'x'", "Leave the predictor out", 'penalty="jeffreys"'],
        {"terms": ["Intercept", "x"]},
    ),
    (
        errors.DivergenceError,
        lambda: dn.logit("y ~ 1", people(y=[0] * 18 + [1] * 2), dn.Warner(0.8)),
        ["keeps rising", "running away: 'Intercept'", "outside [0, 1]", "Take more reports", 'penalty="jeffreys"'],
        {"terms": ["Intercept"]},
    ),
    (
        errors.NotIdentifiedError,
        lambda: dn.logit("y ~ x", people(), dn.Warner(0.5 + 1e-9)),
        ["the channels of 'y' leave the truth undetermined", "condition number", "Use a channel with less noise"],
        {},
    ),
    (
        errors.PrivacyError,
        charge_twice,
        ["survey-a was answered before", "Send the stored report again"],
        {"design": "survey-a"},
    ),
    (
        errors.OverdrawnError,
        lambda: dn.Ledger(limit=1.0).charge(Asked("survey-a", ballot=0, ratio=Fraction(3))),
        ["survey-a asks for epsilon 1.09861", "the limit 1", "Ask with a smaller epsilon"],
        {"design": "survey-a", "spent": 0.0, "limit": 1.0, "remaining": 1.0},
    ),
    (
        errors.UnknownEventError,
        lambda: dn.Ledger(limit=1.0).charge("a gift"),
        ["no rule for a str", "Asked and Replayed", "must not be sent"],
        {"event": "a gift"},
    ),
    (
        errors.SurveyError,
        lambda: parse_survey("format = 2"),
        ["format: ", "2"],
        {"path": "format"},
    ),
    (
        errors.MessageError,
        lambda: decode(b"{", Report, most=100),
        ["not JSON"],
        {"code": "malformed"},
    ),
    (
        errors.RefusedDesignError,
        lambda: verify(b"{}", "0" * 64),
        ["refused (wrong-hash)", "not the promised 000"],
        {"code": "wrong-hash"},
    ),
    (
        errors.CollectorError,
        lambda: dn.Client("http://elsewhere", transport=Strange()).form,
        ["http://elsewhere/v1/survey answered 404", "Is this a collector's address?"],
        {"url": "http://elsewhere"},
    ),
    (
        errors.UnreachableError,
        lambda: Http("http://127.0.0.1:9").request("GET", "/", most=1),
        ["no answer from http://127.0.0.1:9"],
        {"url": "http://127.0.0.1:9"},
    ),
    (
        errors.RejectedError,
        lambda: Line("http://elsewhere", Strange()).refused(problem("conflict")),
        ["http://elsewhere refused the report", "same id"],
        {"problem": problem("conflict")},
    ),
    (
        errors.StoreError,
        lambda: store_into("DROP TABLE reports"),
        ["the store failed", "reports"],
        {},
    ),
    (
        errors.StoreFullError,
        lambda: store_into("PRAGMA max_page_count = 1"),
        ["no space left"],
        {},
    ),
    (
        errors.BusyError,
        lambda: asyncio.run(Writer(None, most_waiting=0).submit([None])),
        ["0 reports are waiting"],
        {},
    ),
    (
        errors.MissingExtraError,
        plot_without_matplotlib,
        ["matplotlib, which is not installed", "pip install 'deniable[plot]'"],
        {"extra": "plot"},
    ),
]

CLASSES = {
    value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, errors.DeniableError)
}


@pytest.mark.parametrize(("error", "call", "told", "details"), CASES, ids=[error.__name__ for error, *_ in CASES])
def test_an_error_says_what_is_wrong_and_the_way_out(error, call, told, details):
    with pytest.raises(error) as caught:
        call()
    assert caught.type is error
    # In order, so that the message reads: the offending thing, what was expected, what to do.
    assert re.search(".*".join(map(re.escape, told)), str(caught.value), re.DOTALL), str(caught.value)
    for name, value in details.items():
        assert getattr(caught.value, name) == value


def test_every_error_has_a_case():
    # DeniableError itself is what all of them are; nothing raises it bare.
    assert CLASSES - {errors.DeniableError} == {error for error, *_ in CASES}


def drawn_tree():
    """The tree of the module's docstring: (name, parent, exit code) per line."""
    parents = ["", "", ""]
    codes = ["", "", ""]
    for line in re.findall(r"^    (\S.*)$", errors.__doc__, re.MULTILINE):
        found = re.match(r"(?P<lead>[|` -]*)(?P<name>\w+)\s+(?P<code>\d)?", line)
        depth = len(found["lead"]) // 4
        parents[depth] = found["name"]
        codes[depth] = found["code"] or codes[depth - 1]
        yield found["name"], parents[depth - 1] if depth else "Exception", int(codes[depth])


def test_the_tree_in_the_docstring_is_the_tree():
    tree = list(drawn_tree())
    assert {name for name, *_ in tree} == {error.__name__ for error in CLASSES}
    for name, parent, code in tree:
        error = getattr(errors, name)
        assert error.__bases__[0].__name__ == parent
        assert error.exit_code == code


def test_an_error_is_also_what_python_would_have_raised():
    assert issubclass(errors.InputError, ValueError)
    assert issubclass(errors.UnknownAttributeError, KeyError)
    assert issubclass(errors.MissingExtraError, ImportError)
    # A KeyError prints the repr of its message; ours is meant to be read.
    assert str(errors.UnknownAttributeError("no attribute 'age'")) == "no attribute 'age'"


@pytest.mark.parametrize("send", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])  # noqa: S301
def test_an_error_survives_the_way_out_of_a_worker(send):
    sent = send(errors.UnknownCategoryError("no category 'maybe'", attribute="smokes", value="maybe"))
    assert (str(sent), sent.attribute, sent.value) == ("no category 'maybe'", "smokes", "maybe")
    with pytest.raises(AttributeError, match="oracle"):
        _ = sent.oracle


def test_public_columns_that_single_people_out_are_warned_about():
    frame = ROWS.append_column("postcode", pa.array(np.arange(40)))
    with pytest.warns(errors.SmallCellWarning, match=r"40 combinations .* 'postcode' .* fewer than 10 .* Coarsen"):
        dn.Independent(DOMAIN, 1.0).randomize(frame, keep=["postcode"])
