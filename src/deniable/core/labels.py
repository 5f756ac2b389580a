"""Labels: what a survey file says beside its design: words, who was asked, and what it is made for.

Reports hold codes, and a design names attributes and categories as programs like them: `cheated`, `yes`. What people
were asked, and what they read beside each answer, stands here, in every language of the survey, one of which is chosen.
Whatever is shown (printed tables, charts, reports, exports, the dashboard) takes its words from here and from nowhere
else; where there are none, names stand for themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import msgspec

from deniable.core.untrusted_files import parse_json
from deniable.errors import InputError
from deniable.frozen import Frozen, thawed
from deniable.text import listed

Words = Mapping[str, str]  # by language


@dataclass(frozen=True)
class Changed(Frozen):
    """A text that was corrected, in one language.

    Attributes:
        part: "question", "choice", "entry" (how a number may be typed), "title", "text" (around), "languages".
        name: of the attribute, or of the text around; the title has none.
        category: beside which answer it stands.
        language: in which language; none where the text is of no language.
        before: what people were shown before; empty where nothing stood.
        after: what people have been shown since.
    """

    part: str
    name: str
    category: str
    language: str
    before: str
    after: str

    @property
    def about(self) -> str:
        """The attribute that it is about; empty where it is about the whole survey."""
        return self.name if self.part in ("question", "choice", "entry") else ""


@dataclass(frozen=True)
class Correction(Frozen):
    """Words that were changed after people had answered, and why; without a reason, nobody declared it."""

    why: str
    changes: tuple[Changed, ...]


@dataclass(frozen=True)
class Labels(Frozen):
    """The words of a survey.

    Attributes:
        title: the survey's title, by language.
        texts: what each attribute's question says, by language; public attributes too.
        answers: for each attribute, what stands beside each category, by language.
        languages: the languages there are, the survey's first choice first.
        language: the chosen one; the first, unless `speaking` chose another.
        design: the hash that the collector printed when it served the survey; empty if none did.
        public: which of the attributes travel in clear.
        show_if: for each question that is put to some, the public attributes that decide, and their values.
        corrections: what changed in the words since people answered. A public column, `dn_words`, then says of each
            report which words it was made under.
        aims: what the survey is made for, a wanted number a text, as `dn.read_wanted` reads them.
        guess: the shares that its maker expects, by attribute: where a design is judged; even shares without them.

    >>> labels = Labels(
    ...     {"en": "Smoking", "de": "Rauchen"},
    ...     {"smokes": {"en": "Do you smoke?", "de": "Rauchen Sie?"}},
    ...     {"smokes": {"no": {"en": "No", "de": "Nein"}, "yes": {"en": "Yes", "de": "Ja"}}},
    ...     ("en", "de"),
    ... )
    >>> labels.question("smokes"), labels.speaking("de").answer("smokes", "yes")
    ('Do you smoke?', 'Ja')
    >>> labels.shown("smokes", "yes"), labels.speaking("de").shown("smokes", "yes"), labels.question("age")
    ('Yes', 'Ja (yes)', 'age')
    """

    title: Words = field(default_factory=dict)
    texts: Mapping[str, Words] = field(default_factory=dict)
    answers: Mapping[str, Mapping[str, Words]] = field(default_factory=dict)
    languages: tuple[str, ...] = ("en",)
    language: str = ""
    design: str = ""
    public: tuple[str, ...] = ()
    show_if: Mapping[str, Mapping[str, tuple[Any, ...]]] = field(default_factory=dict)
    corrections: tuple[Correction, ...] = ()
    aims: tuple[str, ...] = ()
    guess: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "language", self.language or self.languages[0])
        if self.language not in self.languages:
            raise InputError(
                f"there are no words in {self.language!r}; the survey has {listed(self.languages)}",
                language=self.language,
            )

    def __hash__(self) -> int:
        return hash((self.design, self.language, self.languages, tuple(self.texts)))

    def speaking(self, language: str) -> Labels:
        """The same words, shown in another of their languages."""
        return replace(self, language=language)

    def of_reports(self, known: Labels) -> Labels:
        """The same words for reports that have `known` ones: what was corrected, and aimed at, stays known."""
        kept = self if self.corrections else replace(self, corrections=known.corrections)
        return replace(kept, aims=known.aims, guess=thawed(known.guess)) if known.aims else kept

    def served_as(self, design: str) -> Labels:
        """The same words, of the design that a collector printed."""
        return replace(self, design=design)

    # -- words ---------------------------------------------------------------------------------------------------------

    def heading(self, otherwise: str = "") -> str:
        """The survey's title."""
        return self._said(self.title, otherwise)

    def question(self, name: str) -> str:
        """What was asked; the attribute's name where nothing is known."""
        return self._said(self.texts.get(name, {}), name)

    def named(self, name: str) -> str:
        """What was asked, with the attribute's name beside it."""
        text = self.question(name)
        return text if text == name else f"{text} ({name})"

    def answer(self, name: str, category: object) -> str:
        """What stood beside an answer; the category where nothing is known."""
        return self._said(self.answers.get(name, {}).get(str(category), {}), str(category))

    def shown(self, name: str, category: object) -> str:
        """The same with the category beside it, where it is another word."""
        text = self.answer(name, category)
        return text if text.casefold() == str(category).casefold() else f"{text} ({category})"

    def cells(self, cells: Mapping[str, Sequence[Any]]) -> dict[str, list[str]]:
        """A table's columns of categories, in words; the headings stay names."""
        return {name: [self.shown(name, category) for category in column] for name, column in cells.items()}

    def asked(self, names: Sequence[str]) -> str:
        """What was asked about several attributes, each with its name, in one line; empty where nothing is known."""
        return "; ".join(map(self.named, names)) if any(name in self.texts for name in names) else ""

    def _said(self, words: Words, otherwise: str) -> str:
        return words.get(self.language) or otherwise

    # -- in files ------------------------------------------------------------------------------------------------------

    def json(self) -> str:
        """For the header of a file of reports."""
        return msgspec.json.encode({name: thawed(part) for name, part in self._given().items()}).decode()

    @classmethod
    def from_json(cls, text: str, where: str) -> Labels:
        """Out of the header of a file; `where` names it in a refusal."""
        try:
            kept = parse_json(text, "it", _Kept)
        except InputError as error:
            raise InputError(f"{where}: the survey's words cannot be read: {error.message}", file=where) from None
        corrections = tuple(
            Correction(each.why, tuple(Changed(**msgspec.structs.asdict(change)) for change in each.changes))
            for each in kept.corrections
        )
        return cls(**(msgspec.structs.asdict(kept) | {"corrections": corrections}))


