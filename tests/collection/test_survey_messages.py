"""A survey that was answered is not turned round: every change of it is refused, or declared, and never silent."""

from __future__ import annotations

import re
import secrets
from collections import Counter

import numpy as np
import pytest

from deniable.collection.bearer_tokens import settle
from deniable.collection.collector import Collector
from deniable.collection.load_reports import collected, stored_reports
from deniable.collection.report_cells import encode_cell
from deniable.collection.survey_messages import design_body, form_of, served_from, words_mark
from deniable.collection.wordings import wordings
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.form import read_form
from deniable.device.protocol.messages import design_id
from deniable.device.protocol.word_corrections import corrections_of
from deniable.device.verify import verify
from deniable.errors import DeniableError, InputError
from deniable.extensions.blocks.served_blocks import Chain
from deniable.inference.corrected_words import corrected_words
from deniable.storage.open_store import FILE
from deniable.storage.sqlite import SqliteStore
from deniable.storage.store import Row
from deniable.surveys.survey import parse_survey
from small_survey import BLOCKS, PAIRED, small_survey

SURVEY = """
format = 1
name = "wave"
title = { en = "Habits", de = "Gewohnheiten" }
languages = ["en", "de"]
epsilon = 3.0
design = { kind = "independent" }
[texts]
welcome = { en = "Welcome", de = "Willkommen" }
[[public]]
name = "region"
text = { en = "Where do you live?", de = "Wo wohnen Sie?" }
choices = [
  { value = "town", text = { en = "Town", de = "Stadt" } },
  { value = "country", text = { en = "Country", de = "Land" } },
]
[[questions]]
name = "smokes"
text = { en = "Do you smoke?", de = "Rauchen Sie?" }
kind = "choice"
choices = [
  { value = "no", text = { en = "No", de = "Nein" } },
  { value = "yes", text = { en = "Yes", de = "Ja" } },
]
[[questions]]
name = "mood"
text = { en = "How are you?", de = "Wie geht es Ihnen?" }
kind = "choice"
choices = [
  { value = "1", text = { en = "bad", de = "schlecht" } },
  { value = "2", text = { en = "2", de = "2" } },
  { value = "3", text = { en = "good", de = "gut" } },
]
[[questions]]
name = "drinks"
text = { en = "How many?", de = "Wie viele?" }
kind = "number"
bins = [1, 8]
min = 0
max = 50
show_if = { region = "town" }
"""
NO, YES = '{ value = "no", text = { en = "No", de = "Nein" } }', '{ value = "yes", text = { en = "Yes", de = "Ja" } }'
SWAPPED = '{ value = "no", text = { en = "Yes", de = "Ja" } },\n  { value = "yes", text = { en = "No", de = "Nein" } }'
MORE = '[[questions]]\nname = "more"\ntext = { en = "?", de = "?" }\nkind = "yes-no"\n[[public]]'
ONCE = '{ value = "once", text = { en = "Once", de = "Einmal" } }'
# What is changed of a survey that people have answered, as pairs of before and after: only declared, or never.
DECLARED = {
    "a question that is negated": [("Do you smoke?", "Do you not smoke?")],
    "another question": [("Do you smoke?", "Do you gamble?")],
    "a question that is negated in one language": [("Rauchen Sie?", "Rauchen Sie nicht?")],
    "a mark that nobody sees": [("Do you smoke?", "Do you smoke?\u200e")],
    "a space more": [("Do you smoke?", "Do you  smoke?")],
    "letters of another size": [('"Country"', '"COUNTRY"')],
    "an answer's label": [('en = "Yes"', 'en = "Yes, often"')],
    "an end of a scale": [('en = "good"', 'en = "excellent"')],
    "a hint": [("max = 50", "max = 500")],
    "a hint that is left out": [("min = 0\nmax = 50\n", "")],
    "another title": [("Habits", "Vices")],
    "what stands around": [("Welcome", "Welcome. Say yes")],
    "what stood around": [('welcome = { en = "Welcome", de = "Willkommen" }\n', "")],
    "words in clear": [("Where do you live?", "Where do you work?")],
    "another first language": [('languages = ["en", "de"]', 'languages = ["de", "en"]')],
}
REFUSED = {
    "labels that are swapped": [(f"{NO},\n  {YES}", SWAPPED)],
    "labels that are swapped with other signs": [('en = "No"', 'en = "yes."'), ('en = "Yes"', 'en = "NO!"')],
    "labels that are swapped in one language": [("Nein", "ja"), ('"Ja"', '"nein"')],
    "one label that moves": [('en = "No"', 'en = "Never"'), ('en = "Yes"', 'en = "No"')],
    "ends of a scale that are swapped": [('en = "bad"', 'en = "Good"'), ('en = "good"', 'en = "Bad"')],
    "a question that was another": [("Do you smoke?", "How many")],
    "choices in another order": [(f"{NO},\n  {YES}", f"{YES},\n  {NO}")],
    "a choice more": [(f"{YES},", f"{YES},\n  {ONCE},")],
    "a choice less": [('  { value = "2", text = { en = "2", de = "2" } },\n', "")],
    "a choice that may be skipped": [("bins = [1, 8]", "bins = [1, 8]\nprefer_not_to_say = true")],
    "another value": [('value = "3"', 'value = "4"')],
    "an edge of a bin": [("[1, 8]", "[1, 9]")],
    "another condition": [('region = "town"', 'region = "country"')],
    "no condition": [('show_if = { region = "town" }\n', "")],
    "a choice in clear": [('value = "country"', 'value = "land"')],
    "another name of a question": [('name = "mood"', 'name = "spirits"')],
    "a question more": [("[[public]]", MORE)],
    "another order of questions": [('"smokes"', '"*"'), ('"mood"', '"smokes"'), ('"*"', '"mood"')],
    "other words with another epsilon": [("epsilon = 3.0", "epsilon = 2.0"), ("Do you smoke?", "Do you?")],
}


