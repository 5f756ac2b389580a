"""Floors that stay tight: both families against enumeration, printed values, and what a certificate refuses."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import comb, expm1, prod

import numpy as np
import pytest

import deniable as dn
from chequered import black
from deniable.aims.aim import asked_of, matrix_of
from deniable.aims.contrasts import Contrasts, subsets
from deniable.aims.parse import gathered
from deniable.errors import DesignError, InputError
from deniable.optimal.channel_problem import Problem
from deniable.optimal.delsarte_certificate import Piece
from deniable.optimal.delsarte_floor import delsarte_floor
from deniable.optimal.floor import at_even_shares
from deniable.optimal.hamming_scheme import Hamming
from deniable.optimal.hypercontractive_floor import (
    hypercontractive_floor,
    hypercontractive_floor_at,
    largest_norm,
    rho_squared,
)
from deniable.optimal.pooled_loss import balance

EPSILONS = (1.0, 2.0, 3.0, 4.0, 6.0)


def alike(n, k=2):
    return dn.Domain({f"x{i}": list(range(k)) for i in range(n)})


def wants(domain, kind):
    pairs = [list(pair) for pair in combinations(domain.names, 2)]
    return {"shares": list(domain), "pairs": pairs, "both": [*domain, *pairs]}[kind]


def contrasts_of(domain, wanted):
    items = gathered(wanted)
    return Contrasts(asked_of(domain, items), items)


def parts_of(f, shares):
    """The mean squares of a function's Efron-Stein parts, for every set of attributes that are independent."""
    found = {}
    for names in [(), *subsets(tuple(range(f.ndim)))]:
        part = f
        for axis, one in enumerate(shares):
            even = np.tensordot(part, one, (axis, 0))
            mean = np.expand_dims(even, axis)
            part = part - mean if axis in names else mean + 0 * part
        weights = prod((np.reshape(s, [-1 if a == i else 1 for a in range(f.ndim)]) for i, s in enumerate(shares)))
        found[names] = float((part**2 * weights).sum())
    return found


def test_polynomials_turn_distances_into_sums_of_squares():
    domain = dn.Domain({"a": [0, 1], "b": [0, 1, 2], "c": [0, 1], "d": [0, 1, 2]})
    hamming = Hamming(domain, (("a", "c"), ("b", "d")))
    f = np.random.default_rng(1).normal(size=domain.shape)
    cells = np.array(list(np.ndindex(domain.shape)))
    apart = cells[:, None] != cells[None]
    distance = np.stack([apart[..., [0, 2]].sum(axis=-1), apart[..., [1, 3]].sum(axis=-1)], axis=-1)
    place = np.apply_along_axis(lambda pair: hamming.classes.index(tuple(pair)), -1, distance)
    products = np.outer(f, f) / domain.cells**2
    parts = parts_of(f, [np.full(k, 1 / k) for k in domain.shape])
    for r in range(len(hamming.classes)):
        inside = [s for s in parts if hamming.place([domain.names[i] for i in s]) == r]
        by_hand = sum(parts[s] for s in inside)
        assert (products * hamming.polynomials[r].astype(float)[place]).sum() == pytest.approx(by_hand, rel=1e-9)
        assert hamming.polynomials[r, 0] == sum(prod(domain.shape[i] - 1 for i in s) for s in inside)
    with pytest.raises(InputError, match="as many categories"):
        Hamming(domain, (("a", "b"), ("c", "d")))


