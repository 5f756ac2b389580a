"""Amendments: designs of one plan that differ in their words alone, each of which declares what it corrects.

The words are inside a design's hash, so that nobody can be asked something else under the same name. A survey is
**opened** when the first report to any design of its name has been accepted, whoever sent it. Until then its file may
be changed at will. From then on

- its questions, and number, values and order of their choices, are what they were, for good;
- so is every text that respondents read, in every language: title, questions, choices, hints, and what stands around;
- a text, or a further language, changes only by a correction that says why. It makes a new design, which names the one
  that it replaces, and whose words hold what was changed, before and after (`device.corrections`). No correction puts a
  label beside another answer, or takes a language away.

What else is asked, how it is disguised, who may answer and where is the plan, and its hash without the words is
`plan_id`. Reports to amendments of one plan are counted together, and a device that answered one of them does not
answer another. Under which words a report was made is told by its design, and by nothing finer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, NoReturn

import msgspec

from deniable.collection.survey_messages import design_body, form_of, words_mark
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.form import read_form
from deniable.device.protocol.messages import MOST_CORRECTIONS, Correction, Design, design_id
from deniable.device.protocol.word_corrections import (
    changes_between,
    corrections_of,
    languages_of,
    texts_of,
    turned_round,
)
from deniable.device.text_safety import MOST_AROUND, fault
from deniable.device.verify import verify
from deniable.errors import InputError
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.device.protocol.messages import Change, Form
    from deniable.device.verified_design import VerifiedDesign
    from deniable.storage.store import Readable, Store
    from deniable.surveys.survey import Survey

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


def served_from(store: Readable) -> list[Amendment]:
    """Every design of a store, oldest first."""
    found = []
    for name, (number, body) in store.designs().items():
        verified = verify(body, name)
        words = store.saved(words_mark(verified.message.texts))
        form = None if words is None else read_form(words, verified)
        found.append(Amendment(number, body, verified, form, store.total(number)))
    return sorted(found)


def amendments_of(store: Readable, name: str) -> dict[str, tuple[int, bytes]]:
    """All designs of a store that share a design's plan, oldest first."""
    designs = store.designs()
    plan = verify(designs[name][1], name).plan_id
    return {each: known for each, known in designs.items() if verify(known[1], each).plan_id == plan}


def _in_force(family: Sequence[Amendment]) -> Amendment | None:
    """Which amendment of a plan is in force: that with most corrections, or the one that people answered."""
    opened = [each for each in family if each.corrections or each.reports]
    return max(opened, key=lambda each: (len(each.corrections), each.number), default=None)


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
