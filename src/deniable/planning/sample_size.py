"""How many respondents, and what they can show: the two numbers that planning gives, with what they were found by.

Sample sizes from exact powers, which rise like a saw: up with n on the whole, down a little at many steps.

A count is a whole number, so a test's true level lies below the nominal one by a little that changes with n. The first
n that reaches the target may therefore be followed by larger ones that miss it. What is returned here is the n from
which on the target is never missed again.

How many respondents make an interval narrow enough.
"""

from __future__ import annotations

import textwrap
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from deniable.core.results import axes, legend
from deniable.core.summary import Summary
from deniable.errors import InputError
from deniable.frozen import Frozen, fix
from deniable.planning.exact_power import code_of, words_of
from deniable.plotting import DARK, MARK

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.channels.channel import Channel
    from deniable.core.domain import Category

_POINTS = 160  # of a drawn curve

Curve: TypeAlias = "Callable[[NDArray[np.int64]], NDArray[np.float64]]"


class Power(Frozen, float):
    """A probability to reject, with the test it belongs to (`.test`) and its simulation error (`.std_error`, or 0).

    Beside an exact power stands what the normal approximation gives (`.normal`); None where there is none.
    """

    test: str
    std_error: float
    n: int
    curve: Curve
    normal: float | None

    def __new__(
        cls, value: float, test: str, std_error: float = 0.0, *, n: int, curve: Curve, normal: float | None = None
    ) -> Self:
        """Take the power, the test in words, the number of respondents, and the power as a function of that number."""
        made = super().__new__(cls, value)
        fix(made, test=test, std_error=std_error, n=n, curve=curve, normal=normal)
        return made

    def _given(self) -> dict[str, Any]:
        return {"value": float(self), **vars(self)}

    def __str__(self) -> str:
        simulated = f" (simulated, standard error {self.std_error:.3f})" if self.std_error else ""
        beside = f" (normal approximation {self.normal:.3f})" if self.normal is not None else ""
        return f"power {float(self):.3f}{simulated}{beside}: {self.test}"

    def summary(self) -> Summary:
        """The power in one row."""
        columns: dict[str, list[Any]] = {
            "power": [float(self)],
            "respondents": [self.n],
            "std_error": [self.std_error],
            "normal approximation": ["" if self.normal is None else self.normal],
        }
        return Summary(columns, title=self.test)

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the power against the number of respondents (simulated anew, and roughly, where this one was)."""
        ax = _drawn(self.curve, self.n, self.test, ax)
        ax.plot([self.n], [float(self)], "o", color=MARK, label=f"{float(self):.3f} with {self.n}")
        legend(ax)
        return ax


class SampleSize(Frozen, int):
    """The number of respondents from which on the target is always met.

    Attributes:
        first: the first number that meets it, though some larger ones may miss it again.
        normal: what the normal approximation gives; None where the number was simulated.
        reached: the power (or assurance) at this number.
        test: what it is the power of, in words.
        wanted: the target.
        curve: the power (or assurance) as a function of the number of respondents.
    """

    first: int
    normal: int | None
    reached: float
    test: str
    wanted: float
    curve: Curve

    def __new__(
        cls, n: int, *, first: int, normal: int | None, reached: float, test: str, wanted: float, curve: Curve
    ) -> Self:
        """Take the number and what it was found with."""
        made = super().__new__(cls, n)
        fix(made, first=first, normal=normal, reached=reached, test=test, wanted=wanted, curve=curve)
        return made

    def _given(self) -> dict[str, Any]:
        return {"n": int(self), **vars(self)}

    def __str__(self) -> str:
        exact = f"; first reached at {self.first}, for good from {int(self)}; normal approximation {self.normal}"
        return f"{int(self)} respondents ({self.reached:.3f} there{exact if self.normal else ''}): {self.test}"

    def summary(self) -> Summary:
        """The number in one row, with what it was found by."""
        columns: dict[str, list[Any]] = {
            "respondents": [int(self)],
            "reached there": [self.reached],
            "wanted": [self.wanted],
            "first reached at": [self.first],
            "normal approximation": ["" if self.normal is None else self.normal],
        }
        return Summary(columns, title=self.test)

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what is reached against the number of respondents, with the target and this number."""
        ax = _drawn(self.curve, int(self), self.test, ax)
        ax.axhline(self.wanted, color="black", linestyle=":", label=f"wanted: {self.wanted:g}")
        ax.axvline(int(self), color=MARK, label=f"{int(self)} respondents")
        legend(ax)
        return ax


