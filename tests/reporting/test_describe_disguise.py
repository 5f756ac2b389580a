"""How answers were disguised, in sentences: of every design, with the channel's numbers, alike wherever they stand."""

from __future__ import annotations

import re

import numpy as np
import pytest

import deniable as dn
from deniable.channels.sets.two_level import TwoLevel
from deniable.core.labels import UNKNOWN, Labels
from deniable.designs.question import Question
from deniable.device.fake_limits import WHOLE
from deniable.device.privacy_statement import rounded_up
from deniable.reporting.describe_disguise import disguise_of, disguised, number, questions_disguised
from deniable.reporting.markdown import markdown
from deniable.reporting.methods_section import Facts, methods
from deniable.reporting.report_file import document
from deniable.reporting.scripts.write_script import write_script
from deniable.version import __version__
from every_design import every_design, lopsided

DOMAIN = dn.Domain({"a": ["no", "yes"], "b": ["x", "y", "z"], "c": ["no", "yes"]})
SETS = dn.Independent(
    DOMAIN,
    channels={"a": dn.Warner(0.8), "b": TwoLevel(dn.Unary(3, 2.0), dn.KRR(2, 1.0)), "c": dn.LocalHashing(2, 1.0)},
)
BLOCKED = dn.Joint(dn.Domain({"town": range(21)}), 1.5, channel="block_design")
WIDE = dn.Joint(dn.Domain({"town": range(33)}), 1.0, channel="subset")
DENIED = dn.Blocks(DOMAIN, 2, mode="deniability", keep=0.25)
FLOORED = dn.Blocks(DOMAIN, 2, mode="deniability", keep=0.25, most_told=3.0)
DESIGNS = {
    **every_design(DOMAIN, 2000),
    "sets": SETS,
    "block design": BLOCKED,
    "wide": WIDE,
    "denied": DENIED,
    "floored": FLOORED,
}
CLASS = re.compile(r"\b[A-Z]\w*\(\w*[\d=]")  # SubsetSelection(33, d=4)


CITED = {
    "Wang et al. 2017": "Wang, T., Blocki, J., Li, N., Jha, S. (2017)",
    "Ye and Barg 2018": "Ye, M., Barg, A. (2018)",
    "Erlingsson et al. 2014": "(2014). RAPPOR",
    "Acharya et al. 2019": "Acharya, J., Sun, Z., Zhang, H. (2019)",
    "Feldman et al. 2022": "Feldman, V., Nelson, J., Nguyen, H., Talwar, K. (2022)",
    "Zheng et al. 2025": "Zheng, Y.",
}


def numbers(text):
    return [float(found) for found in re.findall(r"\d+\.\d+", text)]


def held(channel):
    """Pr(the report speaks for the truth), for a given other: it speaks for the truths that make it likeliest."""
    matrix = channel.matrix()
    speaks = matrix >= (matrix.min(axis=1, keepdims=True) + matrix.max(axis=1, keepdims=True)) / 2 - 1e-12
    both = speaks.T @ matrix  # [for which truth it speaks, which was true]
    return both[0, 0], both[1, 0]


def expected(design, place):
    """The numbers that a question's sentence must have, found another way than the sentence."""
    channel = design.questions[place].channel
    if isinstance(design, dn.Blocks):
        limits = design.limits[place]
        return [limits.keep / WHOLE, *([limits.floor / WHOLE] if limits.floor else [])]
    matrix = channel.matrix()
    if channel.is_support:
        return [matrix[0, 0], matrix[1, 0]]
    if channel.kind in ("hadamard", "block_design"):
        return list(held(channel))
    if channel.kind == "krr" or channel is SETS.questions[0].channel:
        return [matrix[0, 0], matrix[1, 0]]
    return list(matrix.T.ravel()) if matrix.size <= 24 else [matrix.min(), matrix.max()]


