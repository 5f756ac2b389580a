"""The paper's paragraphs: true of the design they are about, in both languages; silent about what it does not do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import deniable as dn
from chequered import black
from deniable.cli.app import app
from deniable.core.provenance import Origin
from deniable.device.panel import in_hundred
from deniable.device.privacy_statement import rounded_up
from deniable.errors import InputError
from deniable.extensions import blocks, paired
from deniable.reporting.citations import _SOURCES, cited
from deniable.reporting.disguise_sentences import DISGUISE
from deniable.reporting.markdown import markdown
from deniable.reporting.methods_section import Facts, facts_of_reports, facts_of_survey, methods
from deniable.reporting.methods_sentences import SENTENCES
from deniable.surveys.survey import parse_survey
from exams import EXAMS, TOGETHER, answered, exams


def written(design="", language="en"):
    return markdown(methods(facts_of_survey(exams(design), language)))


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_numbers_are_the_design_s_own_rounded_up(language):
    survey, text = exams(), written(language=language)
    stated = survey.design.describe()
    for number in (
        rounded_up(stated.epsilon, 4),
        rounded_up(stated.ratio, 3),
        rounded_up(100 * stated.posterior(0.5), 2),
        rounded_up(100 * stated.posterior(0.05), 2),
    ):
        assert (number if language == "en" else number.replace(".", ",")) in text
    truth = survey.design.questions[0].channel.matrix()[0, 0]
    assert (f"{truth:.4f}" if language == "en" else f"{truth:.4f}".replace(".", ",")) in text
    assert survey.labels.speaking(language).question("cheated") in text
    assert str(stated.ratio) in text


# The sentences that not every design has, and a survey of every kind with those that are true of it.
CONDITIONAL = {
    "how_answers", "how_sets", "how_signs", "of_some", "drawn", "learned", "learned_in_part", "in_ranges", "panel",
    "no_withdrawal", "participation", "participation_blind", "participation_blind_blocks", "admission_open",
    "admission_invited", "admission_blind", "admission_blind_blocks", "adaptive", "deniability", "simulated", "pilot",
    "methods_n", "methods_estimates", "methods_sets", "methods_in_part", "methods_technique_alone", "several_numbers",
    "methods_disclosed", "methods_pairs", "sampled_open", "sampled_invited", "sampled_blind", "sampled_unknown",
    "weights_none", "weights_planned", "weights_used",
}  # fmt: skip
OPEN = {"participation", "no_withdrawal", "admission_open", "sampled_open", "weights_planned"}
COUNTED = OPEN | {"learned", "how_answers", "methods_estimates"}
KRR = COUNTED
SIGNS = COUNTED - {"how_answers"} | {"how_signs"}
SETS = OPEN | {"learned", "how_sets", "methods_sets"}
BLOCKED = '[design]\nkind = "blocks"\nk = 1'
BLOCKS = COUNTED | {"drawn", "adaptive"}
RRBA = 'mode = "deniability"\nkeep = 0.5\naccept = "deniability instead of differential privacy"'
ALONE = 'tables = [["cheated"], ["stress"]]'
KINDS = {
    "": KRR,  # every share and every pair is wanted, and there is but one pair
    ALONE: KRR | {"drawn"},
    '[design]\nkind = "sampled"': KRR | {"drawn"},
    '[design]\nkind = "joint"': KRR,
    TOGETHER: KRR,
    '[design]\nkind = "clusters"\nclusters = [["cheated"], ["stress"]]': KRR,
    '[design]\nkind = "views"\nk = 1\nanswer = "one"': KRR | {"drawn"},
    '[design]\nkind = "views"\nk = 1\nanswer = "all"': KRR,
    '[design]\nkind = "joint"\nchannel = "hadamard"': SIGNS,
    '[design]\nkind = "joint"\nchannel = "block_design"': SIGNS,
    '[design]\nkind = "joint"\nchannel = "subset"': SETS,
    '[design]\nkind = "joint"\nchannel = "hashing"': SETS,
    'wanted = ["ranges(stress; 1..2)"]\n[design]\nkind = "independent"\nchannel = "optimal"': KRR
    - {"learned", "methods_estimates"}
    | {"how_signs", "of_some", "learned_in_part", "methods_in_part"},
    'wanted = ["ranges(stress; 1..2)"]\n[design]\nkind = "optimal"': SIGNS - {"learned", "methods_estimates"}
    | {"learned_in_part", "methods_in_part"},
    BLOCKED: BLOCKS,
    f'[design]\nkind = "blocks"\nk = 1\n{RRBA}': BLOCKS | {"deniability"},
    'admission = "invited"': KRR - OPEN | {"participation", "admission_invited", "sampled_invited", "weights_planned"},
    'admission = "blind"': KRR - OPEN
    | {"participation_blind", "admission_blind", "no_withdrawal", "sampled_blind", "weights_planned"},
    'admission = "blind"\n[design]\nkind = "blocks"\nk = 1': BLOCKS - OPEN
    | {"participation_blind_blocks", "admission_blind_blocks", "sampled_blind", "weights_planned"},
}


def is_said(sentence, text, language):
    """Whether a sentence stands in the text, whatever is in its places."""
    pattern = re.sub(r"\\{\w+\\}", ".+?", re.escape(SENTENCES[sentence][language]))
    return re.search(pattern, text.replace("\\", "")) is not None  # without Markdown's escapes


def said(text, language="en"):
    return {name for name in CONDITIONAL if is_said(name, text, language)}


@pytest.mark.parametrize(("design", "language"), black(KINDS, ["en", "de"]))
def test_sentences_are_there_where_they_are_true_and_nowhere_else(design, language):
    assert said(written(design, language), language) == KINDS[design]


@pytest.mark.parametrize("language", ["en", "de"])
def test_participants_and_the_board_are_told_what_a_panel_keeps_and_how_many_are_found_again(language):
    panel = 'admission = "invited"\npanel = { name = "p", people = 123, repeats = ["cheated"] }\n'
    survey = parse_survey(EXAMS.replace("DESIGN", f'{panel}[design]\nkind = "sampled"'))
    text = markdown(methods(facts_of_survey(survey, language)))
    assert is_said("panel", text, language)
    assert text.count("123") == 2  # of participants, and to the board
    found = in_hundred(survey.found_again)
    assert (found if language == "en" else found.replace(".", ",")) + (" in 100" if language == "en" else "") in text


def test_of_a_number_its_range_is_used():
    survey = EXAMS.replace("DESIGN", ALONE).replace('"scale"\nfirst = 1\nlast = 3', '"number"\nbins = [3, 10]')
    text = markdown(methods(facts_of_survey(parse_survey(survey))))
    assert said(text) == KINDS[ALONE] | {"in_ranges"}
    assert "disguised: \u201cHow stressed are you?\u201d." in text


def test_what_is_claimed_and_what_is_true():
    text = written(f'[design]\nkind = "blocks"\nk = 1\n{RRBA}')
    assert "epsilon = 0.6932 is claimed, which is not differential privacy; the true bound is epsilon = 2.0000." in text
    assert "Wang" not in text


def test_sources_follow_what_was_used():
    assert "Imran" not in written()
    assert "Dempster" not in written('[design]\nkind = "joint"\nchannel = "subset"')


def test_what_travels_in_clear_is_named():
    assert "outside this bound, are the answers to: \u201cYour faculty\u201d." in written()
    assert "außerhalb dieser Grenze, sind die Antworten auf: \u201eIhre Fakultät\u201c." in written(language="de")


@pytest.mark.parametrize(("admission", "told", "unsaid"), [
    ("open", "may answer more than once", "noted which invitation"),
    ("invited", "noted which invitation went to whom", "cannot be taken back"),
    ("blind", "blindly signed admission", "noted which invitation"),
])  # fmt: skip
def test_who_may_answer(admission, told, unsaid):
    text = written(f'admission = "{admission}"')
    assert told in text
    assert unsaid not in text


def test_collected_reports_bring_their_number_and_the_hash_that_was_printed():
    reports = answered()
    served = reports.with_labels(reports.labels.served_as("ab" * 32))
    text = markdown(methods(facts_of_reports(served)))
    assert said(text) == KRR - OPEN | {"participation", "methods_n", "sampled_unknown", "weights_none"}
    assert "600 reports came in." in text
    assert "ab" * 32 in text
    assert "more than once" not in text  # who could answer is not known from reports


def test_the_survey_file_knows_more_and_what_is_simulated_is_no_result():
    reports = answered()
    served = reports.with_labels(reports.labels.served_as("ab" * 32))
    text = markdown(methods(facts_of_reports(served.with_origin(Origin(600, 600, pilot=True)), exams())))
    assert said(text) == KINDS[""] - {"weights_planned"} | {*("methods_n", "simulated", "pilot", "weights_none")}
    assert text.count("Of these reports, 600 are simulated") == 2
    assert text.count("These reports are a pilot's") == 2


def test_reports_that_no_collector_took_are_refused():
    with pytest.raises(InputError, match="respondents' own devices"):
        facts_of_reports(answered())


@pytest.mark.parametrize(("rho", "told"), [(-0.2, set()), (-1 / 3, {"methods_disclosed"})])
def test_where_the_promise_is_not_one_number_methods_state_what_holds(rho, told):
    pairs = dn.Paired({"cheated": ["no", "yes"]}, p=0.75, rho=rho)
    text = markdown(methods(Facts(exams().labels, pairs, reports=600)))
    found = {"several_numbers", "methods_technique_alone", "methods_pairs", "methods_estimates", "methods_n"}
    assert said(text) >= found | told | {"sampled_unknown", "weights_none"}
    assert "(Warner 1965) under local" not in text
    assert "Kasiviswanathan" not in text
    assert "Information for participants" not in text
    assert f"with correlation {rho:.4f}" in text
    assert "epsilon = 1.0987 is claimed on average" in text or told


def test_what_estimates_were_weighted_by_is_named():
    facts = facts_of_survey(exams()).of_sample(None, "faculty", "faculty")
    text = markdown(methods(facts))
    assert "those of a sample in strata (\u201cYour faculty\u201d), of clusters (\u201cYour faculty\u201d)." in text
    with pytest.raises(InputError, match=r"no public column 'weight' .* there is 'faculty'"):
        facts_of_survey(exams()).of_sample("weight", None, None)
    assert "weights_planned" not in said(text)


def test_every_sentence_is_there_in_both_languages_with_the_same_places():
    extended = {name: each for home in (blocks, paired) for name, each in vars(home).items() if isinstance(each, dict)}
    said = {name: words for name, words in extended.items() if name.startswith("_") and "en" in words}
    assert len(said) == 7
    for name, words in [*SENTENCES.items(), *DISGUISE.items(), *said.items()]:
        assert set(words) == {"en", "de"}, name
        english, german = (sorted(re.findall(r"{(\w+)}", text)) for text in words.values())
        assert english == german, name


def test_sources_are_cited_and_in_bibtex():
    text = written()
    for name in ("warner1965", "kasiviswanathan2011", "wang2016", "wilson1927", "dempster1977", "deniable"):
        assert re.search(rf"^@\w+{{{name},$", text, re.MULTILINE), name
    assert all(cited(name) for name in _SOURCES)


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("exams.toml").write_text(EXAMS.replace("DESIGN", ""), encoding="utf-8")
    ran = CliRunner().invoke(app, ["report", "exams.toml", "--methods", "-o", "methods.md", "--language", "de"])
    assert ran.exit_code == 0, ran.output
    assert ran.stdout == "methods.md: 6 sections.\n"
    assert "## Für die Ethikkommission" in Path("methods.md").read_text(encoding="utf-8")
    assert CliRunner().invoke(app, ["report", "exams.toml", "--methods", "-o", "methods.html"]).exit_code == 0
