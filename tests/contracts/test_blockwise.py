"""Mixtures in blocks, held to the contract of a channel that is analysed and not run."""

from __future__ import annotations

import numpy as np
import pytest
from channel_contract import ChannelContract

from deniable.channels.mixture import Mixture
from deniable.core.domain import Domain
from deniable.designs.observation import Observation
from deniable.errors import DesignError, ProbabilityError
from deniable.extensions.channels.blockwise import Blockwise

ONE = ([40000], [[10000, 10000, 5536]], [7])
SEVERAL = (
    [9000, 30000, 9000],
    [[30000, 10000, 10000, 6536], [8000, 10000, 7536, 10000], [14134, 14134, 14134, 14134]],
    [3, 11, 400],
)
WITH_ZERO = ([1 << 15], [[0, 1 << 14, 1 << 14]], [5])


def mixtures(channel):
    keep, fakes = channel.integers
    return [Mixture.from_weights(int(k), row.tolist(), 16) for k, row in zip(keep, fakes, strict=True)]


class TestBlockwise(ChannelContract):
    @pytest.fixture(scope="class", params=[ONE, SEVERAL, WITH_ZERO], ids=["one block", "three blocks", "a zero"])
    @classmethod
    def channel(cls, request):
        return Blockwise(*request.param, bits=16)

    @pytest.fixture(scope="class")
    @classmethod
    def exact(cls, channel):
        keep, fakes = channel.integers
        return np.concatenate(
            [row[:, None] + k * np.eye(len(row), dtype=np.int64) for k, row in zip(keep, fakes, strict=True)]
        )

    @pytest.fixture(scope="class")
    @classmethod
    def dense(cls, channel):
        """Each block's own mixture, in proportion to its respondents."""
        share = channel.respondents / channel.respondents.sum()
        return np.concatenate([w * part.matrix() for w, part in zip(share, mixtures(channel), strict=True)])


def test_the_estimate_is_the_mean_of_the_blocks_own_estimates():
    channel = Blockwise(*SEVERAL, bits=16)
    reports = np.random.default_rng(0).dirichlet(np.ones(4), size=3)
    share = channel.respondents / channel.respondents.sum()
    own = [part.solve(row) for part, row in zip(mixtures(channel), reports, strict=True)]
    np.testing.assert_allclose(channel.solve(share[:, None] * reports), share @ np.array(own), atol=1e-12)


@pytest.mark.parametrize("kept", [["a"], ["b"]])
def test_reports_summed_over_an_attribute_are_reports_through_the_collapsed_channel(kept):
    channel = Blockwise(*SEVERAL, bits=16)
    domain = Domain({"a": [0, 1], "b": [0, 1]})
    counts = np.arange(12.0).reshape(3, 2, 2)
    narrowed = Observation(domain, channel, counts.reshape(3, 4)).narrow(kept)
    np.testing.assert_array_equal(narrowed.counts, counts.sum(axis=2 if kept == ["a"] else 1))
    pi = np.array([[0.1, 0.2], [0.3, 0.4]])
    direct = channel.apply(pi.ravel()).reshape(3, 2, 2).sum(axis=2 if kept == ["a"] else 1)
    np.testing.assert_allclose(narrowed.channel.apply(pi.sum(axis=1 if kept == ["a"] else 0)), direct, atol=1e-15)


def test_forgetting_the_blocks_leaves_the_mixture_of_the_mean_fakes():
    several = Blockwise(*SEVERAL, bits=16)
    assert several.pooled() is several  # its blocks keep the truth with different probabilities
    keep, fakes, respondents = [9000, 9000], [SEVERAL[1][0], SEVERAL[1][2]], [3, 400]
    channel = Blockwise(keep, fakes, respondents, bits=16)
    pooled = channel.pooled()
    np.testing.assert_allclose(pooled.matrix(), channel.matrix().reshape(2, 4, 4).sum(axis=0), atol=1e-15)
    reports = np.random.default_rng(0).dirichlet(np.ones(4), size=2) * channel._weight
    np.testing.assert_allclose(pooled.solve(reports.sum(axis=0)), channel.solve(reports), atol=1e-12)


def test_it_is_not_run():
    channel = Blockwise(*SEVERAL, bits=16)
    for refused in (channel.executed, channel.weights, lambda: channel.randomize([0, 1])):
        with pytest.raises(DesignError, match="a respondent answers in one block"):
            refused()


@pytest.mark.parametrize(
    ("keep", "fakes", "respondents"),
    [
        ([1], [[1, 2]], [1]),
        ([0], [[1 << 15, 1 << 15]], [1]),
        ([1 << 15], [[1 << 15, 0]], [0]),
        ([1 << 15, 1], [[1 << 15, 0]], [1]),
    ],
)
def test_blocks_that_are_none_are_refused(keep, fakes, respondents):
    with pytest.raises(ProbabilityError):
        Blockwise(keep, fakes, respondents, bits=16)