class _KeptChange(msgspec.Struct, forbid_unknown_fields=True):
    part: str
    name: str
    category: str
    language: str
    before: str
    after: str


class _KeptCorrection(msgspec.Struct, forbid_unknown_fields=True):
    why: str
    changes: tuple[_KeptChange, ...]


class _Kept(msgspec.Struct, forbid_unknown_fields=True):
    title: dict[str, str]
    texts: dict[str, dict[str, str]]
    answers: dict[str, dict[str, dict[str, str]]]
    languages: tuple[str, ...]
    language: str
    design: str
    public: tuple[str, ...]
    show_if: dict[str, dict[str, tuple[str | bool | int | float, ...]]] = {}
    corrections: tuple[_KeptCorrection, ...] = ()
    aims: tuple[str, ...] = ()
    guess: dict[str, tuple[float, ...]] = {}


def bin_words(edges: Sequence[str], languages: Sequence[str], categories: Sequence[object]) -> list[dict[str, str]]:
    """What bins between edges are called in each language: as the language says it where it is known, else as they are.

    >>> [words["de"] for words in bin_words(["2.5", "10"], ["de"], ["< 2.5", "2.5 to < 10", ">= 10"])]
    ['unter 2,5', '2,5 bis unter 10', '10 oder mehr']
    """
    german = [edge.replace(".", ",") for edge in edges]
    said = [f"unter {german[0]}"]
    said += [f"{low} bis unter {high}" for low, high in pairwise(german)]
    said += [f"{german[-1]} oder mehr"]
    return [
        {language: text if language.split("-")[0] == "de" else str(category) for language in languages}
        for text, category in zip(said, categories, strict=True)
    ]


UNKNOWN = Labels()
"""Words of a survey about which nothing is known: names stand for themselves."""


def fits(labels: Labels, domain: Mapping[str, Any]) -> None:
    """Refuse words of another survey: those of an attribute must be about its very categories, in their order."""
    for name, answers in labels.answers.items():
        if name in labels.public:
            continue
        categories = [str(category) for category in domain[name].categories] if name in domain else None
        if categories != list(answers):
            told = "which these reports do not have" if categories is None else f"here it has {listed(categories)}"
            raise InputError(
                f"these words are of another survey: they know {name!r} with the answers {listed(answers)}; {told}",
                attribute=name,
            )
