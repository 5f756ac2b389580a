"""The paragraphs of a paper: for participants and the ethics board, methods, data statement, references.

Every sentence follows from the design, or is left out; what only the researchers know stands in square brackets, for
them to fill in. Where a design does not promise one number (pairs, disclosed answers), no ready paragraph for
participants and the board would be true: these say so, and methods and data state what holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from deniable.core.provenance import PEOPLE, Origin
from deniable.device.panel import counted, in_hundred, of_fewer
from deniable.device.privacy_statement import rounded_up
from deniable.errors import InputError
from deniable.frozen import Frozen
from deniable.inference.corrected_words import CorrectedWords, corrected_words, where
from deniable.reporting.citations import bibtex, cited
from deniable.reporting.describe_disguise import disguise_of, questions_disguised, sources_of, where_they_stand
from deniable.reporting.document import Details, Document, Items, Section, Text
from deniable.reporting.methods_sentences import SENTENCES
from deniable.text import listed
from deniable.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.channels.channel import Channel
    from deniable.core.labels import Labels
    from deniable.designs.design import Design
    from deniable.designs.reports.reports import Reports
    from deniable.device.protocol.messages import Panel
    from deniable.inference.corrected_words import Corrected
    from deniable.surveys.survey import Survey


@dataclass(frozen=True)
class Facts(Frozen):
    """What the paragraphs are made of.

    Attributes:
        labels: the survey's words; their language is that of the paragraphs.
        design: what is asked, and through which channels.
        hash: the design's, as its server prints it; empty where it was not served yet.
        reports: how many came; None before the survey.
        admission: who may answer; None where that is not known.
        panel: the panel that this is a wave of, if it is one.
        found: at most this share of its people is found again by what they send.
        ranges: attributes that are numbers, of which only the range is used.
        origin: whether the reports are simulated, or a pilot's.
        corrected: what changed in the words while people answered.
        weights: the column that estimates are weighted by, if they are.
        strata: the column of strata, if the sample has them.
        clusters: the column of clusters likewise.
    """

    labels: Labels
    design: Design
    hash: str = ""
    reports: int | None = None
    admission: str | None = None
    panel: Panel | None = None
    found: Fraction | None = None
    ranges: tuple[str, ...] = ()
    origin: Origin = PEOPLE
    corrected: CorrectedWords = field(default_factory=CorrectedWords)
    weights: str | None = None
    strata: str | None = None
    clusters: str | None = None

    def of_sample(self, weights: str | None, strata: str | None, clusters: str | None) -> Facts:
        """The same, with the columns that estimates were made by; they are among what travels in clear."""
        named = [name for name in (weights, strata, clusters) if name is not None]
        unknown = [name for name in named if name not in self.labels.public]
        if unknown:
            raise InputError(
                f"there is no public column {listed(unknown)} that estimates could be made by; there is "
                f"{listed(self.labels.public) or 'none'}",
                columns=unknown,
            )
        return replace(self, weights=weights, strata=strata, clusters=clusters)

    @property
    def is_one_number(self) -> bool:
        """Whether one epsilon says what a report can tell, whoever asks."""
        return not self.design.correlated and not math.isinf(self.design.epsilon)

    @property
    def in_blocks(self) -> bool:
        """Whether what disguises answers is published anew for each group of respondents."""
        return self.design.served_in_blocks() is not None

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
    return {"admission": survey.admission, "panel": survey.panel, "found": survey.found_again, "ranges": numbers}


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
    more = {"origin": reports.origin, "corrected": corrected_words(reports), **known}
    return Facts(reports.labels, reports.design, reports.labels.design, reports.n, **more)


def methods(facts: Facts) -> Document:
    """The paragraphs, in the language of the facts' words."""
    language = facts.labels.language
    if language not in ("en", "de"):
        raise InputError(f"these paragraphs are written in English (en) and German (de), not in {language!r}")
    say = _Say(facts)
    sources = _sources(facts, say.estimated())
    return Document(
        say("title", title=facts.labels.heading(say("a_survey"))),
        say("lead"),
        (
            *_promises(say),
            Section(say("methods_heading"), _method_blocks(say)),
            Section(say("data_heading"), (Text(" ".join(_data(say))),)),
            Section(say("references_heading"), (Items(tuple(cited(name) for name in sources)),)),
            Section("BibTeX", (Details("references.bib", bibtex(sources, __version__), "bibtex"),)),
        ),
    )


