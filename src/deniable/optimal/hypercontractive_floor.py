"""A floor for any number of attributes with one more parameter, p: small sets cannot tell much of single attributes.

Let f be a report's density over the cells: its probability over its mean, so that f has mean 1 and values within a
factor e^eps. f^S are its parts by sets S of attributes (Efron and Stein), |f^S|^2 their mean squares. If the attributes
are independent, then for every p in (1, 2], q = p / (p - 1) (Bonami; O'Donnell, Analysis of Boolean Functions, theorem
10.18)

    sum over S of  (product over i in S of rho_i^2) |f^S|^2  <=  (mean of f^p)^(2 / p),
    rho_i^2 = sinh(u / q) / sinh(u / p),   u = ln(1 / s - 1),   s the smallest share of attribute i,

or p - 1 where s = 1/2. The right side is convex in f, hence largest where f has two values, the larger with chance x.
With g = e^eps - 1 and G = e^(p eps) - 1, over all S but the empty one the sum is at most

    B_p = max over x of  (1 + G x)^(2 / p) / (1 + g x)^2 - 1,    reached at  x = (G - p g) / (g G (p - 1)):

the logarithm's slope by x changes its sign there and nowhere else. At even shares x is a whole number of cells over t.
By Cauchy and Schwarz for the information weighted with rho, for every p

    loss >= S^2 / B_p,   S = sum of the singular values of what is wanted, contrasts times the product of their rho_i.

p = 2 is the closed form of `floor`. A table that is assumed to be any but a product counts as one attribute.

The search is in floats. `HypercontractiveCertificate.check` computes a bound at even shares again, with sixty digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from math import expm1, log, log1p, prod, sinh
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.device.epsilon import float_below
from deniable.errors import DesignError
from deniable.optimal.certificate_file import Proof, contrasts_from_dict, contrasts_to_dict, epsilon_of, names_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.aims.contrasts import Contrasts

    Array = NDArray[np.float64]

_EXCESS = (1e-3, 1.0)  # p - 1: the least and the most that are tried
_TRIED, _REFINED = 13, 12
_MANY = 1 << 40  # of so many cells, a whole number of them is any share
_MOST_TOGETHER = 256  # contrasts that some numbers have parts in at once
_MOST_ENTRIES = 1 << 16  # of a table of wanted numbers by cells
_DIGITS = 60
_ROUNDING = Fraction(1, 10**40)  # far more than the rounding errors of as many operations as there are


@dataclass(frozen=True, eq=False, repr=False)
class HypercontractiveCertificate(Proof):
    """p, with which the inequality proves that no design has a smaller loss than `bound`, at even shares.

    Attributes:
        contrasts: what is wanted.
        epsilon: the asked epsilon.
        p: from above 1 to 2.
    """

    contrasts: Contrasts
    epsilon: float
    p: float

    kind = "hypercontractive"

    @cached_property
    def bound(self) -> float:
        """The proven bound, rounded down."""
        return self.check()

    def check(self) -> float:
        """Compute the bound with sixty digits, lower it by more than their rounding errors, and return it.

        Raises:
            DesignError: p is not above 1 and at most 2, where nothing is proved.
        """
        if not 1 < self.p <= 2:
            raise DesignError(f"this certificate proves nothing: p must be above 1 and at most 2, not {self.p!r}")
        with localcontext() as context:
            context.prec = _DIGITS
            p, cells = Decimal(self.p), self.contrasts.domain.cells
            g, more = Decimal(self.epsilon).exp() - 1, (p * Decimal(self.epsilon)).exp() - 1

            def norm(x: Decimal) -> Decimal:
                return ((2 / p) * (1 + more * x).ln()).exp() / (1 + g * x) ** 2 - 1

            x = (more - p * g) / (g * more * (p - 1))
            near = {min(max(int(x * cells) + step, 1), cells - 1) for step in (0, 1)}
            most = Fraction(max(norm(Decimal(n) / cells) for n in near))
            rho = {k: _precise_rho(k, p) for k in {len(one) for one in self.contrasts.domain.values()}}
        sizes = {name: rho[len(variable)] for name, variable in self.contrasts.domain.items()}
        total = self.contrasts.weighted_sum_below(lambda names: prod((sizes[n] for n in names), start=Fraction(1)))
        return float_below(total**2 / most * (1 - _ROUNDING / most))

    @property
    def of(self) -> str:
        """What is wanted, in words."""
        return names_of(self.contrasts)

    @property
    def where(self) -> str:
        """At which epsilon, and of which truth."""
        return f"at epsilon {self.epsilon:g}, at even shares"

    def to_dict(self) -> dict[str, Any]:
        """What is wanted, and what proves it."""
        return contrasts_to_dict(self.contrasts) | {"epsilon": self.epsilon, "p": self.p}

    @classmethod
    def from_dict(cls, known: Mapping[str, Any]) -> HypercontractiveCertificate:
        """The certificate of what `to_dict` has written."""
        return cls(contrasts_from_dict(known), epsilon_of(known), float(known["p"]))

    def __repr__(self) -> str:
        return (
            f"<HypercontractiveCertificate: loss at least {self.bound:.6g} at epsilon {self.epsilon:g}, p {self.p:g}>"
        )


def _precise_rho(k: int, p: Decimal) -> Fraction:
    if k == 2:
        return Fraction(p) - 1
    u = Decimal(max(k - 1, 2)).ln()
    ends = [(u / each).exp() for each in (p / (p - 1), p)]
    above, below = (end - 1 / end for end in ends)
    return Fraction(above / below)


def hypercontractive_floor(contrasts: Contrasts, epsilon: float) -> HypercontractiveCertificate | None:
    """The highest of these floors at even shares; None where what is wanted hangs together too much to try many p."""
    if contrasts.hanging_together > _MOST_TOGETHER or contrasts.domain.cells < 2:
        return None
    sizes = {name: len(variable) for name, variable in contrasts.domain.items()}
    known: dict[tuple[float, int], float] = {}

    def loss(p: float) -> float:
        rho = {k: known.setdefault((p, k), rho_squared(1 / k, p)) for k in set(sizes.values())}
        total = contrasts.weighted_sum(lambda names: prod(rho[sizes[name]] for name in names))
        return total**2 / largest_norm(epsilon, p, contrasts.domain.cells)

    return HypercontractiveCertificate(contrasts, epsilon, _best(loss)[0])


def hypercontractive_floor_at(
    epsilon: float, rows: Array, factors: Sequence[tuple[Sequence[int], Array]], shape: tuple[int, ...]
) -> float:
    """The highest of these floors where several tables are independent of each other; 0 where rows are too many.

    Args:
        epsilon: what each respondent may spend.
        rows: wanted numbers as rows over all cells.
        factors: the axes of each table in the shape of all cells, rising, and its shares.
        shape: how many categories each attribute has.
    """
    if rows.size > _MOST_ENTRIES:
        return 0.0
    spread = [np.reshape(shares, _placed(axes, shape)) for axes, shares in factors]
    root = np.sqrt(prod(spread[1:], start=spread[0]) * np.ones(shape))
    least = [float(shares[shares > 0].min()) for shares in spread]
    away = [tuple(axis + 1 for axis in axes) for axes, _ in factors]

    def loss(p: float) -> float:
        tensor = rows.reshape(len(rows), *shape)
        whole = (tensor * root**2).reshape(len(rows), -1).sum(axis=1)
        tensor = tensor - whole.reshape(-1, *[1] * len(shape))
        for shares, share, axes in zip(spread, least, away, strict=True):
            rho = rho_squared(share, p) ** 0.5
            tensor = rho * tensor + (1 - rho) * (tensor * shares).sum(axis=axes, keepdims=True)
        singular = np.linalg.svd((tensor * root).reshape(len(rows), -1), compute_uv=False)
        return float(singular.sum()) ** 2 / largest_norm(epsilon, p)

    return _best(loss)[1]


def largest_norm(epsilon: float, p: float, cells: int = _MANY) -> float:
    """B_p: what the weighted squares of a report sum to, at most; of so many cells, all alike."""
    g, more = expm1(epsilon), expm1(p * epsilon)
    best = (more - p * g) / (g * more * (p - 1))
    sizes = [best] if cells >= _MANY else [min(max(int(best * cells) + n, 1), cells - 1) / cells for n in (0, 1)]
    return max(expm1(2 / p * log1p(more * x) - 2 * log1p(g * x)) for x in sizes)


def rho_squared(share: float, p: float) -> float:
    """How much the square of a single attribute's part counts, where its rarest category has this share.

    >>> rho_squared(0.5, 1.5), round(rho_squared(0.25, 2), 12)
    (0.5, 1.0)
    """
    if share >= 0.5:
        return p - 1
    u = log(1 / share - 1)
    return sinh(u * (p - 1) / p) / sinh(u / p)


def _best(loss: Callable[[float], float]) -> tuple[float, float]:
    """The p of the highest floor, and that floor: on a grid, then nearer around the best."""
    found: Mapping[float, float] = {1 + excess: loss(1 + excess) for excess in np.geomspace(*_EXCESS, _TRIED).tolist()}
    p = max(found, key=lambda one: found[one])
    step = (_EXCESS[1] / _EXCESS[0]) ** (1 / (_TRIED - 1))
    value = found[p]
    for _ in range(_REFINED):
        step **= 0.6
        for nearer in (1 + (p - 1) / step, min(1 + (p - 1) * step, 2.0)):
            if (other := loss(nearer)) > value:
                p, value = nearer, other
    return p, value


def _placed(axes: Sequence[int], shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size if axis in axes else 1 for axis, size in enumerate(shape))
