"""The affine space of some dimension over a finite field: its points, its hyperplanes, and sums over either, fast.

Points are numbered by their d coordinates as digits to the base q. A direction w is a vector whose last coordinate that
is not zero is one: w . v = c are its q hyperplanes, and hyperplane number (direction) q + c holds the points v with
w . v = c. Through every point runs one hyperplane of each of the (q^d - 1) / (q - 1) directions.

Sums along them are Fourier transforms over the q^d points. With chi(z) = exp(2 pi i Tr(z) / p), q = p^r,

    1[w . v = c] = (1 / q) sum over a of chi(a c) chi(-(a w) . v),

and the vectors a w, a not zero, are all vectors but zero, each once. So from C over the hyperplanes

    sum of C over the hyperplanes through v = (1 / q) sum over y of H(y) chi(-y . v), H(a w) = sum of C chi(a c) by c,

and the transpose takes the same two steps the other way round: q^d log q^d operations instead of their square.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from deniable.device.channels.finite_field import less, prime_of, times
from deniable.frozen import readonly

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_LISTED = 1 << 18  # entries up to which the hyperplanes through every point are listed, and sums taken over the list


@cache
def space(q: int, dimension: int, k: int) -> Space:
    """The first k points of a space; made once."""
    return Space(q, dimension, k)


@dataclass(frozen=True)
class Space:
    """The first k points of the space of some dimension over the field with q elements."""

    q: int
    dimension: int
    k: int

    @property
    def points(self) -> int:
        """All points of the space."""
        return int(self.q**self.dimension)

    @property
    def directions(self) -> int:
        """In how many directions hyperplanes lie."""
        return (self.points - 1) // (self.q - 1)

    @property
    def hyperplanes(self) -> int:
        """How many hyperplanes there are."""
        return self.q * self.directions

    @property
    def shared(self) -> int:
        """How many hyperplanes run through two given points."""
        return int((self.q ** (self.dimension - 1) - 1) // (self.q - 1))

    # -- the field --------------------------------------------------------------------------------------------------

    @cached_property
    def _products(self) -> NDArray[np.int64]:
        return readonly(np.array([[times(a, b, self.q) for b in range(self.q)] for a in range(self.q)]))

    @cached_property
    def _differences(self) -> NDArray[np.int64]:
        return readonly(np.array([[less(a, b, self.q) for b in range(self.q)] for a in range(self.q)]))

    @cached_property
    def _traces(self) -> NDArray[np.int64]:
        """Tr(z) = z + z^p + z^(p^2) + ..., a number below p: the one additive map that all others are made of."""
        p, r = prime_of(self.q)
        found = np.zeros(self.q, dtype=np.int64)
        for z in range(self.q):
            term, total = z, 0
            for _ in range(r):
                total = less(total, less(0, term, self.q), self.q)
                power = 1
                for _ in range(p):
                    power = times(power, term, self.q)
                term = power
            assert total < p
            found[z] = total
        return readonly(found)

    # -- points and hyperplanes ---------------------------------------------------------------------------------------

    def through(self, points: NDArray[np.int64], directions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which of a direction's q hyperplanes runs through a point, element by element."""
        q, first = self.q, 0
        points, directions = np.broadcast_arrays(points, directions)
        found = np.empty(points.shape, dtype=np.int64)
        for at in range(self.dimension - 1, -1, -1):
            here = (directions >= first) & (directions < first + q**at)
            slopes, point = directions[here] - first, points[here] // q ** (self.dimension - 1 - at)
            point, value = np.divmod(point, q)
            for _ in range(at):
                slopes, slope = np.divmod(slopes, q)
                point, coordinate = np.divmod(point, q)
                value = self._differences[value, self._products[slope, coordinate]]
            found[here] = value
            first += q**at
        return found

    @cached_property
    def lines(self) -> NDArray[np.int64] | None:
        """The hyperplanes through every point, a row a point; None where they are too many to list."""
        if self.k * self.directions > _LISTED:
            return None
        direction = np.arange(self.directions)
        return readonly(direction * self.q + self.through(np.arange(self.k)[:, None], direction[None, :]))

    @cached_property
    def sizes(self) -> Array:
        """How many of the k points lie on each hyperplane."""
        return readonly(np.round(self.on(np.ones((1, self.k, 1))))[0, :, 0])

    # -- sums -------------------------------------------------------------------------------------------------------

    def at(self, x: Array) -> Array:
        """For every point, the sum over the hyperplanes through it; along the middle axis."""
        if self.lines is not None:
            return x[:, self.lines].sum(axis=2)
        left, _, right = x.shape
        counts = x.reshape(left, self.directions, self.q, right)
        spectrum = np.einsum("ac,ldcr->ldar", self._characters, counts)
        whole = np.zeros((left, self.points, right), dtype=spectrum.dtype)
        whole[:, self._places[:, 1:].ravel()] = spectrum[:, :, 1:].reshape(left, -1, right)
        whole[:, 0] = x.sum(axis=1)
        return np.real(self._transform(whole)[:, : self.k]) / self.q

    def on(self, y: Array) -> Array:
        """For every hyperplane, the sum over the points on it; along the middle axis."""
        left, _, right = y.shape
        if self.lines is not None:
            found = np.zeros((left, self.hyperplanes, right))
            for point in range(self.k):
                found[:, self.lines[point]] += y[:, point, None]
            return found
        padded = np.zeros((left, self.points, right))
        padded[:, : self.k] = y
        spectrum = self._transform(padded)[:, self._places]
        found = np.real(np.einsum("ac,ldar->ldcr", self._characters, spectrum)) / self.q
        return found.reshape(left, self.hyperplanes, right)

    @cached_property
    def _characters(self) -> NDArray[np.inexact]:
        """Chi(a c), a row a."""
        p, _ = prime_of(self.q)
        turns = self._traces[self._products] * (2 * np.pi / p)
        return readonly(np.cos(turns) if p == 2 else np.exp(1j * turns))

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """The number of a w as a point in the dual basis, a row a direction, a column an a."""
        q, a = self.q, np.arange(self.q)
        dual = self._dual
        found = np.empty((self.directions, q), dtype=np.int64)
        first = 0
        for at in range(self.dimension - 1, -1, -1):
            slopes = np.arange(q**at)
            unit = q ** (self.dimension - 1 - at)
            number = np.broadcast_to(dual[a] * unit, (q**at, q)).copy()  # a at the coordinate that counts
            for step in range(1, at + 1):
                slopes, slope = np.divmod(slopes, q)
                times_a = self._products[slope[:, None], a[None, :]]
                number += dual[self._differences[0, times_a]] * (unit * q**step)
            found[first : first + q**at] = number
            first += q**at
        return readonly(found)

    @cached_property
    def _dual(self) -> NDArray[np.int64]:
        """For every element y, the digits Tr(y x^j): then Tr(y v) is a sum of products of digits, modulo p."""
        p, r = prime_of(self.q)
        powers = [p**j for j in range(r)]  # the polynomials 1, x, x^2, ...
        return readonly(sum(self._traces[self._products[:, power]] * p**j for j, power in enumerate(powers)))

    def _transform(self, values: NDArray[np.inexact]) -> NDArray[np.inexact]:
        """Sum over y of values(y) exp(-2 pi i y . v / p) along the middle axis; y and v are digits to the base p."""
        p, r = prime_of(self.q)
        left, _, right = values.shape
        if p == 2:
            return _walsh(values)
        axes = self.dimension * r
        shaped = values.reshape(left, *[p] * axes, right)
        return np.fft.fftn(shaped, axes=range(1, axes + 1)).reshape(left, -1, right)


def _walsh(values: NDArray[np.inexact]) -> NDArray[np.inexact]:
    """The same for p = 2: sums and differences."""
    left, count, right = values.shape
    out, step = values.copy(), 1
    while step < count:
        pairs = out.reshape(left, count // (2 * step), 2, step, right)
        out = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2).reshape(values.shape)
        step *= 2
    return out
