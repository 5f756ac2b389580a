"""How many degrees of freedom a variance between clusters has: Satterthwaite's (1946), after Bell and McCaffrey (2002).

Let e_c be what cluster c pulls the estimate by, independent of each other with variances v_c, and h_c its share of all
weight. The estimate itself is subtracted, so that Z_c = e_c - h_c sum of e is seen, and the variance that is stated is

    V = Z' M Z = e' Q e,    M in each stratum  n_h / (n_h - 1) (I - 1 1' / n_h),    Q = (I - h 1')' M (I - h 1').

It varies as if it were a multiple of a chi-square with

    df = (tr Q D)^2 / tr (Q D Q D),    D = diag(v),

degrees of freedom. Where clusters are alike, that is clusters less strata; where a few hold most of the people, or a
stratum most of the variance, it is fewer. The v are those of people of a cluster who are alike as little as is usual in
surveys, with a correlation rho: v_c = (1 - rho) sum of w^2 + rho (sum of w)^2. They depend on who was drawn and on no
answer, so that every number of one survey has the same degrees of freedom.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

ALIKE = 0.05  # rho: villages, schools and clinics seldom have more
FEW = 10  # degrees of freedom: below this, errors themselves are rough


def satterthwaite(stratum: NDArray[np.int64], weight: Array, squares: Array) -> float:
    """The degrees of freedom of the variance between clusters.

    Args:
        stratum: each cluster's, numbered from 0; two clusters or more in each.
        weight: the sum of the weights of everybody in the cluster; zero for clusters that are not looked at.
        squares: the sum of their squares.

    >>> one = np.zeros(8, dtype=np.int64)
    >>> round(satterthwaite(one, np.full(8, 50.0), np.full(8, 50.0)), 6)
    7.0
    >>> people = np.array([20.0, 30, 40, 50, 60, 80, 100, 200])
    >>> round(satterthwaite(one, people, people), 2)
    3.02
    """
    v = (1 - ALIKE) * squares + ALIKE * weight**2
    v = v / v.sum()
    clusters = np.bincount(stratum).astype(np.float64)
    scale = (clusters / (clusters - 1))[stratum]
    others = (1 / (clusters - 1))[stratum]

    def within(x: Array) -> Array:  # M x
        return np.asarray(scale * x - others * np.bincount(stratum, x)[stratum])

    # Q = M - g 1' - 1 g' + s 1 1', and the traces term by term: nothing of clusters x clusters is written out.
    h = weight / weight.sum()
    g = within(h)
    s, m1, m2 = float(h @ g), float(v @ g), float(v @ g**2)
    mean = 1 - 2 * m1 + s
    inside = np.bincount(stratum, v)
    squared = float(v @ v + ((inside**2 - np.bincount(stratum, v**2)) / (clusters - 1) ** 2).sum())
    across = s * float(v @ within(v)) - 2 * float(v @ within(v * g))
    rest = s**2 + 2 * m2 - 4 * s * m1 + 2 * m1**2
    return mean**2 / (squared + 2 * across + rest)
