"""RRBA block by block: what one block says, when the paper stops, how large a block must be.

`estimate(reports, ...)` pools all blocks, and that is what to use. Here is what the paper does instead, to compare with
it: it looks at one block at a time, stops when two in a row agree, and returns their mean. Block estimates are
independent and equally noisy, however many came before, so agreement is luck and two blocks know little: from 32 blocks
pooling has about a twentieth of the squared error.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.input_coercion import in_order
from deniable.core.results import Interval
from deniable.core.table import Table
from deniable.errors import InputError, TooFewReportsError
from deniable.frozen import Frozen

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


def last_two(reports: BlockReports, attributes: Sequence[str]) -> Table:
    """The paper's estimate: the mean of the last two blocks' own estimates. For comparison only.

    A last block with room for more respondents is still open, and left out: its few reports would count as much as
    those of a full one.
    """
    values, _ = block_estimates(reports, attributes)
    index = reports.design.question_of(attributes)
    last = len(reports.published) - 1
    is_open = np.count_nonzero(reports.blocks == last) < reports.design.block_size
    rows, _ = reports.asked(index)
    closed = values[np.unique(reports.blocks[rows]) != last] if is_open else values
    if not len(closed):
        raise TooFewReportsError("no block is full yet: its last two cannot be averaged", n=reports.n)
    domain = reports.design.domain.project(reports.design.questions[index].attributes)
    return Table(domain, closed[-2:].mean(axis=0)).project(attributes)


@dataclass(frozen=True, eq=False)
class Convergence(Frozen):
    """Where the stopping rule would have stopped.

    Attributes:
        first: for each cell the first block that differs by less than delta* from the one before it; -1: none did.
        lasting: for each cell the first block from which on all differ by less; -1: none.
        table: the mean of the two blocks at which all cells first agreed at once; None if they never did.
    """

    first: NDArray[np.int64]
    lasting: NDArray[np.int64]
    table: NDArray[np.float64] | None


def convergence(
    estimates: NDArray[np.float64],
    respondents: ArrayLike,
    keep: float,
    *,
    alpha: float = 0.05,
    corrected: bool = True,
) -> Convergence:
    """Apply the paper's stopping rule to a sequence of block estimates.

    Block k stops a cell when |estimate_k - estimate_(k-1)| < delta*, delta* the width of the (1 - alpha) interval of a
    share observed in a block: 2 z sqrt(v (1 - v) / B), or on the log-odds where fewer than five are expected. As
    published, delta* forgets that shares are recovered by dividing by p; `corrected` uses delta* / p.
    """
    n = np.broadcast_to(np.asarray(respondents, dtype=np.float64), len(estimates))
    before = np.clip(estimates[:-1], 0.0, 1.0)
    low, high = share_interval(before * n[:-1, None], n[:-1, None], 1 - alpha)
    delta = (high - low) / (keep if corrected else 1.0)
    agrees = np.abs(np.diff(estimates, axis=0)) < delta
    # Reversed and accumulated: does it hold from here to the end?
    lasts = np.logical_and.accumulate(agrees[::-1], axis=0)[::-1]
    together = np.flatnonzero(agrees.all(axis=1))
    table = estimates[together[0] : together[0] + 2].mean(axis=0) if len(together) else None
    return Convergence(_first(agrees), _first(lasts), table)


def _first(holds: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The block (the later of the two compared) at which each column first holds, -1 where it never does."""
    return np.where(holds.any(axis=0), holds.argmax(axis=0) + 1, -1)


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