def best_of_all(n, kind, epsilon):
    """The least loss of any design: of all 2^t reports, mixed; by symmetry only the sums over sets of a size count."""
    t = 1 << n
    large = (np.arange(1 << t)[:, None] >> np.arange(t) & 1).astype(np.float64)[1:-1]
    f = 1 + expm1(epsilon) * large
    f /= f.mean(axis=1, keepdims=True)
    signs = np.array([[(-1) ** (u & v).bit_count() for v in range(t)] for u in range(t)])
    squares = (f @ signs / t) ** 2
    sizes = np.array([u.bit_count() for u in range(t)])
    levels = np.stack([squares[:, sizes == r].sum(axis=1) for r in range(1, n + 1)], axis=1)
    lengths = {"shares": (0.5, 0), "pairs": ((n - 1) / 4, 0.25), "both": (0.5 + (n - 1) / 4, 0.25)}[kind]
    counted = [(r, length) for r, length in enumerate(lengths, start=1) if length]
    reports = np.unique(levels[:, [r - 1 for r, _ in counted]].round(12), axis=0)
    sums = np.array([comb(n, r) * length**0.5 for r, length in counted])

    def value(w):
        mixed = w @ reports
        return float((sums**2 / mixed).sum()), reports @ (sums / mixed) ** 2

    _, loss, bound = balance(value, len(reports), 1e-4)
    return loss, bound


@pytest.mark.parametrize(("n", "kind"), black([3, 4], ["shares", "pairs", "both"]))
def test_the_linear_program_finds_the_least_loss_of_any_design(n, kind):
    domain = alike(n)
    for epsilon in EPSILONS:
        loss, bound = best_of_all(n, kind, epsilon)
        found = delsarte_floor(contrasts_of(domain, wants(domain, kind)), epsilon).check()
        least = {(4, "pairs", 2.0): 0.934, (4, "both", 2.0): 0.957}.get((n, kind, epsilon), 0.9998)
        assert least * bound <= found <= loss


@pytest.mark.parametrize(
    ("n", "k", "kind", "printed"),
    [
        (8, 2, "shares", [(29.46, 5.79, 1.76, 0.608, 0.080), (32.43, 8.42, 3.96, 2.39, 1.23),
         (37.46, 10.52, 4.96, 3.21, 1.76)]),
        (8, 2, "pairs", [(105.98, 20.84, 6.35, 2.19, 0.287), (105.98, 20.84, 6.46, 3.01, 1.23),
         (105.97, 20.88, 8.11, 4.49, 2.03)]),
        (5, 4, "shares", [(55.24, 10.86, 3.31, 1.14, 0.149), (55.24, 13.02, 6.13, 3.70, 1.92),
         (54.2, 13.13, 7.09, 4.17, 2.24)]),
        (5, 4, "pairs", [(353.5, 69.5, 21.2, 7.30, 0.957), (353.5, 69.5, 21.2, 7.54, 2.24),
         (347.0, 69.1, 21.6, 10.79, 3.58)]),
    ],
)  # fmt: skip
def test_printed_values(n, k, kind, printed):
    section, one_parameter, program = printed
    domain = alike(n, k)
    contrasts = contrasts_of(domain, wants(domain, kind))
    direct = sum(contrasts.squares.values())
    for place, epsilon in enumerate(EPSILONS):
        closed = at_even_shares(epsilon, domain.cells, contrasts.singular_sum**2) / direct
        # The continuous form was printed; with a whole number of cells it is never below.
        assert section[place] * 0.99 < closed < section[place] * 1.06
        assert hypercontractive_floor(contrasts, epsilon).check() / direct == pytest.approx(
            one_parameter[place], rel=9e-3
        )
        sharp = delsarte_floor(contrasts, epsilon).check() / direct
        assert program[place] * 0.999 < sharp < program[place] * 1.035  # printed with coarser numbers of cells
        found = dn.floor(domain, wants(domain, kind), epsilon)
        assert found.loss / direct >= max(closed, sharp) * (1 - 1e-9)
        assert found.loss >= direct * (1 - 1e-8)


