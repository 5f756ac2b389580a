"""Alarms ring for what noise hardly does, and not for noise."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable.core.randomness import Seeded
from deniable.core.results import frame_of
from deniable.designs.reports.reports import Reports
from deniable.reporting.data_quality import alarms, fewest_published
from deniable.reporting.survey_results import survey

DOMAIN = dn.Domain({"a": ["no", "yes"], "b": ["no", "yes"], "c": ["no", "yes"]})
DESIGN = dn.Views(DOMAIN, 2, 2.0)


@pytest.fixture(scope="module")
def reports():
    rng = np.random.default_rng(1)
    return DESIGN.randomize(frame_of({n: rng.choice(["no", "yes"], 3000) for n in DOMAIN}), source=Seeded(1))


def test_honest_reports_ring_nothing(reports):
    assert alarms(reports, [dn.estimate(reports, name) for name in DOMAIN]) == []


def test_chosen_questions_ring(reports):
    ballots = reports.ballots.copy()
    ballots[:400] = 0
    (told,) = alarms(Reports.of_codes(DESIGN, ballots, reports.answers), [])
    assert "devices draw ballots by chance" in told


def test_ballots_are_counted_where_the_reports_are(reports, tmp_path):
    stored = dn.open_reports(reports.write(tmp_path / "r.parquet"))
    assert stored.ballot_counts().tolist() == reports.ballot_counts().tolist()
    assert "loaded" not in vars(stored)


def test_the_fewest_of_a_group_are_those_of_the_group_in_files_too(tmp_path):
    people = {name: ["no", "yes"] * 500 for name in DOMAIN} | {"region": ["north"] * 900 + ["south"] * 100}
    reports = DESIGN.randomize(people, keep=["region"], source=Seeded(1))
    stored = dn.open_reports(reports.write(tmp_path / "r.parquet"))
    counted = {region: part.ballot_counts().tolist() for region, part in reports.groups("region")}
    assert {region: part.ballot_counts().tolist() for region, part in stored.groups("region")} == counted
    assert fewest_published(stored, ["region"]) == fewest_published(reports, ["region"]) == min(counted["south"])


def test_a_share_that_no_chance_explains_rings():
    design = dn.Joint(DOMAIN.project("a"), 1.0)
    # Everybody says no, although a truthful no is reported as yes in a quarter of the cases.
    answers = np.zeros((2000, 1), dtype=np.uint8)
    reports = Reports.of_codes(design, np.zeros(2000, dtype=np.uint8), answers)
    (told,) = alarms(reports, [dn.estimate(reports, "a")])
    assert told.startswith("Alarm: fewer reports of 'yes' (a) came than chance alone explains")


def test_categories_that_nobody_has_ring_nothing():
    domain = dn.Domain({f"x{i}": ["no", "yes"] for i in range(8)})
    reports = dn.Sampled(domain, 3.0).randomize(frame_of({n: ["no"] * 240 for n in domain}), source=Seeded(1))
    assert alarms(reports, [dn.estimate(reports, name) for name in domain]) == []


def test_one_ballot_needs_no_counting():
    design = dn.Joint(DOMAIN, 1.0)
    reports = design.randomize(frame_of({n: ["no", "yes"] * 50 for n in DOMAIN}), source=Seeded(1))
    assert reports.ballot_counts().tolist() == [100]


def test_where_no_pair_was_asked_nothing_is_crossed():
    design = dn.Sampled(DOMAIN, 2.0)
    reports = design.randomize(frame_of({n: ["no", "yes"] * 500 for n in DOMAIN}), source=Seeded(1))
    estimates, about = survey(reports)
    assert len(estimates) == 3
    assert about["crossed"] == []
    assert about["associations"] is None


def test_reports_show_themselves_in_a_notebook(reports, tmp_path):
    assert "the first 5 of 3000 reports" in reports._repr_html_()
    stored = dn.open_reports(reports.write(tmp_path / "r.parquet"))
    assert "counted by bincount" in stored._repr_html_()
    assert "loaded" not in vars(stored)
