"""The messages of a survey: its form (the words), its design (which names the form by its hash), its amendments.

Amendments are designs of one plan that differ in their words alone, each of which declares what it corrects.

The words are inside a design's hash, so that nobody can be asked something else under the same name. A survey is
**opened** when the first report to any design of its name has been accepted, whoever sent it. Until then its file may
be changed at will; a report that was made under words before is turned away then (`first_words`). From then on

- its questions, and number, values and order of their choices, are what they were, for good;
- so is every text that respondents read, in every language: title, questions, choices, hints, and what stands around;
- a text, or a further language, changes only by a correction that says why. It makes a new design, which names the one
  that it replaces, and whose words hold what was changed, before and after (`device.protocol.word_corrections`). No
  correction puts a label beside another answer, or takes a language away.

What else is asked, how it is disguised, who may answer and where is the plan, and its hash without the words is
`plan_id`. Reports to amendments of one plan are counted together, and a device that answered one of them does not
answer another. Under which words a report was made is told by its design, and by nothing finer.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

import msgspec

from deniable.collection.first_words import connected, first_of
from deniable.core.untrusted_files import parse_json
from deniable.device.design_terms import is_edge
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.form import read_form
from deniable.device.protocol.messages import (
    MOST_CORRECTIONS,
    VERSION,
    Announcement,
    Bins,
    BlockRule,
    Choices,
    Correction,
    Design,
    Entry,
    Form,
    FormItem,
    Plan,
    PublicItem,
    Rule,
    design_id,
)
from deniable.device.protocol.messages import Item as ItemMessage
from deniable.device.protocol.word_corrections import (
    changes_between,
    corrections_of,
    languages_of,
    texts_of,
    turned_round,
)
from deniable.device.text_safety import MOST_AROUND, fault
from deniable.device.verify import verify
from deniable.errors import DesignError, InputError, SurveyError
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from deniable.device.protocol.messages import Change, Coder
    from deniable.device.verified_design import VerifiedDesign
    from deniable.storage.store import Readable, Store
    from deniable.surveys.items import Item
    from deniable.surveys.survey import Survey

LOOPBACK = ("http://localhost",)  # whom a survey is for that is not said to be for anybody else
UPDATE: Final = "pooled"  # the fakes of the next block follow from all reports so far


def design_body(
    survey: Survey,
    audience: Sequence[str] = LOOPBACK,
    *,
    issuer: str | None = None,
    replaces: str | None = None,
    form: Form | None = None,
) -> bytes:
    """The design as it is served to devices that reach the collector at these origins; its words are those of `form`.

    It is verified here as every device will verify it.
    """
    try:
        plan = msgspec.convert(survey.design.plan(), Plan)
    except msgspec.ValidationError as error:
        raise DesignError(f"a {survey.design.kind} design cannot be served by this version: {error}") from error
    size = survey.design.served_in_blocks()
    message = Design(
        version=VERSION,
        survey=survey.name,
        epsilon=decimal_text(survey.epsilon),
        plan=plan,
        items=tuple(_item(item, survey) for item in survey.questions),
        public=tuple(
            PublicItem(item.name, item.kind, _coder(item), tuple(map(_category, item.variable.categories)))
            for item in survey.public
        ),
        panel=survey.panel,
        admission=survey.admission,
        issuer=issuer,
        audience=tuple(sorted(set(audience))),
        blocks=None if size is None else BlockRule(size, UPDATE),
        deniability=survey.design.claims_deniability,
        weights=survey.design.weights,
        wave=None,
        replaces=replaces,
        published=survey.published,
        texts=design_id(form_body(survey) if form is None else encode(form)),
    )
    body = encode(message)
    verify(body, design_id(body))
    return body


def _item(item: Item, survey: Survey) -> ItemMessage:
    public = {each.name: each.variable.categories for each in survey.public}
    rules = tuple(
        Rule(name, tuple(_category(each) for each in public[name] if each in wanted))
        for name, wanted in item.show_if.items()
    )
    return ItemMessage(item.name, item.kind, _coder(item), rules)


def _coder(item: Item) -> Coder:
    if not item.bins:
        return Choices()
    return Bins(tuple(_plain(edge, f"an edge of the bins of {item.name!r}") for edge in item.bins))


def _plain(number: float, what: str) -> str:
    text = decimal_text(number)
    if not is_edge(text):
        raise SurveyError(
            f"{what} is {text}; it can have up to 15 digits before the point and 15 behind it", path="questions"
        )
    return text


def _category(category: Any) -> str | int | bool:
    assert isinstance(category, str | int)  # survey files know texts only
    return category


def form_of(survey: Survey) -> Form:
    """The survey's words, as its file says them."""
    return Form(
        version=2,
        survey=survey.name,
        languages=survey.languages,
        title=dict(survey.title),
        questions=tuple(map(_words, survey.questions)),
        public=tuple(map(_words, survey.public)),
        texts={name: dict(words) for name, words in survey.texts.items()},
    )


