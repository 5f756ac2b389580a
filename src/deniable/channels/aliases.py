"""Names that researchers know, and what they are here.

====================  =======================================================================================
`OUE`                 optimised unary encoding (Wang et al. 2017): `Unary`
`OLH`                 optimised local hashing (Wang et al. 2017): `LocalHashing`
`RAPPOR`              basic one-time RAPPOR (Erlingsson et al. 2014): symmetric `Unary`; with `again`, `TwoLevel`
`ProjectiveGeometry`  projective geometry response (Feldman et al. 2022), its affine part: `BlockDesign`
`Channel`             a mechanism of one's own, from its matrix: `Dense`
====================  =======================================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.channels.dense import Dense
from deniable.channels.krr import KRR
from deniable.channels.sets.block_design import BlockDesign
from deniable.channels.sets.hashing import LocalHashing
from deniable.channels.sets.two_level import TwoLevel
from deniable.channels.sets.unary import Unary

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def OUE(k: int, epsilon: float) -> Unary:  # noqa: N802 - what it is known as
    """Optimised unary encoding of k categories: every category by its own coin.

    >>> OUE(10, 1.0).name
    'Unary(10)'
    """
    return Unary(k, epsilon)


def OLH(k: int, epsilon: float) -> LocalHashing:  # noqa: N802 - what it is known as
    """Optimised local hashing of k categories, to the number of values with the least variance.

    >>> OLH(1000, 1.0).name
    'LocalHashing(1000, g=4)'
    """
    return LocalHashing(k, epsilon)


def RAPPOR(k: int, epsilon: float, again: float | None = None) -> Unary | TwoLevel:  # noqa: N802 - what it is known as
    """RAPPOR over k categories: symmetric unary encoding; with `again`, the epsilon of a bit, sent anew each time.

    >>> RAPPOR(10, 2.0).epsilon <= 2, RAPPOR(10, 2.0, again=1.0).first == RAPPOR(10, 2.0)
    (True, True)
    """
    kept = Unary(k, epsilon, symmetric=True)
    return kept if again is None else TwoLevel(kept, KRR(2, again))


def ProjectiveGeometry(k: int, epsilon: float) -> BlockDesign:  # noqa: N802 - what it is known as
    """Projective geometry response of k categories, without the hyperplane at infinity: the variance is the same.

    >>> ProjectiveGeometry(5000, 1.0).name
    'BlockDesign(5000, order=4)'
    """
    return BlockDesign(k, epsilon)


def Channel(probabilities: ArrayLike) -> Dense:  # noqa: N802 - what it is known as
    """A mechanism of one's own: P[u, v] is the probability of report u given truth v, so columns sum to one.

    >>> own = Channel([[0.7, 0.2], [0.3, 0.8]])
    >>> own.estimate([0, 0, 1, 1, 1]).round(2).tolist()
    [0.4, 0.6]
    """
    return Dense(probabilities)