def changed(what):
    """The survey with one thing changed."""
    text = SURVEY
    for before, after in (DECLARED | REFUSED)[what]:
        assert before in text
        text = text.replace(before, after, 1)
    return text


@pytest.fixture
def store(tmp_path):
    made = SqliteStore(tmp_path / FILE)
    yield made
    made.close()


def collector(store, text=SURVEY, **options):
    return Collector(parse_survey(text), store, **options)


def answered(made, n=1, smokes=0):
    """So many reports to a design, of people who say whether they smoke, disguised with certainty for a test."""
    cells = [encode_cell(None, 0, (smokes, 0, 0), (place % 2,)) for place in range(n)]
    made.store.add([Row(secrets.token_bytes(16), made.number, cell) for cell in cells])


@pytest.mark.parametrize("what", DECLARED)
def test_words_that_people_answered_under_change_only_if_that_is_declared(store, what):
    first = collector(store)
    answered(first)
    with pytest.raises(InputError, match="--correct"):
        collector(store, changed(what))
    assert collector(store).design_id == first.design_id  # nothing was registered, nothing was kept
    assert len(store.designs()) == 1
    second = collector(store, changed(what), correct="a misprint")
    (correction,) = second.corrections
    assert (correction.replaces, correction.why) == (first.design_id, "a misprint")
    assert second.plan_id == first.plan_id
    assert second.amendments == [first.design_id, second.design_id]
    # Served again it is the same, with or without the reason; the words of before are refused.
    for why in (None, "a misprint"):
        assert collector(store, changed(what), correct=why).design_id == second.design_id
    with pytest.raises(InputError, match="--correct"):
        collector(store)
    # Every device reads it, and reads what was there before.
    verified = verify(second.design(second.design_id), second.design_id)
    assert verified.message.replaces == first.design_id
    assert corrections_of(read_form(second.form(verified.message.texts), verified)) == (correction,)
    assert second.form(verify(first.design(first.design_id), first.design_id).message.texts) is not None
    # Whoever reads the reports is told.
    reports = stored_reports(store, second.design_id)
    (told,) = corrected_words(reports)
    assert (told.before, told.after, told.correction.why) == (1, 0, "a misprint")
    assert reports.public["dn_words"].to_list() == ["words 1"]


