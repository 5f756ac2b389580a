"""Means, distribution functions and quantiles of weighted reports, also where the channel tells no table."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.errors import EstimationError, InputError
from deniable.inference.numbers.aim_estimates import wanted_numbers
from deniable.reporting.survey_results import survey

K, N = 4, 8000
RISING = 17_000 + 10_000 * np.arange(K)
ONE_BIT = dn.Dense.from_weights(np.stack([65_536 - RISING, RISING]), 16, partial=True)


@cache
def surveyed(channel):
    """Forty clusters, in which trust and weights differ together."""
    rng = np.random.default_rng(1)
    cluster = np.repeat(np.arange(40), N // 40)
    level = rng.uniform(0.2, 0.8, 40)[cluster]
    people = pd.DataFrame(
        {"trust": rng.binomial(K - 1, level), "weight": 1 + 4 * level, "cluster": cluster, "region": cluster % 2}
    )
    kinds = {"one bit": dn.Joint({"trust": range(K)}, channel=ONE_BIT), "table": dn.Joint({"trust": range(K)}, 2.0)}
    keep = ["weight", "cluster", "region"]
    return people, kinds[channel].randomize(people, keep=keep, source=dn.Seeded(2))


DRAWN = {"weights": "weight", "strata": "region", "clusters": "cluster"}


def test_a_mean_that_is_all_a_channel_tells_is_weighted():
    people, reports = surveyed("one bit")
    with pytest.raises(EstimationError):
        dn.estimate(reports, "trust", **DRAWN)
    found = dn.mean(reports, "trust", **DRAWN)
    line = ONE_BIT.matrix()[1]
    score = (reports.answers[:, 0] - line[0]) / (line[1] - line[0])  # unbiased for each person's trust
    weight = people.weight.to_numpy()
    assert found.value == pytest.approx(np.average(score, weights=weight), abs=1e-6)
    # Linearization by hand: in each stratum, the squares of what clusters add to  sum of w (y - mean).
    pulls = pd.Series(weight * (score - found.value)).groupby([people.region, people.cluster]).sum()
    within = pulls.groupby("region")
    by_hand = (within.var(ddof=1) * within.size()).sum() / weight.sum() ** 2
    assert found.std_error == pytest.approx(np.sqrt(by_hand), rel=1e-6)
    true = np.average(people.trust, weights=weight)
    assert abs(found.value - true) < 6 * found.std_error < 6 * abs(true - people.trust.mean())
    low, high = found.interval()
    assert low < found.value < high
    assert high - low > 3.92 * found.std_error  # Student's, for so many clusters


@pytest.mark.parametrize("ask", [dn.mean, dn.median, dn.quantile, dn.cdf, dn.density], ids=lambda each: each.__name__)
def test_weights_do_what_they_do_in_an_estimate(ask):
    _, reports = surveyed("table")
    found, known = ask(reports, attribute="trust", **DRAWN), ask(dn.estimate(reports, "trust", **DRAWN))
    assert str(found.summary()) == str(known.summary())
    assert str(found.summary()) != str(ask(reports, attribute="trust").summary())


def test_few_clusters_are_told_where_there_is_no_table():
    people, reports = surveyed("one bit")
    found = dn.mean(reports, "trust", clusters=people.cluster.to_numpy() % 5)
    assert "rough themselves" in str(found.summary())


def test_who_hands_in_an_estimate_has_weighted_it():
    _, reports = surveyed("table")
    with pytest.raises(InputError, match=r"to estimate\(\)"):
        dn.mean(dn.estimate(reports, "trust"), weights="weight")
    with pytest.raises(InputError, match="mean takes no weigth=: write weights="):
        dn.mean(reports, "trust", weigth="weight")


@pytest.mark.parametrize("channel", ["one bit", "table"])
def test_what_a_survey_was_made_for_is_weighted_too(channel):
    _, reports = surveyed(channel)
    wanted = [dn.Wanted.mean("trust")]
    found, known = wanted_numbers(reports, wanted, **DRAWN), dn.mean(reports, "trust", **DRAWN)
    assert found.rows[0].estimate == pytest.approx(known.value)
    assert tuple(found.rows[0].interval) == pytest.approx(tuple(known.interval()))
    sampling = dn.rake(reports, {"region": {0: 0.5, 1: 0.5}}, **DRAWN)
    told = survey(reports, sampling=sampling, wanted=wanted)[1]["aims"].numbers
    assert told.rows[0].estimate == pytest.approx(dn.mean(reports, "trust", weights=sampling).value)
