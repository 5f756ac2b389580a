"""How answers were disguised, in sentences that a paper can take: one for the whole design, one for each question.

Every number is computed from the channels themselves. Methods paragraph, report, dashboard and scripts take the
sentences from here, so that none can say other numbers than another.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from deniable.channels.bitmask import Bitmask
from deniable.channels.krr import KRR
from deniable.channels.sets.block_design import BlockDesign
from deniable.channels.sets.hadamard import HadamardResponse
from deniable.channels.sets.hashing import LocalHashing
from deniable.channels.sets.subset import SubsetSelection
from deniable.channels.sets.support import Support
from deniable.channels.sets.two_level import TwoLevel
from deniable.channels.sets.unary import Unary
from deniable.channels.two_level_krr import TwoLevelKRR
from deniable.designs.extension import extension_of
from deniable.device.privacy_statement import rounded_up
from deniable.reporting.disguise_sentences import DISGUISE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from deniable.channels.channel import Channel
    from deniable.core.labels import Labels
    from deniable.designs.design import Design

_WRITTEN_OUT = 24  # probabilities that are read in a sentence
_ONE_BY_ONE, _NAMED = 30, 5  # questions that have a line each; of more, how many are named in the line of those alike
_LOOKED_AT = 1 << 20  # and so many that are looked at to tell the least and the largest


def number(value: float | Fraction, language: str = "en") -> str:
    """A probability as the language writes it: four places, or as many as its first two digits need.

    >>> number(0.73106), number(0.0000123), number(0.5, "de")
    ('0.7311', '0.000012', '0,5000')
    """
    value = float(value)
    text = f"{value:.4f}"
    if 0 < value < 0.001:
        text = f"{value:.{1 - int(np.floor(np.log10(value)))}f}"
    return text.replace(".", ",") if language == "de" else text


def disguise_of(design: Design, language: str = "en") -> list[str]:
    """What was asked together, how ballots were drawn, and what is special in how answers were disguised.

    >>> from deniable.designs.kinds.joint import Joint
    >>> disguise_of(Joint({"a": ["no", "yes"], "b": ["no", "yes"]}, 1.0))
    ['The answers to 2 questions were disguised together, as one combination.']
    """
    sizes = {len(question.attributes) for question in design.questions}
    asked = "asked_alone" if sizes == {1} else "asked_whole" if len(design.questions) == 1 else "asked_groups"
    told = {"attributes": str(len(design.domain)), "questions": str(len(design.questions))}
    found = [_say("asked_one" if asked == "asked_alone" and len(design.questions) == 1 else asked, language, **told)]
    if len(design.ballots) > 1:
        found.append(_ballots(design, language))
    if design.is_chosen:
        found.append(_say("made_for", language))
    return found + extension_of(design.kind).sentences(design, partial(number, language=language), language)


def disguised(design: Design, labels: Labels, language: str = "en") -> list[str]:
    """All of it: of the whole design, of each question, and where the probabilities stand."""
    return [
        " ".join(disguise_of(design, language)),
        *questions_disguised(design, labels, language),
        where_they_stand(language),
    ]


def questions_disguised(design: Design, labels: Labels, language: str = "en") -> list[str]:
    """What each question's channel does, in its own probabilities, behind the question's own words."""
    alike: dict[str, list[str]] = {}
    found = []
    for place, question in enumerate(design.questions):
        asked = "; ".join(labels.named(name) for name in question.attributes)
        sentence = _question(design, place, labels, language)
        found.append(f"{asked}: {sentence}")
        alike.setdefault(sentence, []).append(asked)
    if len(found) <= _ONE_BY_ONE:
        return found
    return [_many(asked, sentence, language) for sentence, asked in alike.items()]


def _many(asked: Sequence[str], sentence: str, language: str) -> str:
    """What is true of several questions, of which the first are named."""
    if len(asked) <= _NAMED:
        return f"{' / '.join(asked)}: {sentence}"
    return f"{_say('others', language, some=' / '.join(asked[:_NAMED]), more=str(len(asked) - _NAMED))}: {sentence}"


def where_they_stand(language: str = "en") -> str:
    """Where all probabilities stand."""
    return _say("where", language)


def two_chances(channel: Channel) -> tuple[float, float] | None:
    """The chance of a report being the truth, and of each other answer, where these are all; else None."""
    if not channel.is_answer or channel.is_support or channel.outputs != channel.inputs:
        return None
    if isinstance(channel, KRR):
        return channel.p, channel.q
    if channel.inputs**2 > _LOOKED_AT:
        return None
    matrix = channel.matrix()
    same, rest = matrix.diagonal(), matrix[~np.eye(channel.inputs, dtype=bool)]
    if float(np.ptp(same)) > 1e-12 or float(np.ptp(rest)) > 1e-12:
        return None
    return float(same[0]), float(rest[0])


def _ballots(design: Design, language: str) -> str:
    counts = sorted({len(ballot) for ballot in design.ballots})
    each = str(counts[0]) if len(counts) == 1 else f"{counts[0]}-{counts[-1]}"
    told = {"ballots": str(len(design.ballots)), "each": each}
    if design.weights is None:
        return _say("ballots_even", language, **told)
    least, most = (number(float(chance), language) for chance in (design.chances.min(), design.chances.max()))
    return _say("ballots_weighted", language, **told, least=least, most=most)


def _question(design: Design, place: int, labels: Labels, language: str) -> str:
    question = design.questions[place]
    told = extension_of(design.kind).of_question(design, place, partial(number, language=language), language)
    if told:
        return told
    cells = design.domain.project(question.attributes).cells
    known = _by_kind(question.channel, str(cells), language)
    return known or _by_table(question.channel, _answers(design, question.attributes, labels), language)


def _by_kind(channel: Channel, cells: str, language: str) -> str | None:
    """What a channel of a known kind does."""
    sentence, chances, sizes = _known(channel)
    if not sentence:
        return None
    told = {name: number(chance, language) for name, chance in chances.items()}
    return _say(sentence, language, cells=cells, **told, **{name: str(size) for name, size in sizes.items()})


def _known(channel: Channel) -> tuple[str, dict[str, float], dict[str, int]]:
    """The sentence about a channel's kind, with its chances and sizes; an empty one where there is none."""
    found: tuple[str, dict[str, float], dict[str, int]] = ("", {}, {})
    if isinstance(channel, SubsetSelection):
        found = ("subset", _of_sets(channel), {"size": channel.d})
    elif isinstance(channel, LocalHashing):
        found = ("hashing", _of_sets(channel), {"size": channel.g})
    elif isinstance(channel, Support):
        known = {TwoLevel: "two_level", Unary: "unary"}
        found = (known.get(type(channel), "sets"), _of_sets(channel), {})
    elif isinstance(channel, HadamardResponse):
        truth = channel.keep * channel.outputs / (2 << channel.bits)
        found = ("hadamard", {"truth": truth}, {"reports": channel.outputs})
    elif isinstance(channel, BlockDesign):
        found = ("block_design", {"truth": channel.p, "other": channel.s}, {"reports": channel.outputs})
    elif isinstance(channel, Bitmask):
        found = ("coins", {"truth": channel.p}, {})
    elif (two := two_chances(channel)) is not None:
        found = ("two_level_krr" if isinstance(channel, TwoLevelKRR) else "krr", {"truth": two[0], "other": two[1]}, {})
    return found


