"""The calibration command on a small scale, and the coverage of intervals by exact summation."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import binom

import deniable as dn
from benchmarks.calibration import (
    alarm_rates,
    calibrate,
    checkpoints,
    clustered_functions,
    measure_coverage,
    pooled_errors,
    simulated_surveys,
    sizes_of_tests,
    weighted_coverage,
)
from benchmarks.calibration import recommended_designs as shown
from benchmarks.calibration.report_section import Section
from chequered import black
from deniable.inference.prevalence import prevalence


def test_calibration_writes_its_tables_between_the_marks(tmp_path, capsys, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(f"# before\n{calibrate.START}\nold\n{calibrate.END}\nafter\n")
    monkeypatch.setattr(calibrate, "SIZES", (2_000,))
    monkeypatch.setattr(calibrate, "EPSILONS", (2.0,))
    monkeypatch.setattr(
        "benchmarks.calibration.regression_coverage._CASES",
        {"RR logit": (1_000,), "RR predictor in a linear model": (300,)},
    )
    # Every other design and function is asked in tests/benchmarks/test_inference.py.
    few = partial(clustered_functions.clustered, designs=("Joint, epsilon 3",), samples=(clustered_functions.WEIGHTED,))
    monkeypatch.setattr(calibrate, "clustered", few)
    monkeypatch.setattr(pooled_errors, "DESIGNS", dict(list(pooled_errors.DESIGNS.items())[2:3]))
    monkeypatch.setattr(weighted_coverage, "DESIGNS", dict(list(weighted_coverage.DESIGNS.items())[:1]))
    monkeypatch.setattr(sizes_of_tests, "cases", lambda: list(sizes_of_tests.homogeneity_cases())[:1])
    monkeypatch.setattr(
        measure_coverage, "TABLES", {k: (pi, each[:1]) for k, (pi, each) in list(measure_coverage.TABLES.items())[:1]}
    )
    monkeypatch.setattr(alarm_rates, "DESIGNS", dict(list(alarm_rates.DESIGNS.items())[:1]))
    monkeypatch.setattr(alarm_rates, "SIZES", (50,))
    monkeypatch.setattr(shown, "SIZES", (200,))
    monkeypatch.setattr(shown, "EPSILONS", (3.0,))
    other = tmp_path / "other.md"
    other.write_text(f"{calibrate.START}{calibrate.END}")
    calibrate.main(["--replicates", "2", "--write", str(page), "--write-tests", str(other)])
    assert other.read_text().count("###") == 1
    assert "RRBA two-step" in other.read_text()
    text = page.read_text()
    assert "slope of x" in text
    assert "stated / actual" in text
    assert "old" not in text
    assert text.startswith("# before")
    assert text.endswith("after\n")
    assert "Size of the default tests" in text
    assert "homogeneity, even 5" in text
    assert "Coverage of measures that cannot be negative" in text
    assert "Weights, strata and clusters" in text
    assert "40% say no anyway" in text
    assert "Coverage of the recommended design" in text
    assert "Coverage of 95% intervals" in capsys.readouterr().out


def test_size_of_the_bootstrap_likelihood_ratio():
    rng = np.random.default_rng(11)
    runs = 600
    found = simulated_surveys.surveys(dn.KRR(12, epsilon=1.0), simulated_surveys.TABLES["3x4"], 10_000, runs, rng)
    # Binomial(600, .05) has sd .0089: six of them are .053.
    assert calibrate.rejects(found, rng) < 0.05 + 0.053


@pytest.mark.parametrize(
    ("method", "case"), black(["wilson", "clopper_pearson", "profile"], [(0.0, 60), (0.01, 100), (0.5, 300), (0.2, 60)])
)
def test_exact_coverage_of_prevalence_intervals(method, case):
    share, n = case
    channel = dn.Warner(0.8)
    lam = 0.2 + 0.6 * share
    held = 0.0
    for yes in range(n + 1):
        low, high = prevalence(np.repeat([1, 0], [yes, n - yes]), channel).interval(0.95, method)
        held += binom.pmf(yes, n, lam) * (low[1] <= share <= high[1])
    assert held > (0.95 - 1e-9 if method == "clopper_pearson" else 0.92)
    assert held < (1.0 if method == "clopper_pearson" else 0.98)


def test_weighted_intervals_cover_under_clustering():
    rng = np.random.default_rng(2)
    channel, clusters, each, runs = dn.Warner(0.85), 60, 20, 200
    held = plain = 0
    for _ in range(runs):
        level = rng.beta(2, 6, size=clusters)  # prevalence differs between clusters, .25 on average
        truth = rng.random((clusters, each)) < level[:, None]
        said = np.where(rng.random(truth.shape) < 0.85, truth, ~truth).astype(int).ravel()
        home = np.repeat(np.arange(clusters), each)
        weights = np.repeat(rng.choice([1.0, 2.0], size=clusters), each)
        low, high = prevalence(said, channel, weights, clusters=home).interval()
        held += low[1] <= 0.25 <= high[1]
        low, high = prevalence(said, channel).interval()
        plain += low[1] <= 0.25 <= high[1]
    assert binom.cdf(172, runs, 0.95) < 1e-6
    assert held > 172  # ignoring weights and clusters covers less
    assert plain < held


def test_a_stratified_cluster_sample_has_the_errors_that_are_stated(monkeypatch):
    monkeypatch.setattr(weighted_coverage, "DESIGNS", dict(list(weighted_coverage.DESIGNS.items())[1:2]))
    ((_, clusters, held, ratio, size),) = weighted_coverage.weighted(150, 9)
    assert clusters == 40
    # 150 independent surveys: a share of .95 is found at .82 or below, and one of .05 at .18 or above, with probability
    # 8e-9. The root of summed variances of 150 surveys has a relative error of at most .058: five of them.
    assert min(held) > 0.82 * 150
    assert size < 0.18 * 150
    assert 0.71 < ratio < 1.29


def test_a_cell_is_judged_together_with_all_others():
    section = Section("t", "", ("what", "found", "required", "met"), [])
    section.judge(["size"], 120, 2000, (0.02, 0.06))
    # 172 of 2,000 at .06 come with a chance of 1.7e-6, and with .0001 for 300 cells and two sides that is no alarm yet
    assert binom.sf(171, 2000, 0.06) > 1e-4 / 600
    section.judge(["size"], 172, 2000, (0.02, 0.06))
    assert section.met
    section.judge(["cells"], [1900, 1890, 1820], 2000, (0.93, 0.97))
    assert section.judged == 5
    assert section.rows[-1][1:] == ["0.9100 - 0.9500", "0.93 - 0.97", "yes"]
    section.judge(["cells"], [1900, 1780], 2000, (0.93, 0.97))
    assert not section.met
    assert section.rows[-1][-1] == "NO"


def test_finished_sections_are_kept_and_not_those_of_another_program(tmp_path, monkeypatch):
    made = []

    def make(count, seed):
        made.append((count, seed))
        section = Section("t", "told", ("a", "b"), [])
        section.add(["x"], 0.25, (0.0, 0.1))
        return section

    first, again = (checkpoints.kept(tmp_path / "new", "t", 10, 1, make) for _ in range(2))
    assert made == [(10, 1)]
    assert again.markdown() == first.markdown()
    assert not again.met
    monkeypatch.setattr(checkpoints, "program", lambda: "another")
    checkpoints.kept(tmp_path / "new", "t", 10, 1, make)
    checkpoints.kept(None, "t", 10, 1, make)
    assert len(made) == 3
