"""Channels whose reports are sets, held to a contract of their own.

The law of a set is written out here a second time, set by set: `law(channel)` gives the probability of every report for
every truth in Fractions, from the definition and not from the four chances. Everything else is checked against it.
"""

from __future__ import annotations

import json
import math
from dataclasses import FrozenInstanceError
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from chequered import times
from deniable.channels.kronecker import Kronecker
from deniable.channels.krr import KRR
from deniable.channels.read_channel import channel_from_dict
from deniable.channels.sets.bit_masks import digits
from deniable.channels.sets.hashing import LocalHashing
from deniable.channels.sets.some_sets import SomeSets
from deniable.channels.sets.subset import SubsetSelection
from deniable.channels.sets.two_level import TwoLevel
from deniable.channels.sets.unary import Unary
from deniable.core.randomness import SECURE, Seeded
from deniable.device.channels.hashing import PRIME
from deniable.errors import DesignError, InputError, PrecisionError

# Monte Carlo means are compared at seven standard errors: 3e-12 a number, some 10^4 numbers below.
SIGMAS = 7
# Drawn once more below this p-value: a sound sampler fails with probability below (number of tests) x 1e-14.
SUSPICIOUS = 1e-7

SMALL = {
    "optimized": Unary(4, 1.0),
    "symmetric": Unary(3, 2.0, symmetric=True),
    "given integers": Unary(5, own=60000, other=1, bits=16),
    "turned round": Unary(3, own=10000, other=50000, bits=16),
    "32 bits": Unary(3, own=2**31, other=2**30 + 12345, bits=32),
    "pairs": SubsetSelection(5, 1.0, d=2),
    "one of two": SubsetSelection(2, 1.0),
    "chosen": SubsetSelection(8, 0.5),
    "all but one": SubsetSelection(4, 0.7, d=3),
    "rare truth": SubsetSelection(5, d=2, own=3000, bits=16),
    "again": TwoLevel(Unary(4, 2.0), KRR(2, 1.0)),
    "subset again": TwoLevel(SubsetSelection(5, 2.0, d=2), KRR(2, 1.5)),
}
LARGE = {
    "one number": Unary(53, 1.0),
    "two words": Unary(70, 1.0),
    "exact words": Unary(128, 3.0),
    "half of fifty": SubsetSelection(53, 0.1),
    "hashing": LocalHashing(7, 1.0),
    "hashing to two": LocalHashing(40, 1.0, g=2),
    "hashing to many": LocalHashing(12, 3.4),
    "hashing to more": LocalHashing(12, 4.0, g=40),
    "subsets of two words": SubsetSelection(70, 1.0),
    "thirty again": TwoLevel(SubsetSelection(30, 2.0), KRR(2, 2.0)),
    "some of six": SomeSets(Unary(6, 1.0), [0, 1, 2, 4]),
    "some of hashed ones": SomeSets(LocalHashing(7, 1.0), [0, 3, 4, 5]),
    "some of subsets": SomeSets(SubsetSelection(12, 1.0), [0, 1, 5, 7, 8, 9, 11]),
}


def law(channel):
    """Pr(report | truth) in Fractions: reports x truths, for channels with few reports."""
    k = channel.inputs
    table = [[Fraction(0)] * k for _ in range(1 << k)]
    if isinstance(channel, TwoLevel):
        first, turned = law(channel.first), Fraction(channel.again.other, 1 << channel.again.bits)
        for report in range(1 << k):
            for kept in range(1 << k):
                bits = (report ^ kept).bit_count()
                chance = turned**bits * (1 - turned) ** (k - bits)
                table[report] = [a + chance * b for a, b in zip(table[report], first[kept], strict=True)]
        return table
    p = Fraction(channel.own, 1 << channel.bits)
    for truth in range(k):
        if isinstance(channel, Unary):
            q = Fraction(channel.other, 1 << channel.bits)
            for report in range(1 << k):
                chances = [p if v == truth else q for v in range(k)]
                table[report][truth] = math.prod(c if report >> v & 1 else 1 - c for v, c in enumerate(chances))
            continue
        for members in combinations(range(k), channel.d):
            here = p / math.comb(k - 1, channel.d - 1) if truth in members else (1 - p) / math.comb(k - 1, channel.d)
            table[sum(1 << v for v in members)][truth] = here
    return table


