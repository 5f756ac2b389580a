"""The privacy statement: what a respondent's whole report can do to them, in plain words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING

from deniable.device import epsilon as exact
from deniable.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from deniable.device.epsilon import Ratio

_PRIORS = (0.5, 0.05)

_DISCLOSED = (
    "Some answers are disclosed with certainty: there are reports that only one kind of truth can produce. "
    "This is not differentially private (epsilon is infinite)."
)


@dataclass(frozen=True)
class Statement:
    """The privacy of everything one respondent sends, from one exact ratio.

    =================  =====================================================
    `epsilon`          ln(ratio), rounded up
    `odds_factor`      ratio, rounded up
    `posterior(b)`     b ratio / (b ratio + 1 - b), rounded up
    =================  =====================================================

    Args:
        ratio: The exact privacy ratio of the whole report: a `Fraction` >= 1 or `math.inf`.
        notes: Sentences that belong beside the numbers, such as what rides along in clear.

    >>> print(Statement(Fraction(3)))
    epsilon per respondent: 1.0987 (rounded up)
    A respondent's whole report can shift anybody's odds about them by a factor of at most 3.000.
    Who believed 50% before can believe at most 75.00% after; who believed 5%, at most 13.64%.
    """

    ratio: Ratio
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "ratio", exact.as_ratio(self.ratio))
        _check_notes(self.notes)

    @property
    def epsilon(self) -> float:
        """ln(ratio), rounded up; infinite where an answer can be disclosed with certainty."""
        return exact.epsilon_of(self.ratio)

    @property
    def odds_factor(self) -> float:
        """The most that the whole report multiplies anybody's odds about the respondent, rounded up."""
        return self.ratio if isinstance(self.ratio, float) else exact.float_above(self.ratio)

    def posterior(self, prior: float) -> float:
        """Return the most anybody can believe after the report, who believed `prior` before it. Rounded up."""
        return exact.posterior(prior, self.ratio)

    def lines(self) -> tuple[str, ...]:
        """Return the statement, one sentence a line, the notes last."""
        if isinstance(self.ratio, float):
            return (_DISCLOSED, *self.notes)
        factor = rounded_up(self.ratio, 3)
        half, twentieth = (_percent(self.posterior(prior)) for prior in _PRIORS)
        return (
            f"epsilon per respondent: {rounded_up(Fraction(self.epsilon), 4)} (rounded up)",
            f"A respondent's whole report can shift anybody's odds about them by a factor of at most {factor}.",
            f"Who believed 50% before can believe at most {half} after; who believed 5%, at most {twentieth}.",
            *self.notes,
        )

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape(line)}</li>" for line in self.lines())
        return f'<section class="deniable-statement"><strong>Privacy statement</strong><ul>{items}</ul></section>'

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw how deniable an answer stays: the most and the least anybody can believe after the report."""
        from deniable.plotting import beliefs  # a device draws nothing; whoever reads the statement may

        epsilon = "infinite" if math.isinf(self.epsilon) else rounded_up(Fraction(self.epsilon), 4)
        return beliefs(self.posterior, f"One whole report: epsilon {epsilon}", ax)


def both_numbers(claim: Ratio, ratio: Ratio) -> str:
    """The epsilon that is claimed for a deniable report, and the true one, in one sentence.

    >>> both_numbers(Fraction(2), Fraction(100))
    'Claimed epsilon (deniability, not differential privacy): 0.6932. True epsilon: 4.6052.'
    """
    claimed, true = (rounded_up(exact.epsilon_of(each)) for each in (claim, ratio))
    return f"Claimed epsilon (deniability, not differential privacy): {claimed}. True epsilon: {true}."


def told_in_part(name: str, truths: int, sums: int | None) -> str:
    """Say what can be learned from the reports to a question whose channel was made for some numbers.

    >>> told_in_part("age", 11, 1)
    'Reports to age tell 1 of the 10 independent sums of its shares, and nobody can learn the others from them.'
    """
    of = f"the {truths - 1} independent sums of its shares"
    told = f"some of {of}" if sums is None else f"{sums} of {of}"
    return f"Reports to {name} tell {told}, and nobody can learn the others from them."


def _check_notes(notes: object) -> None:
    # A lone string would pass for a sequence of one-letter sentences.
    if not isinstance(notes, tuple) or not all(isinstance(note, str) for note in notes):
        message = f"notes are a tuple of sentences; got {notes!r}."
        raise InputError(message, notes=notes)


def rounded_up(number: Fraction | float, places: int = 4) -> str:
    """Print with so many decimals, rounded up: a printed promise is never better than the true one.

    >>> rounded_up(1.00449, 2), rounded_up(0.25), rounded_up(math.inf)
    ('1.01', '0.2500', 'infinite')
    """
    if number == math.inf:
        return "infinite"
    whole, decimals = divmod(math.ceil(Fraction(number) * 10**places), 10**places)
    return f"{whole}.{decimals:0{places}d}"


def rounded_down(number: Fraction | float, places: int = 4) -> str:
    """Print with so many decimals, rounded down: what is left is never more than it says.

    >>> rounded_down(3.99999, 2)
    '3.99'
    """
    whole, decimals = divmod(math.floor(Fraction(number) * 10**places), 10**places)
    return f"{whole}.{decimals:0{places}d}"


def _percent(probability: float) -> str:
    return f"{rounded_up(100 * Fraction(probability), 2)}%"
