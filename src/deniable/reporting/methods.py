"""The paragraphs of a paper: for participants and the ethics board, methods, data statement, references.

Every sentence follows from the design, or is left out; what only the researchers know stands in square brackets, for
them to fill in. What a design does not promise in one number (pairs, disclosed answers) is refused: no paragraph of
ours would be true of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.device.statement import rounded_up
from deniable.errors import InputError
from deniable.frozen import Frozen
from deniable.origin import PEOPLE, Origin
from deniable.reporting.document import Details, Document, Items, Section, Text
from deniable.reporting.methods_words import SENTENCES
from deniable.reporting.sources import bibtex, cited
from deniable.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.channels.base import Channel
    from deniable.designs.base import Design
    from deniable.designs.reports import Reports
    from deniable.labels import Labels
    from deniable.surveys.survey import Survey

_WRITTEN_OUT = 1000  # cells up to which a channel is looked at entry by entry


@dataclass(frozen=True)
class Facts(Frozen):
    """What the paragraphs are made of.

    Attributes:
        labels: the survey's words; their language is that of the paragraphs.
        design: what is asked, and through which channels.
        hash: the design's, as its server prints it; empty where it was not served yet.
        reports: how many came; None before the survey.
        admission: who may answer; None where that is not known.
        static: attributes whose answers do not change.
        ranges: attributes that are numbers, of which only the range is used.
        origin: whether the reports are simulated, or a pilot's.
    """

    labels: Labels
    design: Design
    hash: str = ""
    reports: int | None = None
    admission: str | None = None
    static: tuple[str, ...] = ()
    ranges: tuple[str, ...] = ()
    origin: Origin = PEOPLE

    @property
    def in_blocks(self) -> bool:
        """Whether what disguises answers is published anew for each group of respondents."""
        return self.design.served_in_blocks() is not None

    @property
    def kept(self) -> tuple[str, ...]:
        """Attributes whose disguise a device keeps: all of their question is static, and its channel stays the same."""
        wholly = [set(asked.attributes) for asked in self.design.questions if set(asked.attributes) <= set(self.static)]
        return () if self.in_blocks else tuple(name for name in self.static if any(name in each for each in wholly))

    @property
    def admitted(self) -> str | None:
        """Who may answer, as the sentences about it are called."""
        return "blind_blocks" if self.admission == "blind" and self.in_blocks else self.admission


def facts_of_survey(survey: Survey, language: str | None = None) -> Facts:
    """Of a survey file, before anybody is asked."""
    labels = survey.labels if language is None else survey.labels.speaking(language)
    return Facts(labels, survey.design, **_known(survey))


def _known(survey: Survey) -> dict[str, Any]:
    numbers = tuple(item.name for item in survey.questions if item.bins)
    return {"admission": survey.admission, "static": survey.static, "ranges": numbers}


def facts_of_reports(reports: Reports, survey: Survey | None = None) -> Facts:
    """Of what a collector took in. Reports that no collector served may have been disguised by somebody else.

    Args:
        reports: what came.
        survey: its file, if it is at hand: it knows more about who was asked what than the reports.
    """
    if not reports.labels.design:
        raise InputError(
            "these reports do not say that respondents' own devices disguised them, and the paragraphs would: name the "
            "survey file, or what its collector has stored, as in deniable report deniable-data --methods -o methods.md"
        )
    known = {} if survey is None else _known(survey)
    return Facts(reports.labels, reports.design, reports.labels.design, reports.n, origin=reports.origin, **known)


def methods(facts: Facts) -> Document:
    """The paragraphs, in the language of the facts' words."""
    design, language = facts.design, facts.labels.language
    if language not in ("en", "de"):
        raise InputError(f"these paragraphs are written in English (en) and German (de), not in {language!r}")
    if design.pairs_reports or math.isinf(design.epsilon):
        raise InputError(
            "what this design promises does not fit into one number (respondents share coins in pairs, or an answer "
            "can be disclosed for certain), so no ready paragraph would be true; `deniable report` states all of it"
        )
    say = _Say(facts)
    sources = _sources(facts, say.estimated())
    return Document(
        say("title", title=facts.labels.heading(say("a_survey"))),
        say("lead"),
        (
            Section(say("participants_heading"), tuple(map(Text, _participants(say)))),
            Section(say("board_heading"), tuple(map(Text, _board(say)))),
            Section(say("methods_heading"), (Text(" ".join(_methods(say))), Items(tuple(_questions(say))))),
            Section(say("data_heading"), (Text(" ".join(_data(say))),)),
            Section(say("references_heading"), (Items(tuple(cited(name) for name in sources)),)),
            Section("BibTeX", (Details("references.bib", bibtex(sources, __version__), "bibtex"),)),
        ),
    )


