"""Exact arithmetic of privacy ratios.

A **ratio** is the most that one report can multiply anybody's odds about the respondent:

    ratio = max over reports u and truths v, v' of  Pr(u | v) / Pr(u | v')

Our channels have integer weights, so a ratio is a `fractions.Fraction` >= 1, or `math.inf` where some report is
impossible under one truth and possible under another. Ratios are multiplied and compared exactly. Only at the very
end does a logarithm make a float of them, and that float is rounded against whoever claims privacy:

* `epsilon_of` is never below the true ln(ratio),
* `exp_below` is never above the true e^epsilon.
"""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from numbers import Rational
from typing import TYPE_CHECKING, TypeAlias

from deniable.errors import DesignError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

Ratio: TypeAlias = Fraction | float
"""An exact privacy ratio: a `Fraction` >= 1, or `math.inf` (the only float that is one)."""

LARGEST_EPSILON = 1000.0
"""Beyond this e^epsilon is a number of hundreds of digits and the word privacy means nothing."""

_EXP_DIGITS = 60
# More than for exp, so that the logarithm of a rounded-down power still comes out at or below the exponent.
_LN_DIGITS = 100


def as_ratio(ratio: Ratio | Rational) -> Ratio:
    """Check a ratio and give it its one form: a `Fraction` of Python integers, or `math.inf`.

    Args:
        ratio: A rational number >= 1 or `math.inf`. Any other float is refused: it has lost its exactness already.

    Raises:
        DesignError: The number is below 1, not a number, or a finite float.

    >>> as_ratio(3)
    Fraction(3, 1)
    """
    if isinstance(ratio, Rational):
        # int(...): a Fraction built from numpy integers keeps them inside, and those overflow when composed.
        exact = Fraction(int(ratio.numerator), int(ratio.denominator))
        if exact >= 1:
            return exact
    elif ratio == math.inf:
        return math.inf
    message = (
        f"a privacy ratio is a Fraction of at least 1, or math.inf; got {ratio!r}. "
        "Divide the larger integer weight by the smaller one, as Fraction(larger, smaller)."
    )
    raise DesignError(message, ratio=ratio)


def epsilon_of(ratio: Ratio) -> float:
    """Epsilon = ln(ratio), as the smallest float that is provably not below it.

    A ratio of 1 gives exactly 0.0, an infinite one `math.inf`.

    >>> epsilon_of(Fraction(3))
    1.0986122886681098
    >>> epsilon_of(Fraction(1)), epsilon_of(math.inf)
    (0.0, inf)
    """
    exact = as_ratio(ratio)
    return math.inf if isinstance(exact, float) else float_above(_ln_above(exact))


def epsilon_below(ratio: Fraction) -> float:
    """Return ln(ratio), as a float that is provably not above it: what is left in an account is rounded down.

    >>> epsilon_below(Fraction(3)) < epsilon_of(Fraction(3))
    True
    """
    exact = as_ratio(ratio)
    return math.inf if isinstance(exact, float) else max(0.0, float_below(_ln_below(exact)))


def require_number(epsilon: object) -> None:
    """Refuse an epsilon that is a text, with the line to write."""
    if isinstance(epsilon, str):
        raise DesignError(
            f"epsilon is a number: write epsilon={epsilon.strip() or '1'}, not {epsilon!r}", epsilon=epsilon
        )


def exp_below(epsilon: float) -> Fraction:
    """Return a fraction not above e^epsilon and within 1e-40 of it, relatively.

    Weights made from a requested epsilon are checked against this bound, so that rounding costs utility and never
    privacy. It is at least 1 + epsilon, hence above 1 for every epsilon > 0.

    Raises:
        DesignError: Epsilon is not a number, not positive, infinite, or above `LARGEST_EPSILON`.

    >>> round(float(exp_below(1.0)), 12)
    2.718281828459
    >>> epsilon_of(exp_below(1.0)) <= 1.0
    True
    """
    return _exp_below(_checked_epsilon(epsilon))


# The same few epsilons and ratios are asked for by every question, every device and every channel that is weighed.


@lru_cache(maxsize=1024)
def _exp_below(exponent: float) -> Fraction:
    power = _context(_EXP_DIGITS).exp(Decimal(exponent))  # correctly rounded, hence within half a unit
    below = Fraction(_context(_EXP_DIGITS).next_minus(power))
    # e^x >= 1 + x, exactly; for a tiny x the sixty digits above would say less than that.
    return max(below, 1 + Fraction(exponent))


