"""The operator: whoever runs the collector serves what they like, and recomputes every hash.

The client is the Python one; the browser's is tried in the same ways by `tests/web/browser/client.test.mjs` and, with
the page around it, by `test_host_page.py`.
"""

from __future__ import annotations

import copy
import json
import os
import re
import sys
from collections import Counter
from contextlib import suppress
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2

sys.path.insert(0, str(Path(__file__).parent))

from sentences import breaks

from deniable.channels.codec import channel_from_dict
from deniable.channels.krr import KRR
from deniable.collection.form import announcement, design_body, form_body
from deniable.device.client import Client
from deniable.device.form import PLAIN
from deniable.device.messages import Report, design_id
from deniable.device.problems import problem
from deniable.device.transport import Response
from deniable.device.wire import decode, encode
from deniable.errors import DeniableError, InputError, PrivacyError, RefusedDesignError, SurveyError
from deniable.surveys.frames import FRAMES
from deniable.surveys.survey import parse_survey
from deniable.surveys.words import WORDS

ASK = """
format = 1
name = "{name}"
title = "Income"
epsilon = 1
{keys}
[[questions]]
name = "income"
text = "What do you earn?"
kind = "number"
bins = [100, 200]
{rest}
"""
# The answers between which the operator wants to tell: one in each bin, and two in the same.
ANSWERS = (50, 137, 138, 250)


def survey_of(name="income", keys="", rest=""):
    return parse_survey(ASK.format(name=name, keys=keys, rest=rest))


class Operator:
    """Serves a design and words, changed as it likes: every hash is right."""

    def __init__(self, survey, *, design=None, words=None, headers=None):
        form = json.loads(form_body(survey))
        if words is not None:
            words(form)
        self.form = encode(form)
        message = json.loads(design_body(survey))
        message["texts"] = design_id(self.form)
        if design is not None:
            design(message)
        self.body = encode(message)
        self.announced = encode(announcement(survey, design_id(self.body)))
        self.requests, self.received, self.headers = [], [], headers or {}

    def request(self, method, path, body=None, *, most):  # noqa: ARG002 - it answers in few bytes
        self.requests.append((method, path))
        if method == "GET":
            found = {"survey": self.announced, "forms": self.form, "designs": self.body}
            return Response(200, found[path.split("/")[2]], **self.headers)
        self.received.append(decode(body, Report, most=1 << 14))
        return Response(204, b"", stored=True)


def transcript(make, value):
    """Everything that anybody sees of a device that was given a value: its requests, and what it says."""
    operator = make()
    try:
        Client("http://localhost", transport=operator).answer({"income": value, "age": "old"})
    except DeniableError as error:
        return tuple(operator.requests), type(error), str(error)
    return tuple(operator.requests), None, ""


def crowd(operator, n, values):
    """Many respondents with the same answers: one device after the other, each as if it were new."""
    device = Client("http://localhost", transport=operator)
    for _ in range(n):
        device.answer(values)
        with device._state.transaction():
            for table in ("events", "drawn"):
                device._state._db.execute(f"DELETE FROM {table}")  # noqa: S608 - one of two names


def set_in(path, value):
    """A change of a message; `path` is keys and positions with dots between."""

    def change(message):
        *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
        place = message
        for step in way:
            place = place[step]
        place[last] = value

    return change


def finer(message):
    """Four hundred bins over an honest design of three."""
    message["items"][0]["coder"]["edges"] = [str(edge) for edge in range(1, 400)]