def _drawn(curve: Curve, n: int, told: str, ax: Axes | None) -> Axes:
    """The axes with a power curve from a quarter of n to twice as many."""
    sizes = np.unique(np.linspace(max(2, n / 4), 2 * n, _POINTS).astype(np.int64))
    ax = axes(ax)
    ax.plot(sizes, curve(sizes), color=DARK)
    ax.set_ylim(0, 1.03)
    ax.set_xlabel("respondents")
    ax.set_ylabel("probability")
    ax.set_title("\n".join(textwrap.wrap(told, 75)), fontsize="small", pad=24)
    return ax


MOST = 10**9


def settle(f: Callable[[NDArray[np.int64]], NDArray[np.float64]], target: float, guess: float) -> tuple[int, int]:
    """The first n with f(n) >= target, and the first from which on f stays there.

    The teeth of the saw are about sqrt(n) wide, so a window of some sqrt(n) around a good guess shows both; it is
    widened until its lower quarter lies below the target and its upper quarter above.
    """
    if not guess < MOST:
        raise InputError(
            f"more than {MOST:.0e} respondents would be needed: ask for less, or use a device with less noise"
        )
    centre = max(2.0, guess)
    below = above = 8 * np.sqrt(centre) + 60
    while True:
        low, high = max(2, int(centre - below)), int(centre + above)
        n = np.arange(low, high + 1)
        reached = f(n) >= target
        quarter = max(1, len(n) // 4)
        if not reached[-quarter:].all():
            if high > MOST:
                raise InputError(f"the target {target:g} is not reached with {MOST:.0e} respondents")
            above *= 2
        elif low > 2 and reached[:quarter].any():
            below *= 2
        else:
            break
    missed = np.flatnonzero(~reached)
    return int(n[np.argmax(reached)]), int(n[missed[-1]] + 1) if len(missed) else low


def sample_size_for_width(
    channel: Channel,
    prevalence: float,
    width: float,
    *,
    level: float = 0.95,
    assurance: float = 0.8,
    category: Category | None = None,
) -> SampleSize:
    """The number of respondents from which on Wilson's interval is narrow enough with the given probability.

    An interval's width depends on the answers that come. `assurance` is the probability that it is at most `width` if
    the prevalence is the assumed one; it is exact, and holds for every larger number too.

    The interval of a share x has the width 2 z / (1 + z^2/n) sqrt(x (1 - x) / n + z^2 / 4n^2), divided by the channel's
    scale; so "narrow enough" means x (1 - x) <= some v, that is x near 0 or near 1.
    """
    from scipy.special import ndtri

    affine = channel.affine()
    if affine is None:
        raise InputError(
            f"a category of {channel.name} is not one binomial, so the width has no exact distribution; use a k-RR, "
            f"mixture or two-by-two channel"
        )
    if width <= 0 or not 0 < assurance < 1 or not 0 < level < 1 or not 0 <= prevalence <= 1:
        raise InputError(
            f"a width lies above 0, and level, assurance and prevalence between 0 and 1; got width {width!r}, level "
            f"{level!r}, assurance {assurance!r}, prevalence {prevalence!r}"
        )
    v = code_of(channel, category)
    scale, share = abs(float(affine[0][v])), float(affine[0][v]) * prevalence + float(affine[1][v])
    z = float(ndtri((1 + level) / 2))
    narrow = partial(_narrow, width * scale, share, z)
    normal = max(4.0, (2 * z / (width * scale)) ** 2 * share * (1 - share))
    first, last = settle(narrow, assurance, normal)
    told = (
        f"probability that Wilson's {level:.0%} interval is at most {width:g} wide at a prevalence"
        f"{words_of(channel, v)} of {prevalence:g}, through {channel.name}"
    )
    reached = float(narrow(np.array([last]))[0])
    return SampleSize(
        last,
        first=first,
        normal=int(np.ceil(normal)),
        reached=reached,
        test=told,
        wanted=assurance,
        curve=narrow,
    )


def _narrow(width: float, share: float, z: float, n: NDArray[np.int64]) -> NDArray[np.float64]:
    """The probability that the interval of a binomial share is at most so wide."""
    from scipy.stats import binom

    spread = ((width * (1 + z**2 / n) / (2 * z)) ** 2 - z**2 / (4 * n**2)) * n
    # x (1 - x) <= spread outside (edge, 1 - edge)
    edge = (1 - np.sqrt(np.clip(1 - 4 * spread, 0, 1))) / 2
    low, high = np.floor(n * edge + 1e-9), np.ceil(n * (1 - edge) - 1e-9)
    outside = binom.cdf(low, n, share) + binom.sf(high - 1, n, share)
    return np.where(spread < 0, 0.0, np.where(spread >= 0.25, 1.0, np.minimum(outside, 1.0)))