@pytest.mark.parametrize("what", REFUSED)
def test_what_answers_mean_never_changes(store, what):
    first = collector(store)
    answered(first)
    for why in (None, "a misprint"):
        with pytest.raises(InputError):
            collector(store, changed(what), correct=why)
    assert len(store.designs()) == 1
    assert collector(store).design_id == first.design_id


@pytest.mark.parametrize("what", [*DECLARED, *REFUSED])
def test_until_the_first_report_everything_may_change(store, what):
    first = collector(store)
    text = changed(what)
    second = collector(store, text)
    assert second.design_id != first.design_id
    assert second.corrections == ()
    assert verify(second.design(second.design_id), second.design_id).message.replaces is None
    with pytest.raises(InputError, match="nothing to correct"):
        collector(store, SURVEY, correct="a misprint")
    assert collector(store).design_id == first.design_id  # back again, though the other came later
    answered(first)
    assert collector(store).design_id == first.design_id
    with pytest.raises(InputError):
        collector(store, text)


def test_a_language_is_added_by_a_correction_and_none_is_taken_away(store):
    english = re.sub(r', de = "[^"]*"', "", SURVEY).replace('languages = ["en", "de"]\n', "")
    first = collector(store, english)
    answered(first)
    with pytest.raises(InputError, match="--correct"):
        collector(store, SURVEY)
    second = collector(store, SURVEY, correct="for those who speak German")
    ((change, *texts),) = (each.changes for each in second.corrections)
    assert (change.part, change.before, change.after) == ("languages", "en", "en de")
    # Every text of the new language stands beside what was read until then.
    assert {each.language for each in texts} == {"de"}
    assert ("question", "smokes", "Do you smoke?", "Rauchen Sie?") in {
        (each.part, each.name, each.before, each.after) for each in texts
    }
    assert len(texts) == SURVEY.count(", de = ")
    answered(second)
    said = wordings(store, second.amendments).corrections[0].changes
    assert ("Yes", "Ja") in {(each.before, each.after) for each in said}
    with pytest.raises(InputError, match="takes a language away"):
        collector(store, english, correct="enough")


def british(asked="Have you taken drugs?", yes="Yes", no="No", age="How old are you?"):
    """A survey in English, and in British English as well if its words are not all the same."""
    both = {"Have you taken drugs?": asked, "Yes": yes, "No": no, "How old are you?": age}
    said = {text: f'{{ en = "{text}", en-GB = "{other}" }}' for text, other in both.items()}
    return f"""
format = 1
name = "lang"
title = {{ en = "A survey", en-GB = "A survey" }}
epsilon = 2.0
languages = ["en", "en-GB"]
design = {{ kind = "independent" }}
[[questions]]
name = "drug"
text = {said["Have you taken drugs?"]}
kind = "choice"
choices = [{{ value = "yes", text = {said["Yes"]} }}, {{ value = "no", text = {said["No"]} }}]
[[questions]]
name = "age"
text = {said["How old are you?"]}
kind = "number"
bins = [20, 40]
"""


ENGLISH = re.sub(r', en-GB = "[^"]*"', "", british()).replace(', "en-GB"]', "]")


@pytest.mark.parametrize(
    "turned",
    [
        {"yes": "No", "no": "Yes", "asked": "Have you never taken drugs?"},
        {"yes": " no!", "no": "Never"},
        {"no": "\u0423es"},
        {"asked": "How old are you?"},
        {"asked": "How old are you", "age": "Age?"},
    ],
    ids=" ".join,
)
def test_no_further_language_turns_answers_round(store, turned):
    answered(collector(store, ENGLISH))
    for _ in range(2):
        with pytest.raises(DeniableError, match=r"in different languages|stood for something else|in one word"):
            collector(store, british(**turned), correct="British English")
        collector(store, british(), correct="English for the British")
    with pytest.raises(InputError, match="nothing to correct"):
        collector(store, british(), correct="British English")


