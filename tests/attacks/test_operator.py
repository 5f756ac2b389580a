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
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2

from small_survey import public, question

sys.path.insert(0, str(Path(__file__).parent))

from matching import beside, expected_of_best, matched, through, twice
from sentences import breaks

from deniable.channels.krr import KRR
from deniable.channels.read_channel import channel_from_dict
from deniable.collection.load_reports import stored_reports
from deniable.collection.survey_messages import announcement, design_body, form_body
from deniable.device.client import Client
from deniable.device.panel import of_fewer
from deniable.device.protocol.admission_token import Pass
from deniable.device.protocol.canonical_json import decode, encode
from deniable.device.protocol.collector_connection import Line
from deniable.device.protocol.form import PLAIN
from deniable.device.protocol.http_transport import Response
from deniable.device.protocol.messages import Report, design_id
from deniable.device.protocol.problem_details import problem
from deniable.device.verify import verify
from deniable.errors import DeniableError, InputError, PrivacyError, RefusedDesignError, SurveyError
from deniable.inference.corrected_words import corrected_words
from deniable.surveys.fingerprint_words import FRAMES
from deniable.surveys.page_words import WORDS
from deniable.surveys.survey import parse_survey
from deniable.web.serve import Service, background

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
        issuer = "ab" * 32 if survey.admission == "blind" else None
        message = json.loads(design_body(survey, issuer=issuer))
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
    "version 1": (set_in("version", 1), "unknown-version"),
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
    n = int(os.environ.get("DENIABLE_REPORTS", "1000"))  # `make faults` asks twenty times as many
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
    "A question is asked again for nothing: what a panel keeps is paid for once, all else is drawn and charged anew."
)
def test_averaging_gains_nothing():
    # Three hundred waves of a panel are made of one disguise; changing the words costs the account each time.
    panel = 'admission = "invited"\npanel = { name = "p", people = 1000, repeats = ["income"], again = 20 }'
    state = Client("http://localhost", transport=None)._state
    seen, refused = set(), 0

    def ask(name, words="What do you earn?", keys=panel):
        survey = parse_survey(ASK.format(name=name, keys=keys, rest="").replace("What do you earn?", words))
        operator = Operator(survey)
        device = Client("http://localhost", transport=operator, invitation=name)
        device._state = state
        device.answer({"income": 137}, accept=["panel"])
        return {report.answers for report in operator.received}

    for wave in range(300):
        seen |= ask(f"wave-{wave}")
    assert len(seen) == 1
    spent = state.ledger().spent
    for wave in range(20):
        try:
            ask(f"reworded-{wave}", f"What do you earn, in all ({wave})?", panel if wave % 2 else "")
        except PrivacyError:
            refused += 1
    assert refused >= 15
    assert spent < state.ledger().spent
    assert state.ledger().epsilon_spent <= 5


TWELVE = 12
YES_NO = '[[questions]]\nname = "q{}"\ntext = "Number {}?"\nkind = "yes-no"\n'


def survey_of_twelve(name, keys, epsilon=1):
    asked = "".join(YES_NO.format(number, number) for number in range(TWELVE))
    head = f'format = 1\nname = "{name}"\ntitle = "Twelve"\nepsilon = {TWELVE * epsilon}\n{keys}\n'
    return parse_survey(f'{head}design = {{ kind = "independent" }}\n{asked}')


def sent_by(devices, survey, truths):
    """What the same devices send to a survey, a row each; an invitation or a token is whatever is asked for."""
    operator = Operator(survey)
    for number, (state, answers) in enumerate(zip(devices, truths.tolist(), strict=True)):
        device = Client("http://localhost", transport=operator)
        device._state = state
        vars(device)["_admitted"] = lambda number=number: Pass(f"{number:064x}", None, None)
        values = {f"q{question}": bool(answer) for question, answer in enumerate(answers)}
        device.answer(values, accept=["panel"])
    return np.array([report.answers for report in operator.received])


