"""A survey whose integers are searched for keeps those that were found first, whatever a solver finds later."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from deniable.cli.app import app
from deniable.collection.reuse_design import kept_in, read_kept
from deniable.designs.distance_to_best import loss_of
from deniable.errors import InputError
from deniable.optimal import optimal_channel as channel
from deniable.surveys.survey import parse_survey, read_survey
from deniable.web.serve import Service

SURVEY = """
format = 1
name = "stress"
title = "Stress"
epsilon = 1.0
admission = "invited"
wanted = ["cdf(stress)"]
design = { DESIGN }

[[questions]]
name = "stress"
text = "How much stress do you have?"
kind = "scale"
first = 0
last = 7
"""


@pytest.fixture
def noise(monkeypatch):
    """A function that makes the solver end a little elsewhere, as another version of a library would."""
    exact = channel.solution

    def make(size):
        rng = np.random.default_rng(5)

        def moved(problem):
            found = exact(problem)
            p = found.point.p * (1 + size * rng.normal(size=len(found.point.p)))
            return found._replace(point=found.point._replace(p=p))

        monkeypatch.setattr(channel, "solution", moved)
        channel._made.cache_clear()

    yield make
    channel._made.cache_clear()


@pytest.fixture(params=['kind = "optimal"', 'kind = "joint", channel = "optimal"'])
def file(request, tmp_path):
    path = tmp_path / "survey.toml"
    path.write_text(SURVEY.replace("DESIGN", request.param), encoding="utf-8")
    return path


def started(file, data):
    service = Service.open(file, data)
    try:
        return service.collector.design_id
    finally:
        service.collector.close()


def test_a_restart_serves_the_design_that_was_served(file, tmp_path, noise):
    first = started(file, tmp_path / "data")
    before = read_survey(file)
    noise(1e-7)
    after = read_survey(file)
    assert after.design.id != before.design.id  # there is something to be kept
    assert started(file, tmp_path / "data") == first
    kept = read_kept(file, tmp_path / "data")
    assert kept.design == before.design
    kept_in(tmp_path / "data", kept).unlink()  # as in a copy of the store
    assert started(file, tmp_path / "data") == first
    assert read_kept(file, tmp_path / "data") == kept
    assert kept.design.describe().lines() == before.design.describe().lines()
    assert loss_of(kept.design, kept.wanted) <= loss_of(after.design, kept.wanted) * 1.002
    assert started(file, tmp_path / "elsewhere") != first
    # Invitations are good for what is served, and the survey can be closed and deleted.
    run = CliRunner()
    for arguments in (["invite", "--n", "1"], ["close"], ["delete", "--confirm", "stress"]):
        done = run.invoke(app, [arguments[0], str(file), "--data", str(tmp_path / "data"), *arguments[1:]])
        assert done.exit_code == 0, done.output
    assert not (tmp_path / "data").exists()


def test_invitations_made_before_the_first_start_are_good_after_it(file, tmp_path, noise):
    data = tmp_path / "data"
    done = CliRunner().invoke(app, ["invite", str(file), "--data", str(data), "--n", "2"])
    assert done.exit_code == 0, done.output
    invited = read_kept(file, data).design
    noise(1e-7)
    service = Service.open(file, data)
    assert service.collector.survey.design == invited
    service.collector.close()


def test_what_is_kept_is_not_trusted(tmp_path):
    path, data = tmp_path / "survey.toml", tmp_path / "data"
    text = SURVEY.replace("DESIGN", 'kind = "optimal"')
    path.write_text(text, encoding="utf-8")
    kept = kept_in(data, read_kept(path, data))
    good = kept.read_bytes()
    dearer = parse_survey(text.replace("epsilon = 1.0", "epsilon = 1.5")).design.canonical()
    worse = parse_survey(text.replace("epsilon = 1.0", "epsilon = 0.9")).design.canonical()
    partial = parse_survey(text.replace("cdf(stress)", "ranges(stress; 0..3)")).design.canonical()
    other = parse_survey(text.replace("last = 7", "last = 6")).design.canonical()
    kind = parse_survey(text.replace('kind = "optimal"', 'kind = "joint"')).design.canonical()
    spaced = json.dumps(json.loads(good)).encode()
    for wrong, match in (
        (dearer, "spends epsilon"),
        (worse, "times as many respondents"),
        (partial, "does not tell"),
        (other, "other attributes"),
        (kind, "of kind"),
        (spaced, "not written"),
        (b"{}", "."),
    ):
        kept.write_bytes(wrong)
        with pytest.raises(InputError, match=rf"(?s){match}.*Delete it to begin"):
            read_kept(path, data)
    kept.write_bytes(good)
    assert read_kept(path, data).design.canonical() == good


def test_a_file_that_carries_its_integers_and_one_without_a_search_keep_nothing(tmp_path):
    path, data = tmp_path / "survey.toml", tmp_path / "data"
    for design in ('kind = "joint"', f"kind = \"optimal\", made = '{_made()}'"):
        path.write_text(SURVEY.replace("DESIGN", design), encoding="utf-8")
        assert read_kept(path, data).searched is None
        assert not data.exists()


def _made():
    return parse_survey(SURVEY.replace("DESIGN", 'kind = "optimal"')).design.canonical().decode()
