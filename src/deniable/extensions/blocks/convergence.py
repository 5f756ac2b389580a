"""Convergence of RRBA's blocks: the published stopping rule, cell by cell (Imran & Meo 2024, section 5).

Block k stops a cell when |estimate_k - estimate_(k-1)| < delta*, with delta* the width of the (1 - alpha) interval of a
share observed in a block of B reports: 2 z sqrt(v (1 - v) / B), or on the log-odds where five or fewer are counted. As
published, delta* forgets that shares are recovered by dividing by p; `corrected` uses delta* / p.

Agreement of two blocks is luck and no sign of accuracy: the estimates of blocks are independent and equally noisy,
however many came before. `estimate` pools them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.results import axes, frame_of
from deniable.core.summary import Shown, Summary, beside
from deniable.core.table import Table
from deniable.device.fake_limits import BITS
from deniable.errors import InputError, TooFewReportsError
from deniable.extensions.blocks.paper_estimators import closed_estimates, share_interval
from deniable.frozen import Frozen
from deniable.plotting import DARK, LIGHT
from deniable.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from deniable.core.results import Frame
    from deniable.extensions.blocks.block_reports import BlockReports


@dataclass(frozen=True, eq=False, repr=False)
class Convergence(Shown, Frozen):
    """Where the stopping rule would have stopped.

    Attributes:
        table: the mean of the two blocks at which all cells first agreed at once; of the last two if they never did.
        estimates: every block's own estimate, a row a block, a column a cell.
        delta: delta*, from the second block on.
        first: for each cell the first block that differs by less than delta* from the one before it; -1: none did.
        lasting: for each cell the first block from which on all differ by less; -1: none.
        stopped: the first block at which all cells agreed at once; -1: none.
    """

    table: Table
    estimates: NDArray[np.float64]
    delta: NDArray[np.float64]
    first: NDArray[np.int64]
    lasting: NDArray[np.int64]
    stopped: int

    @property
    def blocks(self) -> int:
        """How many full blocks there are."""
        return len(self.estimates)

    @property
    def said(self) -> str:
        """Where it stopped, in a sentence."""
        if self.stopped < 0:
            return f"Not settled: no two of {counted(self.blocks, 'block')} in a row agree in all cells."
        return f"Settled after {self.stopped + 1} of {counted(self.blocks, 'block')}."

    def summary(self) -> Summary:
        """A row a cell: the estimate, and the blocks at which it agreed."""
        columns: dict[str, list[Any]] = {
            "estimate": self.table.values.ravel().tolist(),
            "agrees at block": [_block(int(k)) for k in self.first],
            "for good from block": [_block(int(k)) for k in self.lasting],
        }
        advice = "Agreement of two blocks is luck: estimate(...) pools all blocks, which errs several times less."
        return Summary(beside(self.table.cells(), columns), [self.said, advice])

    def to_frame(self) -> Frame:
        """A row a block and cell: the block's own estimate, and delta* against the block before."""
        cells = self.table.cells()
        size = self.table.values.size
        columns: dict[str, Any] = {"block": np.repeat(np.arange(self.blocks) + 1, size)}
        columns |= {name: list(values) * self.blocks for name, values in cells.items()}
        delta = np.vstack([np.full(size, np.nan), self.delta])
        return frame_of(columns | {"estimate": self.estimates.ravel(), "delta": delta.ravel()})

    def __repr__(self) -> str:
        return f"<Convergence of {' x '.join(self.table.attributes)}: {self.said.rstrip('.').lower()}>"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw every cell's estimate block by block, with delta* around the block before."""
        ax = axes(ax)
        steps = np.arange(1, self.blocks + 1)
        labels = [", ".join(map(str, cell)) for cell in zip(*self.table.cells().values(), strict=True)]
        for cell, label in enumerate(labels):
            (line,) = ax.plot(steps, self.estimates[:, cell], marker=".", label=label)
            before, reach = self.estimates[:-1, cell], self.delta[:, cell]
            ax.fill_between(steps[1:], before - reach, before + reach, color=line.get_color(), alpha=0.1, linewidth=0)
        if self.stopped >= 0:
            ax.axvline(self.stopped + 1, color=DARK, linewidth=0.8)
        ax.axhline(0, color=LIGHT, linewidth=0.8)
        ax.set_xlabel("block")
        ax.set_ylabel("the block's own estimate")
        ax.legend(fontsize="small")
        return ax


def convergence(
    reports: BlockReports, attributes: str | Sequence[str], *, alpha: float = 0.05, corrected: bool = True
) -> Convergence:
    """Apply RRBA's stopping rule to the full blocks of some reports.

    Args:
        reports: what `Blocks` disguised.
        attributes: one question's attributes: what was asked together.
        alpha: delta* is the width of the (1 - alpha) interval.
        corrected: divide delta* by the probability that the truth is told; False is the rule as published.

    >>> from deniable import Blocks, Seeded
    >>> truth = Table({"smokes": ["no", "yes"]}, [0.7, 0.3])
    >>> design = Blocks(truth.domain, 1, mode="deniability", keep=0.5, block_size=250)
    >>> found = convergence(design.simulate(truth, 2000, source=Seeded(1)), "smokes")
    >>> found.said
    'Settled after 2 of 8 blocks.'
    """
    if not hasattr(reports, "published"):
        raise InputError("these reports were not made in blocks; convergence is of reports that dn.Blocks made")
    if not 0 < alpha < 1:
        raise InputError(f"alpha lies between 0 and 1, such as 0.05; got {alpha!r}", alpha=alpha)
    names = (attributes,) if isinstance(attributes, str) else tuple(attributes)
    estimates, n = closed_estimates(reports, names)
    if len(estimates) < 2:
        raise TooFewReportsError(
            f"two blocks are compared, and of the reports about {' x '.join(names)} {len(estimates)} full block is "
            f"there; wait for more answers",
            n=reports.n,
        )
    design = reports.design
    index = design.question_of(names)
    delta = widths(estimates, n, alpha) / (design.limits[index].keep / 2**BITS if corrected else 1.0)
    first, lasting, stopped = stopping_rule(estimates, delta)
    last = stopped if stopped >= 0 else len(estimates) - 1
    table = Table(
        design.domain.project(design.questions[index].attributes), estimates[last - 1 : last + 1].mean(axis=0)
    )
    return Convergence(table, estimates, delta, first, lasting, stopped)


def widths(estimates: NDArray[np.float64], respondents: ArrayLike, alpha: float) -> NDArray[np.float64]:
    """The width of the interval of a share observed in each block but the last, at the block's own estimate."""
    n = np.broadcast_to(np.asarray(respondents, dtype=np.float64), len(estimates))[:-1, None]
    low, high = share_interval(np.clip(estimates[:-1], 0.0, 1.0) * n, n, 1 - alpha)
    return high - low


def stopping_rule(
    estimates: NDArray[np.float64], delta: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """For each cell where it first agrees, and from where for good; and where all cells agree at once. -1: nowhere."""
    agrees = np.abs(np.diff(estimates, axis=0)) < delta
    # Reversed and accumulated: does it hold from here to the end?
    lasts = np.logical_and.accumulate(agrees[::-1], axis=0)[::-1]
    together = agrees.all(axis=1)
    return _first(agrees), _first(lasts), int(together.argmax()) + 1 if together.any() else -1


def _first(holds: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The block (the later of the two compared) at which each column first holds, -1 where it never does."""
    return np.where(holds.any(axis=0), holds.argmax(axis=0) + 1, -1)


def _block(index: int) -> str:
    """A block as people count them; none where there is none."""
    return "-" if index < 0 else str(index + 1)
