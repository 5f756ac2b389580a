"""A channel of integers that tells only some sums: it gives the weights for these, and refuses everything else."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from deniable.channels.dense import Dense
from deniable.channels.read_channel import channel_from_dict
from deniable.core.randomness import Seeded
from deniable.errors import DesignError, SingularChannelError

HIGH, LOW = 3 << 14, 1 << 14
PARITY = [[HIGH, LOW, LOW, HIGH], [LOW, HIGH, HIGH, LOW]]  # of two yes/no attributes: are the answers the same?
SAME, FIRST = [1, 0, 0, 1], [0, 0, 1, 1]


@pytest.fixture
def channel():
    return Dense.from_weights(PARITY, 16, partial=True)


def test_it_is_refused_unless_allowed():
    with pytest.raises(SingularChannelError, match="only 2 reports"):
        Dense.from_weights(PARITY, 16)


def test_what_lies_in_the_row_space_gets_weights_that_are_unbiased(channel):
    weights = channel.solve_adjoint(SAME)
    np.testing.assert_allclose(channel.adjoint(weights), SAME, atol=1e-12)
    # By hand: reports "same" with 3/4 or 1/4, so the share of "same" is 2 lambda - 1/2.
    np.testing.assert_allclose(weights, [1.5, -0.5], atol=1e-12)
    assert channel.tells(SAME)
    assert channel.tells([1, 1, 1, 1])


def test_everything_else_is_refused(channel):
    assert not channel.tells(FIRST)
    for step in (
        lambda: channel.solve_adjoint(FIRST),
        lambda: channel.solve_adjoint(np.stack([SAME, FIRST], axis=1)),
        lambda: channel.solve([0.5, 0.5]),
        lambda: channel.solve_squared([0.5, 0.5]),
        lambda: channel.variance([0.25] * 4, 100),
        channel.spread,
    ):
        with pytest.raises(SingularChannelError, match="tells only some sums"):
            step()


def test_it_is_run_and_its_privacy_is_that_of_its_integers(channel):
    assert channel.ratio == 3
    assert channel.executed() is channel
    assert set(channel.randomize([0, 1, 2, 3] * 50, source=Seeded(1)).tolist()) == {0, 1}


def test_plain_data_and_copies_keep_it(channel):
    assert channel.to_dict()["partial"] is True
    assert channel_from_dict(channel.to_dict()) == channel
    assert copy.deepcopy(channel) == channel
    assert pickle.loads(pickle.dumps(channel)).is_partial  # noqa: S301 - our own


def test_a_channel_that_can_be_inverted_is_not_partial_whatever_was_allowed():
    whole = Dense.from_weights([[HIGH, LOW], [LOW, HIGH]], 16, partial=True)
    assert not whole.is_partial
    assert "partial" not in whole.to_dict()
    np.testing.assert_allclose(whole.solve(whole.apply([0.2, 0.8])), [0.2, 0.8])
    with pytest.raises(DesignError, match="cannot be inverted only"):
        channel_from_dict({**whole.to_dict(), "partial": True})


def test_a_square_channel_whose_truths_give_the_same_reports_is_partial():
    twins = Dense.from_weights([[HIGH - 7, HIGH - 7, LOW], [LOW, LOW, HIGH - 7], [7, 7, 7]], 16, partial=True)
    assert twins.is_partial
    assert twins.tells([0, 0, 1])
    assert not twins.tells([1, 0, 0])
