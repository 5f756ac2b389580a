r"""Texts that people read must be what they seem: nothing hidden in them, no two that look the same.

A survey could be answered under one question and shown again under another that differs in characters nobody sees, or
offer two answers that look alike. So both clients refuse, and the program that reads a survey refuses before them:

- what is not seen: control characters, what turns the direction of writing round for what follows, spaces without
  width, blanks that are no spaces, private characters, and what is no character, or none that this program's Unicode
  knows. Marks of direction stay, and so do joiners between letters of scripts that join, and in emoji;
- a word with letters of two scripts, whichever they are. Accents, marks of direction and signs that all scripts share
  end no word. The scripts of China, Japan, Korea, Thailand, Laos, Cambodia and Myanmar, most of which part no words,
  may stand beside any other;
- texts that are too long to be read;
- two answers to a question that are the same but for compatibility forms, case, spaces and letters that look alike,
  with or without the same accents.

The tables are one file, `text_safety.json`, which the browser's client has as well. Its `alphabets` are the scripts of
all letters, as Unicode orders them: steps, to the base 36, from the letter where one script begins to the letter where
the next one does. A capital after a step names a script that comes several times; "-" is what all scripts share, as are
units such as the sign for ohm; "." those that may stand beside any.

>>> fault("Do you smoke?"), fault("Do you \u202esmoke?"), fault("p\u0430ssword")
(None, 'a character that nobody sees (U+202E)', 'letters of Latin and Cyrillic in one word')
"""

from __future__ import annotations

import json
import unicodedata
from bisect import bisect_right
from functools import lru_cache
from importlib.resources import files
from itertools import accumulate, combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MOST_QUESTION, MOST_CHOICE, MOST_AROUND = 3000, 500, 30_000  # characters
_BLANK = dict.fromkeys(
    [
        *(9, 10, 0x20, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000),
        *(0x61C, 0x200C, 0x200D, 0x200E, 0x200F, 0xFE0E, 0xFE0F),
    ]
)
_PUNCTUATION = dict.fromkeys(
    map(
        ord,
        ".,;:!?\"'()[]\u2026\u00b7\u00a1\u00bf\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb\u2039\u203a\u060c\u061b\u061f\u3002\u3001\uff0c\uff01\uff1f",
    )
)


class _Ranges:
    """Characters, as ranges of their numbers."""

    def __init__(self, ranges: Iterable[Sequence[int]]) -> None:
        self._first, self._last = zip(*sorted(map(tuple, ranges)), strict=True)

    def __contains__(self, letter: object) -> bool:
        code = ord(letter) if isinstance(letter, str) and letter else -1
        place = bisect_right(self._first, code) - 1
        return bool(place >= 0 and code <= self._last[place])


_NAMES, _DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ-.", "0123456789abcdefghijklmnopqrstuvwxyz"
_TABLE = json.loads(files("deniable.device").joinpath("text_safety.json").read_text(encoding="utf-8"))
_STEPS = [(step.rstrip(_NAMES), step.strip(_DIGITS)) for step in _TABLE["alphabets"].split()]
_BEGIN = list(accumulate(int(step, 36) for step, _ in _STEPS))
_ALPHABETS = [name or str(number) for number, (_, name) in enumerate(_STEPS)]
_HIDDEN, _JOINING, _EMOJI, _IDEOGRAPHS, _TAGS = (
    _Ranges(_TABLE[name]) for name in ("hidden", "joining", "emoji", "ideographs", "tags")
)
_DIRECTIONS = frozenset("\u061c\u200c\u200d\u200e\u200f")  # and joiners
_KEYS = frozenset("#*0123456789")  # which make a key with what follows
_ALIKE = {ord(letter): like for letter, like in zip(_TABLE["alike"][::2], _TABLE["alike"][1::2], strict=True)}


