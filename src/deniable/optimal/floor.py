"""The floor: what no epsilon-LDP design can go below: the largest of all bounds that are known.

Let M = Q' diag(Q 1)^-1 Q for a channel Q over t answers. M 1 = 1, and its trace is at most

    max over m of  t (m e^2eps + t - m) / (m e^eps + t - m)^2,

reached by rows with two values 1 : e^eps of which m are large. The inequality of Cauchy and Schwarz on the complement
of the constants gives, at even shares, for every channel

    loss >= min over whole m of  (m e^eps + t - m)^2 / (m (t - m) (e^eps - 1)^2)  S^2 / t
         >= 4 e^eps / (e^eps - 1)^2  S^2 / t,        S = sum of the singular values of W (I - 11' / t),

and at any truth pi

    loss >= 4 e^eps / (e^eps - 1)^2  (sum of the singular values of W diag(sqrt pi) (I - sqrt pi sqrt pi'))^2.

Over many attributes, and at epsilon 2 and above, this bounds the information about all sets of attributes at once too
loosely. Two other bounds mend it: `hypercontractive_floor`, for any number of attributes, and `delsarte_floor`, by a
linear program, sharper, at even shares where attributes are few or alike. Nothing goes below the variance that direct
questions to everybody have. Up to 16 cells a search for a certificate finds what no channel goes below (`certificate`).

Attributes that nobody wants anything of change nothing: a design that asks about them as well is, where these are
known to be even and independent, a channel over the others alone, and what is not known only costs information. So t is
the number of cells of the attributes that some wanted number needs. The floor holds for adaptive and interactive
designs too, where the truths of respondents stay independent given what was exchanged. It does not hold for paired
respondents, for (epsilon, delta), nor for biased estimators.

The closed form is computed in double precision, and lowered by more than its rounding errors. The other bounds come
with a certificate that computes them again in fractions, or with sixty digits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, expm1, isfinite
from typing import TYPE_CHECKING

import numpy as np

from deniable.aims.aim import asked_of, matrix_of
from deniable.aims.assumed_truth import Guess
from deniable.aims.contrasts import LOWERED, Contrasts
from deniable.aims.parse import gathered
from deniable.core.domain import Domain
from deniable.core.summary import Shown, Summary
from deniable.core.table import Table
from deniable.device.epsilon import exp_below
from deniable.errors import ConvergenceError, InputError
from deniable.frozen import Frozen
from deniable.optimal.delsarte_floor import delsarte_floor
from deniable.optimal.hypercontractive_floor import hypercontractive_floor, hypercontractive_floor_at
from deniable.plotting import DARK, axes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.aims.aim import Wanted
    from deniable.aims.assumed_truth import Population, Truth
    from deniable.core.domain import Category
    from deniable.optimal.certificate_file import Proof

_HIGHER = 1 + 1e-8  # by less, it is the closed form itself, which is lowered a little
_MOST_CELLS = 4096  # at a guess that is not even shares, all cells are needed at once
_MANY = 1 << 40  # of so many cells, a whole number of them is any share


@dataclass(frozen=True)
class Floor(Shown, Frozen):
    """What no design at this epsilon can go below.

    Attributes:
        loss: n times the summed (weighted) variance of the wanted numbers, from n respondents; rounded down.
        epsilon: what each respondent may spend in total.
        cells: how many cells the attributes have that are needed.
        is_even: whether it is stated at even shares, or at a guess of the truth.
        certificate: what proves it, where it is higher than the closed form; `check` proves it again.

    >>> print(floor({"smokes": ["no", "yes"]}, "smokes", 1.0))
    With n respondents at epsilon 1, no design makes the summed variance smaller than 2.34 / n, at even shares.
    """

    loss: float
    epsilon: float
    cells: int
    is_even: bool
    certificate: Proof | None = None

    def __float__(self) -> float:
        """The bound itself, `loss`."""
        return self.loss

    @property
    def where(self) -> str:
        """At which truth: always to be said with the number, since another truth may allow less."""
        return "at even shares" if self.is_even else "at your guess"

    def respondents(self, variance: float) -> int:
        """How many respondents any design needs, for a summed variance as small as this."""
        if not (isfinite(variance) and variance > 0):
            raise InputError(f"a summed variance is above 0, not {variance!r}", variance=variance)
        return ceil(self.loss / variance * LOWERED)

    def times(self, loss: float) -> float:
        """How many times as many respondents a design with this loss needs as the best possible one, at most."""
        return loss / self.loss

    def distance(self, loss: float) -> str:
        """How far a design with this loss is from the best, in words."""
        return distance(Fraction(loss) / Fraction(self.loss), self.where)

    def summary(self) -> Summary:
        """The floor, in a sentence."""
        certified = " (certified)" if self.certificate else ""
        said = (
            f"With n respondents at epsilon {self.epsilon:g}, no design makes the summed variance smaller than "
            f"{self.loss:.4g} / n, {self.where}{certified}."
        )
        return Summary({}, (said,))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the least summed variance against the number of respondents."""
        ax = axes(ax, size=(6.4, 3.4))
        n = np.logspace(2, 6, 50)
        ax.loglog(n, self.loss / n, color=DARK, label=f"no design below, {self.where}")
        ax.set_xlabel("respondents")
        ax.set_ylabel("summed variance")
        ax.legend(fontsize="small")
        return ax