# -- the paragraphs ----------------------------------------------------------------------------------------------------


def _participants(say: _Say) -> list[str]:
    facts = say.facts
    return [
        say("about", title=facts.labels.heading(say("a_survey"))),
        " ".join([say("device"), *say.ranges(), *say.how(), *say.drawn(), *say.learned()]),
        " ".join([say("belief"), *say.claimed()]),
        *say.clear(),
        say(f"participation_{facts.admitted}" if facts.admission == "blind" else "participation"),
        " ".join([say("voluntary"), *([say("no_withdrawal")] if facts.admitted in ("open", "blind") else [])]),
    ]


def _board(say: _Say) -> list[str]:
    facts = say.facts
    return [
        " ".join([say("board_technique"), *say.ranges(), *say.how(), *say.drawn()]),
        " ".join([say("board_epsilon"), say("board_meaning"), say("board_exact"), *say.claimed()]),
        " ".join([say("board_stored"), *([say(f"admission_{facts.admitted}")] if facts.admitted else [])]),
        *say.clear(),
        *([say("adaptive")] if facts.in_blocks else []),
        *([say("static", names=say.asked(facts.kept))] if facts.kept else []),
        say("board_limits"),
    ]


def _methods(say: _Say) -> list[str]:
    facts = say.facts
    return [
        say("methods_technique", version=__version__),
        *say.drawn(),
        *([say("methods_n", n=str(facts.reports))] if facts.reports is not None else []),
        *say.simulated(),
        say("methods_epsilon"),
        *say.claimed(),
        *([say("methods_hash", hash=facts.hash)] if facts.hash else []),
        say(say.estimated()),
    ]


def _questions(say: _Say) -> list[str]:
    """What each question's channel does, in its own probabilities."""
    facts = say.facts
    told = []
    for question in facts.design.questions:
        asked = "; ".join(facts.labels.named(name) for name in question.attributes)
        cells = facts.design.domain.project(question.attributes).cells
        fakes = say("channel_blocks", cells=str(cells)) if facts.in_blocks else ""
        told.append(f"{asked}: {fakes or _channel(say, question.channel, cells)}")
    return told


def _channel(say: _Say, channel: Channel, cells: int) -> str:
    if channel.is_support:
        return say("channel_sets", cells=str(cells), name=channel.name)
    two = _two_chances(channel, cells)
    if two is None:
        return say("channel_other", cells=str(cells), name=channel.name)
    return say("channel_krr", cells=str(cells), truth=say.number(two[0]), other=say.number(two[1]))


def _two_chances(channel: Channel, cells: int) -> tuple[float, float] | None:
    """The chance of a report being the truth, and of each other answer, where these are all; else None."""
    if not channel.is_answer or channel.outputs != cells or cells > _WRITTEN_OUT:
        return None
    matrix = channel.matrix()
    same, rest = matrix.diagonal(), matrix[~np.eye(cells, dtype=bool)]
    if float(same.max() - same.min()) > 1e-12 or float(rest.max() - rest.min()) > 1e-12:
        return None
    return float(same[0]), float(rest[0])


def _data(say: _Say) -> list[str]:
    facts = say.facts
    return [
        say("data_n", n=str(facts.reports)) if facts.reports is not None else say("data_planned"),
        *say.simulated(),
        say("data_bound"),
        *say.clear(),
        say("data_share"),
        *([say("data_hash", hash=facts.hash)] if facts.hash else []),
    ]


