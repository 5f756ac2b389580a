"""Valid and invalid tests of two attributes that were disguised together, side by side: sizes and powers."""

from __future__ import annotations

import numpy as np

from benchmarks.calibration.report_section import Section
from benchmarks.calibration.simulated_surveys import ALPHA, SHIFTS, TABLES, Surveys, associated, surveys, wald_rejects
from deniable import KRR, Observation, Seeded, estimate, independence
from deniable.inference.hypothesis_tests.likelihood_ratio import independence_ratio
from deniable.inference.hypothesis_tests.pearson_and_wald import chi_square

# Required of the default test is the power of the best test in an earlier simulation. On the sparse table nothing is
# required: the best test had .21 there, but at a size of .061, and powers at different sizes cannot be compared.
POWERS = {
    ("2x2", 5_000): 0.54,
    ("2x2", 10_000): 0.82,
    ("3x4", 5_000): 0.27,
    ("3x4", 10_000): 0.53,
    ("3x4", 20_000): 0.88,
}
MONTE_CARLO = 0.03  # how far a simulated power may fall short
_MANY = 5000  # surveys for the tests that are computed for all at once
_QUICK = 1000  # for those that are computed one by one
_SLOW = 400  # for RRBA's, which draws a reference of its own for every survey


def pearson(found: Surveys, *, reconstructed: bool = False, most: int | None = None) -> float:
    """How often Pearson's test rejects, on the disguised counts or on reconstructed ones."""
    from scipy.special import chdtri

    observation, drawn = found.first, found.counts
    count = drawn.shape[-1] if most is None else min(most, drawn.shape[-1])
    rejected, shape = 0, observation.domain.shape
    for i in range(count):
        table = drawn[..., i]
        if reconstructed:
            one = Observation(observation.domain, observation.channel, table)
            table = observation.n * estimate(one, observation.domain.names, "norm_sub").values
        statistic, df = chi_square(table.reshape(shape))
        rejected += df > 0 and statistic > float(chdtri(df, ALPHA))
    return rejected / count


def _warp(found: Surveys, rng: np.random.Generator) -> float:
    """How often the likelihood ratio rejects: one replicate a survey, all of them the reference of each."""
    observed, reference = independence_ratio(found.evidence, "a", "b").warp_speed(found.reports, rng)
    return float((observed > np.quantile(reference, 1 - ALPHA)).mean())


def _two_step(found: Surveys, most: int, source: Seeded) -> float:
    observation, rejected = found.first, 0
    for i in range(most):
        one = Observation(["a", "b"], observation.channel, found.counts[..., i].reshape(observation.domain.shape))
        rejected += independence(one, "a", "b", "two_step", replicates=199, source=source).pvalue <= ALPHA
    return rejected / most


def which_test(count: int, seed: int) -> Section:
    """Valid and invalid tests side by side, without and with association."""
    count = min(count, _MANY)
    few = min(count, _QUICK)
    section = Section(
        "Which test, when the pair was disguised together",
        f"Size / power at level {ALPHA:g}, total epsilon 1 ({count} surveys for the likelihood ratio and "
        f"Wald's; {few} for Pearson's, {min(count, _SLOW)} for RRBA's). The association moves 1.5 to 3.5% of "
        f"the respondents into two cells and out of two others, so that Wald's test has the power it had in an "
        f"earlier simulation. Required of the likelihood ratio: the power of the best test there, within "
        f"{MONTE_CARLO:g} (where sizes can be compared).",
        (
            "table",
            "n",
            "likelihood ratio",
            "required",
            "met",
            "Wald",
            "RRBA two-step",
            "Pearson on raw counts",
            "Pearson on reconstructed counts",
        ),
        [],
    )
    source = Seeded(seed + 1)
    for name in SHIFTS:
        for n in (5_000, 10_000, 20_000):
            rng = source.stream().generator()
            pi = TABLES[name]
            pairs = []
            for truth in (pi, associated(name)):
                found = surveys(KRR(pi.size, epsilon=1.0), truth, n, count, rng)
                pairs.append(
                    (
                        _warp(found, rng),
                        float(wald_rejects(found).mean()),
                        _two_step(found, min(count, _SLOW), source),
                        pearson(found, most=few),
                        pearson(found, reconstructed=True, most=few),
                    )
                )
            default, *others = [f"{size:.3f} / {power:.2f}" for size, power in zip(*pairs, strict=True)]
            required = POWERS.get((name, n))
            met = required is None or pairs[1][0] >= required - MONTE_CARLO
            section.met &= met
            told = ["", ""] if required is None else [f"{required:g}", "yes" if met else "NO"]
            section.rows.append([name, n, default, *told, *others])
    return section