OPEN, INVITED, BLIND = "", 'admission = "invited"', 'admission = "blind"'
PANEL = f'panel = {{ name = "p", people = 100000, repeats = {[f"q{q}" for q in range(TWELVE)]}, again = 0.7 }}'


@breaks(
    "Outside of a panel nothing is repeated: two surveys are matched no better than two fresh disguises of the same "
    "truths allow."
)
def test_reports_of_two_surveys_are_as_strange_to_each_other_as_fresh_ones():
    n, rng = 100, np.random.default_rng(5)
    truths = rng.integers(0, 2, (n, TWELVE))
    law = [KRR(2, 1.0).matrix()] * TWELVE
    fresh = [matched(beside(*(through(truths, law, rng) for _ in range(2)), twice(law)), rng) for _ in range(40)]
    waves = {"open": OPEN, "invited": INVITED, "blind": BLIND, "panel": f"{INVITED}\n{PANEL}"}
    devices = [Client("http://localhost", limit=200.0)._state for _ in range(n)]
    seen = {
        name: sent_by(devices, survey_of_twelve(f"{name}-{time}", keys), truths)
        for name, keys in waves.items()
        for time in (1,)
    }
    seen["open again"] = sent_by(devices, survey_of_twelve("open-2", OPEN), truths)
    # Of two fresh disguises some 3 in 100 are matched, spread no wider than a Poisson number: above 23 with probability
    # below 1e-12. Repeated as they were, 98 of 100 were found.
    assert np.mean(fresh) < 8
    for one, other in combinations(seen, 2):
        assert matched(beside(seen[one], seen[other], twice(law)), rng) <= 20 + np.mean(fresh), (one, other)


