"""Corrections: words that were changed after somebody had answered stand beside those that they replaced.

Nothing here is believed that can be computed. Going back from the words that are shown now, every correction must name
what stood there after it, and so the words of every time are known again. A label that ever stood beside one answer
must not come to stand beside another, in whatever language, nor the text of one question become that of another: that
corrects no words.

A further language is a change of every text: what people read in the main language until then stands before, and what
they may read from then on after, wherever the two differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec import UNSET

from deniable.device.protocol.messages import Change, Correction, Form, Part
from deniable.device.refusal import refuse
from deniable.device.text_safety import MOST_AROUND, fault, shapes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

Place: TypeAlias = tuple[Part, str, int | None, str]
"""Where a text stands: the part, the attribute's or the text's name, a choice's place, the language."""

LANGUAGES: Place = ("languages", "", None, "")


def corrections_of(form: Form) -> tuple[Correction, ...]:
    """What was corrected, the first one first."""
    return () if form.corrections is UNSET else form.corrections


def said_of(correction: Correction) -> str:
    """A correction as a sentence, for whoever is asked."""
    changes = [f"{each.before!r} became {each.after!r}" for each in correction.changes]
    return f"Words were corrected after people had answered ({correction.why!r}): {'; '.join(changes)}."


def texts_of(form: Form) -> dict[Place, str]:
    """Every text of a form, by where it stands."""
    found = {LANGUAGES: " ".join(form.languages)}
    found |= {("title", "", None, language): text for language, text in form.title.items()}
    for item in (*form.questions, *form.public):
        found |= {("question", item.name, None, language): text for language, text in item.text.items()}
        if item.entry is not UNSET:
            low, high, step = (each or "" for each in (item.entry.min, item.entry.max, item.entry.step))
            found["entry", item.name, None, ""] = f"{low}..{high}" + (f" / {step}" if step else "")
        for place, words in enumerate(item.choices):
            found |= {("choice", item.name, place, language): text for language, text in words.items()}
    for name, words in form.texts.items():
        found |= {("text", name, None, language): text for language, text in words.items()}
    return found


def changes_between(before: Mapping[Place, str], after: Mapping[Place, str]) -> tuple[Change, ...]:
    """What differs between the texts of two forms; a further language, from the main one of the first.

    Of a language that only the first has, nothing but that it is gone.
    """
    known, left = languages_of(before), {*languages_of(before)} - {*languages_of(after)}
    found = (
        Change(*place, before.get(_stood_at(place, known), ""), after.get(place, ""))
        for place in dict.fromkeys([*after, *before])
        if place[3] not in left
    )
    return tuple(change for change in found if change.before != change.after)


def _stood_at(place: Place, known: Sequence[str]) -> Place:
    """Where the text was that somebody read who now reads another: of a language that is new, the main one's."""
    part, name, choice, language = place
    return place if language in ("", *known) else (part, name, choice, known[0])


def languages_of(texts: Mapping[Place, str]) -> list[str]:
    """The languages that there are texts in, in their order."""
    return texts[LANGUAGES].split()


Shapes: TypeAlias = "Mapping[tuple[str, str, str], AbstractSet[int | str | None]]"
"""What texts look like, each among those that another must not take the place of, and whose it is."""


def turned_round(
    before: Mapping[Place, str], after: Mapping[Place, str], stood: Shapes | None = None
) -> tuple[str, str] | None:
    """An answer's label that stands beside another answer afterwards, or a question's text that is another's.

    Languages do not tell answers apart: neither a text that changed nor one in a further language may be what was
    another answer's in any.

    Args:
        before: the texts of one time.
        after: those of a later one.
        stood: what the texts before look like, if that is known already.

    Returns:
        The attribute, and the text. Case, spaces, punctuation and letters that look alike do not tell texts apart.
    """
    for place, text in after.items():
        part, name, _, _ = place
        if part not in ("question", "choice") or before.get(place) == text:
            continue
        stood = shapes_of(before) if stood is None else stood
        among, whose = _among(place)
        if any(whose not in stood.get((*among, shape), {whose}) for shape in shapes(text)):
            return name, text
    return None