def test_a_further_language_stands_beside_the_words_that_were_read(store):
    first = collector(store, ENGLISH)
    first.store.add([Row(b"1" * 16, first.number, encode_cell(None, 0, (0, 0), ()))])
    words = {"asked": "Have you never taken drugs?", "yes": "I have not", "no": "I have"}
    second = collector(store, british(**words), correct="British English")
    first.store.add([Row(b"2" * 16, second.number, encode_cell(None, 0, (0, 0), ()))])
    (said,) = wordings(store, second.amendments).corrections
    assert {(each.language, each.before, each.after) for each in said.changes} == {
        ("", "en", "en en-GB"),
        ("en-GB", "Have you taken drugs?", "Have you never taken drugs?"),
        ("en-GB", "Yes", "I have not"),
        ("en-GB", "No", "I have"),
    }
    reports = stored_reports(store, second.design_id)
    shown = str(corrected_words(reports))
    assert all(text in shown for text in ("Have you taken drugs?", "Have you never", "I have not", "question drug"))


def test_labels_are_not_turned_round_in_two_steps_either(store):
    made = collector(store)
    answered(made)
    step = SURVEY.replace('en = "No"', 'en = "Never"').replace('en = "Yes"', 'en = "Often"')
    assert len(collector(store, step, correct="clearer").corrections) == 1
    with pytest.raises(InputError, match="turn answers or questions round"):
        collector(store, changed("labels that are swapped"), correct="clearer still")
    back = collector(store, SURVEY, correct="it was clear")  # which is a correction of its own
    assert [each.why for each in back.corrections] == ["clearer", "it was clear"]


def test_other_surveys_and_other_ways_to_ask_the_same_are_what_they_were(store):
    answered(collector(store))
    other = collector(store, SURVEY.replace('name = "wave"', 'name = "other"').replace("smoke?", "gamble?"))
    assert other.corrections == ()
    again = collector(store, SURVEY.replace("epsilon = 3.0", "epsilon = 2.0"))  # the same words, not counted together
    assert again.plan_id != other.plan_id
    assert collector(store, origins=("https://survey.example.org",)).corrections == ()


def test_a_reason_is_given_in_words_that_can_be_read(store):
    answered(collector(store))
    corrected = SURVEY.replace("Habits", "Customs")
    for why in ("", " ", "a mis\u200bprint", "x" * 30_001):
        with pytest.raises(InputError, match="in plain words"):
            collector(store, corrected, correct=why)
    with pytest.raises(InputError, match="nothing to correct"):
        collector(store, correct="a misprint")


def test_the_words_of_a_survey_that_is_over_are_what_people_read(store):
    corrected = SURVEY.replace("Habits", "Customs")
    made = collector(store)
    answered(made)
    ended = SURVEY.replace("epsilon = 3.0", "epsilon = 3.0\ncloses = 2020-01-01T00:00:00Z")
    with pytest.raises(InputError, match="is over"):
        collector(store, ended.replace("Habits", "Customs"), correct="a misprint")
    assert collector(store, ended).design_id == made.design_id
    collector(store, corrected, correct="a misprint").end()
    with pytest.raises(InputError, match="is over"):
        collector(store, SURVEY, correct="back")
    assert [each.why for each in collector(store, corrected, correct="a misprint").corrections] == ["a misprint"]


def test_corrections_are_few(store):
    answered(collector(store))
    for number in range(20):
        made = collector(store, SURVEY.replace("Habits", f"Habits {number}"), correct="again")
    assert len(made.corrections) == 20
    with pytest.raises(InputError, match="20 times"):
        collector(store, SURVEY.replace("Habits", "Vices"), correct="again")


def test_reports_to_words_that_were_on_their_way_are_told_apart_though_nobody_declared_it(store):
    first = collector(store)
    second = collector(store, SURVEY.replace("Do you smoke?", "Do you not smoke?"))
    answered(first, 3)  # devices had fetched it before anybody had answered
    answered(second, 2)
    (told,) = corrected_words(stored_reports(store, second.design_id))
    assert (told.correction.why, told.before, told.after) == ("", 3, 2)
    assert "which nobody declared" in told.said
    assert told.changes == ['question smokes (en): "Do you smoke?" became "Do you not smoke?"']
    assert collector(store, SURVEY.replace("Do you smoke?", "Do you not smoke?")).design_id == second.design_id