POPULATIONS = {
    "even": lambda rng, n: rng.integers(0, 2, (n, 3)),
    "skewed": lambda rng, n: (rng.random((n, 3)) < 0.05).astype(int),
    "of one mind": lambda rng, n: np.repeat(rng.integers(0, 2, (n, 1)), 3, axis=1),
    "nearly all alike": lambda _rng, n: np.eye(n, 3, dtype=int),
    "every kind as often": lambda _rng, n: np.array(list(product((0, 1), repeat=3)) * (-(-n // 8)))[:n],
}


@breaks("Within a panel no more people are found again by what they send than its consent says.")
def test_a_panel_s_people_are_found_no_more_often_than_its_consent_says():
    # Three kept yes-or-no answers, and as few people as are allowed.
    again, rng, n, times = KRR(2, 2.0), np.random.default_rng(6), 110, 60
    keys = f'{INVITED}\npanel = {{ name = "p", people = {n}, repeats = ["q0", "q1", "q2"] }}'
    asked = "".join(YES_NO.format(number, number) for number in range(3))
    head = f'format = 1\nname = "wave"\ntitle = "T"\nepsilon = 3\n{keys}\ndesign = {{ kind = "independent" }}\n'
    body = design_body(parse_survey(head + asked))
    told = float(verify(body, design_id(body)).found_again)
    assert 0.045 < told <= 0.05
    law, first = [again.matrix()] * 3, [KRR(2, 1.0).matrix()] * 3
    for name, draw in POPULATIONS.items():
        found = {"all of the others known": [], "what is kept known": [], "the wave before": [], "five waves": []}
        for _ in range(times):
            kept = through(draw(rng, n), first, rng)
            waves = [through(kept, law, rng) for _ in range(6)]
            likely = beside(kept, waves[-1], law)
            found["what is kept known"].append(matched(likely, rng))
            mine = draw(rng, n)  # whatever the truths are, what is kept may also be as the population is
            found["all of the others known"].append(matched(beside(mine, through(mine, law, rng), law), rng))
            # Of what was seen before, the likeliest kept answers: each from one wave, or from five that are linked.
            found["the wave before"].append(matched(beside(waves[0], waves[-1], twice(law)), rng))
            most = (np.mean(waves[:5], axis=0) > 0.5).astype(int)
            found["five waves"].append(matched(beside(most, waves[-1], law), rng))
        for how, numbers in found.items():
            # Six standard errors of the mean: below 1e-9 each, for twenty means.
            error = np.std(numbers) / times**0.5
            assert np.mean(numbers) / n <= told + 6 * error / n, (name, how)


@breaks("Of fewer people than a panel's consent names, no more are found again than it says of a tenth of them.")
def test_of_a_tenth_of_the_people_no_more_are_found_than_consent_says():
    # Four kept answers of a panel of a thousand, of which a hundred take part, of the most various people there can be.
    asked = "".join(YES_NO.format(number, number) for number in range(4))
    keys = f'{INVITED}\npanel = {{ name = "p", people = 1000000, repeats = ["q0", "q1", "q2", "q3"] }}'
    head = f'format = 1\nname = "wave"\ntitle = "T"\nepsilon = 3\n{keys}\ndesign = {{ kind = "independent" }}\n'
    design = verify(body := design_body(parse_survey(head + asked)), design_id(body))
    few, share = of_fewer(design.message.panel, design.found_again)
    assert (few, 0.09 < share < 0.1) == (100, True)
    law, rng, times = [KRR(2, 2.0).matrix()] * 4, np.random.default_rng(7), 60
    numbers = []
    for _ in range(times):
        kept = rng.permutation(np.array(list(product((0, 1), repeat=4)) * 7)[:few])
        numbers.append(matched(beside(kept, through(kept, law, rng), law), rng))
    # Six standard errors of the mean: below 1e-9. More than the thousand's share are found, as it says.
    assert float(design.found_again) < 0.01 < np.mean(numbers) / few
    assert np.mean(numbers) / few <= float(share) + 6 * np.std(numbers) / times**0.5 / few


@breaks("Within a panel no more people are found again by what they send than its consent says.")
@pytest.mark.parametrize("k", [2, 3, 4])
def test_no_assignment_of_all_people_at_once_finds_more(k):
    # Every outcome of few people enumerated, with the best assignment of each: never more than k p people in all.
    rng = np.random.default_rng(k)
    channels = [KRR(k, epsilon).matrix() for epsilon in (0.3, 1.0, 3.0)]
    if k == 4:
        channels.append(np.kron(KRR(2, 0.7).matrix(), KRR(2, 2.0).matrix()))
    for law, n in product(channels, (2, 3, 4)):
        for _ in range(4):
            kept = rng.integers(0, k, n)
            assert expected_of_best(law, kept) <= law.max(axis=1).sum() + 1e-12


@breaks(
    "No open or blind survey is a panel, and none is answered of which more than 5 in 100 people could be found again."
)
def test_a_panel_that_gives_its_people_away_is_left_out(tmp_path):
    honest = survey_of_twelve("wave", f"{INVITED}\n{PANEL}")
    people = PANEL.replace("100000", "90")

    def kept_as_it_is(message):
        message["plan"]["questions"] = [
            {**question, "channel": question["channel"]["first"]} for question in message["plan"]["questions"]
        ]

    def hardly_changed(message):
        message["panel"]["people"] = (1 << 31) - 1
        for one in message["plan"]["questions"]:
            one["channel"]["again"] = KRR(2, 12.0).to_dict()

    tried = {
        "open": (set_in("admission", "open"), "wrong-panel"),
        "blind": (lambda message: message.update(admission="blind", issuer="ab" * 32), "wrong-panel"),
        "no panel": (set_in("panel", None), "wrong-panel"),
        "as it is": (kept_as_it_is, "wrong-panel"),
        "one answer hardly changed": (set_in("plan.questions.0.channel.again", KRR(2, 20.0).to_dict()), None),
        "of too few": (set_in("panel.people", 90), "pseudonym"),
        "all hardly changed, of people who are made up": (hardly_changed, "pseudonym"),
    }
    for name, (change, code) in tried.items():
        operator = Operator(honest, design=change)
        device = Client("http://localhost", tmp_path / name, transport=operator, invitation="Mmmm", limit=20.0)
        values = {f"q{question}": True for question in range(TWELVE)}
        if code is None:  # one answer that is sent nearly as it is kept: counted, and among so many people harmless
            assert device.design.found_again <= 0.05
            continue
        with pytest.raises(RefusedDesignError) as caught:
            device.answer(values, accept=["panel"])
        assert (caught.value.code, operator.received, device._state.ledger().events) == (code, [], ()), name
    made_up = PANEL.replace("100000", "2000000000").replace("0.7", "12")
    for panel in (people, made_up):
        with pytest.raises(SurveyError, match="could be found again"):
            survey_of_twelve("wave", f"{INVITED}\n{panel}")


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


# What an operator may try with a survey that people have answered: other words, other answers, another question.
TURNED = {
    "negated": ("What do you earn?", "What do you not earn?"),
    "another question": ("What do you earn?", "What do you owe?"),
    "a character that nobody sees": ("What do you earn?", "What do you earn?\u200e"),
    "a further language": ('title = "Income"', 'title = { en = "Income", de = "Einkommen" }\nlanguages = ["en", "de"]'),
    "another title": ('"Income"', '"Gifts"'),
    "a hint": ("bins =", "max = 300\nbins ="),
    "an edge": ("[100, 200]", "[100, 201]"),
    "a bin more": ("[100, 200]", "[100, 200, 300]"),
    "a choice more": ("bins =", "prefer_not_to_say = true\nbins ="),
    "swapped labels": ('text = "No"', 'text = "Yes."'),
    "another order": (
        '{ value = "no", text = "No" }, { value = "yes"',
        '{ value = "yes", text = "Yes" }, { value = "no"',
    ),
    "another value": ('value = "no"', 'value = "never"'),
    "a condition": ('name = "debts"', 'name = "debts"\nshow_if = { region = "town" }'),
    "a question less": ('[[questions]]\nname = "debts"', '[[public]]\nname = "debts"'),
    "a question more": ("[[public]]", '[[questions]]\nname = "more"\ntext = "?"\nkind = "yes-no"\n[[public]]'),
}
DEBTS = public("region", ["town", "country"], "Where?") + question(
    "debts",
    "Do you owe anything?",
    choices=[{"value": "no", "text": "No"}, {"value": "yes", "text": "Yes"}],
)
ONLY_DECLARED = ("negated", "another question", "a character that nobody sees", "another title", "a hint")


@breaks("What people have answered is served again to the letter, or with a declared correction.")
@pytest.mark.parametrize("how", TURNED)
def test_a_survey_that_was_answered_is_not_turned_round(how, tmp_path):
    path, text = tmp_path / "survey.toml", ASK.format(name="income", keys="", rest=DEBTS)
    path.write_text(text, encoding="utf-8")
    turned = text.replace(*TURNED[how])
    turned = turned.replace('text = "Yes" }]', 'text = "NO!" }]') if how == "swapped labels" else turned
    assert turned != text
    service = Service.open(path, tmp_path / "data")
    with background(service) as url, Client(url) as device:
        device.answer({"income": 137, "debts": "no", "region": "town"}, public=["region"])
    served = service.collector.design_id
    # At a restart and where workers are renewed, without and with a reason.
    renewed = (("file", None), ("text", None), ("file", "a misprint"))
    for place, why in renewed if how not in ONLY_DECLARED else renewed[:2]:
        path.write_text(turned if place == "file" else text, encoding="utf-8")
        given = {"text": turned} if place == "text" else {}
        with pytest.raises((InputError, SurveyError)):
            Service.open(path, tmp_path / "data", correct=why, **given)
    path.write_text(text, encoding="utf-8")
    again = Service.open(path, tmp_path / "data")
    assert again.collector.design_id == served
    again.collector.close()
    if how in ONLY_DECLARED:
        path.write_text(turned, encoding="utf-8")
        declared = Service.open(path, tmp_path / "data", correct="a misprint")
        reports = stored_reports(declared.store, declared.collector.design_id)
        with background(declared) as url, Client(url) as device:
            assert "Words were corrected after people had answered ('a misprint')" in str(device.describe())
        (told,) = corrected_words(reports)
        assert (told.before, told.after) == (1, 0)


@breaks(
    "What was made under other words than those that were answered first, and no declared correction, counts nowhere."
)
def test_no_report_under_way_is_counted_under_swapped_labels(tmp_path):
    path, text = tmp_path / "survey.toml", ASK.format(name="income", keys="", rest=DEBTS)
    swapped = text.replace('text = "No"', "X").replace('text = "Yes"', 'text = "No"').replace("X", 'text = "Yes"')
    person, agreed = {"income": 137, "debts": "no", "region": "town"}, {"public": ["region"]}
    path.write_text(text, encoding="utf-8")
    first = Service.open(path, tmp_path / "data")
    late, later = Client("http://localhost", tmp_path / "late"), Client("http://localhost", tmp_path / "later")
    with background(first, port=0) as url:
        for device in (late, later):
            device._line = Line(url, None)
            device.answer(person, **agreed, send=False)
        # A second server from the same folder, with the labels swapped, beside the first.
        path.write_text(swapped, encoding="utf-8")
        with pytest.raises(InputError, match="under other words"):
            Service.open(path, tmp_path / "data")
    second = Service.open(path, tmp_path / "data")  # nobody has answered yet
    with background(second, port=int(url.rsplit(":", 1)[1])):
        for send in (late.send, later.send):
            with pytest.raises(DeniableError, match="were changed before"):
                send()
            with Client(url) as device:
                device.answer(person, **agreed)
        assert second.collector.store.total(second.collector.number) == 2
        assert [second.store.total(number) for number, _ in second.store.designs().values()] == [0, 2]
    late.close()
    later.close()
    Service.open(path, tmp_path / "data").store.close()
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="people have answered"):
        Service.open(path, tmp_path / "data")


@breaks(
    "A correction stands old beside new under the design's hash, puts no label beside another answer in any language "
    "and takes no language away."
)
def test_no_device_answers_a_correction_that_cannot_have_been():
    first = "cd" * 32

    def answered(*changes, replaces=first, why="a misprint"):
        rows = [dict(zip(("part", "name", "place", "before", "after"), one, strict=True)) for one in changes]
        corrected = [{"replaces": first, "why": why, "changes": [{**row, "language": "en"} for row in rows]}]

        def words(form):
            form["corrections"] = corrected if changes else []
            if not changes:
                del form["corrections"]

        operator = Operator(survey_of(rest=DEBTS), design=set_in("replaces", replaces), words=words)
        with suppress(DeniableError):
            person = {"income": 137, "debts": "no", "region": "town"}
            Client("http://localhost", transport=operator).answer(person, public=["region"])
        return len(operator.received)

    asked = ("question", "debts", None, "Do you ow anything?", "Do you owe anything?")
    assert answered(asked) == 1
    assert answered() == 0  # it replaces a design, and does not say what it corrected
    assert answered(asked, replaces=None) == 0
    assert answered(asked, replaces="ef" * 32) == 0
    assert answered(asked, why="a mis\u200bprint") == 0
    assert answered((*asked[:3], "Do you owe anything?", "Do you own anything?")) == 0  # that is not what is shown
    assert answered((*asked[:3], "Do you\u202e owe?", asked[4])) == 0
    swapped = (("choice", "debts", 0, "Yes", "No"), ("choice", "debts", 1, "No", "Yes"))
    assert answered(*swapped) == 0
    assert answered(("choice", "debts", 0, "yes.", "No"), ("choice", "debts", 1, "\uff2eo", "Yes")) == 0
    assert answered(("question", "debts", None, "What do you earn", "Do you owe anything?"), asked) == 0
    owes = ("question", "debts", None, "What do you have", "Do you owe anything?")
    assert answered(owes, ("question", "income", None, "How much?", "What do you earn?")) == 1
    assert answered(owes, ("question", "income", None, "Do you owe anything", "What do you earn?")) == 0


@breaks(
    "A correction stands old beside new under the design's hash, puts no label beside another answer in any language "
    "and takes no language away."
)
@pytest.mark.parametrize("how", ["all said", "turned", "nothing said", "one text not said", "another text said"])
def test_a_further_language_is_a_correction_of_every_text(how):
    british = {"Income": "Income", "What do you earn?": "What do you make?", "Do you owe anything?": "Any debts?"}

    def words(form):
        form["languages"] = ["en", "en-GB"]
        changes = [{"part": "languages", "name": "", "before": "en", "after": "en en-GB"}]

        def add(part, name, texts, place=None, swapped=None):
            said = texts["en-GB"] = swapped or british.get(texts["en"], texts["en"])
            if said != texts["en"]:
                changes.append({"part": part, "name": name, "place": place, "language": "en-GB",
                                "before": texts["en"], "after": said})  # fmt: skip

        add("title", "", form["title"])
        for item in (*form["questions"], *form["public"]):
            add("question", item["name"], item["text"])
            for place, texts in enumerate(item["choices"]):
                turned = {"No": "Yes", "Yes": "No"}.get(texts["en"]) if how == "turned" else None
                add("choice", item["name"], texts, place, turned)
        if how == "nothing said":
            del changes[1:]
        elif how == "one text not said":
            changes.pop()
        elif how == "another text said":
            changes[-1]["before"] = "Do you own anything?"
        changes = [{"place": None, "language": "", **change} for change in changes]
        form["corrections"] = [{"replaces": "cd" * 32, "why": "British English", "changes": changes}]

    operator = Operator(survey_of(rest=DEBTS), design=set_in("replaces", "cd" * 32), words=words)
    device = Client("http://localhost", transport=operator)
    person = {"income": 137, "debts": "no", "region": "town"}
    if how == "all said":
        assert "'Do you owe anything?' became 'Any debts?'" in str(device.describe())
        device.answer(person, public=["region"])
    else:
        with pytest.raises(RefusedDesignError, match="form-unfit"):
            device.answer(person, public=["region"])
    assert len(operator.received) == (how == "all said")


@breaks("In no language is an answer called what another one is called in any.")
@pytest.mark.parametrize("label", ["Yes", " yes.", "\uff39es", "\u04ae\u0435\u0455"])
def test_no_language_calls_an_answer_what_another_is_called(label):
    def words(form):
        form["languages"] = ["en", "en-GB"]
        for texts in (form["title"], *(item["text"] for item in (*form["questions"], *form["public"]))):
            texts["en-GB"] = texts["en"]
        for texts in (texts for item in (*form["questions"], *form["public"]) for texts in item["choices"]):
            texts["en-GB"] = {"No": label, "Yes": "Indeed"}.get(texts["en"], texts["en"])

    operator = Operator(survey_of(rest=DEBTS), words=words)
    with pytest.raises(RefusedDesignError, match="form-unfit"):
        Client("http://localhost", transport=operator).answer({"income": 137, "debts": "no", "region": "town"})
    survey = ASK.format(name="income", keys='languages = ["en", "en-GB"]', rest=DEBTS)
    for text, said in (("Where?", "Where?"), ("Do you owe anything?", "Any debts?"), ("No", label), ("Yes", "Indeed")):
        survey = survey.replace(f'text = "{text}"', f'text = {{ en = "{text}", en-GB = "{said}" }}')
    for text in ("Income", "What do you earn?"):
        survey = survey.replace(f'"{text}"', f'{{ en = "{text}", en-GB = "{text}" }}')
    choices = [f'{{ value = "{each}", text = {{ en = "{each}", en-GB = "{each}" }} }}' for each in ("town", "country")]
    survey = survey.replace('["town", "country"]', f"[{', '.join(choices)}]")
    with pytest.raises(SurveyError, match="different answers in different languages"):
        parse_survey(survey)
    parse_survey(survey.replace(f'en-GB = "{label}"', 'en-GB = "None"'))


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
