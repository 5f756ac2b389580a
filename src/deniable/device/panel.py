"""A panel: the only one whose answers are repeated; how many of its people can be found again by what they send.

What is drawn anew is charged anew, and two reports of one person are as alike as those of two honest surveys. In a
*declared* panel a device keeps a disguise and sends it again, always through a second level (`Kind.kept`). Reports of
one person are then more alike, and consent says how much: the share of respondents whom the best likelihood matching
finds again among the survey's n. Above 5 in 100 the survey is refused.

The share is bounded, not estimated, so that it holds for any population, any number of waves and whatever is known
besides. Grant the matcher everything but the draws of one wave: what every person's report is made of (z: the kept
disguise, or the true answer where it is drawn anew), and what each of them has in clear. Where a share pi(z) of n
people has z, and W(x | z) is the law of a report x, the best guess at whose report is whose is right for

    sum over z of pi(z) max over x of W(x | z) / (W pi)(x)

of them in the long run, at most. For k-RR that is the sum of pi(z) p / (q + (p - q) pi(z)), which is concave in pi and
so largest at even shares: k p, or in general

    sum over x of max over z of W(x | z).

This sum is a product over the questions of a ballot (`Kind.singled_out`), an average over ballots, which are drawn anew
and are no secret, and is multiplied by the number of public combinations, which part the n. No channel of k truths and
ratio R has more of it than k-RR, k R / (R + k - 1): each of its W(x | z) lies in [c(x), R c(x)], and they sum to k. All
people at once, each to one report, are matched no better; the tests enumerate that, and simulate the whole.

How many take part no device can see: the design says how many at least, and an operator may say what they like. So a
share is never of more than `MOST_COUNTED` people, whatever larger number is said, and no panel is allowed for the size
alone that somebody claims for it: of twelve answers that hardly change, two thousand million people were said to make
the share tiny, while nearly all of two hundred were found again. A larger panel hides its people better than it says.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

from deniable.device.privacy_statement import rounded_up
from deniable.device.refusal import refuse
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deniable.device.protocol.messages import Asked, Design, Panel, Plan

_PARTS = 1 << 32
MOST_FOUND = Fraction(1, 20)  # of a panel's people, so many may be found again by what they send, and no more
MOST_COUNTED = 1000  # people that a share is of, however many are said to take part


def singled_out(plan: Plan, weights: Sequence[int] | None, public: Iterable[int]) -> Fraction:
    """How many people of a wave can be found again by what they send, at most, of however many.

    Args:
        plan: the questions and ballots.
        weights: how often each ballot is drawn.
        public: how many categories each attribute has that travels in clear.
    """
    often = weights or (1,) * len(plan.ballots)
    told = Fraction(0)
    each = [_above(question.channel.singled_out) for question in plan.questions]
    for weight, ballot in zip(often, plan.ballots, strict=True):
        told += weight * prod((each[index] for index in ballot), start=Fraction(1))
    return prod(public) * told / sum(often)


def _above(number: Fraction) -> Fraction:
    """The next multiple of 2^-32: sums over a million ballots have small denominators then, in every client alike."""
    return Fraction(-(-number.numerator * _PARTS // number.denominator), _PARTS)


def found_again(plan: Plan, weights: Sequence[int] | None, public: Iterable[int], people: int) -> Fraction:
    """The share of a wave's people that is found again, at most: the one number of consent, refusal and tests."""
    return min(Fraction(1), singled_out(plan, weights, public) / counted(people))


def counted(people: int) -> int:
    """Of how many people a share is: of those that the design says, and never of more than `MOST_COUNTED`."""
    return min(people, MOST_COUNTED)


def of_fewer(panel: Panel, share: Fraction) -> tuple[int, Fraction]:
    """A tenth of as many people, and the share of them: how the bound gets worse where fewer take part than is said."""
    people = counted(panel.people)
    few = max(1, people // 10)
    return few, min(Fraction(1), share * people / few)


def in_hundred(share: Fraction) -> str:
    """A share as so many in 100, rounded up.

    >>> in_hundred(Fraction(1, 30))
    '3.34'
    """
    return rounded_up(100 * share, 2)


def panel_sentence(panel: Panel, share: Fraction) -> str:
    """What a panel means for whoever takes part, in one breath: which answers repeat, and how many are found again."""
    few, more = of_fewer(panel, share)
    return (
        f"This survey is a wave of the panel {panel.name!r}: your device keeps a disguise of {listed(panel.repeats)} "
        f"and makes what it sends of it, wave after wave. If at least {counted(panel.people)} people take part, at "
        f"most {in_hundred(share)} in 100 of them can be found again by what they send, whatever else is known about "
        f"them; of fewer, more: of {few} people, {in_hundred(more)} in 100."
    )


def share_of(message: Design) -> Fraction | None:
    """The share that is found again of a panel's wave; None for what is no panel."""
    if message.panel is None:
        return None
    sizes = (len(each.categories) for each in message.public)
    return found_again(message.plan, message.weights, sizes, message.panel.people)


def check_panel(message: Design) -> None:
    """Check that what is repeated was declared, has a second level, and is shared by enough people."""
    panel, plan = message.panel, message.plan
    if panel is None:
        if any(question.channel.kept is not None for question in plan.questions):
            refuse("wrong-panel", "a second level is for panels, and this survey is none")
        return
    if message.admission != "invited":
        refuse(
            "wrong-panel", f"{message.admission} admission is for answers that nobody can connect, and a panel's can be"
        )
    if [attribute.name for attribute in plan.domain if attribute.name in panel.repeats] != list(panel.repeats):
        refuse("wrong-panel", "what the panel repeats does not stand once each in the order of the plan")
    for question in plan.questions:
        _check_question("*".join(question.attributes), question, panel)
    share = share_of(message)
    assert share is not None
    if share > MOST_FOUND:
        among = counted(panel.people)
        refuse("pseudonym", f"{in_hundred(share)} in 100 of {among} people could be found again, more than 5")


def _check_question(name: str, question: Asked, panel: Panel) -> None:
    inside = [attribute in panel.repeats for attribute in question.attributes]
    if any(inside) != all(inside):
        refuse("wrong-panel", f"question {name!r} is repeated in part")
    if any(inside) != (question.channel.kept is not None):
        refuse("wrong-panel", f"question {name!r}: what is repeated has two levels, and nothing else")
    if question.channel.exchange:
        refuse("wrong-panel", "a panel has no blocks and no partners")