def test_reports_say_under_which_words_they_were_made_and_nothing_finer(store):
    made, counts = collector(store), [5, 3, 4]
    answered(made, counts[0])
    for number, text in enumerate(("Do you smoke now?", "Do you smoke today?"), 1):
        made = collector(store, SURVEY.replace("Do you smoke?", text), correct=f"reason {number}")
        answered(made, counts[number])
    reports = stored_reports(store, made.design_id)
    words = np.array(reports.public["dn_words"].to_list())
    assert [int((words == f"words {number}").sum()) for number in (1, 2, 3)] == counts
    first, second = corrected_words(reports)
    assert [(one.before, one.after) for one in (first, second)] == [(5, 7), (8, 4)]
    rows = list(zip(reports.public["region"].to_list(), words.tolist(), strict=True))
    assert rows == sorted(rows, key=lambda row: (["town", "country"].index(row[0]), row[1]))  # in no order of arrival


def test_backups_and_what_was_put_back_know_the_corrections(store, tmp_path):
    answered(collector(store), 2)
    made = collector(store, SURVEY.replace("Habits", "Customs"), correct="a misprint")
    answered(made, 3)
    store.copy(tmp_path / "copy.sqlite")
    kept = collected(tmp_path / "copy.sqlite")
    (told,) = corrected_words(kept)
    assert (told.before, told.after, told.correction.why) == (2, 3, "a misprint")
    (tmp_path / "back").mkdir()
    (tmp_path / "copy.sqlite").rename(tmp_path / "back" / FILE)
    back = SqliteStore(tmp_path / "back" / FILE)
    settle(back)
    assert collector(back, SURVEY.replace("Habits", "Customs")).design_id == made.design_id
    with pytest.raises(InputError, match="--correct"):
        collector(back, SURVEY)
    back.close()


def test_words_that_a_store_has_lost_are_not_guessed(store):
    made = collector(store)
    answered(made)
    texts = verify(made.design(made.design_id), made.design_id).message.texts
    store.drop(words_mark(texts))
    for text in (SURVEY, SURVEY.replace("Habits", "Customs")):
        with pytest.raises(InputError, match="not known any more"):
            collector(store, text, correct="a misprint")


def test_the_words_of_a_file_do_not_hide_what_was_corrected(store):
    answered(collector(store))
    made = collector(store, SURVEY.replace("Habits", "Customs"), correct="a misprint")
    reports = stored_reports(store, made.design_id)
    assert len(corrected_words(reports.with_labels(parse_survey(SURVEY).labels))) == 1


def test_a_design_that_replaces_another_without_a_word_is_refused_by_devices():
    survey = parse_survey(SURVEY)
    body = design_body(survey, replaces="ab" * 32)
    with pytest.raises(DeniableError, match="form-unfit"):
        read_form(encode(form_of(survey)), verify(body, design_id(body)))


def test_every_design_of_a_store_has_its_words(store):
    answered(collector(store))
    collector(store, SURVEY.replace("Habits", "Customs"), correct="a misprint")
    assert [each.form is not None for each in served_from(store)] == [True, True]


@pytest.mark.parametrize("design", [BLOCKS, PAIRED])
def test_blocks_and_pairs_know_under_which_words_each_report_was_made(store, design):
    text, rng, sent = small_survey(design), np.random.default_rng(1), Counter()
    for place, title in enumerate(("Small", "Smaller", "Smallest")):
        made = collector(store, text.replace('"Small"', f'"{title}"'), correct=f"{place}" if place else None)
        chain = made.session if isinstance(made.session, Chain) else None
        for _ in range(3):
            block = None if chain is None else chain.current().id
            answers = [tuple(row) for row in rng.integers(2, size=(20, 2)).tolist()]
            answers = [row[:1] if chain else row for row in answers]  # one combination, of four that there are
            cells = [encode_cell(block, 0, row, ()) for row in answers]
            store.add([Row(secrets.token_bytes(16), made.number, cell) for cell in cells])
            sent.update((block, row, f"words {place + 1}") for row in answers)
    reports = stored_reports(store, made.design_id)
    rows = [tuple(row) for row in reports.answers.tolist()]
    words = reports.public["dn_words"].to_list()
    blocks = [reports.published[block].id for block in reports.blocks] if design == BLOCKS else [None] * len(rows)
    assert Counter(zip(blocks, rows, words, strict=True)) == sent
    assert [(one.before, one.after) for one in corrected_words(reports)] == [(60, 120), (120, 60)]
