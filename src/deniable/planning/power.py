"""Power and sample size.

For one question the test is the exact binomial test of the number of reports of one category: how many of n reports are
"yes", against the share of "yes" that the null prevalence would give. For the association of two attributes it is the
test that `independence` would make, simulated on counts.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from deniable.channels.base import Channel
from deniable.designs.observation import Observation
from deniable.drawing import DARK, MARK
from deniable.errors import InputError, UnknownCategoryError
from deniable.frozen import Frozen, fix
from deniable.inference.association import chi_square, chosen_test, independence, independence_ratio
from deniable.inference.wald import BootstrapWald, Independent
from deniable.planning.expected import expected_observations
from deniable.planning.settled import settle
from deniable.randomness import SECURE, Seeded, Source
from deniable.results import axes, html_table, legend
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from deniable.designs.base import Design
    from deniable.domain import Category
    from deniable.tables.table import Table

_ALTERNATIVES = ("greater", "less", "two-sided")
_POINTS = 160  # of a drawn curve ...
_ROUGH_POINTS, _ROUGHLY = 8, 800  # ... and where it is simulated, with how many replicates

Curve: TypeAlias = "Callable[[NDArray[np.int64]], NDArray[np.float64]]"


class Power(Frozen, float):
    """A probability to reject, with the test it belongs to (`.test`) and its simulation error (`.std_error`, or 0)."""

    test: str
    std_error: float
    n: int
    curve: Curve

    def __new__(cls, value: float, test: str, std_error: float = 0.0, *, n: int, curve: Curve) -> Self:
        """Take the power, the test in words, the number of respondents, and the power as a function of that number."""
        made = super().__new__(cls, value)
        fix(made, test=test, std_error=std_error, n=n, curve=curve)
        return made

    def _given(self) -> dict[str, Any]:
        return {"value": float(self), **vars(self)}

    def __str__(self) -> str:
        simulated = f" (simulated, standard error {self.std_error:.3f})" if self.std_error else ""
        return f"power {float(self):.3f}{simulated}: {self.test}"

    def _repr_html_(self) -> str:
        return html_table({"power": [float(self)], "respondents": [self.n], "std_error": [self.std_error]}, self.test)

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

    def _repr_html_(self) -> str:
        columns: dict[str, list[Any]] = {
            "respondents": [int(self)],
            "reached there": [self.reached],
            "wanted": [self.wanted],
            "first reached at": [self.first],
            "normal approximation": ["" if self.normal is None else self.normal],
        }
        return html_table(columns, self.test)

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


@dataclass(frozen=True)
class BinomialTest:
    """The exact test of a prevalence through one count of n reports: which shares, which tail, which level.

    Attributes:
        null: the share of the counted report if the null hypothesis holds.
        share: the same if the assumed prevalence is true.
        alpha: the level.
        upper: the level spent on large counts.
        lower: the level spent on small counts.
        told: the test in words.
    """

    null: float
    share: float
    alpha: float
    upper: float
    lower: float
    told: str

    def power(self, n: ArrayLike) -> NDArray[np.float64]:
        """Pr(reject) for every n: the probability of counts whose null tail is at most alpha (each side's part)."""
        from scipy.stats import binom

        size = np.asarray(n)
        total = np.zeros(size.shape)
        if self.upper:
            # isf gives the smallest c with Pr(X > c) <= alpha.
            total += binom.sf(binom.isf(self.upper, size, self.null), size, self.share)
        if self.lower:
            # The largest c with Pr(X <= c) <= alpha: one less than the alpha-quantile, unless that is exact.
            c = binom.ppf(self.lower, size, self.null)
            c = np.where(binom.cdf(c, size, self.null) <= self.lower, c, c - 1)
            total += binom.cdf(c, size, self.share)
        return total

    def normal(self, power: float) -> float:
        """(z_alpha sd_0 + z_power sd_1)^2 / difference^2."""
        from scipy.special import ndtri

        tail = self.upper or self.lower
        sd = [np.sqrt(x * (1 - x)) for x in (self.null, self.share)]
        return float(((ndtri(1 - tail) * sd[0] + ndtri(power) * sd[1]) / (self.share - self.null)) ** 2)


def binomial_test(
    channel: Channel,
    prevalence: float,
    null: float,
    alpha: float,
    *,
    alternative: str,
    category: Category | None = None,
) -> BinomialTest:
    """Set the exact test up, through any channel whose category is one binomial."""
    for name, value in (("prevalence", prevalence), ("null", null)):
        if not 0 <= value <= 1:
            raise InputError(f"{name} must lie between 0 and 1, not {value!r}")
    if not 0 < alpha < 1:
        raise InputError(f"alpha must lie between 0 and 1, not {alpha!r}")
    if alternative not in _ALTERNATIVES:
        raise InputError(f"alternative must be one of {_ALTERNATIVES}, not {alternative!r}")
    if prevalence == null:
        raise InputError(f"prevalence and null are both {null:g}: there is nothing to detect")
    if alternative != "two-sided" and (prevalence > null) != (alternative == "greater"):
        raise InputError(
            f"a prevalence of {prevalence:g} lies on the other side of the null {null:g}; use "
            f'alternative="two-sided" or "{"greater" if prevalence > null else "less"}"'
        )
    affine = channel.affine()
    if affine is None:
        raise InputError(
            f"a category of {channel.name} is not one binomial, so there is no exact test; use a k-RR, mixture or "
            f"two-by-two channel, or simulate"
        )
    v = _code(channel, category)
    scale, offset = float(affine[0][v]), float(affine[1][v])
    side = alpha / 2 if alternative == "two-sided" else alpha
    grows = (alternative == "greater") == (scale > 0)  # a crosswise device with p < 1/2 turns the direction round
    both = alternative == "two-sided"
    words = {"greater": "above", "less": "below", "two-sided": "different from"}[alternative]
    return BinomialTest(
        null=scale * null + offset,
        share=scale * prevalence + offset,
        alpha=alpha,
        upper=side if both or grows else 0.0,
        lower=side if both or not grows else 0.0,
        told=(
            f"exact binomial test at level {alpha:g} that the prevalence is {words} {null:g}, when it is "
            f"{prevalence:g}, through {channel.name}"
        ),
    )


def _code(channel: Channel, category: Category | None) -> int:
    """The code of a category, given as a label where the channel names its categories, else as the code itself."""
    if category is None:
        return channel.inputs - 1
    labels = tuple(range(channel.inputs)) if channel.categories is None else channel.categories
    if category not in labels:
        raise UnknownCategoryError(f"{channel.name} has no category {category!r}; it has {listed(labels)}")
    return labels.index(category)


def power(
    asked: Channel | Design,
    n: int,
    *,
    prevalence: float | None = None,
    null: float = 0.0,
    alpha: float = 0.05,
    alternative: str = "greater",
    category: Category | None = None,
    table: Table | None = None,
    attributes: Sequence[str] | None = None,
    replicates: int = 2000,
    source: Source = SECURE,
) -> Power:
    """The probability to detect a prevalence (with a channel), or an association (with a design and a table).

    Args:
        asked: the channel of one question, or the design of a survey.
        n: the number of respondents.
        prevalence: the assumed prevalence of the category (with a channel).
        null: the prevalence under the null hypothesis.
        alpha: the level of the test.
        alternative: "greater", "less" or "two-sided".
        category: the category, or its code where the channel names none; by default the last.
        table: the assumed joint distribution of two attributes (with a design).
        attributes: which two; by default the table's.
        replicates: simulated surveys (with a design).
        source: where they are drawn from.

    >>> from deniable.channels.devices import Warner
    >>> round(power(Warner(0.8), 200, prevalence=0.1), 3)
    0.652
    """
    if isinstance(asked, Channel):
        if prevalence is None:
            raise InputError("power of a prevalence test needs prevalence=")
        test = binomial_test(asked, prevalence, null, alpha, alternative=alternative, category=category)
        if n != int(n) or n < 1:
            raise InputError(f"the number of respondents is a whole number from 1, not {n!r}", n=n)
        return Power(float(test.power(np.array([int(n)]))[0]), test.told, n=int(n), curve=test.power)
    rejected, told = _simulated(asked, n, table, attributes, alpha, replicates=replicates, source=source)
    error = float(np.sqrt(max(rejected * (1 - rejected), 1e-9) / replicates))
    return Power(rejected, told, error, n=n, curve=partial(_rough, asked, table, attributes, alpha))


def sample_size(
    asked: Channel | Design,
    prevalence: float | None = None,
    null: float = 0.0,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: str = "greater",
    category: Category | None = None,
    table: Table | None = None,
    attributes: Sequence[str] | None = None,
    replicates: int = 2000,
    source: Source = SECURE,
) -> SampleSize:
    """The number of respondents from which on a test has at least the given power.

    For a channel it is exact: the n beyond which the exact binomial test never falls below the target. For a design it
    is simulated and good to a few percent. Arguments as for `power`.

    >>> from deniable.channels.devices import ForcedResponse
    >>> n = sample_size(ForcedResponse([1 / 6, 1 / 6]), 0.2, null=0.1)
    >>> int(n), n.first, n.normal
    (291, 273, 264)
    """
    if not 0 < power < 1:
        raise InputError(f"power must lie between 0 and 1, not {power!r}")
    if isinstance(asked, Channel):
        if prevalence is None:
            raise InputError("the sample size of a prevalence test needs prevalence=")
        test = binomial_test(asked, prevalence, null, alpha, alternative=alternative, category=category)
        if power <= alpha:
            raise InputError(f"a power of {power:g} is no more than the level {alpha:g}: no respondents are needed")
        normal = test.normal(power)
        first, last = settle(test.power, power, normal)
        reached = float(test.power(np.array([last]))[0])
        return SampleSize(
            last,
            first=first,
            normal=int(np.ceil(normal)),
            reached=reached,
            test=test.told,
            wanted=power,
            curve=test.power,
        )
    return _simulated_size(asked, table, attributes, power, alpha, replicates=replicates, source=source)


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
    v = _code(channel, category)
    scale, share = abs(float(affine[0][v])), float(affine[0][v]) * prevalence + float(affine[1][v])
    z = float(ndtri((1 + level) / 2))
    narrow = partial(_narrow, width * scale, share, z)
    normal = max(4.0, (2 * z / (width * scale)) ** 2 * share * (1 - share))
    first, last = settle(narrow, assurance, normal)
    told = (
        f"probability that Wilson's {level:.0%} interval is at most {width:g} wide at prevalence {prevalence:g}, "
        f"through {channel.name}"
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


def sample_cost(channel: Channel, prevalence: ArrayLike | None = None) -> float:
    """How many times as many respondents a disguise needs as direct questions, for the same standard errors.

    The ratio of the summed variances: ((Q o Q) P pi - pi^2) over pi (1 - pi), at the given prevalence (a number for two
    categories, else all shares; even shares by default).

    >>> from deniable.channels.devices import Warner
    >>> round(sample_cost(Warner(0.8), 0.1), 2)
    5.94
    """
    shares = np.full(channel.inputs, 1 / channel.inputs) if prevalence is None else np.asarray(prevalence, dtype=float)
    if shares.ndim == 0:
        shares = np.array([1 - float(shares), float(shares)])
    if shares.shape != (channel.inputs,) or abs(shares.sum() - 1) > 1e-9 or (shares < 0).any():
        raise InputError(f"{channel.name} has {channel.inputs} truths: give one share for each, summing to 1")
    direct = float((shares * (1 - shares)).sum())
    if not direct > 0:
        raise InputError("if everybody gives the same answer, direct questions have no error to compare with")
    return float(channel.variance(shares.reshape(channel.input_shape), 1).sum()) / direct


# -- association, simulated on counts ---------------------------------------------------------------------------------


def _simulated(
    design: Design,
    n: int,
    table: Table | None,
    attributes: Sequence[str] | None,
    alpha: float,
    *,
    replicates: int,
    source: Source,
) -> tuple[float, str]:
    from scipy.special import chdtri

    if table is None:
        raise InputError("power of an association test needs a design and table=, the assumed joint distribution")
    names = tuple(table.attributes if attributes is None else attributes)
    if len(names) != 2:
        raise InputError(f"name two attributes, not {names!r}")
    observations = expected_observations(design, table, n, names)
    rng = source.stream().generator()
    counts = [o.channel.draw(o.channel.solve(o.shares), o.n, rng, replicates) for o in observations]
    chosen = chosen_test("auto", observations, *names)
    if chosen == "wald":
        found = [_one(observations, counts, i, names) for i in range(replicates)]
        return float(np.mean([p < alpha for p in found])), f"Wald on the unbiased table at level {alpha:g}, n = {n}"
    if chosen == "wald_bootstrap":
        x, y = observations[0].domain.axes(names)
        observed, reference = BootstrapWald([observations], Independent(x, y)).warp_speed([counts], rng)
        told = f"bootstrap Wald at level {alpha:g}, n = {n}"
        return float((observed > np.quantile(reference, 1 - alpha)).mean()), told
    if chosen == "pearson":
        tests = [chi_square(counts[0][..., i]) for i in range(replicates)]
        rejected = [df > 0 and statistic > float(chdtri(df, alpha)) for statistic, df in tests]
        return float(np.mean(rejected)), f"Pearson on the disguised table at level {alpha:g}, n = {n}"
    observed, reference = independence_ratio(observations, *names).warp_speed(counts, rng)
    told = f"bootstrap likelihood ratio at level {alpha:g}, n = {n}"
    return float((observed > np.quantile(reference, 1 - alpha)).mean()), told


def _one(
    observations: Sequence[Observation], counts: Sequence[NDArray[np.float64]], replicate: int, names: Sequence[str]
) -> float:
    """The p-value of one simulated survey by Wald's test."""
    drawn = [Observation(o.domain, o.channel, y[..., replicate]) for o, y in zip(observations, counts, strict=True)]
    a, b = names
    return independence(drawn, a, b, "wald").pvalue


def _simulated_size(
    design: Design,
    table: Table | None,
    attributes: Sequence[str] | None,
    target: float,
    alpha: float,
    *,
    replicates: int,
    source: Source,
) -> SampleSize:
    """Bisect the simulated power on a logarithmic scale, to 2%."""

    def reached(n: float) -> tuple[float, str]:
        return _simulated(design, round(n), table, attributes, alpha, replicates=replicates, source=source)

    low, high = 50.0, 200.0
    while reached(high)[0] < target:
        low, high = high, 4 * high
        if high > 1e9:
            raise InputError("more than 1e9 respondents would be needed; is there any association in the table?")
    while high / low > 1.02:
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if reached(middle)[0] >= target else (middle, high)
    n = round(high)
    value, told = reached(n)
    return SampleSize(
        n,
        first=n,
        normal=None,
        reached=value,
        test=f"{told} (simulated, good to a few percent)",
        wanted=target,
        curve=partial(_rough, design, table, attributes, alpha),
    )


def _rough(
    design: Design, table: Table | None, attributes: Sequence[str] | None, alpha: float, n: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The simulated power as a function of n, good enough to be drawn: few sizes, few replicates, lines between."""
    some = np.unique(np.linspace(n.min(), n.max(), _ROUGH_POINTS).astype(np.int64))
    found = [
        _simulated(design, int(size), table, attributes, alpha, replicates=_ROUGHLY, source=Seeded(0))[0]
        for size in some
    ]
    return np.interp(n, some, found)
