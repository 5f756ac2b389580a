"""A survey file is read or refused, and a refusal names the key."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from typing import get_args

import pytest

from deniable.channels.best_channel import Choice
from deniable.channels.krr import KRR
from deniable.channels.sets.block_design import BlockDesign
from deniable.channels.sets.hadamard import HadamardResponse
from deniable.channels.sets.hashing import LocalHashing
from deniable.channels.sets.subset import SubsetSelection
from deniable.channels.sets.two_level import TwoLevel
from deniable.channels.sets.unary import Unary
from deniable.channels.two_level_krr import TwoLevelKRR
from deniable.cli.new import example_text
from deniable.collection.survey_messages import design_body
from deniable.core.bins import bin_names
from deniable.designs.registry import DESIGNS
from deniable.device.protocol.messages import Panel, design_id
from deniable.device.verify import verify
from deniable.errors import SurveyError
from deniable.optimal.optimal_channel import OptimalChannel
from deniable.surveys.questions.number import bin_of
from deniable.surveys.survey import parse_survey, read_survey
from deniable.surveys.translations import PHRASES

MINIMAL = """
format = 1
name = "minimal"
title = "Minimal"
epsilon = 1.0
{keys}
[[questions]]
name = "smokes"
text = "Do you smoke?"
{smokes}
[[questions]]
name = "sleep"
text = "How do you sleep?"
choices = ["badly", "well"]
{sleep}
{tail}
"""


def minimal(*, keys="", smokes='kind = "yes-no"', sleep="", tail=""):
    return MINIMAL.format(keys=keys, smokes=smokes, sleep=sleep, tail=tail)


def refusal(text):
    with pytest.raises(SurveyError) as caught:
        parse_survey(text)
    assert str(caught.value).startswith(caught.value.path or ("this is not TOML", "the file"))
    return caught.value


def test_the_example_holds_every_kind_of_question_and_is_a_design():
    survey = parse_survey(example_text())
    assert {item.kind for item in survey.questions} == {"yes-no", "scale", "number"}
    assert survey.languages == ("en", "de")
    assert survey.design.epsilon <= survey.epsilon
    assert survey.design.covers(["cannabis", "sleep"])
    assert survey.domain["born_abroad"].categories[-1] == "prefer not to say"
    assert survey.domain["well_water"].categories[-1] == "does not apply"
    assert all(set(option.text) == {"en", "de"} for item in survey.questions for option in item.options)


def test_every_line_of_the_example_that_is_commented_out_would_be_read_too():
    shown = example_text()
    for key in ("opens", "closes", "channel"):
        assert f"# {key} =" in shown
        shown = shown.replace(f"# {key} =", f"{key} =")
    assert parse_survey(shown).opens == datetime(2030, 1, 1, tzinfo=UTC)
    cannabis_and_sleep, *_ = parse_survey(shown).design.questions
    assert isinstance(cannabis_and_sleep.channel, KRR)  # six cells at epsilon 2: the least variance is k-RR's


# What a kind cannot do without.
NEEDED = {
    "clusters": 'clusters = [["smokes", "sleep"]]',
    "paired": 'p = 0.55\nrho = -0.01\naccept = "a partner who knows the coin"',
}


TWELVE = 'kind = "scale"\nfirst = 1\nlast = 12'
TAKING_SETS = ("tables", "independent", "joint", "clusters", "sampled", "views")
MADE = {
    "krr": KRR,
    "unary": Unary,
    "subset": SubsetSelection,
    "hashing": LocalHashing,
    "hadamard": HadamardResponse,
    "block_design": BlockDesign,
    "least_variance": SubsetSelection,
}


def test_how_many_are_planned_decides_which_channel_is_worth_its_work():
    tail, kinds = '[design]\nkind = "sampled"\nchannel = "least_variance"\n', []
    sixteen = 'kind = "scale"\nfirst = 1\nlast = 16'
    for more in ("", "respondents = 5000\n"):
        survey = parse_survey(minimal(smokes=sixteen, tail=tail + more))
        kinds.append(survey.design.questions[0].channel.kind)
    assert kinds == ["subset", "block_design"]


@pytest.mark.parametrize("channel", get_args(Choice))
@pytest.mark.parametrize("kind", TAKING_SETS)
def test_every_channel_can_be_asked_for(kind, channel):
    tail = f'[design]\nkind = "{kind}"\nchannel = "{channel}"\n' + NEEDED.get(kind, "")
    design = parse_survey(minimal(smokes=TWELVE, tail=tail)).design
    made = type(design.questions[0].channel)
    # Of its own shares alone, sets are the best; of the shares of two that are asked together, a channel made for both.
    assert made is MADE[channel] if channel != "optimal" else made in (SubsetSelection, OptimalChannel)
    assert 0.99 < design.epsilon <= 1.0


PANEL = 'admission = "invited"\npanel = { name = "p", people = 100000, repeats = ["smokes"]%s }'


SETS = '[design]\nkind = "independent"\nchannel = "unary"\n'


def waves(tail, more="", **fields):
    """A survey that is a wave of a panel which repeats its first question."""
    return minimal(keys=PANEL % more, tail=tail, **fields)


@pytest.mark.parametrize(("channel", "first"), [("krr", KRR), ("unary", Unary), ("subset", SubsetSelection)])
def test_what_a_panel_repeats_gets_a_second_level(channel, first):
    tail = f'[design]\nkind = "independent"\nchannel = "{channel}"\n'
    survey = parse_survey(waves(tail, ", again = 0.5", smokes=TWELVE))
    kept, changing = survey.design.questions
    assert isinstance(kept.channel, TwoLevelKRR if first is KRR else TwoLevel)
    assert type(kept.channel.first) is first
    assert kept.channel.again == KRR(12 if first is KRR else 2, 0.5)
    assert kept.channel.first.epsilon > 0.499  # its share of the budget, whole
    assert type(changing.channel) is first
    louder = parse_survey(waves(tail, ", again = 0.7", smokes=TWELVE)).design
    assert louder.questions[0].channel.again.epsilon == pytest.approx(0.7, abs=0.01)
    assert survey.panel == Panel("p", 100_000, ("smokes",))
    body = design_body(survey)
    assert survey.found_again == verify(body, design_id(body)).found_again > 0


def test_the_least_variance_of_what_is_repeated_counts_both_levels():
    tail = '[design]\nkind = "sampled"\nchannel = "least_variance"\n'
    for asked, kind in ((TWELVE, TwoLevel), ('kind = "yes-no"', TwoLevelKRR)):
        kept, _ = parse_survey(waves(tail, smokes=asked)).design.questions
        assert type(kept.channel) is kind


@pytest.mark.parametrize(
    ("path", "text", "way_out"),
    [
        ("panel", waves('[design]\nkind = "sampled"').replace("invited", "open"), 'admission = "invited"'),
        ("panel", waves('[design]\nkind = "sampled"').replace("invited", "blind"), "drop [panel]"),
        ("panel", waves('[design]\nkind = "blocks"\nk = 1'), "another kind of design"),
        ("panel", waves('[design]\nkind = "optimal"'), '"independent"'),
        ("panel", waves('[design]\nkind = "sampled"\nchannel = "hadamard"'), '"least_variance"'),
        ("panel", waves('[design]\nkind = "sampled"\nchannel = "hashing"'), '"subset"'),
        ("panel", waves('[design]\nkind = "sampled"').replace("100000", "20"), "It takes 33 people"),
        ("panel", waves(SETS, ", again = 2", smokes=TWELVE), "a larger panel counts as 1000"),
        ("panel", waves(SETS, ", again = 2", smokes=TWELVE).replace("100000", "900"), "It takes a smaller again"),
        ("panel.repeats", waves('[design]\nkind = "joint"'), 'design.kind = "independent"'),
        ("panel.repeats", waves('[design]\nkind = "sampled"').replace('["smokes"]', '["smoke"]'), "smokes"),
        ("panel.repeats", waves('[design]\nkind = "sampled"').replace('["smokes"]', '["smokes", "smokes"]'), "once"),
        ("panel.again", waves('[design]\nkind = "sampled"', ", again = 0"), "above 0"),
        ("panel.name", waves('[design]\nkind = "sampled"').replace('"p"', '"P p"'), "family-2030"),
        ("panel.people", waves('[design]\nkind = "sampled"').replace("100000", "0"), ">= 1"),
        ("panel", waves('[design]\nkind = "sampled"', ", size = 3"), "'repeats'"),
    ],
)
def test_a_panel_that_cannot_be_kept_is_refused_with_the_way_out(path, text, way_out):
    with pytest.raises(SurveyError) as caught:
        parse_survey(text)
    assert caught.value.details["path"] == path
    assert way_out in caught.value.message


@pytest.mark.parametrize("kind", sorted(kind for kind in DESIGNS if DESIGNS[kind].is_served))
def test_every_kind_of_design_can_be_asked_for(kind):
    tail = f'[design]\nkind = "{kind}"\n' + NEEDED.get(kind, "")
    survey = parse_survey(minimal(tail=tail))
    assert survey.design.domain == survey.domain
    assert survey.design.epsilon <= 1.0


def test_the_default_asks_each_respondent_for_one_wanted_table_or_a_question_that_is_in_none():
    tail = '[[questions]]\nname = "drinks"\ntext = "?"\nkind = "scale"\nfirst = 1\nlast = 5'
    design = parse_survey(minimal(keys='tables = [["smokes", "sleep"]]', tail=tail)).design
    assert [question.attributes for question in design.questions] == [("smokes", "sleep"), ("drinks",)]
    assert design.ballots == ((0,), (1,))


def test_opening_hours():
    survey = parse_survey(minimal(keys="opens = 2030-01-01T00:00:00Z\ncloses = 2030-01-02T00:00:00Z"))
    day = [datetime(2029, 12, 31, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC), datetime(2030, 1, 2, tzinfo=UTC)]
    assert [survey.is_open(now) for now in day] == [False, True, False]


def test_numbers_are_put_into_bins_that_hold_their_lower_edge():
    edges = [0, 1.5, 10]
    assert bin_names(edges) == ["< 0", "0 to < 1.5", "1.5 to < 10", ">= 10"]
    assert [bin_of(number, edges) for number in (-1, 0, 1.49, 1.5, 9, 10, 1e9)] == [0, 1, 1, 2, 2, 3, 3]


def test_built_in_phrases_exist_in_the_same_languages():
    assert len({frozenset(texts) for texts in PHRASES.values()}) == 1


def test_other_words_and_other_languages_are_given_under_texts():
    texts = '[texts]\nyes = "Kyllä"\nno = "Ei"'
    survey = parse_survey(minimal(keys='languages = ["fi"]', tail=texts))
    assert [option.text for option in survey.questions[0].options] == [{"fi": "Ei"}, {"fi": "Kyllä"}]


BAD = {
    "": [minimal(keys="epsilon = = 1"), "[["],
    "epsilon": [
        minimal().replace("epsilon = 1.0", f"epsilon = {bad}") for bad in ("0", "-1", "inf", "nan", "1e9", '"1"')
    ],
    "format": [minimal().replace("format = 1", "format = 2")],
    "name": [minimal().replace('"minimal"', '"Not a slug!"')],
    "title": [minimal().replace('title = "Minimal"', "title = 3")],
    "title.en": [minimal().replace('title = "Minimal"', 'title = ""')],
    "languages": [minimal(keys="languages = []"), minimal(keys='languages = ["en", "en"]')],
    "questions[0].kind": [minimal(smokes=f"kind = {bad}") for bad in ('"essay"', "3", '["choice"]', '"yes_no"')],
    "questions[0].choices": [
        minimal(smokes=""),
        minimal(smokes='choices = ["only"]'),
        minimal(smokes='choices = ["a", "a"]'),
        minimal(smokes='kind = "yes-no"\nchoices = ["yes", "no"]'),
        minimal(smokes='kind = "number"\nbins = [1]\nchoices = ["a", "b"]'),
        minimal(smokes='choices = "ab"'),
    ],
    "questions[0].choices[1]": [minimal(smokes='choices = ["a", " "]'), minimal(smokes='choices = ["a", 2]')],
    "questions[0].bins": [minimal(smokes=f'kind = "number"\nbins = {bad}') for bad in ("[]", "[2, 1]", "[1, inf]")],
    "questions[0].last": [
        minimal(smokes='kind = "scale"\nfirst = 1'),
        minimal(smokes='kind = "scale"\nfirst = 5\nlast = 5'),
    ],
    "questions[0].first": [
        minimal(smokes='choices = ["a", "b"]\nfirst = 1'),
        minimal(smokes='kind = "scale"\nchoices = ["a", "b"]\nfirst = 1\nlast = 2'),
    ],
    "questions[0].step": [minimal(smokes='kind = "scale"\nfirst = 1\nlast = 5\nstep = 1')],
    "questions[0].min": [minimal(smokes='kind = "number"\nbins = [1]\nmin = "0"')],
    "questions[0].show_if.sleep": [minimal(smokes='kind = "yes-no"\nshow_if = { sleep = "well" }')],
    "questions[1].surprise": [minimal(sleep="surprise = 1")],
    "questions[1].name": [minimal().replace('"sleep"', '"smokes"'), minimal().replace('"sleep"', '"a b"')],
    "tables[0]": [minimal(keys='tables = [["smokes", "nothing"]]'), minimal(keys='tables = [["smokes", "smokes"]]')],
    "tables[1]": [minimal(keys='tables = [["smokes"], ["smokes", "sleep"]]', tail='[design]\nkind = "sampled"')],
    "design.kind": [minimal(tail=f'[design]\nkind = "{kind}"') for kind in ("psychic", "paired_items")],
    "design.channel": [
        minimal(tail='[design]\nchannel = "psychic"'),
        minimal(tail='[design]\nkind = "blocks"\nchannel = "subset"'),
        minimal(tail='[design]\nkind = "paired"\nchannel = "krr"\n' + NEEDED["paired"]),
        minimal(smokes='kind = "scale"\nfirst = 1\nlast = 54', tail='[design]\nchannel = "subset"'),
    ],
    "design.respondents": [
        minimal(tail="[design]\nrespondents = 100"),
        minimal(tail='[design]\nchannel = "least_variance"\nrespondents = 0'),
    ],
    "design.k": [
        minimal(tail='[design]\nkind = "joint"\nk = 2'),
        minimal(tail='[design]\nkind = "views"\nk = 9'),
        minimal(tail='[design]\nkind = "views"\nk = "two"'),
    ],
    "design.clusters": [minimal(tail='[design]\nkind = "clusters"')],
    "design": [
        minimal(tail='[design]\nkind = "clusters"\nclusters = [["smokes"]]'),
    ],
    "admission": [minimal(keys='admission = "friends"')],
    "opens": [minimal(keys="opens = 2030-01-01T00:00:00")],
    "closes": [minimal(keys="opens = 2030-01-02T00:00:00Z\ncloses = 2030-01-01T00:00:00Z")],
    "texts.belief": [minimal(tail='[texts]\nbelief = "Nobody learns anything."')],
    "texts.farewell": [minimal(tail='[texts]\nfarewell = "Bye"')],
    "texts.no": [minimal(keys='languages = ["fi"]')],
}


@pytest.mark.parametrize(("path", "text"), [(path, text) for path, texts in BAD.items() for text in texts])
def test_a_refusal_names_the_key(path, text):
    assert refusal(text).path == path


def test_every_text_must_be_there_in_every_language():
    assert refusal(minimal(keys='languages = ["en", "de"]')).path == "title"
    text = minimal(keys='languages = ["en", "de"]').replace('"Minimal"', '{ en = "Minimal" }')
    assert refusal(text).path == "title"
    assert "no text in ['de']" in str(refusal(text))
    text = minimal().replace('"Minimal"', '{ en = "Minimal", fr = "Minimal" }')
    assert refusal(text).path == "title"


def test_what_is_public_cannot_be_asked_in_disguise_as_well():
    public = '[[public]]\nname = "smokes"\ntext = "?"\nchoices = ["a", "b"]'
    assert refusal(minimal(tail=public)).path == "questions[0].name"


def test_a_show_if_rule_needs_an_existing_choice():
    public = '[[public]]\nname = "region"\ntext = "?"\nchoices = ["a", "b"]'
    assert refusal(minimal(sleep='show_if = { region = "c" }', tail=public)).path == "questions[1].show_if.region"
    assert parse_survey(minimal(sleep='show_if = { region = ["a"] }', tail=public)).questions[1].show_if == {
        "region": ("a",)
    }


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ValueError, match="cannot be read"):
        read_survey(tmp_path / "none.toml")
    (tmp_path / "survey.toml").write_text(example_text(), encoding="utf-8")
    assert read_survey(tmp_path / "survey.toml").name == tomllib.loads(example_text())["name"]
