"""Names that researchers know, and estimates of a channel by itself."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable.errors import InputError, ProbabilityError


def test_they_are_what_they_are_here():
    assert dn.OUE(12, 1.0) == dn.Unary(12, 1.0)
    assert dn.OLH(500, 2.0) == dn.LocalHashing(500, 2.0)
    assert dn.RAPPOR(12, 2.0) == dn.Unary(12, 2.0, symmetric=True)
    assert dn.RAPPOR(12, 2.0, again=1.0) == dn.TwoLevel(dn.Unary(12, 2.0, symmetric=True), dn.KRR(2, 1.0))
    assert dn.ProjectiveGeometry(700, 1.0) == dn.BlockDesign(700, 1.0)
    assert dn.Channel([[0.7, 0.2], [0.3, 0.8]]) == dn.Dense([[0.7, 0.2], [0.3, 0.8]])
    with pytest.raises(ProbabilityError, match="sums to"):
        dn.Channel([[0.7, 0.3], [0.2, 0.8]])


@pytest.mark.parametrize("channel", [dn.KRR(4, 2.0), dn.OUE(4, 2.0), dn.OLH(4, 2.0), dn.BlockDesign(4, 2.0)], ids=repr)
def test_a_channel_estimates_by_itself(channel):
    codes = np.repeat(np.arange(4), [6000, 3000, 900, 100])
    found = channel.estimate(channel.randomize(codes, source=dn.Seeded(3)))
    truth = np.array([0.6, 0.3, 0.09, 0.01])
    # Six standard errors in each of four cells: below 1e-8.
    assert (np.abs(found - truth) < 6 * np.sqrt(channel.variance(truth, len(codes)))).all()
    with pytest.raises(InputError, match="no reports"):
        channel.estimate(np.array([], dtype=np.int64))
