"""Synthetic records reproduce what was estimated."""

from __future__ import annotations

import sys
from itertools import combinations

import numpy as np
import pytest

import deniable as dn
from chequered import times
from deniable.core.table import tally
from deniable.errors import InputError, MissingExtraError, TooFewReportsError, UnknownAttributeError
from deniable.estimation.joint_tables.synthetic_records import deal
from deniable.text import listed

DOMAIN = dn.Domain({"a": [0, 1], "b": ["x", "y", "z"], "c": [0, 1], "d": [0, 1]})
PI = dn.Table(DOMAIN, np.random.default_rng(0).dirichlet(np.full(24, 2.0)))


def records(reports, n, **arguments):
    frame = dn.synthesize(reports, n, source=dn.Seeded(1), **arguments)
    return frame, DOMAIN.encode(frame)


def test_pairs_of_the_records_are_the_estimated_pairs():
    reports = dn.Views(DOMAIN, k=2, epsilon=3.0).simulate(PI, 60_000, source=dn.Seeded(2))
    frame, codes = records(reports, 10_000)
    assert frame.num_rows == 10_000
    assert frame.column_names == [*DOMAIN, "dn_origin"]
    for pair in combinations(DOMAIN, 2):
        part = DOMAIN.project(pair)
        made = tally(codes[:, list(DOMAIN.axes(pair))], part.shape) / 10_000
        # The joint model holds every pair as it was estimated, but for what it learned from the others.
        assert np.abs(made - dn.estimate(reports, pair, method="mle").values).sum() / 2 < 0.02
        assert np.abs(made - PI.project(pair).values).sum() / 2 < 0.05


def test_dealing_rounds_and_nothing_else():
    for n in (7, 100, 12345):
        for start in (0.0, 0.3, 0.999999):
            codes = deal(PI, n, start)
            counts = tally(codes, DOMAIN.shape)
            assert counts.sum() == n
            assert np.abs(counts - n * PI.values).max() < 1


def test_the_frame_comes_back_in_the_library_it_came_in():
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 2, 400), "b": rng.choice(["x", "y", "z"], 400)})
    domain = DOMAIN.project(["a", "b"])
    design = dn.Joint(domain, epsilon=2.0)
    made = dn.Reports(pd.DataFrame(design.randomize(frame).to_frame()), design)
    assert isinstance(dn.synthesize(made, 10), pd.DataFrame)


def test_observations_and_a_choice_of_attributes_will_do():
    reports = dn.Independent(DOMAIN, epsilon=8.0).simulate(PI, 2000, source=dn.Seeded(3))
    assert dn.synthesize(reports, 50, attributes=["c", "a"]).column_names == ["c", "a", "dn_origin"]
    listing = reports.tabulate(["a", "b"])
    assert set(dn.synthesize(listing, 50).column_names) == {"a", "b", "dn_origin"}
    assert dn.synthesize(reports, 50, attributes="b").column_names == ["b", "dn_origin"]
    for n in (0, 2.5, "many"):
        with pytest.raises(InputError, match="at least 1"):
            dn.synthesize(reports, n)


def test_an_attribute_that_nobody_happened_to_be_asked_about_is_named():
    people = {"a": [0, 0], "b": ["x", "y"], "c": [0, 1], "d": [1, 1]}
    reports = dn.Sampled(DOMAIN, 2.0).randomize(people, source=dn.Seeded(1))
    heard = [name for name in DOMAIN if reports.tabulate([name])]
    silent = [name for name in DOMAIN if name not in heard]
    told = f"asked about {listed(silent)}.*leave .* out; these reports speak of {listed(heard)}"
    for given in ({}, {"weights": [1, 1]}):
        with pytest.raises(TooFewReportsError, match=told):
            dn.synthesize(reports, 10, **given)
    with pytest.raises(TooFewReportsError, match=f"no reports about '{silent[0]}'"):
        dn.estimate(reports, silent[0])
    assert dn.synthesize(reports, 10, attributes=heard, source=dn.Seeded(1)).num_rows == 10
    with pytest.raises(UnknownAttributeError, match=f"'{silent[0]}' among those that reports speak of: '{heard[0]}'"):
        dn.synthesize(reports.tabulate(heard[:1]), 5, attributes=[heard[0], silent[0]])


def test_beyond_the_cells_it_needs_the_graphical_model(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    reports = dn.Views(DOMAIN, k=2, epsilon=3.0).simulate(PI, 2000, source=dn.Seeded(2))
    with pytest.raises(MissingExtraError, match="graphical"):
        dn.synthesize(reports, 10, most_cells=10)


@pytest.mark.slow
def test_records_of_the_graphical_model(monkeypatch):
    monkeypatch.setattr("deniable.estimation.joint_tables.graphical_model._STEPS", times(1000, 200))
    reports = dn.Views(DOMAIN, k=2, epsilon=4.0).simulate(PI, 60_000, source=dn.Seeded(2))
    _, codes = records(reports, 5000, most_cells=10)
    for name in DOMAIN:
        made = np.bincount(codes[:, DOMAIN.names.index(name)]) / 5000
        assert np.abs(made - PI.project(name).values).sum() / 2 < 0.03
