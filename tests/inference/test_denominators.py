"""Whatever a test, a group or a table uses and leaves out adds up to all reports, wherever it is shown."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.device.protocol.answer_encoding import SKIPPED

N, UNKNOWN = 1000, 400
DOMAIN = dn.Domain({name: ["no", "yes"] for name in "abcd"})
DESIGNS = {
    "views": dn.Views(DOMAIN, 2, 4.0),
    "joint": dn.Joint(DOMAIN, 4.0),
    "independent": dn.Independent(DOMAIN, 8.0),
    "subset": dn.Views(DOMAIN, 2, 4.0, channel="subset"),
}
TESTS = {
    "independence": lambda r: dn.independence(r, "a", "b", replicates=19),
    "wald": lambda r: dn.independence(r, "a", "b", "wald"),
    "given an attribute": lambda r: dn.independence(r, "a", "b", given="c", replicates=19),
    "goodness of fit": lambda r: dn.goodness_of_fit(r, "a", [0.5, 0.5], replicates=19),
    "weighted": lambda r: dn.independence(r, "a", "b", weights=np.ones(N)),
    "weighted goodness": lambda r: dn.goodness_of_fit(r, "a", [0.5, 0.5], weights=np.ones(N)),
}
BY_GROUP = {
    "homogeneity": lambda r: dn.homogeneity(r, "a", by="region", replicates=19),
    "within groups": lambda r: dn.independence(r, "a", "b", given="region", replicates=19),
    "by group": lambda r: dn.estimate(r, "a", by="region"),
}


@pytest.fixture(scope="module", params=DESIGNS)
def reports(request):
    rng = np.random.default_rng(5)
    people = pd.DataFrame({name: rng.choice(["no", "yes"], N) for name in DOMAIN})
    people["region"] = [None] * UNKNOWN + ["north"] * 100 + ["south"] * 500
    return DESIGNS[request.param].randomize(people, keep=["region"], source=dn.Seeded(5))


def told(result):
    """How many reports were used and how many were left out, by what is shown."""
    sentence = next(note for note in result.notes if note.startswith("Used:"))
    used, _, without = sentence.partition("Left out:")
    (n,) = re.findall(r"^Used: (\d+) reports", used)
    return int(n), [int(part) for part in re.findall(r"(\d+) (?:that|without)", without)]


@pytest.mark.parametrize("name", TESTS)
def test_tests_count_what_they_use_and_leave_out(reports, name):
    used, without = told(TESTS[name](reports))
    assert used + sum(without) == N


@pytest.mark.parametrize("name", list(BY_GROUP)[:2])
def test_groups_are_counted_together_with_those_who_are_in_none(reports, name):
    result = BY_GROUP[name](reports)
    used, without = told(result)
    assert used + sum(without) == N
    assert f"{UNKNOWN} without a value of region" in str(result)


def test_waves_are_counted_together(reports):
    used, without = told(dn.homogeneity({"first": reports, "second": reports}, "a", replicates=19))
    assert used + sum(without) == 2 * N


def test_estimates_by_group_count_what_is_in_none(reports):
    found = dn.estimate(reports, "a", by="region")
    numbers = [int(n) for n in re.findall(r"\d+", found.summary().notes[0])]
    silent = re.findall(r"(\d+) reports of these groups are about other questions", str(found))
    assert sum(numbers) + sum(map(int, silent)) + UNKNOWN == N
    assert f"{UNKNOWN} reports without a value of region" in str(found)
    assert not re.search(r"from all \d+ reports", str(found))  # which would be those of one group


def test_estimates_count_reports_about_something_else(reports):
    for names in (["a"], ["a", "b"]):
        found = dn.estimate(reports, names)
        assert sum(int(n) for n in re.findall(r"\d+", found.stands_on)) == N
        assert found.stands_on in str(found)


# -- who prefers not to say --------------------------------------------------------------------------------------------

REFUSING = dn.Domain({"b": ["no", "yes", SKIPPED], "y": ["1", "2", "3", SKIPPED], "g": ["no", "yes"]})
LEFT_OUT = {
    "linear y ~ b": (lambda r: dn.linear("y ~ b", r, missing="drop"), ("b", "y")),
    "linear y ~ g": (lambda r: dn.linear("y ~ g", r, missing="drop"), ("y",)),
    "linear on a number": (lambda r: dn.linear("w ~ b", r, missing="drop"), ("b",)),
    "logit b ~ y": (lambda r: dn.logit("b ~ y", r, missing="drop"), ("b", "y")),
    "logit g ~ y": (lambda r: dn.logit("g ~ y", r, missing="drop"), ("y",)),
    "multinomial": (lambda r: dn.multinomial("y ~ b", r, missing="drop"), ("b", "y")),
    "correlate": (lambda r: dn.correlate(r, "b", "y"), ("b", "y")),
    "means_by": (lambda r: dn.means_by(r, "y", by="b"), ("b",)),
    "mean_difference": (lambda r: dn.mean_difference(r, "y", by="b", groups=("no", "yes")), ("b", "y")),
    "mean": (lambda r: dn.mean(r, "y"), ("y",)),
}


@pytest.fixture(scope="module")
def refusing():
    rng, n = np.random.default_rng(2), 3000
    b = rng.choice(["no", "yes", SKIPPED], n, p=[0.5, 0.3, 0.2])
    y = rng.choice(["1", "2", "3", SKIPPED], n, p=[0.3, 0.3, 0.3, 0.1])
    people = pd.DataFrame({"b": b, "y": y, "g": rng.choice(["no", "yes"], n), "w": rng.normal(size=n).round(1)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dn.Joint(REFUSING, 5.0).randomize(people, keep=["w"], source=dn.Seeded(1))


@pytest.mark.parametrize("name", LEFT_OUT)
def test_who_prefers_not_to_say_is_counted_wherever_they_are_left_out(name, refusing):
    ask, names = LEFT_OUT[name]
    said = str(ask(refusing))
    for attribute in names:
        (counted,) = re.findall(
            f"'{SKIPPED}' of {attribute} takes no part: an estimated ([0-9.]+)% of 3000 reports", said
        )
        # One number: the estimate of the attribute, or that of a table of both, which differs in its last digits.
        assert float(counted) == pytest.approx(100 * dn.estimate(refusing, attribute).values[-1], abs=0.3)


def test_of_a_frame_they_are_counted_by_its_channel(refusing):
    channel = dn.KRR(3, 3.0)
    codes = channel.randomize(np.repeat([0, 1, 2], [500, 300, 200]), source=dn.Seeded(3))
    frame = pd.DataFrame({"b": np.array(["no", "yes", SKIPPED])[codes], "x": np.tile([0.0, 1.0], 500)})
    said = str(dn.logit("b ~ x", frame, channel=channel, categories=["no", "yes", SKIPPED], missing="drop"))
    share = dn.prevalence(codes, channel).values[2]
    assert f"'{SKIPPED}' of b takes no part: an estimated {share:.1%} of 1000 reports" in said
