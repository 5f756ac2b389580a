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
from typing import TYPE_CHECKING

from deniable.aims.aim import Wanted
from deniable.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_WEIGHT = re.compile(r"(?P<body>.*\S)\s+weight\s+(?P<weight>\S+)", re.DOTALL)
_CALL = re.compile(r"(?P<kind>[a-z]+)\s*\((?P<inside>.*)\)", re.DOTALL)
_WAY_OUT = (
    'write for example "sex * smokes", "mean(age)", "cdf(age)", "quantiles(age; 0.25 0.5)", "ranges(age; 20..40)", '
    '"difference(income by sex)" or "association(sex, smokes)", with " weight 2" behind where it counts more'
)


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

    >>> read_wanted("quantiles(age; 0.25 0.5)").options
    ((0.25, 0.5),)
    >>> read_wanted("difference(income by sex; scores 1 2 4)").attributes
    ('income', 'sex')
    """
    weighted = _WEIGHT.fullmatch(text.strip())
    body = weighted["body"] if weighted else text.strip()
    weight = _numbers(weighted["weight"], text)[0] if weighted else 1.0
    call = _CALL.fullmatch(body)
    if call is None:
        names = _names(body, "*", text)
        return Wanted.table(*names, weight=weight)
    if call["kind"] not in _READERS:
        raise InputError(f"there is no {call['kind']!r} to be wanted in {text!r}; {_WAY_OUT}", wanted=text)
    first, *more = (part.strip() for part in call["inside"].split(";"))
    return _READERS[call["kind"]](first, more, weight, text)


def _read(one: Wanted | str | Sequence[str]) -> Wanted:
    if isinstance(one, Wanted):
        return one
    return read_wanted(one) if isinstance(one, str) else Wanted.table(*one)


def _names(part: str, between: str, text: str) -> list[str]:
    names = [name.strip() for name in part.split(between)]
    if not all(names) or any(sign in name for name in names for sign in "()*;"):
        raise InputError(f"{text!r} names no wanted numbers; {_WAY_OUT}", wanted=text)
    return names


def _numbers(part: str, text: str) -> list[float]:
    try:
        found = [float(number) for number in part.replace(",", " ").split()]
    except ValueError:
        found = []
    if not found:
        raise InputError(f"{part!r} in {text!r} should be numbers; {_WAY_OUT}", wanted=text)
    return found


def _ends(part: str, text: str) -> list[tuple[str, str]]:
    pairs = [tuple(end.strip() for end in pair.split("..")) for pair in part.split(",")]
    if not all(len(pair) == 2 and all(pair) for pair in pairs):
        raise InputError(f"{part!r} in {text!r} should be pairs such as 20..40; {_WAY_OUT}", wanted=text)
    return [(first, last) for first, last in pairs]


def _options(more: Sequence[str], known: Sequence[str], text: str) -> dict[str, str]:
    found = {}
    for part in more:
        word, _, rest = part.partition(" ")
        if word not in known or word in found:
            raise InputError(f"{part!r} in {text!r} is not known here; {_WAY_OUT}", wanted=text)
        found[word] = rest
    return found


def _whole(make: Callable[..., Wanted]) -> Callable[[str, Sequence[str], float, str], Wanted]:
    def read(first: str, more: Sequence[str], weight: float, text: str) -> Wanted:
        _options(more, (), text)
        return make(*_names(first, ",", text), weight=weight)

    return read


def _single(first: str, text: str) -> str:
    (name,) = _names(first, ";", text)
    if "," in name:
        raise InputError(f"{text!r} is about one attribute, not several; {_WAY_OUT}", wanted=text)
    return name


def _shares(first: str, more: Sequence[str], weight: float, text: str) -> Wanted:
    _options(more, (), text)
    return Wanted.shares(_single(first, text), weight=weight)


def _cdf(first: str, more: Sequence[str], weight: float, text: str) -> Wanted:
    _options(more, (), text)
    return Wanted.cdf(_single(first, text), weight=weight)


def _mean(first: str, more: Sequence[str], weight: float, text: str) -> Wanted:
    given = _options(more, ("scores",), text)
    scores = _numbers(given["scores"], text) if given else None
    return Wanted.mean(_single(first, text), scores=scores, weight=weight)


def _quantiles(first: str, more: Sequence[str], weight: float, text: str) -> Wanted:
    plain = [part for part in more if not part.startswith("edges")]
    given = _options([part for part in more if part not in plain], ("edges",), text)
    if len(plain) > 1:
        raise InputError(f"{plain[1]!r} in {text!r} is not known here; {_WAY_OUT}", wanted=text)
    levels = _numbers(plain[0], text) if plain else [0.5]
    edges = _numbers(given["edges"], text) if given else None
    return Wanted.quantiles(_single(first, text), levels, edges=edges, weight=weight)


def _ranges(first: str, more: Sequence[str], weight: float, text: str) -> Wanted:
    if len(more) != 1:
        raise InputError(f"{text!r} does not say from where to where; {_WAY_OUT}", wanted=text)
    return Wanted.ranges(_single(first, text), _ends(more[0], text), weight=weight)


def _difference(first: str, more: Sequence[str], weight: float, text: str) -> Wanted:
    given = _options(more, ("scores", "groups"), text)
    of, by, *rest = (*(name.strip() for name in first.split(" by ")), "")
    if not of or not by or any(rest):
        raise InputError(f"{text!r} does not say of what and by which groups; {_WAY_OUT}", wanted=text)
    scores = _numbers(given["scores"], text) if "scores" in given else None
    groups = _ends(given["groups"], text) if "groups" in given else None
    return Wanted.difference(of, by, groups=groups, scores=scores, weight=weight)


_READERS: dict[str, Callable[[str, Sequence[str], float, str], Wanted]] = {
    "table": _whole(Wanted.table),
    "association": _whole(Wanted.association),
    "shares": _shares,
    "mean": _mean,
    "cdf": _cdf,
    "quantiles": _quantiles,
    "ranges": _ranges,
    "difference": _difference,
}