def test_no_density_violates_the_inequality_with_one_more_parameter():
    rng, tightest = np.random.default_rng(5), np.inf
    for _ in range(400):
        shape = tuple(rng.integers(2, 5, int(rng.integers(1, 5))))
        shares = [np.full(k, 1 / k) if rng.random() < 0.5 else rng.dirichlet(np.full(k, 1.5)) for k in shape]
        epsilon, p = float(rng.uniform(0.1, 5)), float(rng.uniform(1.02, 2))
        whole = prod((np.reshape(s, [-1 if a == i else 1 for a in range(len(shape))]) for i, s in enumerate(shares)))
        rho = [rho_squared(float(one.min()), p) for one in shares]
        # Two values, half of the time on a half-space, which speaks of single attributes; and any values between.
        sides = [rng.normal(size=k) for k in shape]
        score = sum(np.reshape(s, [-1 if a == i else 1 for a in range(len(shape))]) for i, s in enumerate(sides))
        score = score if rng.random() < 0.5 else rng.normal(size=shape)
        large = (score > np.quantile(score, rng.random())).astype(float)
        f = 1 + expm1(epsilon) * (large if rng.random() < 0.8 else rng.random(shape))
        f = f / (f * whole).sum()
        parts = parts_of(f, shares)
        told = sum(prod(rho[i] for i in names) * square for names, square in parts.items() if names)
        most = largest_norm(epsilon, p)
        assert told <= most * (1 + 1e-9)
        tightest = min(tightest, most - told)
    assert tightest < 0.05


@pytest.mark.parametrize(("k", "p"), [(2, 1.3), (3, 1.5), (4, 2.0)])
def test_sixty_digits_say_what_floats_say(k, p):
    contrasts = contrasts_of(alike(3, k), wants(alike(3, k), "pairs"))
    found = replace(hypercontractive_floor(contrasts, 1.5), p=p)
    rho = rho_squared(1 / k, p)
    by_hand = contrasts.weighted_sum(lambda names: rho ** len(names)) ** 2 / largest_norm(1.5, p, k**3)
    assert found.check() == pytest.approx(by_hand, rel=1e-10)
    if p == 2:
        assert found.check() == pytest.approx(at_even_shares(1.5, k**3, contrasts.singular_sum**2), rel=1e-8)
    with pytest.raises(DesignError, match="proves nothing"):
        replace(found, p=1.0).check()


def test_no_random_design_is_below_any_floor(random_channel):
    rng = np.random.default_rng(3)
    judged = 0
    for _ in range(60):
        domain = dn.Domain({f"x{i}": list(range(k)) for i, k in enumerate(rng.integers(2, 4, int(rng.integers(2, 4))))})
        shares = {name: rng.dirichlet(np.full(len(domain[name]), 2.0)).tolist() for name in domain}
        wanted = [[*domain.names[:2]], domain.names[-1], dn.Wanted.mean(domain.names[0], weight=2)]
        epsilon = float(rng.uniform(0.3, 5))
        channel = random_channel(rng, domain.cells, epsilon)
        if np.linalg.matrix_rank(channel, 1e-4) < domain.cells:
            continue
        judged += 1
        even = Problem.of(matrix_of(domain, gathered(wanted)), epsilon)
        assert even.loss(channel) >= dn.floor(domain, wanted, epsilon).loss
        whole = shares[domain.names[0]]
        for name in domain.names[1:]:
            whole = np.multiply.outer(whole, shares[name])
        at_guess = Problem.of(matrix_of(domain, gathered(wanted)), epsilon, np.ravel(whole))
        assert at_guess.loss(channel) >= dn.floor(domain, wanted, epsilon, shares).loss
    assert judged > 20


def test_a_guess_of_shares_has_the_floor_of_independent_attributes():
    # Even shares said as a guess: the same inequality, any share of cells allowed.
    domain = alike(6)
    rows = matrix_of(domain, gathered(list(domain)))
    factors = [([axis], np.full(2, 0.5)) for axis in range(6)]
    found = hypercontractive_floor_at(4.0, rows, factors, domain.shape)
    exact = hypercontractive_floor(contrasts_of(domain, list(domain)), 4.0).check()
    assert found == pytest.approx(exact, rel=0.02)
    assert found <= exact * (1 + 1e-9)
    skewed = {name: [0.9, 0.1] for name in domain}
    assert dn.floor(domain, list(domain), 4.0, skewed).loss >= 6 * 0.18 * (1 - 1e-8)  # direct questions' variance


