"""Survey: a checked survey file, and its pilot. Every error names the key it is about.

A pilot is the same survey, tried out under a name, a design and a folder of its own, and never counted. Its design's
hash is another one: devices take it for another survey, and no store counts reports to both together. It needs no
invitation and knows no dates, because it is for those who are shown the link before the survey begins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from deniable.aims.parse import read_wanted
from deniable.core import untrusted_files as untrusted
from deniable.core.domain import Domain
from deniable.core.labels import Labels, bin_words
from deniable.device.epsilon import exp_below
from deniable.errors import DeniableError, DesignError, InputError, SurveyError
from deniable.frozen import Frozen, thawed
from deniable.surveys.build_design import build, everything, read_design, searched_for
from deniable.surveys.items import Item, public_item, question_item
from deniable.surveys.panel import panel_of, share_found
from deniable.surveys.parse_survey import convert, line_of
from deniable.surveys.questions import read_question
from deniable.surveys.schema import Admission, SurveyEntry
from deniable.surveys.translations import Translator

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from fractions import Fraction

    from deniable.aims.aim import Wanted
    from deniable.designs.design import Design
    from deniable.designs.request import Options
    from deniable.device.protocol.messages import Panel
    from deniable.surveys.questions import QuestionEntry
    from deniable.surveys.schema import PublicEntry


@dataclass(frozen=True)
class Survey(Frozen):
    """What a survey file says, checked."""

    name: str
    title: Mapping[str, str]
    languages: tuple[str, ...]
    epsilon: float
    questions: tuple[Item, ...]
    public: tuple[Item, ...]
    design: Design
    tables: tuple[tuple[str, ...], ...]
    wanted: tuple[Wanted, ...]
    admission: Admission
    opens: datetime | None
    closes: datetime | None
    texts: Mapping[str, Mapping[str, str]]
    kind: str  # of design, and what the file says of it
    options: Options
    published: str | None = None
    searched: str | None = None  # the hash of what the design was searched for; None: it follows from the file
    panel: Panel | None = None
    found_again: Fraction | None = None  # at most this share of the panel's people, by what they send

    @property
    def guess(self) -> Mapping[str, tuple[float, ...]] | None:
        """Shares at which the design was to be judged, where the file says some."""
        return getattr(self.options, "guess", None)

    @property
    def aims(self) -> tuple[Wanted, ...]:
        """What it is made for: what the file says, or every share and every pair."""
        return everything(self.domain, self.tables, self.wanted)

    @cached_property
    def domain(self) -> Domain:
        """The sensitive attributes."""
        return Domain([item.variable for item in self.questions])

    @cached_property
    def labels(self) -> Labels:
        """The words, to be attached to reports: `reports.with_labels(survey.labels)`."""
        every = (*self.questions, *self.public)
        return Labels(
            self.title,
            {item.name: item.text for item in every},
            {item.name: self._answers(item) for item in every},
            self.languages,
            public=tuple(item.name for item in self.public),
            show_if={item.name: item.show_if for item in self.questions if item.show_if},
            aims=tuple(map(str, self.aims)),
            guess=thawed(self.guess or {}),
        )

    def _answers(self, item: Item) -> dict[str, Mapping[str, str]]:
        bins = [option.value for option in item.options[: len(item.bins) + 1]] if item.bins else []
        said = bin_words([f"{edge:.12g}" for edge in item.bins], self.languages, bins) if bins else []
        return {option.value: option.text for option in item.options} | dict(zip(bins, said, strict=True))

    def is_open(self, now: datetime) -> bool:
        """Tell whether reports are taken at this moment."""
        return (self.opens is None or self.opens <= now) and (self.closes is None or now < self.closes)


def read_survey(path: str | Path, text: str | None = None) -> Survey:
    """Read and check a survey file, or the `text` that was read from it before."""
    if text is None:
        text = read_text(path)
    try:
        return parse_survey(text)
    except SurveyError as error:
        line = line_of(text, str(error.details.get("path", "")))
        if line is None:
            raise
        raise SurveyError(f"{error.message} (line {line} of {Path(path).name})", **error.details, line=line) from None


def read_text(path: str | Path) -> str:
    """The text of a survey file, not checked yet."""
    try:
        return untrusted.read_text(Path(path), "survey file")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the survey file {path} cannot be read: {error}", path=str(path)) from error


def with_design(text: str, kind: str, options: Options) -> str:
    r"""The text of a survey file that asks for another design, all else as it was.

    >>> from deniable.designs.request import ChannelOptions
    >>> options = ChannelOptions(channel="unary")
    >>> print(with_design('name = "a"\n[design]\nkind = "tables"\n[[questions]]', "joint", options))
    name = "a"
    [[questions]]
    <BLANKLINE>
    [design]
    kind = "joint"
    channel = "unary"
    """
    lines, kept, inside = text.splitlines(), [], False
    for line in lines:
        if re.match(r"\s*\[", line):
            inside = re.match(r"\s*\[\s*design\s*\]", line) is not None
        if not inside and not re.match(r"\s*design\s*[.=]", line):
            kept.append(line)
    keys = {"kind": kind, **msgspec.to_builtins(options)}
    written = [f"{key} = {_written(value)}" for key, value in keys.items()]
    return "\n".join([*kept, "", "[design]", *written])


def _written(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_written(inside)}" for key, inside in value.items()) + " }"
    return msgspec.json.encode(value).decode()


def is_survey(path: str | Path) -> bool:
    """Tell a survey file from other TOML files, such as a list of categories, without checking either."""
    try:
        data = untrusted.parse_toml(read_text(path))
    except InputError:
        return False
    return "questions" in data and "format" in data


def parse_survey(text: str) -> Survey:
    """Check the text of a survey file.

    >>> survey = parse_survey('''
    ... format = 1
    ... name = "smoking"
    ... title = "Smoking"
    ... epsilon = 1.0
    ... [[questions]]
    ... name = "smokes"
    ... text = "Do you smoke?"
    ... kind = "yes-no"
    ... ''')
    >>> survey.domain
    Domain(smokes: 'no', 'yes')
    """
    try:
        data = untrusted.parse_toml(text)
    except InputError as error:
        raise SurveyError(error.message, path="") from None
    entry = convert(data, SurveyEntry)
    return check(entry, [read_question(each, f"questions[{i}]") for i, each in enumerate(entry.questions)])


def check(entry: SurveyEntry, asked: Sequence[QuestionEntry]) -> Survey:
    """Check what the types cannot: translations, choices, rules, epsilon, design, tables, times."""
    say = Translator(_languages(entry), entry.texts)
    title = say(entry.title, "title")
    public = {item.name: item for item in (public_item(e, f"public[{i}]", say) for i, e in enumerate(entry.public))}
    questions = tuple(question_item(e, f"questions[{i}]", say, public) for i, e in enumerate(asked))
    _names_differ(entry.public, asked)
    try:
        exp_below(entry.epsilon)
    except DesignError as error:
        raise SurveyError(f"epsilon: {error.message}", path="epsilon") from error
    _four_decimals(entry.epsilon)
    domain = Domain([item.variable for item in questions])
    for key in ("opens", "closes"):
        moment = getattr(entry, key)
        if moment is not None and moment.tzinfo is None:
            raise SurveyError(f"{key}: say in which time zone, as in 2030-01-31T12:00:00Z", path=key)
    if entry.opens and entry.closes and entry.opens >= entry.closes:
        raise SurveyError(f"closes: the survey would close ({entry.closes}) before it opens", path="closes")
    chosen = read_design(entry.design)
    panel = panel_of(entry, list(domain), *chosen)
    wanted = _wanted(entry.wanted, domain)
    design = build(domain, float(entry.epsilon), chosen, entry.tables, entry.panel, wanted=wanted)
    found = None if panel is None else share_found(panel, design, tuple(public.values()))
    return Survey(
        entry.name,
        title,
        say.languages,
        float(entry.epsilon),
        questions,
        tuple(public.values()),
        design,
        tuple(map(tuple, entry.tables)),
        wanted,
        entry.admission,
        entry.opens,
        entry.closes,
        say.around(),
        *chosen,
        entry.published,
        searched_for(domain, float(entry.epsilon), chosen, everything(domain, entry.tables, wanted), entry.panel),
        panel,
        found,
    )


def _wanted(texts: Sequence[str], domain: Domain) -> tuple[Wanted, ...]:
    found = []
    for index, text in enumerate(texts):
        try:
            one = read_wanted(text)
            one.rows(domain)
        except DeniableError as error:
            raise SurveyError(f"wanted[{index}]: {error.message}", path=f"wanted[{index}]") from error
        found.append(one)
    return tuple(found)


def _four_decimals(epsilon: float) -> None:
    if round(epsilon, 4) != epsilon:
        raise SurveyError(
            f"epsilon: {epsilon!r} has more than four decimals. More of them promise nothing, and could tell one copy "
            f"of a survey from another; write {round(epsilon, 4)!r}",
            path="epsilon",
        )


def _languages(entry: SurveyEntry) -> list[str]:
    languages = list(entry.languages)
    if len(set(languages)) != len(languages):
        raise SurveyError(f"languages: {languages} names one twice", path="languages")
    return languages


def _names_differ(public: Sequence[PublicEntry], asked: Sequence[QuestionEntry]) -> None:
    seen: set[str] = set()
    named = {"public": [e.name for e in public], "questions": [e.name for e in asked]}
    for key, names in named.items():
        for index, name in enumerate(names):
            if name in seen:
                raise SurveyError(
                    f"{key}[{index}].name: {name!r} is taken; what is public cannot be disguised as well, and two "
                    f"questions need two names",
                    path=f"{key}[{index}].name",
                )
            seen.add(name)


FOLDER = "pilot"  # in the folder of the survey itself
_NAME = "-pilot"
_TITLE = "Pilot: "  # the same word in every language that there are words for


def is_pilot(name: str) -> bool:
    """Whether a survey of this name is one that is tried out.

    >>> is_pilot("exams-pilot"), is_pilot("exams")
    (True, False)
    """
    return name.endswith(_NAME)


def pilot_of(survey: Survey) -> Survey:
    """The survey as it is tried out."""
    return replace(
        survey,
        name=survey.name + _NAME,
        title={language: _TITLE + text for language, text in survey.title.items()},
        admission="open",
        opens=None,
        closes=None,
    )