def _sources(facts: Facts, estimated: str) -> list[str]:
    """The sources of what was used, and of nothing else."""
    design = facts.design
    channels = [question.channel for question in design.questions if not question.channel.is_support]
    together = len(design.ballots) > 1 and any(len(question.attributes) > 1 for question in design.questions)
    used = {
        "wang": not facts.in_blocks and any(_two_chances(channel, channel.inputs) for channel in channels),
        "imran": together,
        "wilson": estimated != "methods_in_part",
        "dempster": estimated == "methods_estimates",
    }
    return ["warner", "kasiviswanathan", *(name for name, is_used in used.items() if is_used), "deniable"]


class _Say:
    """Sentences in the language of the facts, with the design's own numbers in them."""

    def __init__(self, facts: Facts) -> None:
        """Compute the numbers, rounded up."""
        self.facts = facts
        stated = facts.design.describe()
        self._numbers = {
            "epsilon": self.number_text(rounded_up(Fraction(stated.epsilon), 4)),
            "factor": self.number_text(rounded_up(stated.ratio, 3)),
            "half": self.number_text(rounded_up(100 * Fraction(stated.posterior(0.5)), 2)),
            "twentieth": self.number_text(rounded_up(100 * Fraction(stated.posterior(0.05)), 2)),
            "ratio": str(stated.ratio),
            "ballots": str(len(facts.design.ballots)),
        }
        claimed = getattr(facts.design, "claimed_epsilon", stated.epsilon)
        self._claims = claimed < stated.epsilon
        self._numbers["claimed"] = self.number_text(rounded_up(Fraction(claimed), 4))

    def __call__(self, sentence: str, /, **places: str) -> str:
        return SENTENCES[sentence][self.facts.labels.language].format(**self._numbers, **places)

    def number_text(self, text: str) -> str:
        """A number as the language writes it."""
        return text.replace(".", ",") if self.facts.labels.language == "de" else text

    def quoted(self, names: Sequence[str]) -> str:
        """Questions, each between quotation marks: what they end with is not the sentence's."""
        begin, end = "\u201e\u201c" if self.facts.labels.language == "de" else "\u201c\u201d"
        return ", ".join(f"{begin}{name}{end}" for name in names)

    def number(self, value: float) -> str:
        """A probability."""
        return self.number_text(f"{value:.4f}")

    def asked(self, names: Sequence[str]) -> str:
        """What was asked, each between quotation marks."""
        return self.quoted([self.facts.labels.question(name) for name in names])

    def how(self) -> list[str]:
        """What a device does with an answer."""
        kinds = {_sent(question.channel) for question in self.facts.design.questions}
        which = self("of_all" if len(kinds) == 1 else "of_some")
        return [self(f"how_{kind}", which=which) for kind in sorted(kinds)]

    def ranges(self) -> list[str]:
        """That numbers become ranges."""
        return [self("in_ranges", names=self.asked(self.facts.ranges))] if self.facts.ranges else []

    def learned(self) -> list[str]:
        """What can be learned of everybody."""
        return [self("learned_in_part" if self._in_part() else "learned")]

    def claimed(self) -> list[str]:
        """That less is claimed than the true number."""
        return [self("deniability")] if self._claims else []

    def simulated(self) -> list[str]:
        """That reports are no people's, or only those of a pilot."""
        origin = self.facts.origin
        made_up = [self("simulated", made_up=str(origin.simulated))] if origin.simulated else []
        return [*made_up, *([self("pilot")] if origin.pilot else [])]

    def estimated(self) -> str:
        """Which sentence tells how estimates were made."""
        sets = any(question.channel.is_support for question in self.facts.design.questions)
        return "methods_in_part" if self._in_part() else "methods_sets" if sets else "methods_estimates"

    def _in_part(self) -> bool:
        return any(question.channel.is_partial for question in self.facts.design.questions)

    def drawn(self) -> list[str]:
        """That ballots are drawn, where there are several."""
        return [self("drawn")] if len(self.facts.design.ballots) > 1 else []

    def clear(self) -> list[str]:
        """What travels in clear."""
        names = self.facts.labels.public
        return [self("clear", names=self.asked(names))] if names else []


def _sent(channel: Channel) -> str:
    """What a report is, as the sentence about it is called."""
    return "sets" if channel.is_support else "answers" if channel.is_answer else "signs"
