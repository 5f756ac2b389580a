"""What travels between a respondent's device and a collector. JSON, versioned, unknown fields refused.

==============  =============================================================================================
`Announcement`  which design is served now, and from when to when: deadlines move, nothing else does
`Design`        everything that bears on an answer, as integers and texts; named by the SHA-256 of its bytes
`Form`          the words, in every language; the design names the SHA-256 of its bytes
`Report`        what leaves a device: its id, the design, block and ballot, disguised answers, public attributes
`Receipt`       what became of a batch: how many were taken, and what was wrong with the others, in order
`Problem`       what went wrong, in the shape of RFC 9457
==============  =============================================================================================

**What means something is inside the design's hash**: the categories and their order, how an answer becomes one of them,
who is asked what, what travels in clear, who may answer, and whom a report may be sent to. What stays outside are words
and looks; even the words are named by their hash, so that nobody is asked something else under the same name.

A block of fakes is a message too, and lives beside the design it belongs to: `deniable.device.protocol.fake_blocks`.

How messages become bytes, and the only way they do, is in `wire`; channels, kind by kind, are in `kinds`.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import force_setattr

from deniable.device.channels import Weights
from deniable.device.protocol.canonical_json import (
    Answer,
    Category,
    Edge,
    Hash,
    Hex,
    Language,
    Message,
    Short,
    Small,
    Token,
    Whole,
    Words,
    encode,
)
from deniable.frozen import Still

VERSION: Final = 3  # of designs
MOST_FORM_BYTES = 1 << 22
MOST_DESIGN_BYTES = 1 << 22  # a device reads no more of a design than this
MOST_REPORT_BYTES = 1 << 14
MOST_ADMISSION_BYTES = 1 << 14
MOST_CORRECTIONS = 20
MOST_BATCH = 1000
MOST_BATCH_BYTES = 1 << 20
FEWEST_TOGETHER = 20  # reports among which one hides: no block is smaller, and nothing shows fewer more of them

# -- the design ---------------------------------------------------------------------------------------------------

KindName: TypeAlias = Annotated[str, Meta(pattern=r"\A[a-z][a-z0-9_-]{0,31}\Z")]
"""What somebody called a kind of design or question. No device needs to know it: what counts stands beside it."""


class Attribute(Message, frozen=True):
    """An attribute and its categories; a category's code is its position."""

    name: Short
    categories: tuple[Category, ...]

    def __len__(self) -> int:
        return len(self.categories)


class Asked(Message, frozen=True):
    """A question: attributes answered together, and the integers of the channel their answer goes through."""

    attributes: Annotated[tuple[str, ...], Meta(min_length=1)]
    channel: Weights


class Plan(Message, frozen=True):
    """A design as `deniable.designs.design.Design.to_dict` writes it."""

    format: Literal[1]
    kind: KindName
    domain: Annotated[tuple[Attribute, ...], Meta(min_length=1)]
    questions: Annotated[tuple[Asked, ...], Meta(min_length=1)]
    ballots: Annotated[tuple[tuple[Whole, ...], ...], Meta(min_length=1)]


class Choices(Message, frozen=True, tag="choice", tag_field="kind"):
    """An answer is one of the categories, as it is."""


class Bins(Message, frozen=True, tag="bins", tag_field="kind"):
    """A number falls between two edges, decimals written as texts: category i holds edges[i-1] <= x < edges[i]."""

    edges: Annotated[tuple[str, ...], Meta(min_length=1, max_length=999)]


Coder: TypeAlias = Choices | Bins
"""How an answer becomes a category. Devices refuse a kind that they do not know."""


class Rule(Message, frozen=True, rename={"values": "is"}):
    """A question is put only to those whose public attribute is one of these."""

    attribute: Short
    values: tuple[Category, ...]


class Item(Message, frozen=True):
    """How the answer about an attribute is taken, and whom the question is put to: those for whom all rules hold."""

    name: Short
    kind: KindName
    coder: Coder
    show_if: tuple[Rule, ...]


class PublicItem(Message, frozen=True):
    """An attribute that travels in clear, outside epsilon."""

    name: Short
    kind: KindName
    coder: Coder
    categories: tuple[Category, ...]


class BlockRule(Message, frozen=True):
    """When a block is full, and how the fakes of the next follow from the reports before it."""

    size: Annotated[int, Meta(ge=FEWEST_TOGETHER, lt=1 << 31)]
    update: Literal["pooled"]


class Panel(Message, frozen=True):
    """The same people are asked again, survey after survey: what is kept for that, and of how many it is to be one.

    Surveys with the same `name` at the same addresses are waves of one panel; `people` take part in each of them at
    least; the disguises of the attributes that it `repeats` are kept from one to the next.
    """

    name: Short
    people: Annotated[int, Meta(ge=1, lt=1 << 31)]
    repeats: Annotated[tuple[str, ...], Meta(min_length=1)]


class Design(Message, frozen=True):
    """Everything a device relies on, under one hash. There are no defaults: one way to write each design.

    `audience` are the origins that reports may be sent to, `weights` how often each ballot is drawn (None: all alike),
    `issuer` the hash of the key that signs blind tokens, `texts` the hash of the form, `replaces` the design whose
    words this one corrects, `published` the public place where its hash can be compared. Only a `panel` repeats a
    disguise. With `deniability`, less is claimed than the true epsilon.
    """

    version: Literal[3]
    survey: Short
    epsilon: Annotated[str, Meta(pattern=r"\A(0|[1-9][0-9]{0,3})(\.[0-9]{0,3}[1-9])?\Z")]
    plan: Plan
    items: tuple[Item, ...]
    public: tuple[PublicItem, ...]
    panel: Panel | None
    admission: Literal["open", "invited", "blind"]
    issuer: Hash | None
    audience: tuple[str, ...]
    blocks: BlockRule | None
    deniability: bool
    weights: tuple[Whole, ...] | None
    wave: Annotated[int, Meta(ge=1, lt=1 << 31)] | None
    replaces: Hash | None
    published: Short | None
    texts: Hash


