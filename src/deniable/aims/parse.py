"""Wanted numbers as texts: the same few words in Python, in survey files and on the command line.

    sex * smokes                          every cell of the table
    age                                   the share of every category
    mean(age)                             with "; scores 0 1 3" for other scores
    cdf(age)
    quantiles(age; 0.25 0.5 0.75)         with "; edges 0 20 40 60" for the categories' bounds
    ranges(age; 20..40, 45..60)           from one category to another
    difference(income by sex)             with "; scores 0 1 2" for means, "; groups F..M" for some pairs of groups
    association(sex, smokes)

each with " weight 2" behind it, where its variances shall count more than others'. `str` of a `Wanted` writes them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from deniable.aims.aim import AIMS, Wanted
from deniable.errors import InputError
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deniable.core.labels import Labels

_WEIGHT = re.compile(r"(?P<body>.*\S)\s+weight\s+(?P<weight>\S+)", re.DOTALL)
_CALL = re.compile(r"(?P<kind>[a-z_]+)\s*\((?P<inside>.*)\)", re.DOTALL)


def gathered(wanted: Wanted | str | Sequence[Wanted | str | Sequence[str]]) -> tuple[Wanted, ...]:
    """Read a list of wanted numbers; a list of names stands for their table, a text for what it says.

    >>> [str(one) for one in gathered(["a", ["a", "b"], "mean(c) weight 2"])]
    ['a', 'a * b', 'mean(c) weight 2']
    """
    several = (wanted,) if isinstance(wanted, str | Wanted) else tuple(wanted)
    found = tuple(_read(one) for one in several)
    if not found:
        raise InputError('nothing is wanted; name tables, such as [["sex", "income"]], or use Wanted.mean and the like')
    return found


def read_wanted(text: str) -> Wanted:
    """Read one wanted number, or some that belong together.

    >>> read_wanted("quantiles(age; 0.25 0.5)").options["levels"]
    (0.25, 0.5)
    >>> read_wanted("difference(income by sex; scores 1 2 4)").attributes
    ('income', 'sex')
    """
    weighted = _WEIGHT.fullmatch(text.strip())
    body = weighted["body"] if weighted else text.strip()
    plain = Call(text, body, ())
    if weighted:
        plain = plain._replace(weight=plain.numbers(weighted["weight"])[0])
    found = _CALL.fullmatch(body)
    if found is None:
        return Wanted.table(*plain.names("*"), weight=plain.weight)
    first, *more = (part.strip() for part in found["inside"].split(";"))
    call = plain._replace(first=first, more=tuple(more))
    if found["kind"] == "shares":  # the table of one attribute
        call.options()
        return Wanted.shares(*call.names(), weight=call.weight)
    if found["kind"] not in AIMS:
        raise plain.refused(f"wants {found['kind']!r}, which is none of {listed(sorted(AIMS))}")
    return AIMS[found["kind"]].parse(call)


def aims_of(labels: Labels) -> tuple[Wanted, ...]:
    """What the survey of some reports is made for; nothing where they do not know it."""
    return tuple(map(read_wanted, labels.aims))


def _read(one: Wanted | str | Sequence[str]) -> Wanted:
    if isinstance(one, Wanted):
        return one
    return read_wanted(one) if isinstance(one, str) else Wanted.table(*one)


def _way_out() -> str:
    *others, last = (f'"{AIMS[kind].example}"' for kind in sorted(AIMS))
    return f'write for example {", ".join(others)} or {last}, with " weight 2" behind where it counts more'


class Call(NamedTuple):
    """What stands between the brackets of a wanted number, for `Wanted.parse`.

    Attributes:
        text: all of it, which refusals show.
        first: what stands before the first semicolon.
        more: the parts between semicolons behind it.
        weight: what stands behind the brackets.
    """

    text: str
    first: str
    more: tuple[str, ...]
    weight: float = 1.0

    def refused(self, why: str) -> InputError:
        """What is raised where it makes no sense."""
        return InputError(f"{self.text!r} {why}; {_way_out()}", wanted=self.text)

    def names(self, between: str | None = None) -> tuple[str, ...]:
        """The attributes, with this sign between them; one without a sign."""
        names = [name.strip() for name in self.first.split(between or ";")]
        if not all(names) or any(sign in name for name in names for sign in "()*;"):
            raise self.refused("names no wanted numbers")
        if between is None and "," in self.first:
            raise self.refused("is about one attribute, not several")
        return tuple(names)

    def options(self, *known: str, bare: bool = False) -> Mapping[str, str]:
        """What stands behind each known word; behind "", what has no word before it, if that may be."""
        found: dict[str, str] = {}
        for part in self.more:
            word, _, rest = part.partition(" ")
            word, rest = (word, rest) if word in known or not bare else ("", part)
            if word not in (*known, *([""] if bare else [])) or word in found:
                raise self.refused(f"has {part!r}, which is not known here")
            found[word] = rest
        return found

    def numbers(self, part: str) -> tuple[float, ...]:
        """Numbers with spaces or commas between them."""
        try:
            found = [float(number) for number in part.replace(",", " ").split()]
        except ValueError:
            found = []
        if not found:
            raise self.refused(f"has {part!r} where numbers should stand")
        return tuple(found)

    def scores(self, given: Mapping[str, str]) -> tuple[float | None, ...] | None:
        """Numbers behind the word "scores", if it is there; "-" for a category that stands aside."""
        if "scores" not in given:
            return None
        parts = given["scores"].replace(",", " ").split()
        known = iter(self.numbers(" ".join(part for part in parts if part != "-")))
        return tuple(None if part == "-" else next(known) for part in parts)

    def pairs(self, part: str) -> tuple[tuple[str, str], ...]:
        """Pairs of categories, such as 20..40, with commas between them."""
        pairs = [tuple(end.strip() for end in pair.split("..")) for pair in part.split(",")]
        if not all(len(pair) == 2 and all(pair) for pair in pairs):
            raise self.refused(f"has {part!r} where pairs such as 20..40 should stand")
        return tuple((first, last) for first, last in pairs)
