"""Every channel there is, held to the contract."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import cycle

import numpy as np
import pytest
from channel_contract import ChannelContract, RunnableContract, SingleDrawContract, UnrunnableContract

from deniable.channels.bitmask import Bitmask
from deniable.channels.dense import Dense
from deniable.channels.kronecker import Kronecker
from deniable.channels.krr import KRR
from deniable.channels.laplace import BinnedLaplace
from deniable.channels.mixture import Mixture
from deniable.channels.patterns import Patterns
from deniable.channels.sets.block_design import BlockDesign
from deniable.channels.sets.hadamard import HadamardResponse
from deniable.channels.survey_devices import (
    Crosswise,
    ForcedResponse,
    Kuk,
    Mangat,
    Triangular,
    UnrelatedQuestion,
    Warner,
)
from deniable.channels.two_level_krr import TwoLevelKRR
from deniable.device.channels import kind_from_dict
from deniable.errors import DesignError, SingularChannelError
from deniable.optimal.optimal_channel import optimal_channel

EVEN_AND_ODD = [2, 3, 4, 5, 64, 127, 128, 129, 200, 256, 257, 1000]  # around the ends of what a byte holds
SKEWED = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 8), Fraction(1, 10), Fraction(1, 60), Fraction(1, 120)]


class StatedFractions:
    """The exact numbers of a device performed by hand are the ones it writes down."""

    @pytest.fixture(scope="class")
    @classmethod
    def exact(cls, channel):
        written = channel.to_dict()["columns"]
        return np.array([[Fraction(share) for share in column] for column in written], dtype=object).T


class TestKRR(SingleDrawContract):
    @pytest.fixture(
        scope="class",
        params=[*zip(EVEN_AND_ODD, cycle((0.1, 1, 4)), strict=False), (2, 4), (3, 0.1), (256, 4)],
        ids=str,
    )
    @classmethod
    def channel(cls, request):
        k, epsilon = request.param
        return KRR(k, epsilon)

    @pytest.fixture(scope="class")
    @classmethod
    def dense(cls, channel):
        a, b, k = channel.keep, channel.other, channel.inputs
        return ((a - b) * np.eye(k) + b) / 2**channel.bits

    def test_every_shape_can_be_collapsed(self, channel):
        assert channel.collapse((channel.inputs,), (0,)) == channel


class TestKRROfGivenIntegers(SingleDrawContract):
    """Sixteen bits stretched to their ends: hardly any truth, hardly any lie, more lies than truth, many categories."""

    @pytest.fixture(
        scope="class",
        params=[(2, 1), (2, 32767), (2, 40000), (3, 1), (127, 513), (128, 500), (129, 1), (256, 255), (1000, 60)],
        ids=str,
    )
    @classmethod
    def channel(cls, request):
        k, other = request.param
        return KRR(k, other=other, bits=16)


class TestHadamardResponse(SingleDrawContract):
    @pytest.fixture(
        scope="class", params=[(2, 1), (3, 0.1), (4, 4), (7, 1), (8, 1), (100, 2), (255, 1), (300, 1)], ids=str
    )
    @classmethod
    def channel(cls, request):
        return HadamardResponse(*request.param)

    @pytest.fixture(scope="class")
    @classmethod
    def dense(cls, channel):
        from scipy.linalg import hadamard

        signs = hadamard(channel.outputs)[:, 1 : channel.inputs + 1]
        return np.where(signs > 0, channel.keep, channel.other) / 2**channel.bits


class TestMixture(SingleDrawContract):
    @pytest.fixture(
        scope="class",
        params=[
            (1, [1, 65534], 16),
            (40000, [25000, 500, 30, 6], 16),
            (65530, [1, 2, 3], 16),
            (30000, [30, 30, *range(1, 250)], 16),
            (2**31, [2**30, 2**29, 2**28, 2**27, 2**26, 2**26], 32),
            (2**20, [1, 2**32 - 2**20 - 2, 1], 32),
        ],
        ids=["hardly kept", "skewed", "hardly faked", "many", "halves", "rare"],
    )
    @classmethod
    def channel(cls, request):
        keep, fakes, bits = request.param
        fakes = [*fakes[:-1], (1 << bits) - keep - sum(fakes[:-1])]
        return Mixture.from_weights(keep, fakes, bits)

    @pytest.fixture(scope="class")
    @classmethod
    def dense(cls, channel):
        data = channel.to_dict()
        return (data["keep"] * np.eye(channel.inputs) + np.array(data["fakes"])[:, None]) / 2**channel.bits


class TestStatedMixture(SingleDrawContract):
    @pytest.fixture(
        scope="class",
        params=[(0.5, [0.25, 0.75]), (Fraction(1, 3), SKEWED), (0.05, [0.1] * 10), (0.9, [Fraction(1, 12)] * 12)],
        ids=["two", "skewed", "hardly kept", "even"],
    )
    @classmethod
    def stated(cls, request):
        return request.param

    @pytest.fixture(scope="class")
    @classmethod
    def channel(cls, stated):
        return Mixture(*stated)

    @pytest.fixture(scope="class")
    @classmethod
    def exact(cls, stated):
        keep, fakes = stated
        keep, fakes = Fraction(str(keep)), [Fraction(str(fake)) for fake in fakes]
        return [[(1 - keep) * fake + keep * (u == v) for v in range(len(fakes))] for u, fake in enumerate(fakes)]

    @pytest.fixture(scope="class")
    @classmethod
    def dense(cls, exact):
        return np.array(exact, dtype=float)


class TestDense(SingleDrawContract):
    @pytest.fixture(scope="class", params=[(2, 2, 16), (5, 3, 16), (4, 4, 32), (300, 3, 32), (60, 60, 16)], ids=str)
    @classmethod
    def weights(cls, request):
        outputs, inputs, bits = request.param
        rng = np.random.default_rng(outputs)
        each = (1 << bits) // (2 * outputs)
        w = rng.integers(1, each, size=(outputs, inputs))
        w[np.arange(inputs), np.arange(inputs)] += (1 << bits) - w.sum(axis=0)
        return w, bits

    @pytest.fixture(scope="class")
    @classmethod
    def channel(cls, weights):
        return Dense.from_weights(*weights)

    @pytest.fixture(scope="class")
    @classmethod
    def dense(cls, weights):
        w, bits = weights
        return w / 2**bits


class TestPatterns(SingleDrawContract):
    """With a remainder and without one, of which the last draw of every truth belongs to a pattern."""

    @pytest.fixture(scope="class", params=["remainder", "no remainder", "32 bits", "many truths"])
    @classmethod
    def channel(cls, request):
        if request.param == "remainder":
            sets = [[0, 1], [3, 4], [2], [1], [3]]
            return Patterns(5, sets, [8000, 8000, 5000, 99, 77], [21000, 21000, 13000, 260, 200], 16)
        if request.param == "no remainder":
            return Patterns(2, [[1], [0]], [17626, 17626], [47910, 47910], 16)
        if request.param == "32 bits":
            return Patterns(3, [[0], [1], [2]], [1 << 29] * 3, [3 << 29, 3 << 29, 1 << 30], 32)
        near = [[v, (v + 1) % 70, (v + 2) % 70] for v in range(70)]
        low, high = [(700 + v) << 15 for v in range(70)], [(1900 + 2 * v) << 15 for v in range(70)]
        return Patterns(70, near, low, high, 32)

    @pytest.fixture(scope="class")
    @classmethod
    def dense(cls, channel):
        rows = [
            [high if mask >> v & 1 else low for v in range(channel.inputs)]
            for mask, low, high in zip(channel.large, channel.low, channel.high, strict=True)
        ]
        left = 2**channel.bits - np.sum(rows, axis=0)
        return np.array([*rows, left] if left.any() else rows) / 2**channel.bits


class TestOptimal(SingleDrawContract):
    @pytest.fixture(scope="class", params=[4, 9], ids=["16 bits", "32 bits"])
    @classmethod
    def channel(cls, request):
        return optimal_channel(
            np.tril(np.ones((request.param, request.param)))[:-1], 1.0 if request.param == 4 else 0.5
        )


class TestStatedDense(StatedFractions, SingleDrawContract):
    @pytest.fixture(
        scope="class",
        params=[
            [[0.8, 0.3], [0.2, 0.7]],
            [[0.7, 0.1, 0.1], [0.2, 0.6, 0.3], [0.1, 0.3, 0.6]],
            [[0.5, 0.2], [0.3, 0.3], [0.1, 0.1], [0.1, 0.4]],
            [[Fraction(2, 3), Fraction(1, 7)], [Fraction(1, 3), Fraction(6, 7)]],
        ],
        ids=["two", "three", "more reports", "fractions"],
    )
    @classmethod
    def dense(cls, request):
        return np.array(request.param, dtype=float)

    @pytest.fixture(scope="class")
    @classmethod
    def channel(cls, dense):
        return Dense(dense)


class TestBinnedLaplace(SingleDrawContract):
    @pytest.fixture(scope="class", params=[(2, 1), (3, 0.5), (6, 1), (6, 5), (10, 3)], ids=str)
    @classmethod
    def channel(cls, request):
        return BinnedLaplace(*request.param)


class TestDevices(StatedFractions, SingleDrawContract):
    @pytest.fixture(
        scope="class",
        params=[
            Warner(0.8),
            Warner(0.2),
            Warner(Fraction(1, 6)),
            ForcedResponse([1 / 6, 1 / 12]),
            ForcedResponse([0.1, 0.05, 0.2, 0.15]),
            UnrelatedQuestion(0.7, 0.25),
            Crosswise(0.25),
            Kuk(0.7, 0.2),
            Kuk(0.75, 0.4, repetitions=3),
        ],
        ids=lambda device: device.name,
    )
    @classmethod
    def channel(cls, request):
        return request.param


class TestDevicesWithAZero(StatedFractions, UnrunnableContract):
    @pytest.fixture(
        scope="class",
        params=[Triangular(0.25), Mangat(0.7), UnrelatedQuestion(0.7, 1), Kuk(1, 0.4, repetitions=3), Warner(1)],
        ids=lambda device: device.name,
    )
    @classmethod
    def channel(cls, request):
        return request.param


class TestWeightsWithAZero(UnrunnableContract):
    @pytest.fixture(scope="class", params=["dense", "mixture"])
    @classmethod
    def channel(cls, request):
        if request.param == "dense":
            return Dense.from_weights([[2**15, 1], [2**15 - 1, 2**16 - 1], [1, 0]], 16)
        return Mixture.from_weights(2**15, [2**15 - 1, 0, 1], 16)

    @pytest.fixture(scope="class")
    @classmethod
    def exact(cls, channel):
        return np.round(channel.matrix() * 2**16).astype(int)


class TestTwoLevelKRR(RunnableContract):
    @pytest.fixture(scope="class", params=[(2, 1.0, 2.0), (3, 0.5, 0.5), (12, 4.0, 2.0), (6, 1.0, 9.0)], ids=str)
    @classmethod
    def channel(cls, request):
        k, first, again = request.param
        return TwoLevelKRR(KRR(k, first), KRR(k, again))

    @pytest.fixture(scope="class")
    @classmethod
    def dense(cls, channel):
        return channel.again.matrix() @ channel.first.matrix()

    @pytest.fixture(scope="class")
    @classmethod
    def exact(cls, channel):
        """The kept answer's: of all reports that are ever made of it, it is what is told."""
        return channel.first.weights()

    def test_a_single_report_tells_less(self, channel):
        rows = channel.again.weights().astype(object) @ channel.first.weights().astype(object)
        assert 1 < max(Fraction(max(row), min(row)) for row in rows.tolist()) < channel.ratio

    def test_a_device_makes_the_same_of_the_same_integers(self, channel):
        kind = kind_from_dict(channel.to_dict())
        kind.check("question")
        assert (kind.truths, kind.reports, kind.ratio) == (channel.inputs, channel.reports, channel.ratio)

    def test_it_takes_a_draw_a_level_and_as_many_categories(self, channel):
        for refused in (channel.weights, lambda: channel.intervals(0)):
            with pytest.raises(DesignError, match="a draw for each level"):
                refused()
        with pytest.raises(DesignError, match="of as many categories"):
            TwoLevelKRR(channel.first, KRR(channel.inputs + 1, 1.0))
        with pytest.raises(SingularChannelError, match="more often than any lie"):
            TwoLevelKRR(KRR(2, other=40000, bits=16), KRR(2, 1.0))


