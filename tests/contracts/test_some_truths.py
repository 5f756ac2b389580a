"""Parts of channels, held to the contract of channels that are analysed and not run; sets are in `test_support`."""

from __future__ import annotations

import numpy as np
import pytest
from channel_contract import ChannelContract

import deniable as dn
from deniable.channels.bitmask import Bitmask
from deniable.channels.sets.some_sets import SomeSets
from deniable.channels.some_truths import SomeTruths
from deniable.errors import DesignError, ProbabilityError
from deniable.extensions.channels.blockwise import Blockwise

BLOCKS = ([9000, 30000], [[30000, 10000, 10000, 6536], [8000, 10000, 7536, 10000]], [3, 11])
WHOLE = {
    "k-RR": (dn.KRR(4, epsilon=1.0), [0, 1, 3]),
    "mixture": (dn.Mixture(0.5, [0.2, 0.3, 0.5]), [1, 2]),
    "dense": (dn.Dense([[0.8, 0.3, 0.2], [0.1, 0.3, 0.3], [0.1, 0.4, 0.5]]), [0, 2]),
    "Hadamard": (dn.HadamardResponse(6, 1.0), [0, 1, 2, 4]),
    "blocks": (Blockwise(*BLOCKS, bits=16), [0, 2, 3]),
    "bit mask": (Bitmask(3, dn.KRR(2, epsilon=0.5)), [0, 1]),
}


class TestSomeTruths(ChannelContract):
    @pytest.fixture(scope="class", params=WHOLE)
    @classmethod
    def channel(cls, request):
        return SomeTruths(*WHOLE[request.param])

    @pytest.fixture(scope="class")
    @classmethod
    def dense(cls, channel):
        return channel.whole.matrix()[:, list(channel.truths)]

    def test_ratio_is_the_largest_of_the_exact_rows(self, channel):
        assert channel.ratio == channel.whole.ratio  # what was promised to everybody


def test_a_part_is_not_run():
    for part in (SomeTruths(*WHOLE["k-RR"]), SomeSets(dn.Unary(6, 1.0), [0, 1])):
        with pytest.raises(DesignError, match=r"run the whole"):
            part.executed()
    with pytest.raises(DesignError, match=r"run the whole"):
        SomeTruths(*WHOLE["k-RR"]).weights()


@pytest.mark.parametrize("truths", [[0], [1, 0], [0, 4], [0, 0]])
def test_a_part_has_truths_of_the_whole_in_order(truths):
    with pytest.raises(ProbabilityError, match="in order"):
        SomeTruths(dn.KRR(4, epsilon=1.0), truths)


def test_sets_are_told_from_categories():
    with pytest.raises(DesignError, match="no sets"):
        SomeSets.from_parts(dn.KRR(4, epsilon=1.0).to_dict(), [0, 1])


@pytest.mark.parametrize("whole", [dn.Unary(5, 1.0), dn.SubsetSelection(6, 1.0, d=2)], ids=lambda whole: whole.name)
def test_a_set_says_of_the_truths_that_are_left_what_it_said(whole):
    part = SomeSets(whole, [0, 2, 3])
    every = whole.every_report(1 << 10) if whole.every_report(1 << 10) is not None else np.arange(whole.reports)
    np.testing.assert_array_equal(part.likelihood(every), whole.likelihood(every)[:, [0, 2, 3]])
    np.testing.assert_allclose(part.likelihood(every).sum(axis=0), 1)


def test_reports_of_a_bit_mask_are_estimated_bit_by_bit():
    """The variance that pairing adds is known of a bit by itself."""
    whole, truths = WHOLE["bit mask"]
    came = np.random.default_rng(1).dirichlet(np.ones(8))
    np.testing.assert_allclose(SomeTruths(whole, truths).solve(came), whole.solve(came)[truths])
