"""Sets as binary numbers: exact coins, and counting."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.channels.best_channel import best_channel
from deniable.channels.kronecker import Kronecker
from deniable.channels.krr import KRR
from deniable.channels.sets.bit_masks import coins, held, words
from deniable.channels.sets.hadamard import HadamardResponse, walsh_hadamard
from deniable.channels.sets.hashing import LocalHashing
from deniable.channels.sets.subset import SubsetSelection
from deniable.channels.sets.two_level import TwoLevel
from deniable.channels.sets.unary import Unary
from deniable.errors import DesignError, ProbabilityError, SingularChannelError


class EveryNumber:
    """A stream whose lanes hold every number below 2^bits once: lane i has, digit by digit, the complement of i."""

    def __init__(self, bits, first_digit):
        self.bits, self.digit = bits, first_digit

    def fill(self, out):
        lanes = np.arange(1 << self.bits, dtype=np.uint64).reshape(-1, 64)
        zero = 1 - ((lanes >> np.uint64(self.digit)) & np.uint64(1))
        out[:] = (zero << np.arange(64, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
        self.digit += 1


@pytest.mark.parametrize("weight", [1, 2, 3, 640, 32768, 32769, 40000, 65534, 65535])
def test_exactly_as_many_of_all_numbers_are_up_as_the_weight_says(weight):
    low = (weight & -weight).bit_length() - 1
    up = coins(weight, 16, (1 << 10, 1), EveryNumber(16, low))
    bits = np.unpackbits(up.view(np.uint8), bitorder="little")
    # Digits below the weight's lowest 1 are not drawn: numbers that differ only in them fall the same way.
    assert bits.sum() == weight
    np.testing.assert_array_equal(np.flatnonzero(bits), np.arange(weight))


@pytest.mark.parametrize("categories", [1, 16, 17, 53, 64, 65, 200])
def test_counting_by_pieces_is_counting_by_bits(categories):
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 1 << 63, size=(300, words(categories)), dtype=np.uint64)
    bits = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")[:, :categories]
    np.testing.assert_array_equal(held(rows, categories), bits.sum(axis=0))


def test_the_fast_transform_is_the_hadamard_matrix():
    from scipy.linalg import hadamard

    x = np.random.default_rng(2).normal(size=(3, 16, 5))
    np.testing.assert_allclose(walsh_hadamard(x), np.einsum("uw,lwr->lur", hadamard(16), x), atol=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 2, 4])
@pytest.mark.parametrize("make", [Unary, SubsetSelection, LocalHashing, HadamardResponse])
def test_the_epsilon_asked_for_is_met_from_below(make, epsilon):
    channel = make(20, epsilon)
    assert 0.999 * epsilon <= channel.epsilon <= epsilon


def test_sizes_that_cannot_be_met_are_passed_over():
    assert SubsetSelection(3, 20.0).d == 1
    assert LocalHashing(5, 15.0).epsilon <= 15.0


def test_nobody_at_all_is_counted():
    for channel in (Unary(5, 1.0), SubsetSelection(5, 1.0), LocalHashing(5, 1.0)):
        assert channel.tally(channel.randomize(np.zeros(0, dtype=int))).tolist() == [0] * 6


def test_known_parameters():
    """OUE: p = 1/2, q = 1 / (e + 1), variance 4 e / (e - 1)^2 a rare cell. SUE: p / q = sqrt(e). d = k / (e + 1)."""
    e = np.e
    assert Unary(10, 1.0).q == pytest.approx(1 / (e + 1), rel=1e-3)
    symmetric = Unary(10, 1.0, symmetric=True)
    assert symmetric.p / symmetric.q == pytest.approx(np.sqrt(e), rel=1e-3)
    assert SubsetSelection(40, 1.0).d == pytest.approx(40 / (e + 1), abs=1)
    assert Unary(1000, 1.0).variance(np.append(1, np.zeros(999)), 1)[5] == pytest.approx(4 * e / (e - 1) ** 2, rel=2e-3)
    # Local hashing to about e + 1 values tells as much.
    assert LocalHashing(1000, 1.0).variance(np.full(1000, 1e-3), 1)[0] == pytest.approx(4 * e / (e - 1) ** 2, rel=0.02)


def test_the_channel_of_least_variance_is_computed():
    assert isinstance(best_channel(4, 1.0, "least_variance"), KRR)
    assert isinstance(best_channel(9, 1.0, "least_variance"), SubsetSelection)
    assert isinstance(best_channel(9, 4.0, "least_variance"), KRR)
    many = best_channel(3000, 1.0, "least_variance")
    even = np.full(3000, 1 / 3000)
    others = [LocalHashing(3000, 1.0), HadamardResponse(3000, 1.0)]
    assert many.variance(even, 1).sum() <= 1.0001 * min(other.variance(even, 1).sum() for other in others)
    # The folklore k < 3 e^epsilon + 2 is about k-RR and optimized unary encoding, and right about those.
    for epsilon in (0.5, 1.0, 2.0):
        edge = int(3 * np.exp(epsilon) + 2)
        for k, better in ((edge - 1, KRR), (edge + 2, Unary)):
            rare = np.append(1.0, np.zeros(k - 1))
            krr, unary = (make(k, epsilon).variance(rare, 1)[1] for make in (KRR, Unary))
            assert (krr < unary) == (better is KRR), (epsilon, k)


def test_bad_numbers_are_refused_by_name():
    for make, problem, error in [
        (lambda: Unary(1, 1.0), "at least 2 categories", DesignError),
        (lambda: Unary(3, own=0, other=5, bits=16), "give the truth away", ProbabilityError),
        (lambda: Unary(3, own=5, other=5, bits=16), "nothing can be recovered", SingularChannelError),
        (lambda: Unary(3, own=5, other=4, bits=8), "16 or 32 bits", DesignError),
        (lambda: Unary(3), "needs an epsilon", DesignError),
        (lambda: SubsetSelection(4097, 1.0), "For more, use BlockDesign", DesignError),
        (lambda: SubsetSelection(5, 1.0, d=5), "tells nothing or everything", ProbabilityError),
        (lambda: SubsetSelection(4, d=2, own=32768, bits=16), "nothing can be recovered", SingularChannelError),
        (lambda: LocalHashing(70000, 1.0), "2 to 65537 categories", DesignError),
        (lambda: LocalHashing(60_000, 1.0, g=60), "leave room for functions of 53147", DesignError),
        (lambda: HadamardResponse(1 << 20, 1.0), "categories", DesignError),
        (lambda: HadamardResponse(5, other=9000, bits=16), "must be at least 1", ProbabilityError),
        (lambda: TwoLevel(Unary(60, 1.0), KRR(2, 1.0)), "up to 53 categories", DesignError),
        (lambda: TwoLevel(Unary(6, 1.0), KRR(3, 1.0)), "a channel of two", DesignError),
        (lambda: TwoLevel(Unary(6, 1.0), KRR(2, other=40000, bits=16)), "kept more often", SingularChannelError),
        (lambda: TwoLevel(LocalHashing(6, 1.0), KRR(2, 1.0)), "two levels are a set", DesignError),
        (lambda: Kronecker([Unary(70, 1.0), KRR(2, 1.0)]).randomize([[0, 0]]), "does not fit one number", DesignError),
        (lambda: best_channel(60, 1.0, "subset"), "at most 53", DesignError),
        (lambda: best_channel(60, 1.0, "best"), "must be one of", DesignError),
    ]:
        with pytest.raises(error, match=problem):
            make()