def held(k):
    """Which truths every report of few categories speaks for: reports x k."""
    return (np.arange(1 << k)[:, None] >> np.arange(k)) & 1


@pytest.fixture(params=SMALL, ids=str)
def small(request):
    return SMALL[request.param]


@pytest.fixture(params=[*SMALL, *LARGE], ids=str)
def channel(request):
    return {**SMALL, **LARGE}[request.param]


@pytest.fixture
def pi(channel):
    return np.random.default_rng(1).dirichlet(np.full(channel.inputs, 0.7))


# -- the law -----------------------------------------------------------------------------------------------------------


def test_the_likelihood_of_a_report_is_the_law(small):
    stated = np.array([[float(chance) for chance in row] for row in law(small)])
    assert small.likelihood(np.arange(1 << small.inputs)) == pytest.approx(stated, rel=1e-9, abs=1e-300)
    every = small.every_report(1 << small.inputs)
    assert stated[every].sum(axis=0) == pytest.approx(np.ones(small.inputs))
    assert (np.diff(every) > 0).all()
    assert small.every_report(len(every) - 1) is None


def test_a_hash_speaks_for_the_truths_it_sends_to_its_value():
    channel = LocalHashing(7, 1.0)
    reports = channel.randomize(np.arange(7), source=Seeded(1))
    held = channel.members(reports)[:, :-1] > 0
    assert channel.likelihood(reports) == pytest.approx(np.where(held, channel.value.p, channel.value.q))
    assert channel.every_report(1 << 40) is None


def test_columns_of_the_law_sum_to_one(small):
    assert [sum(column) for column in zip(*law(small), strict=True)] == [1] * small.inputs


def test_the_four_chances_are_those_of_the_law(small):
    table, members, k = law(small), held(small.inputs), small.inputs
    one = [[sum(row[x] for row, m in zip(table, members, strict=True) if m[v]) for x in range(k)] for v in range(k)]
    assert {one[v][v] for v in range(k)} == {small.chances.p}
    assert {one[v][x] for v in range(k) for x in range(k) if v != x} == {small.chances.q}

    def both(v, w, x):
        return sum(row[x] for row, m in zip(table, members, strict=True) if m[v] and m[w])

    assert {both(0, w, 0) for w in range(1, k)} == {small.chances.own}
    others = {both(v, w, 0) for v in range(1, k) for w in range(1, k) if v != w}
    assert not others or others == {small.chances.other}


def test_the_ratio_is_the_largest_of_the_law(small):
    table = law(small.first if isinstance(small, TwoLevel) else small)
    assert small.ratio == max(max(row) / min(row) for row in table if max(row) > 0)
    if isinstance(small, TwoLevel):  # one report alone says less than what is kept
        assert max(max(row) / min(row) for row in law(small)) < small.ratio


def test_local_hashing_has_the_ratio_of_its_values_and_exact_chances():
    """All functions over a small prime in place of 65537, enumerated."""
    channel = LocalHashing(4, 1.0, g=3)
    assert channel.ratio == channel.value.ratio
    shares = [Fraction(math.ceil((y + 1) * PRIME / 3) - math.ceil(y * PRIME / 3), PRIME) for y in range(3)]
    assert sum(shares) == 1
    p, q = (Fraction(w, 1 << channel.value.bits) for w in (channel.value.keep, channel.value.other))
    # Hash values of three categories are independent with these shares; y is the disguised first one.
    chances = {"p": 0, "q": 0, "own": 0, "other": 0}
    for x, rx in enumerate(shares):
        for v, rv in enumerate(shares):
            for w, rw in enumerate(shares):
                for y in range(3):
                    weight = rx * rv * rw * (p if y == x else q)
                    chances["p"] += weight * (x == y)
                    chances["q"] += weight * (v == y)
                    chances["own"] += weight * (x == v == y)
                    chances["other"] += weight * (v == w == y)
    assert vars(channel.chances) == chances