RULE = [{"attribute": "income", "is": ["100 to < 200"]}]
DESIGNS = {
    "399 edges over three categories": (finer, "wrong-coder"),
    "a coder nobody knows": (set_in("items.0.coder", {"kind": "exact"}), "unknown-coder"),
    "edges as floats": (set_in("items.0.coder.edges", [136.5, 137.5]), "malformed"),
    "silence by a sensitive answer": (set_in("items.0.show_if", RULE), "wrong-rule"),
    "a rule without a way out": (set_in("items.0.show_if", [{"attribute": "age", "is": ["old"]}]), "wrong-rule"),
    "a mark in the thirtieth decimal": (set_in("epsilon", "1.000000000000000000000000000001"), "malformed"),
    "a mark in the kind of plan": (set_in("plan.kind", "for Ada Lovelace"), "malformed"),
    "a mark in a field of one's own": (set_in("note", "Ada"), "unknown-field"),
    "a zero weight": (set_in("plan.questions.0.channel.other", 0), "zero-weight"),
    "less noise than promised": (set_in("plan.questions.0.channel.other", 9000), "epsilon-exceeded"),
    "a question beside the ballots": (
        lambda message: message["plan"]["questions"].append(copy.deepcopy(message["plan"]["questions"][0])),
        "leftover",
    ),
    "another collector's address": (set_in("audience", ["https://elsewhere.example"]), "not-for-here"),
    "the first version": (set_in("version", 1), "unknown-version"),
}
FORMS = {
    "a choice more than there are categories": lambda form: form["questions"][0]["choices"].append({"en": "137"}),
    "bins of its own": lambda form: form["questions"][0].update(bins=[1, 2, 3]),
    "a rule of its own": lambda form: form["questions"][0].update(show_if={"income": ["137"]}),
    "the promise in its own words": lambda form: form["texts"].update(belief={"en": "Nobody learns anything."}),
    "a question about something else": lambda form: form["questions"][0].update(name="name"),
}


@breaks(
    "Whatever design, words or headers a collector serves, a device answers by the design's own law or not at all.",
    "Whether a device refuses never depends on the answer, and neither does anything that the collector sees before "
    "the report.",
)
@pytest.mark.parametrize(("change", "code"), DESIGNS.values(), ids=DESIGNS)
def test_a_hostile_design_is_refused_alike_whatever_the_answer(change, code):
    age = '[[public]]\nname = "age"\ntext = "?"\nchoices = ["young", "old"]'
    seen = {transcript(lambda: Operator(survey_of(rest=age), design=change), value) for value in ANSWERS}
    ((requests, kind, said),) = seen
    assert kind is RefusedDesignError
    assert f"({code})" in said
    assert not [value for value in ANSWERS if str(value) in re.sub(r"[0-9a-f]{16,}", "", said)]
    assert {method for method, _ in requests} == {"GET"}


@breaks(
    "Whatever design, words or headers a collector serves, a device answers by the design's own law or not at all.",
)
@pytest.mark.parametrize("change", FORMS.values(), ids=FORMS)
def test_hostile_words_are_refused_alike_whatever_the_answer(change):
    seen = {transcript(lambda: Operator(survey_of(), words=change), value) for value in ANSWERS}
    ((requests, kind, _),) = seen
    assert kind is RefusedDesignError
    assert {method for method, _ in requests} == {"GET"}


@breaks(
    "Whatever design, words or headers a collector serves, a device answers by the design's own law or not at all.",
)
@pytest.mark.parametrize("channel", ["krr", "subset"])
def test_many_reports_have_the_designs_own_law(channel):
    # Words that lie as well as they can, headers of every kind: reports follow the channel all the same. Chi-square of
    # the reports of one truth; the bound is exceeded once in 10^7 by a right program.
    def lie(form):
        form["questions"][0]["text"]["en"] = "Not disguised: what do you earn? Answer 137 exactly."
        form["texts"]["welcome"] = {"en": "Everything below goes out in clear."}

    keys = f'design = {{ kind = "joint", channel = "{channel}" }}'
    survey = parse_survey(ASK.replace("[100, 200]", "[50, 100, 150, 200, 250]").format(name="six", keys=keys, rest=""))
    operator = Operator(survey, words=lie, headers={"retry_after": 1e9, "content_type": "text/css"})
    n = int(os.environ.get("DENIABLE_REPORTS", "2000"))  # `make faults` asks ten times as many
    crowd(operator, n, {"income": 137})
    law = channel_from_dict(json.loads(operator.body)["plan"]["questions"][0]["channel"])
    counts = Counter(report.answers[0] for report in operator.received)
    if channel == "krr":
        expected = {code: n * share for code, share in enumerate(law.matrix()[:, 2].tolist())}
    else:
        # Two of six categories: the truth (the third) is in the set by its own weight, the others are drawn evenly.
        assert law.d == 2
        own = law.own / (1 << law.bits)
        expected = {
            1 << v | 1 << w: n * (own / 5 if 2 in (v, w) else (1 - own) / 10) for v, w in combinations(range(6), 2)
        }
    assert set(counts) == set(expected)
    statistic = sum((counts[code] - e) ** 2 / e for code, e in expected.items())
    assert statistic < chi2.isf(1e-7, len(expected) - 1)


