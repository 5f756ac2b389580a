"""Signs that something went wrong while answering: what the noise of the disguise alone would hardly do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.designs.reports import Reports
    from deniable.estimation.estimate import Estimate

_ALARM = 1e-3  # the chance of a false alarm, for each kind of sign
_FEWEST = 5.0


def alarms(reports: Reports, estimates: Sequence[Estimate]) -> list[str]:
    """What to look into, a sentence each; empty when nothing stands out."""
    return [*_uneven_ballots(reports), *_far_below_zero(estimates)]


def _uneven_ballots(reports: Reports) -> list[str]:
    """Devices draw ballots by the design. If some came more often, people chose theirs, or reports were made up."""
    from scipy.special import chdtrc

    drawn = reports.ballot_counts()
    expected = drawn.sum() * reports.design.chances
    often = expected >= _FEWEST  # rarer ones are counted together: chi-square is no law of theirs
    counts, means = (np.append(part[often], part[~often].sum()) for part in (drawn, expected))
    counts, means = counts[means >= _FEWEST], means[means >= _FEWEST]
    if len(counts) < 2:
        return []
    p = float(chdtrc(len(counts) - 1, float(((counts - means) ** 2 / means).sum())))
    if p >= _ALARM:
        return []
    return [
        (
            f"Alarm: devices draw ballots by chance, and the reports have between {(counts / means).min():.2f} and "
            f"{(counts / means).max():.2f} times as many of each as they should (p = {p:.2g}). Did "
            f"people draw again until they liked the question, or did reports come from elsewhere?"
        )
    ]


def fewest_published(reports: Reports, by: Sequence[str] = ()) -> int | None:
    """The fewest respondents whose counts are shown together: of a ballot, in a group by all public columns shown.

    Two digits of it, rounded down: what is said of "so many or more" does not change with every report. None where
    counts hide nobody.
    """
    fewest = _fewest(reports, by) if reports.design.is_shuffled else 0
    unit = 10 ** max(0, len(str(fewest)) - 2)
    return fewest // unit * unit or None


def _fewest(reports: Reports, by: Sequence[str]) -> int:
    if by:
        return min((_fewest(part, by[1:]) for _, part in reports.groups(by[0])), default=0)
    drawn = reports.ballot_counts()
    return int(drawn[drawn > 0].min()) if (drawn > 0).any() else 0


def _far_below_zero(estimates: Sequence[Estimate]) -> list[str]:
    """Noise takes a true zero a little below zero, not far: then people did not follow the instructions."""
    from scipy.special import ndtri

    cells = sum(estimate.values.size for estimate in estimates)
    limit = -float(ndtri(_ALARM / max(cells, 1)))
    found = []
    for estimate in estimates:
        z = estimate.efficient.values / np.maximum(estimate.std_error, 1e-300)
        if z.min() < -limit:
            found.append(
                f"Alarm: an unbiased share of {' and '.join(estimate.attributes)} is {-z.min():.1f} standard errors "
                f"below zero, which the disguise alone does not do. Respondents may not have followed the "
                f"instructions, or reports were made up."
            )
    return found