def fault(text: str, most: int = MOST_QUESTION) -> str | None:
    """What is wrong with a text that people are to read; None if nothing is."""
    if len(text) > most:
        return f"more than {most} characters"
    for place, letter in enumerate(text):
        if _is_hidden(text[place - 1 : place], letter, text[place + 1 : place + 2]):
            return f"a character that nobody sees (U+{ord(letter):04X})"
    seen: tuple[str, str] | None = None  # the alphabet of the word so far, and a letter of it
    for letter in text:
        kind = unicodedata.category(letter)[0]
        if kind == "M" or letter in _DIRECTIONS:
            continue
        found = _alphabet(letter) if kind == "L" else "."
        if found == ".":
            seen = None
        elif found != "-":
            if seen and seen[0] != found:
                return f"letters of {_script(seen[1])} and {_script(letter)} in one word"
            seen = found, letter
    return None


def _alphabet(letter: str) -> str:
    """A short name for the script of a letter."""
    place = bisect_right(_BEGIN, ord(letter)) - 1
    return _ALPHABETS[place] if place >= 0 else "-"


def _script(letter: str) -> str:
    """A letter's script as Unicode calls the letter."""
    return unicodedata.name(letter, "another").split()[0].capitalize()


def _is_hidden(before: str, letter: str, after: str) -> bool:
    """Whether a character changes nothing that is seen, given its neighbours."""
    if letter.isascii():
        return letter not in "\t\n" and not letter.isprintable()
    code = ord(letter)
    if code in (0x200C, 0x200D):
        joins = before in _JOINING and after in _JOINING
        return not joins and not (code == 0x200D and before in _EMOJI and after in _EMOJI)
    if code in (0xFE0E, 0xFE0F):
        return before not in _EMOJI and not (before in _KEYS and after == "\u20e3")
    if 0xE0100 <= code <= 0xE01EF:  # which form of an ideograph
        return before not in _IDEOGRAPHS
    if 0xE0020 <= code <= 0xE007F:  # of which place a flag is
        return before not in _TAGS
    return letter not in _DIRECTIONS and (unicodedata.category(letter)[0] == "C" or letter in _HIDDEN)


def alike(texts: Sequence[str]) -> tuple[str, str] | None:
    """Two texts that cannot be told apart, if there are such.

    >>> alike(["Yes", "No", "yes "]), alike(["A", "\u0391"]) is None, alike(["red", "reed"])
    (('Yes', 'yes '), False, None)
    """
    for key in (_shape, _shape_of_lower):
        seen: dict[str, int] = {}
        for place, text in enumerate(texts):
            first = seen.setdefault(key(text), place)
            if first != place:
                return texts[first], text
    return None


def crossed(choices: Sequence[Mapping[str, str]]) -> tuple[str, str] | None:
    """A text of one choice in some language that is another choice's in another, if there are such.

    Whoever reads both languages, or reads in one what was answered in the other, would take one answer for the other.
    Punctuation does not tell them apart, unless it does so within a language, as in "Yes" and "Yes!".

    >>> crossed([{"en": "Yes", "de": "Ja"}, {"en": "No", "de": "yes."}])
    ('Yes', 'yes.')
    >>> crossed([{"en": "Yes", "de": "Ja"}, {"en": "Yes!", "de": "Ja!"}])
    """
    seen: dict[str, dict[int, dict[str, str]]] = {}
    for place, words in enumerate(choices):
        for language, text in words.items():
            for shape in shapes(text):
                alikes = seen.setdefault(shape, {})
                alikes.setdefault(place, {})[language] = text
    for alikes in seen.values():
        for one, other in combinations(alikes.values(), 2):
            if not one.keys() & other.keys():
                return next(iter(one.values())), next(iter(other.values()))
    return None


@lru_cache(maxsize=1 << 16)
def shapes(text: str) -> tuple[str, str]:
    """What a text looks like, in two ways: texts of which one is the same cannot be told apart, but for punctuation.

    >>> shapes("Yes!") == shapes(" yes"), shapes("-1") == shapes("1")
    (True, False)
    """
    plain = text.translate(_PUNCTUATION) or text
    return _shape(plain), _shape_of_lower(plain)


def _shape(text: str) -> str:
    return _normal(_normal(text).translate(_ALIKE).lower())


def _shape_of_lower(text: str) -> str:
    return _normal(_normal(text).lower()).translate(_ALIKE)


def _normal(text: str) -> str:
    return unicodedata.normalize("NFKD", text).translate(_BLANK)