@breaks(
    "A question is asked again for nothing: static answers have one disguise, all others are charged to the account."
)
def test_averaging_gains_nothing():
    # A thousand surveys about one static question give one answer; changing the words costs the account each time.
    state = Client("http://localhost", transport=None)._state
    seen, refused = set(), 0
    for wave in range(300):
        static = ASK.replace("bins = [100, 200]", "bins = [100, 200]\nstatic = true")
        operator = Operator(parse_survey(static.format(name=f"wave-{wave}", keys="", rest="")))
        device = Client("http://localhost", transport=operator)
        device._state = state
        device.answer({"income": 137})
        seen |= {report.answers for report in operator.received}
    assert len(seen) == 1
    spent = state.ledger().spent
    for wave in range(20):
        reworded = static.replace("What do you earn?", f"What do you earn, in all ({wave})?")
        device = Client(
            "http://localhost", transport=Operator(parse_survey(reworded.format(name="w", keys="", rest="")))
        )
        device._state = state
        try:
            device.answer({"income": 137})
        except PrivacyError:
            refused += 1
    assert refused >= 15
    assert spent < state.ledger().spent
    assert state.ledger().epsilon_spent <= 5


DISEASES = """
format = 1
name = "health"
title = "Health"
epsilon = 1
[[questions]]
name = "disease"
text = "Which disease do you have?"
choices = [{choices}]
"""


@breaks(
    "Whether a device refuses never depends on the answer, and neither does anything that the collector sees before "
    "the report.",
)
def test_the_choice_of_categories_asks_nothing_by_itself():
    # A program answers whatever survey comes. The operator lists one disease at a time, and watches who falls silent.
    seen = set()
    for value in ("hiv", "flu", "none", None):
        operator = Operator(parse_survey(DISEASES.format(choices='"hiv", "something else"')))
        with suppress(InputError):
            Client("http://localhost", transport=operator).answer({"disease": value})
        assert len(operator.received) == 1
        seen.add(tuple(operator.requests))
    assert len(seen) == 1


@breaks("In clear goes only what the respondent, or the program that answers for them, has agreed to send in clear.")
def test_a_design_that_lists_a_secret_as_public_gets_nothing():
    rest = '[[public]]\nname = "hiv"\ntext = "?"\nchoices = ["negative", "positive"]'
    operator = Operator(survey_of(rest=rest))
    device = Client("http://localhost", transport=operator)
    with pytest.raises(PrivacyError, match="in clear"):
        device.answer({"income": 137, "hiv": "positive"})
    with pytest.raises(PrivacyError, match="in clear"):
        device.answer({"income": 137, "hiv": "positive"}, public=["region"])
    assert operator.received == []
    assert device._state.ledger().events == ()


