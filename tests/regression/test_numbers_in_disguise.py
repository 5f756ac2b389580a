"""Linear regression of and on numbers in disguise: right on average, where hardly two reports are alike too."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from chequered import one_of
from deniable.likelihood.gather import gather
from deniable.regression.cross_moments import Wanted, _covariance, _scores, expected_shares, voices_of
from deniable.regression.likelihood.posterior import likely_table

DOMAIN = dn.Domain({"a": ["no", "yes"], "c": [0, 1, 2], "b": range(7)})
N, SURVEYS = 4000, 12
DESIGNS = {
    "blocks": dn.Blocks(DOMAIN, 2, 3.0, block_size=50),
    "sets side by side": dn.Independent(DOMAIN, 6.0, channel="unary"),
}


def people(seed, n=N):
    """b is a number that a and the number c move."""
    rng = np.random.default_rng(seed)
    a, c = rng.integers(0, 2, n), rng.integers(0, 3, n)
    b = rng.binomial(6, 0.2 + 0.25 * a + 0.1 * c)
    return pd.DataFrame({"a": np.array(["no", "yes"])[a], "c": c, "b": b})


@pytest.mark.parametrize("name", one_of(2, DESIGNS))
def test_coefficients_are_right_on_average(name):
    z = []
    for seed in range(SURVEYS):
        truths = people(seed)
        fit = dn.linear("b ~ a + c", DESIGNS[name].randomize(truths, source=dn.Seeded(seed)))
        terms = np.column_stack([np.ones(N), truths.a == "yes", truths.c]).astype(float)
        z.append((fit.params - np.linalg.lstsq(terms, truths.b, rcond=None)[0]) / fit.std_error)
    # The mean of 12 numbers of variance one is within 5.5 of its own errors in all but 4e-8 of all seeds. Weighted by
    # how often reports came, it was 13 and 2.3.
    assert np.abs(np.mean(z, axis=0)).max() < 5.5 / np.sqrt(SURVEYS)


@pytest.mark.parametrize("name", DESIGNS)
def test_scores_are_a_left_inverse_that_hangs_on_shares_alone(name):
    reports = DESIGNS[name].randomize(people(1, 500), source=dn.Seeded(1))
    evidence = gather(reports, ["a", "b"])
    likely = likely_table(evidence.likely)
    for group in evidence.groups:
        scores = _scores(group, likely)
        assert np.allclose(scores.T @ group.said.matrix, np.eye(group.said.part.cells))
    # The unbiased table of each voice is the mean of its respondents' scores.
    voices = voices_of(reports, ["a", "b"]).voices
    assert all(voice.scores.reshape(len(voice.rows), -1).sum(axis=1).mean() == pytest.approx(1) for voice in voices)


@pytest.mark.parametrize("name", DESIGNS)
def test_groups_are_weighted_by_expected_covariances(name):
    reports = DESIGNS[name].randomize(people(2, 200), source=dn.Seeded(1))
    evidence, rng = gather(reports, ["a", "b"]), np.random.default_rng(3)
    likely, voices = likely_table(evidence.likely), voices_of(reports, ["a", "b"]).voices
    for group, voice in zip(evidence.groups, voices, strict=True):
        # Two functions: of one attribute that the group speaks of, and of nothing but the open columns.
        first = voice.names[0]
        own, weight = rng.normal(size=(len(DOMAIN[first]), 200)), rng.random(len(voice.rows))
        wanted = [Wanted((first,), own), Wanted((), rng.normal(size=(1, 200)))]
        found = _covariance(voice, wanted, weight, np.zeros((0, 2)))
        # By the definition: every report that can come, to every respondent.
        scores = _scores(group, likely).reshape(-1, *group.said.part.shape)
        axes = tuple(1 + axis for axis, other in enumerate(group.said.part) if other != first)
        each, chance = scores.sum(axis=axes), expected_shares(group, likely)
        assert chance.sum() == pytest.approx(1)
        share, other = weight / weight.sum(), wanted[1].values[0]
        values = [np.stack([each @ own[:, row], each.sum(axis=1) * other[row]]) for row in voice.rows]
        mean = sum(part * one @ chance for part, one in zip(share, values, strict=True))
        away = [part * (one - mean[:, None]) for part, one in zip(share, values, strict=True)]
        assert found == pytest.approx(sum((one * chance) @ one.T for one in away))
