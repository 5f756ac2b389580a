"""Do the tests hold their level, and the intervals what they promise? Simulated on counts, seeded.

Every simulated survey has a null table and replicates of its own, as the test itself has (39 of them). A size or a
coverage is judged by an exact binomial test; all cells together give a false alarm with a chance of 1e-4.
`--write FILE` puts each table between the marks of a Markdown page as soon as it is made, and `--write-tests FILE` the
one that compares tests between the marks of another. `--keep FOLDER` keeps finished sections there: interrupted, the
same program goes on where it stopped.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.calibration.alarm_rates import alarms
from benchmarks.calibration.checkpoints import kept
from benchmarks.calibration.clustered_functions import SURVEYS as FUNCTIONS
from benchmarks.calibration.clustered_functions import clustered
from benchmarks.calibration.compared_tests import pearson, which_test
from benchmarks.calibration.few_clusters import SURVEYS as FEW
from benchmarks.calibration.few_clusters import few_clusters
from benchmarks.calibration.measure_coverage import strengths
from benchmarks.calibration.pooled_errors import STATED, SURVEYS, pooled
from benchmarks.calibration.recommended_designs import recommended
from benchmarks.calibration.regression_coverage import COVERED, FITS, regressions
from benchmarks.calibration.report_section import CELLS, Section, write
from benchmarks.calibration.simulated_surveys import ALPHA, TABLES, Surveys, surveys
from benchmarks.calibration.sizes_of_tests import LIMIT, NOISY, REPLICATES, SIZE, TESTED, hard_cases
from benchmarks.calibration.weighted_coverage import HELD, weighted
from benchmarks.calibration.weighted_coverage import SURVEYS as CLUSTERED
from deniable import KRR, Kronecker, Observation, Seeded, SubsetSelection, Warner, estimate, prevalence
from deniable.inference.hypothesis_tests.likelihood_ratio import independence_ratio
from deniable.inference.prevalence import Difference
from deniable.likelihood.em import fit
from deniable.likelihood.hypothesis_models import OddsRatio

if TYPE_CHECKING:
    from collections.abc import Sequence

SIZES = (2_000, 10_000, 50_000)
EPSILONS = (1.0, 2.0)
START, END = "<!-- calibration: made by make calibrate -->", "<!-- end of calibration -->"


def bounds(name: str, n: int) -> tuple[float, float]:
    """Where a size at level .05 must lie."""
    return NOISY if "sparse" in name or n < 10_000 else SIZE


def rejects(found: Surveys, rng: np.random.Generator) -> float:
    """How often the default test rejects, each survey with replicates of its own."""
    ratio = independence_ratio(found.evidence, "a", "b")
    return float(ratio.rejects(found.reports, rng, most=REPLICATES, limit=LIMIT).mean())


def size_of_tests(count: int, seed: int) -> Section:
    """Sizes of the default tests."""
    count = min(count, TESTED)
    section = Section(
        "Size of the default tests",
        f"Share of {count} simulated surveys without association that are rejected at level {ALPHA:g}. Disguised "
        f"together: k-RR of the pair, bootstrap likelihood ratio. As sets: subset selection of it, by "
        f"quasi-likelihood. On their own: half of epsilon each, Pearson on the disguised table.",
        ("disguised", "table", "epsilon", "n", "size", "required", "met"),
        [],
    )
    source = Seeded(seed)
    for name, pi in TABLES.items():
        for epsilon in EPSILONS:
            for n in SIZES:
                rng = source.stream().generator()
                together = surveys(KRR(pi.size, epsilon=epsilon), pi, n, count, rng)
                sizes = {"together": rejects(together, rng)}
                if pi.size > 4:  # with four cells, sets of one are best: that is k-RR
                    apart = Seeded(seed + n).stream().generator()
                    sets = surveys(SubsetSelection(pi.size, epsilon), pi, n, count, apart)
                    sizes["as sets"] = rejects(sets, apart)
                own = Kronecker([KRR(size, epsilon=epsilon / 2) for size in pi.shape])
                sizes["on their own"] = pearson(surveys(own, pi, n, count, rng))
                for how, size in sizes.items():
                    row: list[object] = [how, name, f"{epsilon:g}", n]
                    section.judge(row, round(size * count), count, bounds(name, n))
    return section


def coverage(count: int, seed: int) -> Section:
    """Coverage of 95% intervals."""
    from scipy.stats import binom

    section = Section(
        "Coverage of 95% intervals",
        f"Prevalence: Wilson through Warner(0.8), exact (summed over all counts). Differences between two groups: "
        f"MOVER, {min(count, 2000)} surveys. Odds ratio: profile likelihood, k-RR of the pair, {count} surveys. "
        f"Regression coefficients: Wald, observed Hessian, Warner(0.8) or Joint at epsilon 3, {min(count, FITS)} "
        f"surveys.",
        ("interval", "case", "n", "coverage", "required", "met"),
        [],
    )
    device, source = Warner(0.8), Seeded(seed + 2)
    for share in (0.02, 0.1, 0.3):
        for n in (200, 1000):
            lam = float(device.apply([1 - share, share])[1])
            least, most = (int(end) for end in binom.interval(1 - 1e-9, n, lam))
            held = 0.0
            for count_yes in range(least, most + 1):
                counts = [n - count_yes, count_yes]
                interval = estimate(Observation("x", device, counts), "x", "inversion").interval(0.95)
                held += float(binom.pmf(count_yes, n, lam)) * bool(interval.contains([1 - share, share])[1])
            section.add(["prevalence", f"prevalence {share:g}", n], held, COVERED)
    for first, second in ((0.1, 0.05), (0.3, 0.3)):
        for n in (300, 2000):
            rng = source.stream().generator()
            yes = [rng.binomial(n, float(device.apply([1 - p, p])[1]), size=min(count, 2000)) for p in (first, second)]
            known, inside = {int(k): prevalence(device, yes=int(k), n=n) for k in set(np.concatenate(yes).tolist())}, 0
            for a, b in zip(*yes, strict=True):
                low, high = Difference(0, 1, known[int(a)], known[int(b)], np.zeros(2)).interval()
                inside += bool(low[1] <= first - second <= high[1])
            section.judge(["difference", f"{first:g} - {second:g}", n], inside, len(yes[0]), COVERED)
    _odds_ratios(section, count, source)
    for fitted, term, n, held in regressions(min(count, FITS), seed + 3):
        section.judge([fitted, term, n], held, min(count, FITS), COVERED)
    return section


def errors(count: int, seed: int) -> Section:
    """Stated errors of tables that all reports speak of."""
    surveys = min(count, SURVEYS)
    section = Section(
        "Errors of efficient estimates",
        f"A pair of attributes, from every report that speaks of either: coverage of 95% score intervals, and the root "
        f"of the summed variances that are stated over that of the estimates themselves. {surveys} surveys.",
        ("design", "n", "what", "found", "required", "met"),
        [],
    )
    for name, n, held, ratio in pooled(surveys, seed + 4):
        section.judge([name, n, "coverage of each cell"], held, surveys, COVERED)
        section.add([name, n, "stated / actual"], ratio, STATED)
    return section


def samples(count: int, seed: int) -> Section:
    """Weighted estimates and tests of stratified cluster samples."""
    surveys = min(count, CLUSTERED)
    section = Section(
        "Weights, strata and clusters",
        f"Stratified cluster samples with uneven weights, clusters of a stratum differing: coverage of 95% score "
        f"intervals of a pair's cells with Student's t, stated over actual standard errors, and the share of true "
        f"hypotheses of independence that Rao and Scott's test rejects at level {ALPHA:g}, judged by an exact binomial "
        f"test. {surveys} surveys.",
        ("design", "clusters", "what", "found", "required", "met"),
        [],
    )
    for name, clusters, held, ratio, size in weighted(surveys, seed + 5):
        section.judge([name, clusters, "coverage of each cell"], held, surveys, COVERED)
        section.add([name, clusters, "stated / actual"], ratio, STATED)
        section.judge([name, clusters, "size"], size, surveys, HELD)
    return section


def few(count: int, seed: int) -> Section:
    """Intervals and tests of surveys of few clusters."""
    surveys = min(count, FEW)
    section = Section(
        "Few clusters",
        f"Eight villages of 20 to 200 people, and four of 140 in two strata, an intraclass correlation of a twentieth: "
        f"coverage of 95% intervals with Satterthwaite's degrees of freedom, and the size at level {ALPHA:g} of Rao "
        f"and Scott's test of independence. {surveys} surveys.",
        ("design", "clusters", "what", "found", "required", "met"),
        [],
    )
    for design, clusters, what, hits, bounds in few_clusters(surveys, seed + 6):
        section.judge([design, clusters, what], hits, surveys, bounds)
    return section


def functions_of_clusters(count: int, seed: int) -> Section:
    """Every function that answers with an interval, through designs of every kind, of few clusters and of weights."""
    surveys = min(count, FUNCTIONS)
    section = Section(
        "Functions of clustered surveys",
        f"The same villages, and 24 in three strata with uneven weights, nothing related to anything: coverage of 95% "
        f"intervals of every function, and the size at level {ALPHA:g} of tests. {surveys} surveys.",
        ("design", "clusters", "what", "found", "required", "met"),
        [],
    )
    for design, clusters, what, hits, bounds in clustered(surveys, seed + 7):
        section.judge([design, clusters, what], hits, surveys, bounds)
    return section


def _odds_ratios(section: Section, count: int, source: Seeded) -> None:
    for name, pi in {
        "2x2, odds ratio 1": TABLES["2x2"],
        "2x2, odds ratio 2.8": np.array([[0.35, 0.25], [0.134, 0.266]]),
        "skewed, odds ratio 3": np.array([[0.72, 0.15], [0.08, 0.05]]),
    }.items():
        for epsilon in EPSILONS:
            for n in SIZES:
                rng = source.stream().generator()
                channel = KRR(4, epsilon=epsilon)
                found = surveys(channel, pi, n, count, rng)
                psi = np.full(count, pi[0, 0] * pi[1, 1] / (pi[0, 1] * pi[1, 0]))
                seen, y = found.evidence, found.reports
                best, model = fit(seen, counts=y), OddsRatio((0, 1), (0, 1), psi)
                near = model.maximize(np.repeat(pi[..., None], count, -1))
                at = fit(seen, model, y, starts=[near], gap=1e-6, strict=False)
                held = int((2 * (best.loglik - at.loglik) <= 3.841458820694124).sum())
                section.judge(["odds ratio", f"{name}, epsilon {epsilon:g}", n], held, count, COVERED)


SECTIONS = {
    "sizes": size_of_tests,
    "tests": which_test,
    "hard": hard_cases,
    "coverage": coverage,
    "strengths": strengths,
    "errors": errors,
    "samples": samples,
    "alarms": alarms,
    "few": few,
    "functions": functions_of_clusters,
    "recommended": recommended,
}


def main(arguments: Sequence[str] = ()) -> int:
    """Calibrate and print; 0 when every size and coverage lies within its bounds, else 1."""
    parser = argparse.ArgumentParser(prog="calibrate", description=__doc__)
    parser.add_argument("--replicates", type=int, default=10_000, help="simulated surveys a case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=list(SECTIONS), default=list(SECTIONS), help="some sections")
    parser.add_argument("--write", type=Path, help="a Markdown page with the marks to write all tables between")
    parser.add_argument("--write-tests", type=Path, help="one for the table that compares tests")
    parser.add_argument("--keep", type=Path, help="a folder for finished sections")
    options = parser.parse_args(arguments)
    made = []
    for name in options.only:
        begun = time.process_time()
        section = kept(options.keep, name, options.replicates, options.seed, SECTIONS[name])
        made.append(section)
        sys.stdout.write(f"{section.markdown()}\n\n")
        sys.stdout.flush()
        sys.stderr.write(f"{name}: {'met' if section.met else 'NOT MET'}, {time.process_time() - begun:.0f} CPU-s\n")
        if options.write is not None:
            write(options.write, [section], (START, END))
        if options.write_tests is not None and name == "tests":
            write(options.write_tests, [section], (START, END))
    if sum(section.judged for section in made) > CELLS:
        raise AssertionError(f"{CELLS} cells were to be judged together; raise that number")
    return 0 if all(section.met for section in made) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