class TestBlockDesign(RunnableContract):
    @pytest.fixture(
        scope="class",
        params=[
            (4, 1, 2),
            (9, 0.1, 3),
            (9, 4, 3),
            (25, 1, 5),
            (49, 2, 7),
            (10, 1, 3),
            (16, 1, 4),
            (30, 2, 8),
            (11, 0.5, 9),
        ],
        ids=str,
    )
    @classmethod
    def channel(cls, request):
        k, epsilon, order = request.param
        return BlockDesign(k, epsilon, order=order)

    @pytest.fixture(scope="class")
    @classmethod
    def exact(cls, channel):
        """Two steps: a draw, then one of the hyperplanes that are left, out of even numbers."""
        rest = (1 << channel.draw_bits) - channel.own
        on, off = channel.own * (channel.q - 1), rest
        held = [[line in through for through in channel.lines.tolist()] for line in range(channel.outputs)]
        return np.where(held, on, off).astype(object)


class TestBitmask(RunnableContract):
    @pytest.fixture(scope="class", params=[(2, 0.5), (3, 1), (5, 0.3)], ids=str)
    @classmethod
    def channel(cls, request):
        k, epsilon = request.param
        return Bitmask(k, KRR(2, epsilon))

    @pytest.fixture(scope="class")
    @classmethod
    def exact(cls, channel):
        kept, turned, k = channel.bit.keep, channel.bit.other, channel.inputs
        wrong = [[(report ^ 1 << truth).bit_count() for truth in range(k)] for report in range(1 << k)]
        return np.array([[turned**bits * kept ** (k - bits) for bits in row] for row in wrong], dtype=object)