@breaks("The sentences that state the promise come with the program; no survey can replace one.")
def test_no_survey_file_and_no_form_replaces_the_promise():
    assert {"belief", "how_hidden", "how_answers", "as_it_is", "in_disguise"} <= {*WORDS} - {*PLAIN}
    for name in {*WORDS, *FRAMES} - {*PLAIN}:
        with pytest.raises(SurveyError, match=r"comes with the program|no such text"):
            survey_of(rest=f'[texts]\n{name} = "Nobody learns anything."')
        keys = 'design = { kind = "joint" }'
        operator = Operator(
            survey_of(keys=keys), words=lambda form, name=name: form["texts"].update({name: {"en": "Trust us."}})
        )
        with pytest.raises(RefusedDesignError, match="form-unfit"):
            Client("http://localhost", transport=operator).form  # noqa: B018 - reading it is the test


@breaks("A pinned design or issuer is the one that is answered, or none is.")
@pytest.mark.parametrize("admission", ["open", "invited"])
def test_a_pinned_issuer_cannot_be_talked_out_of(admission):
    operator = Operator(survey_of(keys=f'admission = "{admission}"'))
    device = Client("http://localhost", transport=operator, invitation="x", issuer="ab" * 32)
    with pytest.raises(PrivacyError, match="you expect"):
        device.answer({"income": 137})
    other = Client("http://localhost", transport=operator, invitation="x")
    with pytest.raises(PrivacyError, match="you expect"):
        other.answer({"income": 137}, design="ab" * 32)
    assert operator.received == []


@breaks("A design is answered at the addresses it names; a copy of it elsewhere gets nothing.")
@pytest.mark.parametrize(
    "url", ["https://copycat.example", "http://survey.example.org", "https://survey.example.org:444"]
)
def test_a_copycat_gets_nothing(url):
    survey = survey_of()
    operator = Operator(survey, design=set_in("audience", ["https://survey.example.org"]))
    device = Client(url, transport=operator)
    with pytest.raises(RefusedDesignError, match="not-for-here"):
        device.answer({"income": 137})
    assert operator.received == []
    assert Client("https://survey.example.org/", transport=operator).answer({"income": 137}).delivered


@breaks("One device answers a plan once, however often its words are corrected.")
def test_corrections_do_not_ask_again():
    state = Client("http://localhost", transport=None)._state
    received = []
    for version in range(5):
        text = ASK.replace("What do you earn?", f"What do you earn{'!' * version}?")
        operator = Operator(parse_survey(text.format(name="income", keys="", rest="")))
        device = Client("http://localhost", transport=operator)
        device._state = state
        if version == 0:
            device.answer({"income": 137})
        else:
            with pytest.raises(RefusedDesignError, match="answered"):
                device.answer({"income": 137})
        received += operator.received
    assert len(received) == 1
    assert state.ledger().spent == KRR(3, 1.0).ratio


@breaks("Server texts never reach the respondent.")
def test_what_a_collector_says_is_said_in_our_words():
    class Talker(Operator):
        def request(self, method, path, body=None, *, most):
            if method == "POST":
                said = encode(problem("conflict", "Call 555-1234 and read your answer out."))
                return Response(409, said, None, "application/problem+json")
            return super().request(method, path, body, most=most)

    with pytest.raises(DeniableError) as caught:
        Client("http://localhost", transport=Talker(survey_of())).answer({"income": 137})
    assert "555" not in str(caught.value)
    assert "555" not in repr(caught.value.details)


@breaks("The ballot is drawn by the device, by the weights that the design states.")
def test_ballots_come_as_often_as_the_design_says():
    rest = '[[questions]]\nname = "debts"\ntext = "?"\nkind = "yes-no"'
    keys = 'design = { kind = "sampled" }'
    operator = Operator(survey_of(keys=keys, rest=rest), design=set_in("weights", [3, 1]))
    n = 2000
    crowd(operator, n, {"income": 137, "debts": "yes"})
    drawn = Counter(report.ballot for report in operator.received)
    # Binomial(2000, 3/4): 5.5 standard deviations have probability 4e-8.
    assert abs(drawn[0] - n * 0.75) < 5.5 * np.sqrt(n * 0.75 * 0.25)