# -- the paragraphs ----------------------------------------------------------------------------------------------------


def _promises(say: _Say) -> list[Section]:
    """For participants and the board; where the promise is no single number, what has to be written by hand."""
    if not say.facts.is_one_number:
        return [Section(say("board_heading"), (Text(say("several_numbers")),))]
    return [
        Section(say("participants_heading"), tuple(map(Text, _participants(say)))),
        Section(say("board_heading"), tuple(map(Text, _board(say)))),
    ]


def _method_blocks(say: _Say) -> tuple[Text | Items, ...]:
    design, labels, language = say.facts.design, say.facts.labels, say.facts.labels.language
    asked = Items(tuple(questions_disguised(design, labels, language)))
    return Text(" ".join(_methods(say))), asked, Text(where_they_stand(language))


def _participants(say: _Say) -> list[str]:
    facts = say.facts
    return [
        say("about", title=facts.labels.heading(say("a_survey"))),
        " ".join([say("device"), *say.ranges(), *say.how(), *say.drawn(), *say.learned()]),
        " ".join([say("belief"), *say.claimed()]),
        *say.clear(),
        *say.panel(),
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
        *say.panel(),
        say("board_limits"),
    ]


def _methods(say: _Say) -> list[str]:
    facts = say.facts
    return [
        say("methods_technique" if facts.is_one_number else "methods_technique_alone", version=__version__),
        *disguise_of(facts.design, facts.labels.language),
        say(f"sampled_{facts.admission or 'unknown'}"),
        *([say("methods_n", n=str(facts.reports))] if facts.reports is not None else []),
        *say.simulated(),
        *say.corrected(),
        *say.bound(),
        *say.claimed(),
        *([say("methods_hash", hash=facts.hash)] if facts.hash else []),
        *say.weighted(),
        say(say.estimated()),
    ]


def _data(say: _Say) -> list[str]:
    facts = say.facts
    return [
        say("data_n", n=str(facts.reports)) if facts.reports is not None else say("data_planned"),
        *say.simulated(),
        *say.corrected(),
        *([say("data_bound")] if facts.is_one_number else say.bound()),
        *say.clear(),
        say("data_share"),
        *([say("data_hash", hash=facts.hash)] if facts.hash else []),
    ]


def _sources(facts: Facts, estimated: str) -> list[str]:
    """The sources of what was used, and of nothing else."""
    design = facts.design
    together = len(design.ballots) > 1 and any(len(question.attributes) > 1 for question in design.questions)
    used = {
        "imran": together or facts.in_blocks,
        "wilson": estimated != "methods_in_part",
        "dempster": estimated == "methods_estimates",
    }
    estimating = [name for name, is_used in used.items() if is_used]
    private = ["kasiviswanathan"] if facts.is_one_number else []
    return ["warner", *private, *sources_of(design), *estimating, "deniable"]