class TestKronecker(RunnableContract):
    """Factors of every kind, square and not, small and too large to be taken together with a neighbour."""

    @pytest.fixture(
        scope="class",
        params=[
            [KRR(2, 1.0)],
            [KRR(2, 1.0), KRR(3, 0.5), KRR(4, 2.0)],
            [KRR(40, 2.0), Warner(0.8)],
            [Kuk(0.75, 0.4, repetitions=3), Mixture(0.5, [0.2, 0.3, 0.5]), BinnedLaplace(3, 2.0)],
            [Mixture.from_weights(30000, [30000, 5000, 536], 16), KRR(35, 3.0), Kuk(0.8, 0.3, repetitions=2)],
            [Kronecker([Warner(0.75), KRR(3, 1.0)]), Crosswise(0.25), Kuk(0.7, 0.3, repetitions=4)],
        ],
        ids=lambda factors: " x ".join(f"{factor.outputs}|{factor.inputs}" for factor in factors),
    )
    @classmethod
    def channel(cls, request):
        return Kronecker(request.param)

    @pytest.fixture(scope="class")
    @classmethod
    def dense(cls, channel):
        whole = np.ones((1, 1))
        for factor in channel.channels:
            whole = np.kron(whole, factor.matrix())
        return whole

    def test_ratio_is_the_largest_of_the_exact_rows(self, channel):
        # A row's ratio is the product of its factors' row ratios, so the largest is the product of the largest.
        assert channel.ratio == math.prod(factor.ratio for factor in channel.channels)
        rows = channel.matrix()
        assert float(channel.ratio) == pytest.approx((rows.max(axis=1) / rows.min(axis=1)).max(), rel=1e-12)

    def test_each_attribute_has_draws_of_its_own(self, channel):
        same = Kronecker([channel.channels[0]] * 2)
        reports = same.randomize(np.zeros((2000, 2), dtype=int))
        assert (reports[:, 0] != reports[:, 1]).any()


class TestKroneckerWithAZero(ChannelContract):
    @pytest.fixture(scope="class")
    @classmethod
    def channel(cls):
        return Kronecker([KRR(3, 1.0), Mangat(0.7)])

    @pytest.fixture(scope="class")
    @classmethod
    def exact(cls, channel):
        return channel.matrix()
