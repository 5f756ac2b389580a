"""How often a guess is right: by hand, by simulation, within what epsilon allows, by name."""

from math import exp

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.errors import InputError

CHANNELS = {
    "krr": dn.KRR(3, epsilon=1.0),
    "sets": dn.SubsetSelection(5, epsilon=1.5, d=2),
    "unary": dn.OUE(4, epsilon=1.0),
    "product": dn.Kronecker([dn.KRR(2, epsilon=1.0), dn.KRR(3, epsilon=0.5)]),
    "triangular": dn.Triangular(0.3),
}


@pytest.mark.parametrize("name", CHANNELS)
def test_a_guess_is_right_as_often_as_in_a_simulation(name):
    channel, n = CHANNELS[name], 40_000
    rng = np.random.default_rng(3)
    pi = rng.dirichlet(np.ones(channel.inputs))
    found = channel.guessing(pi)
    truth = rng.choice(channel.inputs, size=n, p=pi)
    if name in ("product", "triangular"):  # one is disguised attribute by attribute, one is performed by hand
        matrix = channel.matrix()
        reports = (rng.random(n) > np.cumsum(matrix, axis=0)[:, truth]).sum(axis=0)
        joint = matrix[reports] * pi
    else:
        joint = channel.likelihood(channel.randomize(truth, source=dn.Seeded(5))) * pi
    posterior = joint / joint.sum(axis=1, keepdims=True)
    right = (posterior.argmax(axis=1) == truth).mean()
    # The share of right guesses of 40,000: five standard errors and a half are a false alarm below 4e-8 each.
    assert right == pytest.approx(found.after, abs=5.5 * 0.5 / n**0.5)
    assert posterior[np.arange(n), truth].mean() == pytest.approx(found.drawn, abs=5.5 * 0.5 / n**0.5)
    assert found.before == pytest.approx(pi.max())
    assert found.before - 1e-12 <= found.after <= found.before * exp(channel.epsilon) + 1e-12
    assert found.drawn <= found.after + 1e-12


def test_the_values_of_the_paper():
    # Wang, Wu & Hu 2016, Theorem 2 at epsilon 1 and a share of .3: errors .342 (drawn) and .269 (likeliest).
    found = dn.KRR(2, epsilon=1.0).guessing([0.7, 0.3])
    assert 1 - found.drawn == pytest.approx(0.342, abs=5e-4)
    assert 1 - found.after == pytest.approx(0.269, abs=5e-4)


def test_a_prior_is_matched_by_name():
    device = dn.Warner(0.8, categories=("no", "yes"))
    expected = device.guessing([0.9, 0.1])
    for given in ({"yes": 1, "no": 9}, pd.Series({"yes": 0.1, "no": 0.9})):
        assert device.guessing(given) == pytest.approx(expected)
    with pytest.raises(InputError, match="maybe"):
        device.guessing({"maybe": 1})
    with pytest.raises(InputError, match="labels"):
        dn.KRR(2, epsilon=1.0).guessing({"yes": 1, "no": 9})


def test_bad_priors_and_endless_reports_are_refused():
    channel = dn.KRR(3, epsilon=1.0)
    for prior in ([0, 0, 0], [1, -1, 1], [np.nan, 1, 1]):
        with pytest.raises(InputError, match="a prior is made of numbers from 0 up"):
            channel.guessing(prior)
    with pytest.raises(InputError, match="3 numbers"):
        channel.guessing([0.5, 0.5])
    with pytest.raises(InputError, match="too many possible reports"):
        dn.LocalHashing(8, epsilon=1.0).guessing(np.ones(8))
    with pytest.raises(InputError, match="too many possible reports"):
        dn.OUE(60, epsilon=1.0).guessing(np.ones(60))