class _Say:
    """Sentences in the language of the facts, with the design's own numbers in them."""

    def __init__(self, facts: Facts) -> None:
        """Compute the numbers, rounded up."""
        self.facts = facts
        stated = facts.design.describe()
        claimed = getattr(facts.design, "claimed_epsilon", stated.epsilon)
        numbers = {
            "epsilon": rounded_up(stated.epsilon, 4),
            "factor": rounded_up(stated.ratio, 3),
            "claimed": rounded_up(claimed, 4),
            "half": rounded_up(100 * Fraction(stated.posterior(0.5)), 2),
            "twentieth": rounded_up(100 * Fraction(stated.posterior(0.05)), 2),
        }
        self._claims = claimed < stated.epsilon
        self._numbers = {name: self.number_text(text) for name, text in numbers.items()}
        self._numbers |= {"ratio": str(stated.ratio), "ballots": str(len(facts.design.ballots))}

    def __call__(self, sentence: str, /, **places: str) -> str:
        return SENTENCES[sentence][self.facts.labels.language].format(**self._numbers, **places)

    def number_text(self, text: str) -> str:
        """A number as the language writes it."""
        return text.replace(".", ",") if self.facts.labels.language == "de" else text

    def quoted(self, names: Sequence[str]) -> str:
        """Questions, each between quotation marks: what they end with is not the sentence's."""
        begin, end = "\u201e\u201c" if self.facts.labels.language == "de" else "\u201c\u201d"
        return ", ".join(f"{begin}{name}{end}" for name in names)

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

    def bound(self) -> list[str]:
        """What a report can tell, of whomever: in one number where there is one."""
        design = self.facts.design
        pairs = [self("methods_pairs")] if design.correlated else []
        return [self("methods_disclosed" if math.isinf(design.epsilon) else "methods_epsilon"), *pairs]

    def claimed(self) -> list[str]:
        """That less is claimed than the true number, for deniability."""
        return [self("deniability")] if self._claims and not self.facts.design.correlated else []

    def weighted(self) -> list[str]:
        """By what estimates are weighted, and how the sample was drawn, as far as we were told."""
        facts = self.facts
        named = {"weights": facts.weights, "strata": facts.strata, "clusters": facts.clusters}
        told = [self(f"by_{what}", names=self.asked([name])) for what, name in named.items() if name is not None]
        if told:
            return [self("weights_used", what=", ".join(told))]
        return [self("weights_planned" if facts.reports is None else "weights_none")]

    def simulated(self) -> list[str]:
        """That reports are no people's, or only those of a pilot."""
        origin = self.facts.origin
        made_up = [self("simulated", made_up=str(origin.simulated))] if origin.simulated else []
        return [*made_up, *([self("pilot")] if origin.pilot else [])]

    def corrected(self) -> list[str]:
        """What was corrected in the words while people answered, and whether answers changed with them."""
        return [sentence for one in self.facts.corrected for sentence in self._corrected(one)]

    def _corrected(self, one: Corrected) -> list[str]:
        changes = [
            self(
                "corrected_text", where=where(each), before=self.quoted([each.before]), after=self.quoted([each.after])
            )
            for each in one.correction.changes
        ]
        tests = [
            self("corrected_untested", name=each.attribute)
            if each.test is None
            else self("corrected_tested", name=each.attribute, p=self.number_text(f"{each.test.pvalue:.2g}"))
            for each in one.tests
        ]
        counts = {"before": _or_blank(one.before), "after": _or_blank(one.after)}
        said = (
            self("corrected", why=self.quoted([one.correction.why]), **counts)
            if one.correction.why
            else self("changed", **counts)
        )
        return [said, *([f"{'; '.join(changes)}."] if changes else []), *([f"{'; '.join(tests)}."] if tests else [])]

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

    def panel(self) -> list[str]:
        """What a panel keeps, and how many of its people are found again by it."""
        panel, found = self.facts.panel, self.facts.found
        if panel is None or found is None:
            return []
        few, more = of_fewer(panel, found)
        said = {"people": str(counted(panel.people)), "few": str(few)}
        said |= {"found": self.number_text(in_hundred(found)), "more": self.number_text(in_hundred(more))}
        return [self("panel", names=self.asked(panel.repeats), **said)]


def _or_blank(number: int | None) -> str:
    """A number, or a place where the researchers write it."""
    return "[...]" if number is None else str(number)


def _sent(channel: Channel) -> str:
    """What a report is, as the sentence about it is called."""
    return "sets" if channel.is_support else "answers" if channel.is_answer else "signs"
