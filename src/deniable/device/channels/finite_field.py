"""Finite fields: whole numbers below a prime, or below a prime power, that can be added and multiplied.

An element of the field with q = p^r elements is a number below q; its digits to the base p are the coefficients of a
polynomial of degree below r. Products are taken modulo a polynomial x^r + ..., whose lower coefficients are the digits
of the number in `MODULI`: the least that makes it irreducible.
"""

from __future__ import annotations

from functools import cache

MOST = 512  # elements
MODULI = {
    4: (2, 3),
    8: (2, 3),
    9: (3, 1),
    16: (2, 3),
    25: (5, 2),
    27: (3, 7),
    32: (2, 5),
    49: (7, 1),
    64: (2, 3),
    81: (3, 5),
    121: (11, 1),
    125: (5, 6),
    128: (2, 3),
    169: (13, 2),
    243: (3, 7),
    256: (2, 27),
    289: (17, 3),
    343: (7, 2),
    361: (19, 1),
    512: (2, 3),
}  # the prime, and the polynomial


@cache
def is_field(q: int) -> bool:
    """Whether there is a field with so many elements here.

    >>> [q for q in range(14) if is_field(q)]
    [2, 3, 4, 5, 7, 8, 9, 11, 13]
    """
    return q in MODULI or (2 <= q <= MOST and all(q % d for d in range(2, int(q**0.5) + 1)))


def digits(n: int, base: int, count: int) -> list[int]:
    """So many digits of a number, the least first.

    >>> digits(11, 4, 3)
    [3, 2, 0]
    """
    return [n // base**i % base for i in range(count)]


def prime_of(q: int) -> tuple[int, int]:
    """The prime p and the power r with q = p^r."""
    p = MODULI[q][0] if q in MODULI else q
    r = 1
    while p**r < q:
        r += 1
    return p, r


def less(a: int, b: int, q: int) -> int:
    """The difference a - b in the field: digit by digit.

    >>> less(1, 2, 4), less(1, 2, 5)
    (3, 4)
    """
    p, r = prime_of(q)
    return sum((x - y) % p * p**i for i, (x, y) in enumerate(zip(digits(a, p, r), digits(b, p, r), strict=True)))


def times(a: int, b: int, q: int) -> int:
    """The product in the field.

    >>> times(2, 3, 4), times(2, 3, 5)
    (1, 1)
    """
    if q not in MODULI:
        return a * b % q
    p, r = prime_of(q)
    modulus = digits(MODULI[q][1], p, r)
    product = [0] * (2 * r - 1)
    for i, x in enumerate(digits(a, p, r)):
        for j, y in enumerate(digits(b, p, r)):
            product[i + j] += x * y
    for top in range(2 * r - 2, r - 1, -1):  # x^r is less the lower coefficients
        for i, coefficient in enumerate(modulus):
            product[top - r + i] -= product[top] * coefficient
    return sum(coefficient % p * p**i for i, coefficient in enumerate(product[:r]))