@pytest.mark.parametrize("name", DESIGNS)
def test_every_question_is_told_in_its_channel_s_numbers(name):
    design = DESIGNS[name]
    told = questions_disguised(design, UNKNOWN)
    assert len(told) == len(design.questions)
    for place, sentence in enumerate(told):
        assert not CLASS.search(sentence)
        assert np.allclose(numbers(sentence), expected(design, place), atol=6e-5), sentence
        channel = design.questions[place].channel
        cells = design.domain.project(design.questions[place].attributes).cells
        assert f": {cells} answers" in sentence
        size = {"subset": "d", "hashing": "g"}.get(channel.kind)
        if size is not None:
            assert f" {getattr(channel, size)} " in sentence


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("name", DESIGNS)
def test_a_methods_paragraph_of_every_design(name, language):
    design = DESIGNS[name]
    text = markdown(methods(Facts(Labels(languages=(language,)), design, reports=1200, admission="invited")))
    plain = text.replace("\\", "")
    for sentence in disguised(design, UNKNOWN, language):
        assert sentence in plain
    assert not CLASS.search(plain.partition("BibTeX")[0])
    assert f"deniable {__version__}" in plain
    assert "{" not in plain.partition("BibTeX")[0]
    # Which numbers bound what a report tells, or that none does.
    none = {"en": "no epsilon", "de": "kein Epsilon"}[language]
    bound = f"epsilon = {rounded_up(design.epsilon, 4)}" if np.isfinite(design.epsilon) else none
    assert (bound if language == "en" else bound.replace(".", ",").replace("eps", "Eps")) in plain
    # Every source that a sentence names is among the references.
    references = plain.partition("## References" if language == "en" else "## Literatur")[2]
    for cite, author in CITED.items():
        shown = cite if language == "en" else cite.replace(" and ", " und ")
        assert (shown in plain) <= (author in references), cite
        assert author not in references or cite.startswith("Wang") or shown in plain, cite


def test_what_is_special_is_said_of_the_designs_that_have_it():
    special = {"learned from": {"blocks"}, "random pairs": {"paired"}, "two by two": {"paired_items"},
               "made for need": {"optimal"}}  # fmt: skip
    for sentence, kinds in special.items():
        having = {design.kind for design in DESIGNS.values() if sentence in " ".join(disguise_of(design))}
        assert having == kinds, sentence
    for design in DESIGNS.values():
        assert ("one of" in " ".join(disguise_of(design))) is (len(design.ballots) > 1)


def test_ballots_of_unequal_chances():
    design = dn.Design(DOMAIN, dn.Sampled(DOMAIN, 1.0).questions, [[0], [1], [2]], [1, 1, 2])
    assert "from 0.2500 to 0.5000" in " ".join(disguise_of(design))


def test_report_and_methods_say_the_same():
    reports = dn.Joint(DOMAIN, 2.0, channel="subset").randomize(
        {"a": ["no", "yes"] * 100, "b": ["x", "y"] * 100, "c": ["no"] * 200}, source=dn.Seeded(1)
    )
    made = markdown(document("One", reports.design, [dn.estimate(reports, "a")])).replace("\\", "")
    for sentence in disguised(reports.design, UNKNOWN):
        assert sentence in made


def test_small_probabilities_keep_two_digits():
    assert (number(0.5), number(0.00004321), number(0.0), number(0.25, "de")) == (
        "0.5000",
        "0.000043",
        "0.0000",
        "0,2500",
    )


def test_many_questions_share_a_line_where_they_are_alike():
    wide = dn.Views({f"q{number}": ["no", "yes"] for number in range(12)} | {"z": ["a", "b", "c"]}, 2, 1.0)
    told = questions_disguised(wide, UNKNOWN)
    assert len(wide.questions) == 78
    assert len(told) == 2
    assert sum(int(re.search(r"and (\d+) more: ", line)[1]) for line in told) == 78 - 10


def test_scripts_say_it_too(tmp_path):
    reports = dn.Joint(DOMAIN, 2.0, channel="subset").randomize(
        {"a": ["no", "yes"] * 100, "b": ["x", "y"] * 100, "c": ["no"] * 200}, source=dn.Seeded(1)
    )
    for name in ("s.R", "s.py", "s.ipynb"):
        write_script(reports, tmp_path / name)
        text = re.sub(r"\W+", " ", (tmp_path / name).read_text(encoding="utf-8"))
        for sentence in disguised(reports.design, UNKNOWN):
            assert re.sub(r"\W+", " ", sentence).strip() in text, name


def test_channels_of_very_many_answers_are_told_without_their_matrix(monkeypatch):
    """A matrix of 60,000 answers would take 28 GB."""
    many = dn.Joint({"town": range(60_000)}, 8.0)
    (told,) = questions_disguised(many, UNKNOWN)
    assert "60000 answers; the true one is reported with probability 0.0" in told
    monkeypatch.setattr("deniable.reporting.describe_disguise._LOOKED_AT", 1 << 14)
    rare = dn.Design(dn.Domain({"town": range(150)}), [Question(("town",), lopsided(150, 1.0))], [[0]])
    (told,) = questions_disguised(rare, UNKNOWN)
    assert f"none has more than {rounded_up(rare.ratio, 3)} times the probability" in told
