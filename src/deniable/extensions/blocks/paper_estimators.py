"""RRBA's estimates block by block: what one block says, the mean of the last two, how large a block must be.

`estimate(reports, ...)` pools all blocks, and that is what to use. Here is what the paper does instead, to compare with
it: it looks at one block at a time, stops when two in a row agree, and returns their mean. Block estimates are
independent and equally noisy, however many came before, so agreement is luck and two blocks know little: from 32 blocks
pooling has about a twentieth of the squared error.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.input_coercion import in_order
from deniable.core.results import Interval
from deniable.core.table import Table
from deniable.errors import InputError, TooFewReportsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from deniable.extensions.blocks.block_reports import BlockReports

_NORMAL_ABOVE = 5  # the paper's rule of thumb: with a smaller count the interval is made on the log-odds


def block_variance(shares: ArrayLike, keep: float, respondents: int) -> float:
    """Expected squared distance of one block's estimate from the truth, once fakes look like the population.

    With T = pi a report is distributed as pi itself, so cell v has the variance pi_v (1 - pi_v) / (B p^2): in all
    (1 - sum pi^2) / (B p^2).

    >>> round(block_variance([0.25] * 4, keep=0.5, respondents=250), 6)
    0.012
    """
    pi = np.asarray(shares, dtype=np.float64)
    return float((1 - (pi**2).sum()) / (respondents * keep**2))


def block_size(shares: ArrayLike | int, keep: float, error: float = 0.1, *, ballots: int = 1) -> int:
    """How many respondents a block needs for one block's estimate to lie within `error` of the truth, typically.

    The smallest B with (1 - sum pi^2) / (B p^2) <= error^2, times the ballots among which respondents are dealt out.
    "As many as the table has cells" is not enough: at p = 1/2 four cells need 300 for an error of 0.1.

    Args:
        shares: the expected table, or only how many cells it has (then they are taken to be even, the worst case).
        keep: the probability p that the truth is kept.
        error: root mean square distance between a block's estimate and the truth, over the whole table.
        ballots: how many different questions or views respondents draw from.

    >>> block_size(4, keep=0.5, error=0.1)
    300
    """
    if not 0 < keep <= 1 or not error > 0 or ballots < 1:
        raise InputError(f"keep is a probability and error positive; got keep={keep!r}, error={error!r}")
    pi = np.full(shares, 1 / shares) if isinstance(shares, int) else in_order(shares, "shares of cells")
    # Rounded before rounding up: 300.00000000000006 respondents are 300.
    return ceil(round(block_variance(pi, keep, 1) / error**2, 6)) * ballots


def block_estimates(reports: BlockReports, attributes: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Every block's own unbiased estimate of a question's table (a row a block), and the blocks' numbers of reports."""
    index = reports.design.question_of(attributes)
    whole = reports.question(index)
    if whole is None:
        raise TooFewReportsError(f"nobody was asked {reports.design.questions[index].name!r}", n=0)
    channel = whole.channel
    keep, fakes = channel.integers  # type: ignore[attr-defined]
    bits = float(1 << channel.draw_bits)  # type: ignore[attr-defined]
    n = whole.counts.sum(axis=1)
    return (whole.counts / n[:, None] * bits - fakes) / keep[:, None], n.astype(np.int64)


def closed_estimates(reports: BlockReports, attributes: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The same of full blocks alone: of one with room for more respondents, few reports would count as many do."""
    values, n = block_estimates(reports, attributes)
    last = len(reports.published) - 1
    if np.count_nonzero(reports.blocks == last) >= reports.design.block_size:
        return values, n
    rows, _ = reports.asked(reports.design.question_of(attributes))
    closed = np.unique(reports.blocks[rows]) != last
    return values[closed], n[closed]


def last_two(reports: BlockReports, attributes: Sequence[str]) -> Table:
    """The paper's estimate: the mean of the last two full blocks' own estimates. For comparison only."""
    closed, _ = closed_estimates(reports, attributes)
    if not len(closed):
        raise TooFewReportsError("no block is full yet: its last two cannot be averaged", n=reports.n)
    domain = reports.design.domain.project(reports.design.questions[reports.design.question_of(attributes)].attributes)
    return Table(domain, closed[-2:].mean(axis=0)).project(attributes)


def share_interval(successes: ArrayLike, n: ArrayLike, level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """An interval for a share: symmetric where more than 5 are counted on either side, else on the log-odds.

    log(x / (n - x)) +- z sqrt(1 / x + 1 / (n - x)), the interval of the log-odds' maximum-likelihood estimate; half a
    count is added on both sides where one of them has none.

    >>> [round(float(end), 4) for end in share_interval(2, 100, 0.95)]
    [0.005, 0.0764]
    """
    from scipy.special import expit, ndtri

    z = float(ndtri((1 + level) / 2))
    x, m = np.broadcast_arrays(np.asarray(successes, dtype=np.float64), np.asarray(n, dtype=np.float64))
    share = x / m
    half = z * np.sqrt(share * (1 - share) / m)
    empty = np.where((x <= 0) | (x >= m), 0.5, 0.0)
    yes, no = x + empty, m - x + empty
    logit, reach = np.log(yes / no), z * np.sqrt(1 / yes + 1 / no)
    normal = (x > _NORMAL_ABOVE) & (m - x > _NORMAL_ABOVE)
    return np.where(normal, share - half, expit(logit - reach)), np.where(normal, share + half, expit(logit + reach))


def log_odds_interval(reports: BlockReports, attributes: Sequence[str], level: float = 0.95) -> Interval:
    """Intervals for a question's cells as the paper's section 5 asks for them, from all blocks pooled.

    The interval is made for the share of reports (`share_interval`) and mapped through the blocks' channel,
    pi = (lambda - (1 - p) mean T) / p. Reports of different blocks are not equally likely to fall into a cell; taking
    them to be makes the interval a little too wide, never too narrow.
    """
    index = reports.design.question_of(attributes)
    whole = reports.question(index)
    if whole is None:
        raise TooFewReportsError(f"nobody was asked {reports.design.questions[index].name!r}", n=0)
    keep, fakes = whole.channel.integers  # type: ignore[attr-defined]
    if len(set(keep.tolist())) > 1:
        raise InputError("the blocks kept the truth with different probabilities, so a cell is no single binomial")
    bits = float(1 << whole.channel.draw_bits)  # type: ignore[attr-defined]
    counts, n = whole.counts.sum(axis=0), whole.counts.sum()
    offset = (fakes * whole.counts.sum(axis=1, keepdims=True)).sum(axis=0) / n / bits
    ends = (
        Table(whole.domain, (end - offset) / (keep[0] / bits)).project(attributes).values
        for end in share_interval(counts, n, level)
    )
    low, high = ends
    return Interval(low, high, level, "log-odds where the counts are small, else Wald")
