"""How many respondents, and what they can show: the two numbers that planning gives, with what they were found by."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from deniable.core.results import axes, legend
from deniable.core.summary import Summary
from deniable.frozen import Frozen, fix
from deniable.plotting import DARK, MARK

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

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