def exp_above(epsilon: float) -> Fraction:
    """Return a fraction not below e^epsilon and within 1e-30 of it, relatively: for what no epsilon may beat.

    >>> exp_below(1.0) < exp_above(1.0) < exp_below(1.0) * (1 + Fraction(1, 10**29))
    True
    """
    return exp_below(epsilon) * (1 + Fraction(1, 10**30))  # exp_below is within 1e-40


def compose(ratios: Iterable[Ratio]) -> Ratio:
    """Sequential composition: the ratio of several reports about one person is the exact product of theirs.

    In the logarithm, epsilon_1 + epsilon_2 + ...; nothing at all has the ratio 1.

    >>> compose([Fraction(3, 2), Fraction(4, 3)])
    Fraction(2, 1)
    >>> compose([Fraction(3, 2), math.inf])
    inf
    """
    product = Fraction(1)
    infinite = False
    for ratio in ratios:
        exact = as_ratio(ratio)
        if isinstance(exact, float):
            infinite = True  # go on all the same, so that a bad ratio behind an infinite one is still refused
        else:
            product *= exact
    return math.inf if infinite else product


def posterior(prior: float, ratio: Ratio) -> float:
    """Return the most anybody can come to believe, who believed `prior` before seeing the reports.

    With r the ratio and b the prior belief, Bayes' rule gives at most  b r / (b r + 1 - b).  Rounded up. A belief of
    0 never moves; an infinite ratio makes any other belief certain.

    Raises:
        InputError: The prior is not between 0 and 1.

    >>> posterior(0.5, Fraction(3))
    0.75
    """
    if not 0 <= prior <= 1:  # also refuses nan
        message = f"a prior belief is a probability between 0 and 1; got {prior!r}."
        raise InputError(message, prior=prior)
    exact = as_ratio(ratio)
    belief = Fraction(prior)
    if isinstance(exact, float):
        return 1.0 if belief > 0 else 0.0
    return float_above(belief * exact / (belief * exact + 1 - belief))


def float_above(number: Fraction) -> float:
    """Return the smallest float not below a fraction; `math.inf` beyond the floats.

    >>> float_above(Fraction(1, 10)) >= Fraction(1, 10)
    True
    """
    try:
        nearest = float(number)
    except OverflowError:
        return math.inf
    return nearest if Fraction(nearest) >= number else math.nextafter(nearest, math.inf)


def float_below(number: Fraction) -> float:
    """Return the largest float not above a fraction.

    >>> float_below(Fraction(1, 10)) <= Fraction(1, 10)
    True
    """
    nearest = float(number)
    return nearest if Fraction(nearest) <= number else math.nextafter(nearest, -math.inf)


@lru_cache(maxsize=4096)
def _ln_above(ratio: Fraction) -> Fraction:
    context = _context(_LN_DIGITS)
    quotient = _quotient(context, ratio)
    # Quotient and logarithm are each within half a unit of their last digit: one step up covers each.
    above = Fraction(context.next_plus(context.ln(context.next_plus(quotient))))
    # ln r <= r - 1 is the sharper of the two next to 1, and exact at 1.
    return min(above, ratio - 1)


def _ln_below(ratio: Fraction) -> Fraction:
    context = _context(_LN_DIGITS)
    quotient = context.next_minus(_quotient(context, ratio))
    # ln r >= 1 - 1/r, again sharper next to 1.
    return max(Fraction(context.next_minus(context.ln(quotient))), 1 - 1 / ratio)


def _quotient(context: Context, ratio: Fraction) -> Decimal:
    return context.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))


def _context(digits: int) -> Context:
    # A context of our own: the caller's may have few digits, another rounding or traps.
    return Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN)


def _checked_epsilon(epsilon: float) -> float:
    require_number(epsilon)
    if 0 < epsilon <= LARGEST_EPSILON:
        return float(epsilon)
    if epsilon <= 0:
        problem = "it must be above 0: at 0 a report tells nothing, below 0 there is no such thing"
    elif epsilon > LARGEST_EPSILON:
        problem = f"it must be at most {LARGEST_EPSILON:g}: a report so clear is a disclosed answer"
    else:
        problem = "it is not a number"
    message = f"epsilon = {epsilon!r} cannot be used: {problem}. Usual values lie between 0.1 and 5."
    raise DesignError(message, epsilon=epsilon)
