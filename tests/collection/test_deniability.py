"""RRBA's own mode, served: the file accepts it, devices show both numbers, and answer only for who agrees."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from deniable.collection.load_reports import stored_reports
from deniable.collection.simulate_respondents import Crowd
from deniable.device.client import Client
from deniable.device.fake_limits import WHOLE, Limits
from deniable.errors import DesignError, PrivacyError, SurveyError
from deniable.estimation.estimator import estimate
from deniable.extensions.designs.blocks import Blocks
from deniable.surveys.survey import parse_survey
from small_survey import question, survey_file
from waiting import later

QUESTIONS = question("a", choices=["x", "y", "z"]), question("b", kind="yes-no")
ACCEPTED = """
mode = "deniability"
keep = 0.5
block_size = 40
accept = "deniability instead of differential privacy"
"""


def text_of(design=ACCEPTED):
    return survey_file("deniable", f'[design]\nkind = "blocks"\n{design}\n', *QUESTIONS, epsilon=4.5)


@pytest.fixture
def running(serve):
    with serve(text_of()) as found:
        yield found


@pytest.mark.parametrize(
    ("design", "path"),
    [
        ('mode = "deniability"\nkeep = 0.5', "design.accept"),
        ('mode = "deniability"\nkeep = 0.5\naccept = "a partner who knows the coin"', "design.accept"),
        ('mode = "deniability"\naccept = "deniability instead of differential privacy"', "design.keep"),
        (ACCEPTED + "phi = 0.5", "design.keep"),
        ("keep = 0.5", "design.keep"),
        ('accept = "deniability instead of differential privacy"', "design.accept"),
    ],
)
def test_a_file_must_accept_it_in_so_many_words(design, path):
    with pytest.raises(SurveyError) as caught:
        parse_survey(text_of(design))
    assert caught.value.details["path"] == path


def test_the_floor_is_as_low_as_the_true_epsilon_allows():
    for cells, keep, epsilon in ((4, Fraction(1, 2), 4.5), (6, Fraction(7, 10), 3.0), (2, Fraction(1, 3), 2.0)):
        limits = Limits.kept(cells, keep, epsilon)
        assert limits.keep == math.floor(WHOLE * keep)
        assert (
            1 + Fraction(limits.keep, limits.floor) <= math.exp(epsilon) < 1 + Fraction(limits.keep, limits.floor - 1)
        )
        assert limits.claim == 1 / (1 - Fraction(limits.keep, WHOLE))
    with pytest.raises(DesignError, match="Lower keep, or raise epsilon"):
        Limits.kept(6, Fraction(7, 10), 1.0)


def test_only_what_has_a_floor_is_served_and_files_are_what_they_were():
    domain = {"a": [0, 1], "b": [0, 1]}
    bare = Blocks(domain, mode="deniability", keep=0.5)
    assert "most_told" not in bare.to_dict()  # what was written before is the same design
    with pytest.raises(DesignError, match="not served: say most_told="):
        bare.plan()
    floored = Blocks(domain, mode="deniability", keep=0.5, most_told=4.0)
    assert (floored.plan()["kind"], floored.claims_deniability) == ("blocks", True)
    assert 3.999 < floored.epsilon <= 4.0
    assert floored.claimed_epsilon == pytest.approx(math.log(2))
    assert Blocks.from_dict(floored.to_dict()) == floored != bare
    with pytest.raises(DesignError, match="belongs to mode"):
        Blocks(domain, most_told=4.0)


def test_a_device_shows_both_numbers_and_answers_only_who_agrees(running):
    client = Client(running.url)
    both = "Claimed epsilon (deniability, not differential privacy): 0.6932. True epsilon: 4.5000."
    assert client.describe().notes[0] == both
    with pytest.raises(PrivacyError) as caught:
        client.answer({"a": "x", "b": "no"})
    assert both in caught.value.message
    assert 'accept=["deniability"]' in caught.value.message
    assert client.remaining == 5.0  # nothing was charged, nothing sent
    assert running.collector.store.total(running.collector.number) == 0
    assert client.answer({"a": "x", "b": "no"}, accept=["deniability"]).delivered
    assert client.remaining < 0.51  # the true one
    client.close()


def test_blocks_are_learned_and_estimated_from_as_others_are(running):
    crowd = Crowd(running.url, batch=20)
    chain = running.collector.sessions[running.collector.design_id]
    people = [{"a": "x", "b": "yes"}] * 130 + [{"a": "y", "b": "no"}] * 70
    for number, person in enumerate(people):
        crowd.answer(person)
        if not number % 20:
            running.collector.store.seal()
            later(chain)
    crowd.flush()
    crowd.close()
    assert len(chain.blocks) >= 3
    floor = chain.design.limits[0].floor
    assert all(min(fakes) >= floor for block in chain.blocks for fakes in block.fakes)
    reports = stored_reports(running.collector.store, running.collector.design_id)
    assert reports.n == 200
    assert "True epsilon: 4.5000" in str(reports.design.describe())
    found = estimate(reports, ["a"])
    # keep = 1/2 of 200: a standard error of about .07, and five of them.
    assert np.abs(found.values - [0.65, 0.35, 0.0]).max() < 0.36