def floor(
    domain: Domain | Mapping[str, Iterable[Category]],
    wanted: Wanted | str | Sequence[Wanted | str | Sequence[str]],
    epsilon: float,
    truth: Truth | None = None,
    *,
    certify: bool = False,
) -> Floor:
    """The least loss of any design at this epsilon: n times the summed variance of what is wanted.

    Args:
        domain: the attributes and their categories.
        wanted: what the survey is made for: `Wanted` numbers, a name for its shares, a list of names for their table.
        epsilon: what each respondent may spend in total.
        truth: a guess: a table, shares by attribute, or a list of guesses, whose floors are averaged (`Guess`); even
            shares by default, and for attributes it does not hold.
        certify: search for a certificate over all patterns too, and give the highest bound; for at most 16 cells.

    >>> pairs = [["a", "b"], ["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"], ["c", "d"]]
    >>> round(floor(dict.fromkeys("abcd", ["no", "yes"]), pairs, 1.0).loss, 1)
    154.3
    >>> round(float(floor({"smokes": ["no", "yes"]}, "smokes", 1.0)), 3)  # the same number, as any float
    2.341
    """
    exp_below(epsilon)  # refuses an epsilon that is none
    items = gathered(wanted)
    known = domain if isinstance(domain, Domain) else Domain(domain)
    asked = asked_of(known, items)
    if truth is None:
        best, shares = even_floor(Contrasts(asked, items), epsilon), None
    else:
        guess = Guess.of(known, truth)
        # The average of the floors is a floor of the average.
        each = [_at(asked, items, epsilon, one) for one in guess.populations]
        average = sum(weight * one for weight, one in zip(guess.weights, each, strict=True))
        best = Floor(average * LOWERED if len(each) > 1 else average, epsilon, asked.cells, is_even=False)
        shares = assumed(asked, guess.populations[0])
        certify = certify and len(each) == 1  # no one certificate would prove an average
    if certify:
        from deniable.optimal.column_generation import certified

        found = certified(matrix_of(asked, items, shares), epsilon, None if shares is None else shares.values)
        if found.bound > best.loss:
            return replace(best, loss=found.bound, certificate=found)
    return best


def distance(times: Fraction | float, where: str, what: str = "design") -> str:
    """How far something is from the best possible: the one sentence for it, wherever it is said.

    Rounded up, so that nothing is called nearer than it is.

    >>> print("It " + distance(1.1401, "at even shares") + ".")
    It needs at most 1.15 times as many respondents as the best possible design, at even shares.
    """
    # A floor is lowered by more than its rounding errors: what reaches it is a billionth above, not a hundredth.
    places = 4 if 1 < times <= Fraction(10001, 10000) else 2
    near = f"{ceil(Fraction(times) * 10**places) / 10**places:.{places}f}"
    return f"needs at most {near} times as many respondents as the best possible {what}, {where}"


