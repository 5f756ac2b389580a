"""Honest respondents are hardly ever accused of not following the instructions; those who do not are found."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import deniable as dn
from benchmarks.calibration.alarm_rates import DESIGNS, accusing, power
from chequered import one_of
from deniable.core.results import frame_of
from deniable.estimation.notes.fewer_than_chance import ALARM, fewer_than_chance
from every_design import answered, every_design

DOMAIN = dn.Domain({"a": ["no", "yes"], "b": [0, 1, 2], "c": ["no", "yes"]})


def alarms_of_one_question(channel, n):
    """Whether an alarm is raised, for every number of reports of the second category."""
    domain = dn.Domain({"x": range(2)})
    seen = [fewer_than_chance([dn.Observation(domain, channel, [n - yes, yes])], domain) for yes in range(n + 1)]
    return np.array([least.min() * 2 < ALARM for least in seen])


@pytest.mark.parametrize("n", [20, 50, 200, 1000])
@pytest.mark.parametrize(
    "channel",
    [dn.Warner(0.8), dn.Crosswise(0.25), dn.Triangular(0.3), dn.Mangat(0.6), dn.ForcedResponse([0.1, 0.3])],
    ids=lambda channel: channel.name,
)
def test_one_question_accuses_as_seldom_as_is_stated_whatever_is_true(channel, n):
    rings = alarms_of_one_question(channel, n)
    for share in (0.0, 0.01, 0.1, 0.5, 0.99, 1.0):
        honest = float(channel.apply([1 - share, share])[1])
        assert binom.pmf(np.arange(n + 1), n, honest)[rings].sum() <= ALARM


CASES = [(name, 50) for name in DESIGNS] + [(name, 240) for name in list(DESIGNS)[:3]]


@pytest.mark.parametrize(("name", "n"), one_of(4, CASES))
def test_every_design_accuses_as_seldom_as_is_stated(name, n):
    # Binomial(150, .001): five or more have a chance of 5e-7 in each of twelve cases.
    assert accusing(DESIGNS[name], n, 150, seed=3) <= 5


def test_no_kind_of_report_accuses_honest_people():
    people = frame_of({"a": ["no"] * 99 + ["yes"], "b": [0] * 100, "c": ["no"] * 100})
    found = 0
    for run in range(8):
        for name, design in every_design(DOMAIN, 100, block_size=40).items():
            reports = design.randomize(answered(people, design), source=dn.Seeded(run))
            for names in (["a"], ["c"], *([["a", "c"]] if not name.startswith("paired") else [])):
                domain = design.domain.project(names)
                found += fewer_than_chance(reports.tabulate(names), domain).min() * 8 < ALARM
    assert found <= 6  # of 400 tables at most .4 are expected: seven or more have a chance of 2e-7


def test_several_ballots_are_one_sample():
    domain = dn.Domain({"x": ["no", "yes"]})
    weak, strong = dn.KRR(2, epsilon=0.5), dn.KRR(2, epsilon=2.0)
    seen = [dn.Observation(domain, weak, [80, 20]), dn.Observation(domain, strong, [195, 5])]
    mean = (100 * weak.q + 200 * strong.q) / 300
    assert fewer_than_chance(seen, domain)[1] == pytest.approx(binom.cdf(25, 300, mean))
    # The sum of two binomials with those chances is less spread than that: what is stated is an upper bound.
    counts = np.arange(26)
    exact = (binom.pmf(counts, 100, weak.q) * binom.cdf(25 - counts, 200, strong.q)).sum()
    assert exact <= fewer_than_chance(seen, domain)[1] <= 10 * exact


def test_cells_are_matched_by_name():
    domain, apart = DOMAIN.project(["a", "b"]), dn.Kronecker([dn.KRR(2, epsilon=1.0), dn.KRR(3, epsilon=1.0)])
    counts = np.array([[50, 50, 50], [50, 50, 2]])
    found = fewer_than_chance([dn.Observation(domain, apart, counts)], domain.project(["b", "a"]))
    assert found.shape == (3, 2)
    assert np.unravel_index(found.argmin(), found.shape) == (2, 1)
    assert (found.ravel()[:5] == 1).all()


@pytest.mark.parametrize(("n", "least"), [(240, 0.3), (1000, 0.97)])
def test_who_says_no_whatever_the_device_tells_is_found(n, least):
    assert power(dn.Warner(0.8), 0.02, n, 0.4) > least


@pytest.mark.parametrize("size", [2, 10, 40])
def test_prevalence_counts_its_categories(size):
    channel, rng = dn.KRR(size, epsilon=3.0), np.random.default_rng(size)
    accused = 0
    for _ in range(150):
        codes = rng.choice(size, 200, p=channel.matrix()[:, 0])
        accused += bool(dn.prevalence(codes, channel).warnings)
    assert accused <= 5  # of 150 surveys .15 are expected
    assert dn.prevalence([0] * 2000, dn.KRR(size, epsilon=1.0)).warnings[0].startswith("Fewer reports of")


def test_weights_and_groups_do_not_matter_to_the_alarm():
    said = [0] * 60 + [0, 1] * 30
    found = dn.prevalence(said, dn.Warner(0.8), np.linspace(1, 3, 120), by=[1] * 60 + [2] * 60)
    assert "followed the device's instructions" in found[1].warnings[0]
    assert found[2].warnings == ()


# -- of honest respondents ---------------------------------------------------------------------------------------------


def _honest(categories, epsilon, n, surveys, weighted=False):
    """What is said of surveys in which everybody has the first answer and does as asked, drawn as counts."""
    domain = dn.Domain({"q": [str(code) for code in range(categories)]})
    channel = dn.KRR(categories, epsilon)
    everybody = np.eye(categories)[0]
    rng = np.random.default_rng(8)
    for _ in range(surveys):
        yield str(dn.estimate(dn.Observation(domain, channel, rng.multinomial(n, channel.apply(everybody))), "q"))


@pytest.mark.parametrize(("categories", "epsilon", "n"), one_of(2, [(10, 1.0, 100), (40, 2.0, 1000), (2, 1.0, 200)]))
def test_estimates_do_not_accuse_honest_respondents(categories, epsilon, n):
    told = list(_honest(categories, epsilon, n, 300))
    # At most one in a thousand: of 300 surveys, five or more have a chance below 2e-5 each, 4e-9 seven.
    assert sum("than chance alone explains" in each for each in told) < 7
    if categories > 2:  # where many are shown no interval, which is no accusation
        assert sum("so none is shown" in each for each in told) > 10
    assert not any("chance does that" in each for each in told)


def test_groups_are_looked_at_together():
    rng = np.random.default_rng(9)
    design = dn.Joint({"q": [str(code) for code in range(10)]}, 1.0)
    accused = 0
    for seed in range(60):
        people = {"q": ["0"] * 400, "g": rng.choice(list("uvwxyz"), 400).tolist()}
        reports = design.randomize(people, keep=["g"], source=dn.Seeded(seed))
        accused += "than chance alone explains" in str(dn.estimate(reports, "q", by="g"))
    assert accused < 5  # Binomial(60, .001): 5e-9 or so


def test_weighted_reports_are_no_counts_and_accuse_nobody():
    design, rng = dn.Joint({"q": [str(code) for code in range(10)]}, 1.0), np.random.default_rng(3)
    said = 0
    for seed in range(60):
        reports = design.randomize({"q": ["0"] * 200}, source=dn.Seeded(seed))
        found = str(dn.estimate(reports, "q", weights=rng.lognormal(size=200)))
        said += "so none is shown" in found
        assert "than chance alone explains" not in found
    assert said


def test_who_does_not_do_as_asked_is_found():
    found = dn.estimate(dn.Observation(dn.Domain({"q": ["no", "yes"]}), dn.Warner(0.8), [195, 5]), "q")
    (told,) = [note for note in found.notes() if "chance" in note]
    assert told.startswith("Fewer reports of 'yes' (q) came than chance alone explains")
    assert "of honest surveys, fewer than 1 in 1,000" in told
