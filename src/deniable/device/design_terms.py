"""The terms of a design: is everything sound that stands around its plan? In the order of `verify`, reason by reason.

Coders say how an answer becomes a category, rules whom a question is put to, admission who may answer, the audience
whom a report may be sent to. Each of them, chosen by somebody who is not honest, could make a report say more than its
channel does; so all of them are inside the design's hash, and all of them are checked before the first answer is seen.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise
from math import gcd
from typing import TYPE_CHECKING

from deniable.device.origins import is_origin
from deniable.device.protocol.answer_encoding import NOT_ASKED, SKIPPED, Coded
from deniable.device.protocol.messages import Bins
from deniable.device.refusal import refuse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deniable.device.protocol.canonical_json import Category
    from deniable.device.protocol.messages import Attribute, Coder, Design, Item, PublicItem, Rule

MOST_ORIGINS = 16
_EDGE = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{0,14}[1-9])?")


def is_edge(text: str) -> bool:
    """Tell whether a text is a decimal, written in the one way that there is.

    >>> is_edge("-1.5"), is_edge("1.50"), is_edge("1e3"), is_edge("-0")
    (True, False, False, False)
    """
    return _EDGE.fullmatch(text) is not None and text != "-0"


def check_items(
    message: Design, domain: Mapping[str, Attribute], public: Sequence[Attribute]
) -> tuple[tuple[Coded, ...], tuple[Coded, ...]]:
    """Check items, coders and rules; returns the attributes, disguised and public, each with its way to a code."""
    if [item.name for item in message.items] != list(domain):
        refuse("wrong-items", "the items are not the plan's attributes in their order")
    items: list[Item | PublicItem] = [*message.items, *message.public]
    for item, variable in zip(items, [*domain.values(), *public], strict=True):
        _check_coder(item.coder, variable)
    clear = {variable.name: variable for variable in public}
    for asked in message.items:
        _check_rules(asked, domain[asked.name], clear)
    disguised = tuple(Coded(domain[asked.name], asked.coder, asked.show_if) for asked in message.items)
    return disguised, tuple(Coded(clear[each.name], each.coder) for each in message.public)


def _check_coder(coder: Coder, variable: Attribute) -> None:
    if not isinstance(coder, Bins):
        return
    name = variable.name
    if not all(is_edge(edge) for edge in coder.edges):
        refuse("wrong-coder", f"the edges of {name!r} are not plain decimals")
    if not all(Fraction(low) < Fraction(high) for low, high in pairwise(coder.edges)):
        refuse("wrong-coder", f"the edges of {name!r} do not rise")
    bins, more = variable.categories[: len(coder.edges) + 1], variable.categories[len(coder.edges) + 1 :]
    if len(bins) != len(coder.edges) + 1 or not set(more) <= {SKIPPED, NOT_ASKED} or {SKIPPED, NOT_ASKED} & set(bins):
        refuse("wrong-coder", f"{len(coder.edges)} edges do not make the {len(variable)} categories of {name!r}")


def _check_rules(item: Item, variable: Attribute, public: dict[str, Attribute]) -> None:
    if not item.show_if:
        return
    if NOT_ASKED not in variable.categories:
        refuse("wrong-rule", f"{item.name!r} is not put to everybody, but has no category {NOT_ASKED!r}")
    if len({rule.attribute for rule in item.show_if}) != len(item.show_if):
        refuse("wrong-rule", f"{item.name!r} has two rules about one attribute")
    for rule in item.show_if:
        _check_rule(item.name, rule, public)


def _check_rule(name: str, rule: Rule, public: dict[str, Attribute]) -> None:
    if rule.attribute not in public:
        refuse("wrong-rule", f"who is asked {name!r} would tell about {rule.attribute!r}, which is not public")
    categories = public[rule.attribute].categories
    if not rule.values or _places(rule.values, categories) is None:
        refuse("wrong-rule", f"the rule of {name!r} does not list categories of {rule.attribute!r} in their order")


def _places(values: Sequence[Category], categories: Sequence[object]) -> list[int] | None:
    """Where values stand among categories of the same type; None unless all do, in order."""
    known = {(type(category), category): place for place, category in enumerate(categories)}
    places = [known.get((type(value), value), -1) for value in values]
    return places if -1 not in places and all(low < high for low, high in pairwise(places)) else None


def check_door(message: Design) -> None:
    """Check who may answer, and whom a report may be sent to."""
    if (message.admission == "blind") != (message.issuer is not None):
        refuse("wrong-admission", "blind tokens have an issuer, and nothing else has")
    audience = message.audience
    if not 1 <= len(audience) <= MOST_ORIGINS or list(audience) != sorted(set(audience)):
        refuse("wrong-audience", f"the audience is not a list of 1 to {MOST_ORIGINS} different origins in order")
    if not all(map(is_origin, audience)):
        refuse("wrong-audience", "the audience holds something that is not an origin")


def check_blocks(message: Design, *, adaptive: bool) -> None:
    """Check that a design says how its blocks follow each other if it has any."""
    if message.deniability and not adaptive:
        refuse("wrong-blocks", "a design that claims deniability is published block by block")
    if adaptive != (message.blocks is not None):
        refuse("wrong-blocks", "channels are published block by block exactly where blocks have a size")


def check_ballots(message: Design) -> None:
    """Check how often each ballot is drawn, and that nothing is left over that nobody is asked."""
    plan, weights = message.plan, message.weights
    if weights is not None:
        if len(weights) != len(plan.ballots) or min(weights) < 1 or sum(weights) >= 1 << 32:
            refuse("wrong-weights", "the ballots' weights are not whole numbers, one a ballot, below 2^32 in all")
        if gcd(*weights) != 1 or len(set(weights)) == 1:
            refuse("wrong-weights", "the ballots' weights are not in their lowest terms")
    used = {index for ballot in plan.ballots for index in ballot}
    if len(used) != len(plan.questions):
        refuse("leftover", "some question is on no ballot")
    asked = {name for question in plan.questions for name in question.attributes}
    if len(asked) != len(plan.domain):
        refuse("leftover", "some attribute is in no question")
    for question in plan.questions:
        question.channel.check_leftover()
