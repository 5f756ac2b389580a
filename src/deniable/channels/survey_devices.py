"""The classic survey devices: dice, cards and a friend's birthday, each as a named channel.

Truth 1 is the sensitive category ("yes"), truth 0 the other. `categories` name them: first the answer that is not
sensitive, last the one that is. Where the words themselves say which is which (no and yes, false and true, 0 and 1),
they may stand in either order: names win, and truths, reports and results are then listed in that order.

They are meant to be performed by hand, so they keep the probabilities they state. `randomize` runs integers within
2^-32 of them (`.executed()`, whose epsilon is that of what runs), and refuses a device with a zero.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING

from deniable.channels.dense import Dense
from deniable.channels.integer_weights import stated, whole
from deniable.core.input_coercion import without_labels
from deniable.errors import ProbabilityError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.core.domain import Category


def _yes_no(yes_if_no: Fraction, yes_if_yes: Fraction, name: str, categories: Sequence[Category] | None) -> Dense:
    """The 2 x 2 channel of Pr(report 1 | truth 0) and Pr(report 1 | truth 1)."""
    matrix = [[1 - yes_if_no, 1 - yes_if_yes], [yes_if_no, yes_if_yes]]
    return Dense.of_yes_no(matrix, name=name, categories=categories)


def Warner(p: float, categories: Sequence[Category] | None = None) -> Dense:
    """Warner (1965): with probability p the sensitive statement is asked, else its opposite.

    Pr(1 | 1) = p,  Pr(1 | 0) = 1 - p.  Report 1 = "yes".

    >>> Warner(0.8).ratio
    Fraction(4, 1)
    """
    sensitive = stated(p, "p")
    return _yes_no(1 - sensitive, sensitive, f"Warner({float(sensitive):g})", categories)


def ForcedResponse(
    forced: Sequence[float] | float, *more: float | Sequence[Category], categories: Sequence[Category] | None = None
) -> Dense:
    """Forced response: with probability forced[i] the device dictates category i, else the truth is told.

    The probabilities are one list, or one after the other.

    P[u, v] = forced[u] + (1 - sum(forced)) [u = v], for any number of categories.

    >>> ForcedResponse([1 / 6, 1 / 12]).matrix().round(4).tolist()
    [[0.9167, 0.1667], [0.0833, 0.8333]]
    >>> ForcedResponse(1 / 6, 1 / 12).matrix().round(4).tolist()
    [[0.9167, 0.1667], [0.0833, 0.8333]]
    """
    given: list[object] = (
        [forced, *more] if isinstance(forced, int | float) else list(without_labels(forced, "forced answers"))
    )
    if not isinstance(forced, int | float) and more:  # the categories were the second argument once
        (categories,) = more  # type: ignore[assignment]
    shares = [stated(share, "a forced answer's probability") for share in given]
    if len(shares) < 2:
        raise ProbabilityError("forced response needs a probability for each answer, such as ForcedResponse(1/6, 1/6)")
    truth = 1 - sum(shares)
    if truth < 0:
        raise ProbabilityError(
            f"the forced answers' probabilities sum to {float(sum(shares)):g}, more than 1", total=float(sum(shares))
        )
    k = len(shares)
    matrix = [[shares[u] + (truth if u == v else 0) for v in range(k)] for u in range(k)]
    told = ", ".join(f"{float(share):g}" for share in shares)
    return Dense(matrix, name=f"ForcedResponse({told})", categories=categories)


def UnrelatedQuestion(p: float, prevalence: float, categories: Sequence[Category] | None = None) -> Dense:
    """Unrelated question: with probability p the sensitive question is asked, else a harmless one of known prevalence.

    Pr(1 | v) = p [v = 1] + (1 - p) prevalence.

    >>> UnrelatedQuestion(0.7, 0.5).matrix().round(2).tolist()
    [[0.85, 0.15], [0.15, 0.85]]
    """
    sensitive, harmless = stated(p, "p"), stated(prevalence, "prevalence")
    fake = (1 - sensitive) * harmless
    return _yes_no(fake, sensitive + fake, f"UnrelatedQuestion({float(sensitive):g}, {float(harmless):g})", categories)


def Crosswise(p: float, categories: Sequence[Category] | None = None) -> Dense:
    """Crosswise model: p = Pr("yes" to an innocent question). Report 1 = "my two answers are the same".

    Pr(1 | 1) = p,  Pr(1 | 0) = 1 - p: the same channel as Warner's, and nobody ever answers the sensitive question.

    >>> Crosswise(0.25).ratio
    Fraction(3, 1)
    """
    innocent = stated(p, "p")
    return _yes_no(1 - innocent, innocent, f"Crosswise({float(innocent):g})", categories)


def Triangular(p: float, categories: Sequence[Category] | None = None) -> Dense:
    """Triangular model: p = Pr("yes" to an innocent question). Report 1 = "yes to at least one of the two".

    Pr(1 | 1) = 1,  Pr(1 | 0) = p. Report 0 clears a respondent for certain, so epsilon is infinite.

    >>> Triangular(0.25).epsilon
    inf
    """
    innocent = stated(p, "p")
    return _yes_no(innocent, Fraction(1), f"Triangular({float(innocent):g})", categories)


def Mangat(p: float, categories: Sequence[Category] | None = None) -> Dense:
    """Mangat (1994): carriers always say yes; a non-carrier answers truthfully with probability p, else says yes.

    Pr(1 | 1) = 1,  Pr(1 | 0) = 1 - p. Report 0 clears a respondent for certain, so epsilon is infinite.

    >>> Mangat(0.7).matrix().round(2).tolist()
    [[0.7, 0.0], [0.3, 1.0]]
    """
    truthful = stated(p, "p")
    return _yes_no(1 - truthful, Fraction(1), f"Mangat({float(truthful):g})", categories)


def Kuk(p_carrier: float, p_other: float, repetitions: int = 1, categories: Sequence[Category] | None = None) -> Dense:
    """Kuk (1990): draw from one of two card decks, yours by your status, and report how many of the cards were red.

    Report u of 0 .. r is Binomial(r, p_carrier) for truth 1 and Binomial(r, p_other) for truth 0, r = `repetitions`.
    With r > 1 reports outnumber truths.

    >>> Kuk(0.75, 0.25, repetitions=2).ratio
    Fraction(9, 1)
    """
    if whole(repetitions, "repetitions") < 1:
        raise ProbabilityError(f"repetitions must be at least 1, not {repetitions}")
    decks = [stated(p_other, "p_other"), stated(p_carrier, "p_carrier")]
    matrix = [
        [comb(repetitions, red) * share**red * (1 - share) ** (repetitions - red) for share in decks]
        for red in range(repetitions + 1)
    ]
    times = f", repetitions={repetitions}" if repetitions > 1 else ""
    other, carrier = (float(share) for share in decks)
    return Dense.of_yes_no(matrix, name=f"Kuk({carrier:g}, {other:g}{times})", categories=categories)
