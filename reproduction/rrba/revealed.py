"""The protocol with real clients: which fakes never occur, and whose answers are therefore certain.

Everybody in a block answers the pairs of one view, and every pair's table is learned from a whole block of answers, the
most that the paper's wording allows. A client's answers hang together, so the clients with an answer that is certain
are counted one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reproduction.rrba.protocol import records, views
from reproduction.simulated_counts import projected_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A projection leaves a share of 1e-17 where the exact one is zero. No client would ever draw such a fake, so it counts
# as the zero it is.
NEVER = 1e-12


def revealed(
    rng: np.random.Generator, name: str, block: int, n: int, keep: float, *, never_below: float = NEVER
) -> tuple[float, float]:
    """Shares of tables sent with a zero, and of clients one of whose answers is certain."""
    source, codes = records(name)
    shape, rounds = source.domain.shape, views(source.domain)
    pairs = [source.domain.axes(pair) for view in rounds for pair in view]
    view_of = np.repeat(np.arange(len(rounds)), [len(view) for view in rounds])
    people = codes[rng.choice(len(codes), n, replace=False)].astype(np.int64)
    truths = np.stack([people[:, a] * shape[b] + people[:, b] for a, b in pairs], axis=1)
    sizes = np.array([shape[a] * shape[b] for a, b in pairs])
    there = np.arange(sizes.max()) < sizes[:, None]
    fakes = there / sizes[:, None]
    zeros, certain = [], []
    for start in range(0, n - block + 1, block):
        truth = truths[start : start + block]
        ends = fakes.cumsum(axis=1) / fakes.sum(axis=1, keepdims=True)
        fake = np.minimum((rng.random(truth.shape)[:, :, None] > ends).sum(axis=2), sizes - 1)
        sent = np.where(rng.random(truth.shape) < keep, truth, fake)
        never = (fakes <= never_below) & there
        mine = view_of == rng.integers(len(rounds), size=block)[:, None]
        zeros.append(never.any(axis=1).mean())
        certain.append((never[np.arange(len(pairs)), sent] & mine).any(axis=1).mean())
        counts = (sent[:, :, None] == np.arange(sizes.max())).sum(axis=0)
        fakes = _learned((counts / block - (1 - keep) * fakes) / keep, sizes, never_below)
    return float(np.mean(zeros)), float(np.mean(certain))


def _learned(estimates: NDArray[np.float64], sizes: NDArray[np.int64], never_below: float) -> NDArray[np.float64]:
    """Every table's projection to the simplex."""
    fakes = np.zeros_like(estimates)
    for size in np.unique(sizes):
        rows = sizes == size
        fakes[rows, :size] = projected_rows(estimates[rows, :size])
    fakes[fakes <= never_below] = 0.0
    return fakes / fakes.sum(axis=1, keepdims=True)