def _of_sets(channel: Support) -> dict[str, float]:
    return {"truth": channel.p, "other": channel.q}


def _by_table(channel: Channel, answers: Sequence[str], language: str) -> str:
    """A channel by its probabilities: each of them where they are few, else from which to which they reach."""
    told = {"cells": str(channel.inputs), "reports": str(channel.outputs)}
    if channel.inputs * channel.outputs <= _WRITTEN_OUT:
        columns = [", ".join(number(chance, language) for chance in column) for column in channel.matrix().T]
        rows = [_say("row", language, answer=a, chances=c) for a, c in zip(answers, columns, strict=True)]
        return _say("rows", language, **told, rows="; ".join(rows))
    if channel.inputs * channel.outputs > _LOOKED_AT:
        ratio = rounded_up(channel.ratio, 3)
        return _say("large", language, **told, ratio=ratio.replace(".", ",") if language == "de" else ratio)
    matrix = channel.matrix()
    reach = {"least": number(float(matrix.min()), language), "most": number(float(matrix.max()), language)}
    return _say("written", language, **told, **reach, all=f"{matrix.size}")


def _answers(design: Design, attributes: Sequence[str], labels: Labels) -> list[str]:
    """The combinations of answers to some attributes, in the order of the channel's truths."""
    found = [""]
    for name in attributes:
        words = [labels.answer(name, category) for category in design.domain[name].categories]
        found = [f"{before}, {word}" if before else str(word) for before in found for word in words]
    return [f"\u201c{each}\u201d" for each in found]


def _say(sentence: str, language: str, /, **places: str) -> str:
    return DISGUISE[sentence][language].format(**places)


def sources_of(design: Design) -> list[str]:
    """The sources of what disguises answers here, by their names in `sources`."""
    extension = extension_of(design.kind)
    themselves = [
        place for place in range(len(design.questions)) if not extension.of_question(design, place, str, "en")
    ]
    channels = [design.questions[place].channel for place in themselves]
    used = {
        "wang": any(two_chances(channel) for channel in channels),
        "wang2017": any(isinstance(channel, Unary | LocalHashing) for channel in channels),
        "ye": any(isinstance(channel, SubsetSelection) for channel in channels),
        "erlingsson": any(isinstance(channel, TwoLevel | TwoLevelKRR) for channel in channels),
        "acharya": any(isinstance(channel, HadamardResponse) for channel in channels),
        "feldman": any(isinstance(channel, BlockDesign) for channel in channels),
    }
    return [*(name for name, is_used in used.items() if is_used), *extension.sources]