def test_unlike_attributes_and_wants():
    domain = dn.Domain({"a": [0, 1, 2], "b": [0, 1], "c": [0, 1], "d": [0, 1], "e": [0, 1, 2]})
    for wanted in ([["a", "b"], ["c", "d"]], ["a", "b", "c"], ["mean(e)", ["b", "c"], "cdf(a)", "association(b, d)"]):
        contrasts = contrasts_of(domain, wanted)
        found = delsarte_floor(contrasts, 3.0)
        assert found.check() > at_even_shares(3.0, contrasts.domain.cells, contrasts.singular_sum**2)
        rows = matrix_of(contrasts.domain, contrasts.wanted)
        assert found.check() <= Problem.of(rows, 3.0).loss(dn.KRR(contrasts.domain.cells, epsilon=3.0).matrix())
    assert sorted(map(sorted, delsarte_floor(contrasts_of(domain, [["a", "b"], ["c", "d"]]), 3.0).groups)) == [
        ["a"], ["b"], ["c", "d"]
    ]  # fmt: skip
    assert delsarte_floor(contrasts_of(alike(30), list(alike(30))), 3.0) is None  # too many cells


def test_a_certificate_is_computed_from_what_it_holds_alone():
    contrasts = contrasts_of(alike(4), wants(alike(4), "pairs"))
    found = delsarte_floor(contrasts, 3.0)
    # By hand, with floats: the largest weighted sum over all numbers of cells.
    k, weights = Hamming(contrasts.domain, found.groups).polynomials.astype(float), np.array(found.weights)
    most, first, g = 0.0, 1, expm1(3.0)
    for piece in found.pieces:
        raised = weights @ k + np.array([0.0, *piece.b]) @ k
        n = np.arange(first, piece.last + 1)
        most = max(most, (g**2 * n * (raised[0] + raised[1:].max() * (n - 1)) / (16 + g * n) ** 2).max())
        first = piece.last + 1
    total = contrasts.weighted_sum(lambda names: weights[len(names)])
    assert found.check() == pytest.approx(total**2 / most, rel=1e-9)
    assert found.bound == found.check()
    assert "loss at least" in repr(found)
    # Other multipliers prove less, or as much; never more than is true.
    least, _ = best_of_all(4, "pairs", 3.0)
    rng = np.random.default_rng(0)
    for _ in range(20):
        weights = [0.0, *rng.exponential(size=4).tolist()]
        other = replace(found, weights=tuple(weights), pieces=(Piece(15, tuple(rng.exponential(size=4).tolist())),))
        assert other.check() <= least
    for wrong in (
        {"pieces": found.pieces[:-1]},
        {"pieces": (Piece(15, (-1.0, 0.0, 0.0, 0.0)),)},
        {"pieces": (Piece(9, (0.0,) * 4), Piece(9, (0.0,) * 4), Piece(15, (0.0,) * 4))},
        {"weights": (1.0, *found.weights[1:])},
        {"weights": (0.0,) * 5},
        {"weights": (0.0, -1.0, 0.0, 0.0, 0.0)},
    ):
        with pytest.raises(DesignError, match="proves nothing"):
            replace(found, **wrong).check()


def test_the_exact_sum_is_below_the_float():
    contrasts = contrasts_of(alike(3), wants(alike(3), "both"))
    exact = contrasts.weighted_sum_below(lambda names: Fraction(1, len(names)))
    near = contrasts.weighted_sum(lambda names: 1 / len(names))
    assert float(exact) == pytest.approx(near, rel=1e-12)
    mixed = contrasts_of(alike(3), ["mean(x0)", "difference(x1 by x2)"])
    assert float(mixed.weighted_sum_below(lambda _: Fraction(1))) < mixed.singular_sum
    assert mixed.singular_sum == pytest.approx(float(mixed.weighted_sum_below(lambda _: Fraction(1))), rel=1e-8)