def shapes_of(texts: Mapping[Place, str]) -> dict[tuple[str, str, str], set[int | str | None]]:
    """What questions and answers look like, in whatever language."""
    found: dict[tuple[str, str, str], set[int | str | None]] = {}
    for place, text in texts.items():
        if place[0] in ("question", "choice"):
            among, whose = _among(place)
            for shape in shapes(text):
                found.setdefault((*among, shape), set()).add(whose)
    return found


def _among(place: Place) -> tuple[tuple[str, str], int | str | None]:
    """The texts that a text must not take the place of (other answers, or other questions), and whose it is."""
    part, name, choice, _ = place
    return ((part, name), choice) if part == "choice" else ((part, ""), name)


def check(form: Form, replaces: str | None, own: Collection[str]) -> None:
    """Refuse corrections that cannot be true of a form, in a design that `replaces` another; `own` may be said."""
    given = corrections_of(form)
    if (given[-1].replaces if given else None) != replaces:
        refuse("form-unfit", "a design that replaces another must say in its words what was corrected; no other may")
    if not given:
        return
    now = texts_of(form)
    places = {_place(change) for correction in given for change in correction.changes}
    still = shapes_of({place: text for place, text in now.items() if place not in places})
    every = [{place: now[place] for place in places if place in now}]  # a form may be large; this is what may differ
    for then in _backwards(form, now, own):
        before = {place: then[place] for place in places if place in then}
        stood = shapes_of(before)
        for shape, whose in still.items():
            stood.setdefault(shape, set()).update(whose)
        if any(turned_round(before, after, stood) for after in every):
            refuse("form-unfit", "by a correction, words came to stand for something else")
        every.append(before)


def _backwards(form: Form, texts: Mapping[Place, str], own: Collection[str]) -> Iterator[dict[Place, str]]:
    """The texts before each correction, the last one first."""
    attributes = {item.name for item in (*form.questions, *form.public)}
    for correction in reversed(corrections_of(form)):
        now, given = dict(texts), {_place(change): change for change in correction.changes}
        for place, change in given.items():
            part, name, _, _ = place
            is_known = name in own if part == "text" else name in attributes if part == "entry" else place in now
            may_lack = part in ("text", "entry")
            is_true = now.get(place, "") == change.after != change.before and (change.before or may_lack)
            if not is_known or not is_true or fault(change.before, MOST_AROUND):
                refuse("form-unfit", "a correction is not one of these words")
        if len(given) < len(correction.changes) or fault(correction.why, MOST_AROUND):
            refuse("form-unfit", "a correction is not one of these words")
        texts = _undone(now, given)
        yield dict(texts)


def _undone(now: Mapping[Place, str], given: Mapping[Place, Change]) -> dict[Place, str]:
    """The texts before a correction, which must say all of a language that was new."""
    spoken = given[LANGUAGES].before.split() if LANGUAGES in given else languages_of(now)
    if (
        not spoken
        or not {*spoken} <= {*languages_of(now)}
        or any(place[3] not in ("", *languages_of(now)) for place in given)
    ):
        refuse("form-unfit", "a correction took a language away")
    then = dict(now) | {place: change.before for place, change in given.items() if place[3] in ("", *spoken)}
    then = {place: text for place, text in then.items() if text and place[3] in ("", *spoken)}
    new = {place for place in (*now, *given) if place[3] not in ("", *spoken)}
    for place in new:
        stood = then.get(_stood_at(place, spoken), "")
        told = given[place].before if place in given else now[place]
        if stood != told:
            refuse("form-unfit", "a correction does not say what a language that was new stands for")
    return then


def _place(change: Change) -> Place:
    return change.part, change.name, change.place, change.language