def form_body(survey: Survey) -> bytes:
    """The same as it is served, and as its hash stands in the design, where nothing was corrected."""
    return encode(form_of(survey))


def words_mark(texts: str) -> str:
    """Under which name a store keeps the words with this hash: results are then shown in them, by whatever program."""
    return f"words {texts}"


class _Aims(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    wanted: tuple[str, ...]
    guess: dict[str, tuple[float, ...]] = {}


def keep_aims(store: Store, plan: str, survey: Survey) -> None:
    """Keep what a survey is made for beside its plan, of which it is no part; where it changed, behind what it was."""
    labels = survey.labels
    now = msgspec.json.encode(_Aims(labels.aims, dict(labels.guess)), order="sorted")
    kept = _aims_of(store, plan)
    if not kept or kept[-1] != now:
        place = len(kept)
        while store.save(_aims_mark(plan, place), now) != now:  # another program was faster
            place += 1


def kept_aims(store: Readable, plan: str) -> tuple[tuple[str, ...], dict[str, tuple[float, ...]]]:
    """What a plan was last served for, as texts, and the shares that were expected; nothing where nobody kept it."""
    kept = _aims_of(store, plan)
    if not kept:
        return (), {}
    found = parse_json(kept[-1], "what the survey is made for", _Aims)
    return found.wanted, found.guess


def _aims_of(store: Readable, plan: str) -> list[bytes]:
    found: list[bytes] = []
    while (body := store.saved(_aims_mark(plan, len(found)))) is not None:
        found.append(body)
    return found


def _aims_mark(plan: str, place: int) -> str:
    return f"aims {plan} {place}"


def _words(item: Item) -> FormItem:
    words = FormItem(item.name, dict(item.text), tuple(dict(option.text) for option in item.options))
    if item.entry is None:
        return words
    low, high, step = (None if each is None else _plain(each, f"a number of {item.name!r}") for each in item.entry)
    return msgspec.structs.replace(words, entry=Entry(low, high, step))


def announcement(survey: Survey, design: str) -> Announcement:
    """Which design is served, and when."""
    return Announcement(version=2, design=design, opens=_moment(survey.opens), closes=_moment(survey.closes))


def decimal_text(number: float) -> str:
    """Write a number as the shortest decimal that reads back as the same float, without an exponent.

    >>> decimal_text(1.0), decimal_text(0.1), decimal_text(1e-7), decimal_text(-0.0)
    ('1', '0.1', '0.0000001', '0')
    """
    text = f"{Decimal(repr(number)):f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


_SHOWN = 5  # changes that a refusal quotes


class Amendment(NamedTuple):
    """A design of a store with its words, if they are known, and how many reports came to it."""

    number: int
    body: bytes
    verified: VerifiedDesign
    form: Form | None
    reports: int

    @property
    def message(self) -> Design:
        """The design."""
        return self.verified.message

    @property
    def corrections(self) -> tuple[Correction, ...]:
        """What was corrected until then."""
        return () if self.form is None else corrections_of(self.form)


def current_design(
    survey: Survey,
    store: Store,
    origins: Sequence[str],
    issuer: str | None,
    correct: str | None = None,
    *,
    is_over: bool = False,
) -> tuple[bytes, bytes]:
    """The design to be served and its words: those that the store has, or new ones, as far as that is allowed.

    Args:
        survey: its file, as it is now.
        store: what was served and answered until now.
        origins: the addresses at which it is answered.
        issuer: the hash of the key that signs blind tokens.
        correct: why words are corrected, if they are.
        is_over: whether the survey has ended: its words are then what people read, and nobody reads others.

    Raises:
        InputError: people have answered, and the file says something else than they read.
    """
    plain = form_of(survey)
    body = design_body(survey, origins, issuer=issuer)
    wanted = verify(body, design_id(body))
    known = [each for each in served_from(store) if each.message.survey == survey.name]
    for each in known:
        if each.reports:
            _refuse_other_choices(each.message, wanted.message)
    families: dict[str, list[Amendment]] = {}
    for each in known:
        families.setdefault(each.verified.plan_id, []).append(each)
    families = {plan: _answered(family, first_of(store, plan)) for plan, family in families.items()}
    served = [last for family in families.values() if (last := _in_force(family)) is not None]
    last = next((each for each in served if each.verified.plan_id == wanted.plan_id), None)
    if last is None:  # not opened; or asked otherwise (another epsilon, another address), and not counted together
        if served and all(_changes(each, plain) for each in served):
            _refuse_change(_changes(served[-1], plain), OTHERWISE)
        _refuse_needless(correct, ())
        return body, encode(plain)
    changes = _changes(last, plain)
    if not changes:
        _refuse_needless(correct, last.corrections)
        return last.body, encode(last.form)
    if correct is None or is_over:
        _refuse_change(changes, OVER if is_over else DECLARE)
    form = _corrected(families[wanted.plan_id], plain, Correction(last.verified.id, correct, changes))
    body = design_body(survey, origins, issuer=issuer, replaces=last.verified.id, form=form)
    read_form(encode(form), verify(body, design_id(body)))
    return body, encode(form)


@lru_cache(maxsize=16)
def verified_design(body: bytes, name: str) -> VerifiedDesign:
    """A design of a store, verified once a process: its name is the hash of its bytes, so it is always the same."""
    return verify(body, name)


def served_from(store: Readable) -> list[Amendment]:
    """Every design of a store, oldest first."""
    found = []
    for name, (number, body) in store.designs().items():
        verified = verified_design(body, name)
        words = store.saved(words_mark(verified.message.texts))
        form = None if words is None else read_form(words, verified)
        found.append(Amendment(number, body, verified, form, store.total(number)))
    return sorted(found)


def amendments_of(store: Readable, name: str) -> dict[str, tuple[int, bytes]]:
    """All designs of a store that share a design's plan, oldest first."""
    designs = store.designs()
    plan = verified_design(designs[name][1], name).plan_id
    return {each: known for each, known in designs.items() if verified_design(known[1], each).plan_id == plan}


def _answered(family: list[Amendment], first: str | None) -> list[Amendment]:
    """The amendments of a plan that people may answer: those connected with the one that was answered first."""
    if first is None:
        return [each for each in family if each.corrections or each.reports]
    together = connected(first, {each.verified.id: each.message.replaces for each in family})
    return [each for each in family if each.verified.id in together]


def _in_force(family: Sequence[Amendment]) -> Amendment | None:
    """Which amendment of a plan is in force, of those that people may answer: the one with most corrections."""
    return max(family, key=lambda each: (len(each.corrections), each.number), default=None)


def _changes(last: Amendment, now: Form) -> tuple[Change, ...]:
    if last.form is None:
        raise InputError(
            "people have answered this survey under words that are not known any more, so nobody can tell what would "
            "change. Give it another name, which makes another survey of it",
            design=last.verified.id,
        )
    return changes_between(texts_of(last.form), texts_of(now))


def _corrected(family: Sequence[Amendment], plain: Form, correction: Correction) -> Form:
    """The words with one correction more, unless they came to stand for something else than ever before."""
    texts, known = texts_of(plain), [each.form for each in family if each.form is not None]
    if wrong := fault(correction.why, MOST_AROUND) or ("nothing" if not correction.why.strip() else None):
        raise InputError(
            f"--correct: people read the reason, which has {wrong} in it; say in plain words what was wrong"
        )
    for form in known:
        before = texts_of(form)
        if gone := [each for each in languages_of(before) if each not in plain.languages]:
            raise InputError(
                f"people may have answered in {listed(gone)}, which the survey file does not have any more. No "
                f"correction takes a language away: put it back",
                languages=gone,
            )
        if turned := turned_round(before, texts):
            name, text = turned
            raise InputError(
                f"{text!r} stood for something else when people answered about {name!r}: no correction may turn "
                f"answers or questions round. Put the words back; to ask something else, give the survey another name",
                attribute=name,
            )
    last = next(each for each in family if each.verified.id == correction.replaces)
    if len(last.corrections) >= MOST_CORRECTIONS:
        raise InputError(
            f"these words were corrected {MOST_CORRECTIONS} times; give the survey another name, which makes another "
            f"survey of it"
        )
    return msgspec.structs.replace(plain, corrections=(*last.corrections, correction))


# -- refusals -------------------------------------------------------------------------------------------------------

DECLARE = (
    'Put the words back, or declare the correction: deniable serve ... --correct "why". Whoever answers from then on '
    "is shown old and new words, and so is everybody who reads the results"
)
OVER = "The survey is over, and nobody will read others: put the words back"
OTHERWISE = (
    "Put the words back: with how it is asked (epsilon, design, address) they cannot change at once. To ask something "
    "else, give the survey another name"
)


def _refuse_change(changes: Sequence[Change], way: str) -> NoReturn:
    shown = [f"{_where(each)}: {each.before!r} became {each.after!r}" for each in changes[:_SHOWN]]
    more = [f"{len(changes) - _SHOWN} more"] if len(changes) > _SHOWN else []
    raise InputError(
        f"people have answered, and since then words changed: {'; '.join([*shown, *more])}. {way}",
        changes=len(changes),
    )


def _refuse_needless(correct: str | None, corrections: Sequence[Correction]) -> None:
    """Refuse a correction of nothing; one that was declared before may be named again, as after a restart."""
    if correct is not None and (not corrections or corrections[-1].why != correct):
        raise InputError(
            "there is nothing to correct: nobody has answered yet, or the survey file says what people were shown "
            "last. Leave --correct out"
        )


def _where(change: Change) -> str:
    parts = {"question": "the question", "choice": "an answer", "entry": "the hint", "text": "texts"}
    where = f"{parts.get(change.part, change.part)} {change.name}".strip()
    return f"{where} ({change.language})" if change.language else where


def _refuse_other_choices(before: Design, now: Design) -> None:
    """Refuse other questions, and other choices, rules or bins, than people have answered."""
    old, new = _choices(before), _choices(now)
    wrong = [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
    if not wrong and list(old) != list(new):
        wrong = [a for a, b in zip(old, new, strict=True) if a != b]
    if wrong:
        raise InputError(
            f"people have answered this survey, and since then {listed(wrong)} changed: questions, and number, values "
            f"and order of their choices, with bins and conditions, stay as they are for good. Put them back; to ask "
            f"something else, give the survey another name",
            attributes=wrong,
        )


def _choices(design: Design) -> dict[str, tuple[object, ...]]:
    """Of every question, in order, all that decides what an answer to it means."""
    asked = zip(design.plan.domain, design.items, strict=True)
    found: dict[str, tuple[object, ...]] = {
        variable.name: (variable.categories, item.kind, item.coder, item.show_if) for variable, item in asked
    }
    return found | {each.name: (each.categories, each.kind, each.coder, "in clear") for each in design.public}
