"""The best p and rho for paired respondents, in closed form.

Given the claimed epsilon, n respondents of whom m collude, and a guess of the share of "yes", the variance

    pq / (p - q)^2 (n + rho g),      g = ((2 yes - n)^2 - n) / (n - 1),

is to be smallest under the theorem's epsilon. With P = e^epsilon / (1 + e^epsilon), what randomized response would use,
the constraint reads  p (n - 1 - m rho) = P (n - 1)  for rho <= 0: more correlation costs truthfulness, the more the
more colluders there are. Along this line the variance has no minimum inside: the best is one of its ends,

    rho = 0,  p = P,      or the corner      rho = -q / p,  p = (P (n - 1) - m) / (n - 1 - m),

so two numbers are compared and nothing is searched. (A positive rho could gain at most one part in n - 1.)

**What can be served.** At the corner whoever knows the shared coin can be certain, and no device answers such a survey.
With a bound on what that person may learn,  ln((p + d) / (q - d)) <= coin  with d = sqrt(-rho p q), the line ends
earlier, where the bound is met; it still has no minimum inside, so the best is that end or rho = 0.

**More than two categories** are asked as one bit each (`bitmask`), and two truths differ in two bits. The two coins
share one pairing, so the theorem's average becomes  (m p_max^2 + (n-1-m) p^2) / (m p_min^2 + (n-1-m) q^2) <= e^epsilon;
at the corner, with N = n - 1 - m and E = e^epsilon, that is  (E - 1) N p^2 - 2 E N p + E N - m = 0, whose smaller root
is p. Category v is a yes-or-no question about n_v people, so its variance is the one above with yes = n_v: for m = 0
its ratio to unpaired coins is about 1 - e^(-epsilon / 2) (1 - 2 f)^2. Different bits have different coins, so no
covariance between categories changes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.results import axes
from deniable.errors import InputError
from deniable.extensions.paired.pairing import Coins, count_variance
from deniable.numerics.root_finding import root
from deniable.plotting import MARK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

_FINENESS = 400  # pixels of the heat map along each axis
_SHOWN_RANGE = 30.0  # variances beyond this many times the smallest are drawn alike


@dataclass(frozen=True)
class PairedOptimum:
    """The better of pairing at the corner and not pairing at all.

    Attributes:
        epsilon: the claimed epsilon it was made for, of the whole question.
        respondents: n.
        colluders: m.
        shares: the expected share of "yes"; with more than two categories, of each.
        p: the probability of the truth (of a bit's truth, with more than two categories).
        rho: the correlation within a pair, 0 where pairing gains nothing.
        variance: of the estimated count of "yes"; with more than two categories, the sum over them.
        plain_variance: the same without pairing.
        corner_variance: the same at the corner; infinite where the colluders leave no corner.
        coin: the most that whoever knows the shared coin may learn, as an epsilon; infinite at the corner.
    """

    epsilon: float
    respondents: int
    colluders: int
    shares: tuple[float, ...]
    p: float
    rho: float
    variance: float
    plain_variance: float
    corner_variance: float
    coin: float = math.inf

    @property
    def gain(self) -> float:
        """Variance with pairing over variance without; 1 means there is nothing to gain."""
        return self.variance / self.plain_variance

    @property
    def pays(self) -> bool:
        """Whether pairing gains anything."""
        return self.rho != 0

    @property
    def categories(self) -> int:
        """How many categories the question has."""
        return max(2, len(self.shares))

    @property
    def coins(self) -> Coins:
        """The coins as the integers that are run."""
        return Coins.of(self.p, self.rho)

    def __str__(self) -> str:
        asked = f"claimed epsilon {self.epsilon:g}, {self.respondents} respondents, {self.colluders} colluders"
        if self.pays and math.isfinite(self.coin):
            return (
                f"Pairing pays: p = {self.p:.4f}, rho = {self.rho:.4f} has {self.gain:.3f} times the variance of "
                f"unpaired randomized response ({self.variance:.0f} against {self.plain_variance:.0f}; {asked}). "
                f"Whoever knows the shared coin learns epsilon {self.coin:g} at most: what a device is charged."
            )
        if self.pays:
            return (
                f"Pairing pays: p = {self.p:.4f}, rho = {self.rho:.4f} (the corner) has {self.gain:.3f} times the "
                f"variance of unpaired randomized response ({self.variance:.0f} against {self.plain_variance:.0f}; "
                f"{asked}). At the corner a partner who lies knows that the other did not; the privacy statement says "
                f"what that means."
            )
        if math.isinf(self.corner_variance):
            why = "so many colluders leave no correlation that the claimed epsilon allows"
        else:
            why = f"the corner would have {self.corner_variance / self.plain_variance:.3f} times the variance"
        return f"Pairing gains nothing: stay with randomized response, p = {self.p:.4f} ({why}; {asked})."

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the variance over p and rho: blank where the coins do not exist or the claimed epsilon is exceeded."""
        ax = axes(ax, size=(6.4, 4.8))
        from matplotlib.colors import LogNorm

        coins = 1 if self.categories == 2 else 2
        plain = truthfulness(self.epsilon, coins)
        p = np.linspace(0.5, min(0.999, plain + 0.3 * (plain - 0.5)), _FINENESS + 1)[1:]
        rho = np.linspace(-1, 1, _FINENESS)
        grid_p, grid_rho = np.meshgrid(p, rho)
        allowed = allowed_at(
            grid_p,
            grid_rho,
            epsilon=self.epsilon,
            respondents=self.respondents,
            colluders=self.colluders,
            coins=coins,
        )
        each: Any = count_variance  # a formula, so it takes arrays as well
        variance = sum(each(grid_p, grid_rho, self.respondents, share * self.respondents) for share in self.shares)
        shown = np.ma.masked_where(~allowed, variance)
        norm = LogNorm(self.variance, _SHOWN_RANGE * self.variance, clip=True)
        image = ax.pcolormesh(p, rho, shown, norm=norm, cmap="viridis_r", shading="nearest", rasterized=True)
        ax.plot(p, -(1 - p) / p, color="black", linewidth=1, linestyle="--", label="corner: $\\rho = -q/p$")
        ax.plot([plain], [0], "o", color="white", markeredgecolor="black", markersize=7, label="unpaired")
        ax.plot([self.p], [self.rho], "*", color=MARK, markeredgecolor="white", markersize=15, label="best")
        ax.set_facecolor("#f2f2f2")
        ax.set_xlim(0.5, p[-1])
        ax.set_ylim(-1, 1)
        ax.set_xlabel("$p$, probability of the truth", parse_math=True)
        ax.set_ylabel("$\\rho$, correlation within a pair", parse_math=True)
        ax.set_title(
            f"claimed $\\varepsilon$ = {self.epsilon:g}, n = {self.respondents:,}, {self.colluders:,} colluders",
            fontsize="medium",
            parse_math=True,
        )
        ax.legend(loc="upper left", fontsize="small", framealpha=0.95)
        bar = ax.figure.colorbar(image, ax=ax, extend="max")
        bar.set_label("variance of the estimated count")
        return ax


def truthfulness(epsilon: float, coins: int = 1) -> float:
    """What unpaired randomized response uses: P / (1 - P) = e^(epsilon / coins).

    >>> truthfulness(1.0)
    0.7311
    """
    return 1 / (1 + math.exp(-epsilon / coins))


def corner(epsilon: float, respondents: int, colluders: int, coins: int = 1) -> float | None:
    """The p of the corner that meets the claimed epsilon, or None where none above 1/2 does."""
    others = respondents - 1 - colluders
    if coins == 1:
        p = (truthfulness(epsilon) * (respondents - 1) - colluders) / others
    else:
        # (E - 1) N p^2 - 2 E N p + E N - m = 0, the smaller root written so that it does not cancel
        grown = math.exp(epsilon)
        root = math.sqrt(grown * others * others + (grown - 1) * others * colluders)
        p = (grown * others - colluders) / (grown * others + root)
    return p if p > 0.5 else None


def allowed_at(
    p: NDArray[np.float64],
    rho: NDArray[np.float64],
    *,
    epsilon: float,
    respondents: int,
    colluders: int,
    coins: int = 1,
) -> NDArray[np.bool_]:
    """Whether coins with p and rho exist and keep the claimed epsilon; element by element."""
    q, m, others = 1 - p, colluders, respondents - 1 - colluders
    most = np.maximum((1 - rho) * p, p + rho * q)
    least = np.maximum(1 - most, 0.0)
    within = m * most**coins + others * p**coins <= math.exp(epsilon) * (m * least**coins + others * q**coins) * (
        1 + 1e-12
    )
    return (rho >= -q / p - 1e-12) & (rho <= 1) & within


def coin_epsilon(p: float, rho: float, coins: int = 1) -> float:
    """What whoever knows the shared coin can learn: coins ln((p + d) / (q - d)), d = sqrt(-rho p q).

    >>> round(coin_epsilon(0.75, -0.2), 4), coin_epsilon(0.75, -1 / 3)
    (2.8182, inf)
    """
    q = 1 - p
    d = math.sqrt(max(0.0, -rho * p * q))
    return coins * math.log((p + d) / (q - d)) if q - d > 1e-12 else math.inf


def _within(coin: float, respondents: int, colluders: int, epsilon: float, coins: int) -> tuple[float, float]:
    """The p and rho at which both bounds are met: the theorem's, and that on whoever knows the coin."""
    others = respondents - 1 - colluders

    def truthful(rho: float) -> float:
        """The largest p that the theorem allows with this correlation."""
        if coins == 1:
            return truthfulness(epsilon) * (respondents - 1) / (respondents - 1 - colluders * rho)

        def left(p: float) -> float:
            most = (1 - rho) * p
            top = colluders * most**coins + others * p**coins
            bottom = colluders * max(0.0, 1 - most) ** coins + others * (1 - p) ** coins
            return math.exp(epsilon) * bottom - top

        return root(left, 0.5, truthfulness(epsilon, coins))

    def odds(rho: float) -> float:
        """(q - d) / (p + d), which e^(-epsilon / coins) is of whoever knows the coin, beside what it must be."""
        p = truthful(rho)
        d = math.sqrt(-rho * p * (1 - p))
        return (1 - p - d) / (p + d) - math.exp(-coin / coins)

    rho = root(odds, 0.0, -1.0)
    return truthful(rho), rho


def paired_optimum(
    epsilon: float,
    respondents: int,
    colluders: int = 0,
    share: float | Sequence[float] = 0.0,
    *,
    coin: float = math.inf,
) -> PairedOptimum:
    """The best paired coins for a claimed epsilon.

    Args:
        epsilon: the theorem's epsilon to meet (an average over pairings: see `Paired.describe`).
        respondents: how many will answer.
        colluders: how many of them may pool what they know.
        share: the expected share of "yes"; for more than two categories the expected shares of all.
        coin: the most that whoever knows the shared coin may learn, as an epsilon. A survey can be served only where it
            is finite and within what devices give away.

    >>> print(paired_optimum(1.0, 10_000, share=0.02))
    Pairing pays: p = 0.7311, rho = -0.3679 (the corner) has 0.661 times the variance of unpaired randomized response
    (6085 against 9207; claimed epsilon 1, 10000 respondents, 0 colluders). ...
    >>> print(paired_optimum(1.0, 10_000, colluders=2_000, share=0.02))
    Pairing gains nothing: stay with randomized response, p = 0.7311 (the corner would have 1.204 times the variance;
    claimed epsilon 1, 10000 respondents, 2000 colluders).
    >>> print(paired_optimum(1.0, 10_000, share=0.02, coin=3.0))
    Pairing pays: p = 0.7311, rho = -0.2496 has 0.770 times ...
    """
    shares = tuple(float(part) for part in share) if isinstance(share, Sequence) else (float(share),)
    if not 0 < epsilon < math.inf:
        raise InputError(f"epsilon must be positive and finite, not {epsilon!r}", epsilon=epsilon)
    if respondents < 2 or not 0 <= colluders <= respondents - 2:
        raise InputError(
            f"pairing needs at least two honest respondents; got {respondents} respondents and {colluders} colluders",
            respondents=respondents,
            colluders=colluders,
        )
    if not shares or min(shares) < 0 or max(shares) > 1 or (len(shares) > 1 and abs(sum(shares) - 1) > 1e-6):
        raise InputError(f"expected shares lie between 0 and 1, and those of all categories sum to 1; got {share!r}")
    if len(shares) == 2:
        shares = shares[1:]  # two categories are one question
    coins = 1 if len(shares) == 1 else 2

    def variance(p: float, rho: float) -> float:
        return sum(count_variance(p, rho, respondents, part * respondents) for part in shares)

    plain = truthfulness(epsilon, coins)
    unpaired = variance(plain, 0.0)
    at_corner = corner(epsilon, respondents, colluders, coins)
    cornered = math.inf if at_corner is None else variance(at_corner, -(1 - at_corner) / at_corner)
    candidates = [(plain, 0.0, unpaired)]
    if math.isfinite(coin):
        p, rho = _within(coin, respondents, colluders, epsilon, coins)
        candidates.append((p, rho, variance(p, rho)))
    elif at_corner is not None:
        candidates.append((at_corner, -(1 - at_corner) / at_corner, cornered))
    best = min(candidates, key=lambda found: found[2])
    return PairedOptimum(epsilon, respondents, colluders, shares, *best, unpaired, cornered, coin)