def even_floor(contrasts: Contrasts, epsilon: float) -> Floor:
    """The largest floor at even shares that needs no look at every pattern."""
    cells = contrasts.domain.cells
    closed = at_even_shares(epsilon, cells, contrasts.singular_sum**2)
    best = Floor(max(closed, sum(contrasts.squares.values()) * LOWERED), epsilon, cells, is_even=True)
    for search in (hypercontractive_floor, delsarte_floor):
        try:
            found = search(contrasts, epsilon)
        except ConvergenceError:
            continue  # the others are floors as well
        if found is not None and found.bound > best.loss * _HIGHER:
            best = replace(best, loss=found.bound, certificate=found)
    return best


def _at(asked: Domain, items: tuple[Wanted, ...], epsilon: float, population: Population) -> float:
    """The largest floor at one population."""
    table = assumed(asked, population)
    rows, shares = matrix_of(asked, items, table), table.values.ravel()
    held = [[name for name in asked if name in known.domain] for known in population.tables]
    parts = [*(names for names in held if names), *([name] for name in asked if name not in population.domain)]
    factors = [([asked.names.index(name) for name in names], table.project(names).values) for names in parts]
    return max(
        at_truth(epsilon, rows, shares), hypercontractive_floor_at(epsilon, rows, factors, asked.shape) * LOWERED
    )


def at_even_shares(epsilon: float, cells: int, squared: float) -> float:
    """The floor with the best whole m; `squared` is S^2 / t."""
    gain = expm1(epsilon)  # e^eps - 1, which would lose its digits next to zero otherwise
    least = 4 * (1 + gain) / gain**2
    if cells < _MANY:
        # (m gain + t)^2 / (m (t - m)) has one minimum, at m = t / (e^eps + 1).
        near = int(cells / (gain + 2))
        sizes = [m for m in (near, near + 1) if 0 < m < cells] or [1]
        least = max(least, min((m * gain + cells) ** 2 / (m * (cells - m)) for m in sizes) / gain**2)
    return least * squared * LOWERED


def at_truth(epsilon: float, rows: NDArray[np.float64], shares: NDArray[np.float64]) -> float:
    """The closed form at any truth, or the variance of direct questions; wanted numbers as rows over all cells."""
    root = np.sqrt(shares / shares.sum())
    scaled = rows * root
    singular = np.linalg.svd(scaled - np.outer(scaled @ root, root), compute_uv=False)
    gain = expm1(epsilon)
    return max(4 * (1 + gain) / gain**2 * float(singular.sum()) ** 2, float((singular**2).sum())) * LOWERED


def assumed(asked: Domain, truth: Table | Population) -> Table:
    """The assumed truth over the asked attributes, even over those it does not hold."""
    truth = truth.in_order_of(asked)
    known = [name for name in asked if name in truth.domain]
    others = [name for name in asked if name not in known]
    _small_enough(asked)
    parts = [truth.project(known).normalize()] if known else []
    if others:
        rest = asked.project(others)
        parts.append(Table(rest, np.full(rest.shape, 1 / rest.cells)))
    whole = parts[0] if len(parts) == 1 else parts[0] * parts[1]
    if (whole.values < 0).any():
        raise InputError("the assumed table has negative cells; project it to the simplex first")
    return whole.project(asked.names)


def _small_enough(asked: Domain) -> None:
    if asked.cells > _MOST_CELLS:
        raise InputError(
            f"the attributes that are needed have {asked.cells} cells; a floor at a guess takes at most {_MOST_CELLS}. "
            f"Leave the truth out for the floor at even shares, which bounds the worst case over all truths",
            cells=asked.cells,
        )