def test_any_three_residues_are_independent_and_uniform():
    """What the family promises, by its equation: three values determine A, B and C, whatever the three categories."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        x, v, w = (int(c) for c in rng.choice(PRIME, 3, replace=False))
        vandermonde = (v - x) * (w - x) * (w - v) % PRIME
        assert vandermonde != 0  # so (A, B, C) -> (f(x), f(v), f(w)) is one to one


def test_a_hash_report_holds_the_categories_its_function_says():
    channel = LocalHashing(50, 1.0)
    reports = channel.randomize(np.arange(50).repeat(20), source=Seeded(3))
    for report, members in zip(reports.tolist(), channel.members(reports), strict=True):
        function, y = divmod(report, channel.g)
        function, c = divmod(function, PRIME)
        a, b = divmod(function, PRIME)
        expected = [(a + b * v + c * v * v) % PRIME * channel.g // PRIME == y for v in range(50)]
        assert members[:-1].tolist() == expected


# -- the algebra -------------------------------------------------------------------------------------------------------


def test_solve_undoes_apply_and_adjoints_pass_the_dot_test(channel, pi):
    np.testing.assert_allclose(channel.solve(channel.apply(pi)), pi, atol=1e-12)
    np.testing.assert_allclose(channel.matrix() @ pi, channel.apply(pi), rtol=1e-12)
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=channel.inputs), rng.normal(size=channel.outputs)
    assert channel.apply(x) @ y == pytest.approx(x @ channel.adjoint(y), rel=1e-9)
    assert channel.solve(y) @ x == pytest.approx(y @ channel.solve_adjoint(x), rel=1e-9)
    batch = rng.normal(size=(channel.inputs, 2, 3))
    np.testing.assert_allclose(channel.solve(channel.apply(batch)), batch, atol=1e-9)


def test_moments_are_those_of_the_law(small):
    k = small.inputs
    pi = np.random.default_rng(5).dirichlet(np.ones(k))
    z = (held(k) - small.q) / (small.p - small.q)
    shares = np.array([[float(x) for x in row] for row in law(small)]) @ pi
    moments = (z * shares[:, None]).T @ z
    lam = channel_shares(small, pi)
    ours = np.stack([small.moments_times(lam, w) for w in np.eye(k)], axis=1)
    np.testing.assert_allclose(ours, moments, rtol=1e-9, atol=1e-9 * np.abs(moments).max())
    np.testing.assert_allclose(small.solve_squared(lam), np.diagonal(moments), rtol=1e-9)
    np.testing.assert_allclose(small.variance(pi, 10), (np.diagonal(moments) - pi**2) / 10, rtol=1e-9)


def channel_shares(channel, pi):
    """Expected shares of the support cells, by the law."""
    report = np.array([[float(x) for x in row] for row in law(channel)]) @ pi
    return np.append(held(channel.inputs).T @ report, 1.0)


def test_the_expected_support_is_that_of_the_law(small):
    pi = np.random.default_rng(6).dirichlet(np.ones(small.inputs))
    np.testing.assert_allclose(small.apply(pi), channel_shares(small, pi), rtol=1e-12)


def test_the_sum_of_squares_is_the_moments(channel, pi):
    left, right = channel.as_sum_of_squares()
    shares = channel.apply(pi)
    moments = np.stack([channel.moments_times(shares, w) for w in np.eye(channel.inputs)], axis=1)
    built = right @ np.diag(left @ shares) @ right.T
    np.testing.assert_allclose(built, moments, rtol=1e-9, atol=1e-10 * np.abs(moments).max())


def test_moments_are_linear_in_shares(channel, pi):
    # Also of differences of tables, of which no report comes: how a variance changes with a share is asked of them.
    other = np.roll(pi, 1)
    moved = channel.apply(other) - channel.apply(pi)
    for w in np.random.default_rng(3).normal(size=(3, channel.inputs)):
        apart = channel.moments_times(channel.apply(other), w) - channel.moments_times(channel.apply(pi), w)
        scale = np.abs(channel.moments_times(channel.apply(pi), w)).max()
        np.testing.assert_allclose(channel.moments_times(moved, w), apart, atol=1e-10 * scale)


def test_moments_written_out_are_the_moments_of_every_replicate(channel):
    shares = channel.apply(np.random.default_rng(20).dirichlet(np.ones(channel.inputs), size=3).T)
    written = channel.second_moments(shares)
    assert written.shape == (3, channel.inputs, channel.inputs)
    for replicate in range(3):
        moments = np.stack([channel.moments_times(shares[:, replicate], w) for w in np.eye(channel.inputs)], axis=1)
        np.testing.assert_allclose(written[replicate], moments, rtol=1e-9, atol=1e-10 * np.abs(moments).max())


def test_chances_never_change(channel):
    with pytest.raises(FrozenInstanceError):
        channel.chances.p = channel.chances.q


@pytest.mark.parametrize("make", [SubsetSelection, LocalHashing])
def test_an_epsilon_that_no_integers_reach_is_refused_whatever_size_is_best(make):
    with pytest.raises(PrecisionError):
        make(10, 1e-12)


def test_spread_and_affine_belong_to_the_cells(channel, pi):
    diagonal, sums = channel.spread()
    rest = (sums - diagonal) / (channel.inputs - 1)
    np.testing.assert_allclose(channel.solve_squared(channel.apply(pi)), diagonal * pi + rest * (1 - pi), rtol=1e-9)
    scale, offset = channel.affine()
    np.testing.assert_allclose((channel.apply(pi)[:-1] - offset) / scale, pi, atol=1e-12)


def test_plain_data_gives_the_same_channel_back(channel):
    again = channel_from_dict(json.loads(json.dumps(channel.to_dict())))
    assert again == channel
    assert again.chances == channel.chances
    for broken in ({**channel.to_dict(), "surprise": 1}, {"kind": channel.to_dict()["kind"]}):
        with pytest.raises(DesignError):
            channel_from_dict(broken)


# -- the sampler -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", [SECURE, Seeded(7)], ids=repr)
def test_every_set_comes_as_often_as_the_law_says(small, source):
    expected = np.array([[float(x) for x in row] for row in law(small)]).T

    def pvalues():
        each = 40_000
        reports = small.randomize(np.repeat(np.arange(small.inputs), each), source=source)
        out = []
        for mine, shares in zip(reports.reshape(small.inputs, each), expected, strict=True):
            counts = np.bincount(mine.astype(np.int64), minlength=len(shares))
            assert not counts[shares == 0].any()  # a set of another size never comes
            rare = (shares * each < 5) & (shares > 0)
            seen = np.append(counts[(shares > 0) & ~rare], counts[rare].sum())
            mean = np.append(shares[(shares > 0) & ~rare], shares[rare].sum()) * each
            keep = mean > 0
            out.append(stats.chisquare(seen[keep], mean[keep] * seen[keep].sum() / mean[keep].sum()).pvalue)
        return min(out)

    found = pvalues()
    assert (found if found >= SUSPICIOUS else pvalues()) >= SUSPICIOUS


def test_single_and_joint_memberships_are_as_the_chances_say(channel):
    n, truth = 30_000, channel.inputs - 1
    members = channel.members(channel.randomize(np.full(n, truth), source=Seeded(8)))
    assert members.shape == (n, channel.inputs + 1)
    assert (members[:, -1] == 1).all()
    seen, pairs = members[:, :-1].mean(axis=0), members[:, :-1].T @ members[:, :-1] / n
    one = np.full(channel.inputs, channel.q)
    one[truth] = channel.p
    two = np.full(pairs.shape, float(channel.chances.other))
    two[truth] = two[:, truth] = float(channel.chances.own)
    np.fill_diagonal(two, one)
    assert (np.abs(seen - one) <= SIGMAS * np.sqrt(one * (1 - one) / n)).all()
    assert (np.abs(pairs - two) <= SIGMAS * np.sqrt(two * (1 - two) / n) + 1e-12).all()


def test_the_tally_is_the_sum_of_members_and_weights_count_as_repetitions(channel):
    reports = channel.randomize(np.arange(900) % channel.inputs, source=Seeded(9))
    tally = channel.tally(reports)
    np.testing.assert_array_equal(tally, channel.members(reports).sum(axis=0))
    assert channel.reports_in(tally) == 900
    times = np.random.default_rng(10).integers(1, 5, size=900)
    np.testing.assert_array_equal(channel.tally(reports, times), channel.tally(np.repeat(reports, times, axis=0)))


def test_draws_on_counts_have_the_mean_and_covariance_of_reports(channel, pi):
    n, surveys = 500, times(4000, 1500) if channel.inputs <= 30 else 500
    drawn = channel.draw(pi, n, np.random.default_rng(11), surveys)
    assert drawn.shape == (channel.outputs, surveys)
    assert (drawn[-1] == n).all()
    estimates = channel.solve(drawn / n)
    variance = channel.variance(pi, n)
    assert (np.abs(estimates.mean(axis=1) - pi) <= SIGMAS * np.sqrt(variance / surveys)).all()
    centred = estimates - pi[:, None]
    products = centred[:, None] * centred[None]
    shares = channel.apply(pi)
    moments = np.stack([channel.moments_times(shares, w) for w in np.eye(channel.inputs)], axis=1)
    expected = (moments - np.outer(pi, pi)) / n
    error = products.std(axis=-1) / math.sqrt(surveys)
    assert (np.abs(products.mean(axis=-1) - expected) <= SIGMAS * error).all()
    if isinstance(channel, SubsetSelection):
        assert (drawn[:-1].sum(axis=0) == n * channel.d).all()


def test_one_table_a_replicate_can_be_drawn_from(channel):
    tables = np.random.default_rng(12).dirichlet(np.ones(channel.inputs), size=3).T
    drawn = channel.draw(tables, 10**6, np.random.default_rng(13), 3)
    error = np.sqrt(np.stack([channel.variance(table, 10**6) for table in tables.T], axis=1))
    assert (np.abs(channel.solve(drawn / 10**6) - tables) <= SIGMAS * error).all()


def test_seeds_repeat_and_bad_codes_are_refused(channel):
    codes = np.arange(50) % channel.inputs
    one, two = (channel.randomize(codes, source=Seeded(14)) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    with pytest.raises(InputError, match=r"1 codes lie outside 0 \.\. \d+, the truths of "):
        channel.randomize([0, channel.inputs])
    with pytest.raises(InputError, match=r"2 codes lie outside 0 \.\. \d+, the truths of "):
        channel.randomize([-1, 0, -channel.inputs, channel.inputs - 1])
    with pytest.raises(InputError, match=r"1 codes lie outside"):
        channel.randomize([-1])
    with pytest.raises(InputError, match="codes must be whole numbers"):
        channel.randomize([0.0])
    with pytest.raises(DesignError, match="reports sets"):
        channel.weights()
    assert len(channel.randomize(np.zeros(0, dtype=int))) == 0


# -- products ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def product():
    return Kronecker([Unary(3, 1.0), KRR(2, 1.5), SubsetSelection(4, 1.0, d=2)])


def test_a_product_mixes_sets_and_categories(product):
    n = 60_000
    pi = np.random.default_rng(15).dirichlet(np.ones(24)).reshape(3, 2, 4)
    codes = np.stack(np.unravel_index(np.random.default_rng(16).choice(24, n, p=pi.ravel()), (3, 2, 4)), axis=1)
    reports = product.randomize(codes, source=Seeded(17))
    counts = product.tally(reports)
    assert counts.shape == (4, 2, 5)
    assert product.reports_in(counts) == n
    each = [channel.solve(channel.members(reports[:, i]).T) for i, channel in enumerate(product.channels)]
    z = np.einsum("an,bn,cn->nabc", *each).reshape(n, -1)
    np.testing.assert_allclose(product.solve(counts / n).ravel(), z.mean(axis=0), atol=1e-9)
    assert (np.abs(z.mean(axis=0) - pi.ravel()) <= SIGMAS * np.sqrt(product.variance(pi, n).ravel())).all()
    shares = product.apply(pi)
    moments = np.stack([product.moments_times(shares, w.reshape(3, 2, 4)).ravel() for w in np.eye(24)], axis=1)
    np.testing.assert_allclose(np.diagonal(moments), product.solve_squared(shares).ravel(), rtol=1e-9)
    squares = np.einsum("na,nb->nab", z[:, :6], z[:, :6])
    error = squares.std(axis=0) / math.sqrt(n)
    assert (np.abs(squares.mean(axis=0) - moments[:6, :6]) <= SIGMAS * error).all()


def test_a_product_is_drawn_respondent_by_respondent(product):
    pi = np.random.default_rng(18).dirichlet(np.ones(24)).reshape(3, 2, 4)
    drawn = product.draw(pi, 400, np.random.default_rng(19), 60)
    assert (product.reports_in(drawn) == 400).all()
    error = np.sqrt(product.variance(pi, 400) / 60)
    assert (np.abs(product.solve(drawn / 400).mean(axis=-1) - pi) <= SIGMAS * error).all()


# -- counting many, here and elsewhere ---------------------------------------------------------------------------------


def choose(condition, number):
    return np.where(condition, number, 0)


def test_words_in_whole_numbers_are_the_sets(channel):
    """What engines compute, computed by NumPy: all categories, in words of 1 to 7 digits."""
    if channel.reports > 1 << 53:
        return  # no column of a table holds it, so no engine ever meets it
    reports = channel.randomize(np.arange(500) % channel.inputs, source=Seeded(2)).astype(np.int64)
    members = channel.members(reports)
    opened = channel.opened(reports)
    for count in (1, 7):
        for first in range(0, channel.inputs, count):
            here = min(count, channel.inputs - first)
            word = channel.word(opened, first, here, choose)
            assert np.array_equal(digits(word, here)[:, :-1], members[:, first : first + here])


@pytest.mark.parametrize("g", [2, 31, 60, 400, 20_000, 3_000_000])
def test_words_of_hashes_with_any_number_of_values(g):
    """The quotient by a shift is the quotient, to the last residue; beyond its range it is divided."""
    channel = LocalHashing(12, value=KRR(g, 2.0 if g < 20_000 else 15.0))
    prime = channel.prime
    residue = np.concatenate([np.arange(min(prime, 2000)), np.arange(max(0, prime - 2000), prime)])
    nothing = np.zeros_like(residue)
    for y in (0, 1, g - 1):
        word = channel.word((residue, nothing, nothing, nothing + y), 0, 1, choose)
        assert np.array_equal(word == 1, residue * g // prime == y)
    hashed = residue * g // prime
    assert (channel.word((residue, nothing, nothing, hashed), 0, 1, choose) == 1).all()


@pytest.mark.parametrize("k", [3, 8, 13, 16, 20, 33, 53, 70, 130])
def test_many_masks_are_added_up_as_few_are(k):
    """Words of every width, and a number that no chunk divides; each category by its own digit."""
    masks = np.random.default_rng(k).integers(0, 1 << min(k, 63), ((1 << 17) + 4321, -(-k // 64)), dtype=np.uint64)
    masks[:, -1] &= np.uint64((1 << (k - 1) % 64 + 1) - 1)
    channel = Unary(k, 1.0)
    reports = masks if k > 53 else masks[:, 0].astype(channel.report_dtype)
    expected = [int(((masks[:, v // 64] >> np.uint64(v % 64)) & np.uint64(1)).sum()) for v in range(k)]
    assert channel.tally(reports).tolist() == [*expected, len(masks)]
    doubled = channel.tally(reports[:1000], np.full(1000, 2))
    assert np.array_equal(doubled, 2 * channel.tally(reports[:1000]))


@pytest.mark.parametrize(
    "channel", [LocalHashing(700, 1.0), LocalHashing(65537, 1.0), LocalHashing(500, 4.5, g=60)], ids=str
)
def test_hashes_are_followed_exactly_however_many_categories(channel):
    """By differences and fractions of P, against the polynomial itself; largest coefficients included."""
    most = (channel.prime**3 - 1) * channel.g + np.arange(channel.g)
    drawn = channel.randomize(np.arange(40) % channel.inputs, source=Seeded(3)).astype(np.int64)
    reports = np.concatenate([most, drawn])
    function, y = np.divmod(reports, channel.g)
    function, c = np.divmod(function, channel.prime)
    a, b = np.divmod(function, channel.prime)
    v = np.arange(channel.inputs)[:, None]
    hashed = (a + (b + c * v % channel.prime) * v % channel.prime) % channel.prime * channel.g // channel.prime
    assert np.array_equal(channel.tally(reports)[:-1], (hashed == y).sum(axis=1))
    often = np.arange(len(reports)) % 3
    assert np.array_equal(channel.tally(reports, often)[:-1], ((hashed == y) * often).sum(axis=1))
    held = channel.members(reports)[:, :-1] > 0
    assert np.array_equal(channel.likelihood(reports), np.where(held, channel.value.p, channel.value.q))