def design_id(body: bytes) -> str:
    """Name a design by its bytes: their SHA-256."""
    return hashlib.sha256(body).hexdigest()


def plan_message(design: Design) -> dict[str, Any]:
    """A design without its words: what all its amendments share."""
    fields: dict[str, Any] = msgspec.to_builtins(design)
    return {key: value for key, value in fields.items() if key not in ("texts", "replaces")}


def plan_id(design: Design) -> str:
    """Name what is asked and how, whatever the words: amendments of one plan have the same name."""
    return design_id(encode(plan_message(design)))


class Announcement(Message, frozen=True):
    """Which design is served, and when reports are taken. Nothing here decides what becomes of an answer."""

    version: Literal[2]
    design: Hash
    opens: str | None = None
    closes: str | None = None


# -- what respondents read ------------------------------------------------------------------------------------------


class Entry(Message, frozen=True):
    """How a number may be typed. A hint for whoever types, and no more: every number has a bin, inside or outside."""

    min: Edge | None
    max: Edge | None
    step: Edge | None


class FormItem(Message, frozen=True):
    """The words of one question; choices in the order of the categories. `entry` is for numbers, if said."""

    name: Short
    text: Words
    choices: tuple[Words, ...]
    entry: Entry | UnsetType = UNSET

    def __post_init__(self) -> None:
        force_setattr(self, "text", Still(self.text))
        force_setattr(self, "choices", tuple(map(Still, self.choices)))


Part: TypeAlias = Literal["languages", "title", "question", "choice", "entry", "text"]


class Change(Message, frozen=True):
    """A text that was corrected, in one language: what stood there before, and what after; empty where nothing did.

    `languages` and `entry` are of no language: their texts are the list of languages, and how a number may be typed.
    """

    part: Part
    name: Annotated[str, Meta(max_length=1000)]  # of the attribute or the text; the title has none
    place: Small | None  # of a choice
    language: Annotated[str, Meta(max_length=1000)]
    before: str
    after: str


class Correction(Message, frozen=True):
    """Words that were changed after somebody had answered: in place of which design's, why, and every change."""

    replaces: Hash
    why: Annotated[str, Meta(min_length=1)]
    changes: Annotated[tuple[Change, ...], Meta(min_length=1)]


class Form(Message, frozen=True):
    """The survey's words, in every language. Sentences that state the promise are not among them.

    `corrections` are what changed since somebody answered, the first one first; absent where nothing did.
    """

    version: Literal[2]
    survey: Short
    languages: Annotated[tuple[Language, ...], Meta(min_length=1)]
    title: Words
    questions: tuple[FormItem, ...]
    public: tuple[FormItem, ...]
    texts: dict[Short, Words]
    corrections: Annotated[tuple[Correction, ...], Meta(min_length=1, max_length=MOST_CORRECTIONS)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        force_setattr(self, "title", Still(self.title))
        force_setattr(self, "texts", Still({name: Still(words) for name, words in self.texts.items()}))


# -- the report -----------------------------------------------------------------------------------------------------


class Report(Message, frozen=True):
    """What leaves a device, and nothing else. `public` holds codes, in the order the design declares them.

    Under blind admission `token` and its `signature` travel along, and the id is the token's hash.
    """

    version: Literal[2]
    id: Hash
    design: Hash
    ballot: Small
    answers: Annotated[tuple[Answer, ...], Meta(min_length=1, max_length=1000)]
    block: Hash | None = None
    public: Annotated[tuple[Small, ...], Meta(max_length=1000)] = ()
    token: Token | None = None
    signature: Hex | None = None

    def content(self) -> tuple[str, str | None, int, tuple[int, ...], tuple[int, ...]]:
        """What is compared when an id comes a second time."""
        return (self.design, self.block, self.ballot, self.answers, self.public)


class Problem(Message, frozen=True, omit_defaults=True):
    """RFC 9457: `type` ends in the reason's code, `title` is a sentence, `detail` what was special about this case."""

    type: str
    title: str
    status: int
    detail: str = ""

    @property
    def code(self) -> str:
        """The reason in one word."""
        return self.type.rpartition(":")[2]


class Failure(Message, frozen=True):
    """A report of a batch that was not taken: its place in the batch, from 0 on, and why."""

    index: int
    problem: Problem


class Receipt(Message, frozen=True):
    """What became of a batch. Reports not named among the failures are stored, durably and once."""

    version: Literal[1]
    accepted: int
    failures: tuple[Failure, ...]


# -- admission ------------------------------------------------------------------------------------------------------


class Issuer(Message, frozen=True):
    """The public key that blind tokens are signed with; named, like a design, by the hash of these bytes."""

    version: Literal[1]
    n: Hex
    e: int


class Application(Message, frozen=True):
    """An invitation, and a blinded token to be signed for it: once."""

    version: Literal[1]
    invitation: Short
    blinded: Hex


class Signed(Message, frozen=True):
    """The signature of the blinded token."""

    version: Literal[1]
    signature: Hex


# -- pairs ------------------------------------------------------------------------------------------------------------


class Seeking(Message, frozen=True):
    """A device looks for a partner: a public X25519 key made for this purpose, and never used again."""

    version: Literal[1]
    design: Hash
    key: Hash


class Found(Message, frozen=True):
    """The partner's key; or none yet, and for how many more seconds asking again makes sense: 0 for stay alone."""

    version: Literal[1]
    partner: Hash | None
    wait: Small
