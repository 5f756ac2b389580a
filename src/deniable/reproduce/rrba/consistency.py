"""Section 4.3: three-way tables out of pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from deniable.channels.mixture import Mixture
from deniable.designs.observation import Observation
from deniable.errors import MissingExtraError
from deniable.estimation.consistency import ENGINES
from deniable.reproduce.item import Item, Outcome, Run
from deniable.reproduce.rrba.protocol import records
from deniable.reproduce.simulation import mean_error, sampled
from deniable.tables.table import Table, tally

ENGINES_SHOWN = ("product", "qp", "ipf", "loglinear")


def infeasible(rng: np.random.Generator, truth: Table, n: int) -> bool:
    """Whether no table at all, negative cells allowed, has the three estimated pairs as its margins."""
    rows, target = [], []
    cells = np.indices(truth.shape).reshape(3, -1)
    for a, b in combinations(range(3), 2):
        pair = truth.project([truth.attributes[a], truth.attributes[b]])
        channel = Mixture(0.5, pair.values.ravel().tolist())
        found = channel.solve(sampled(rng, channel, pair.values.ravel(), n, 1)[:, 0] / n).reshape(pair.shape)
        for i in range(pair.shape[0]):
            for j in range(pair.shape[1]):
                rows.append((cells[a] == i) & (cells[b] == j))
                target.append(found[i, j])
    matrix, wanted = np.array(rows, dtype=np.float64), np.array(target)
    solution = np.linalg.lstsq(matrix, wanted, rcond=None)[0]
    return bool(np.abs(matrix @ solution - wanted).max() > 1e-6)


def compute(run: Run) -> Outcome:
    """Pairs through p = .5 with T already learned; all triples of Survey."""
    out = Outcome()
    source, codes = records("survey")
    triples = [source.domain.project(names) for names in combinations(source.domain.names, 3)]
    truths = [Table(part, tally(codes[:, list(source.domain.axes(part))], part.shape)).normalize() for part in triples]
    count = sum(infeasible(run.rng, truths[i % len(truths)], 1600) for i in range(run.trials * 10))
    note = "two pairs that share an attribute give it two different margins"
    share = count / (run.trials * 10)
    out.says("the quadratic program has a solution: share of cases without", share, holds=share < 0.5, note=note)
    for n in run.track((8000,) if run.smoke else (1600, 8000)):
        found: dict[str, list[float]] = {engine: [] for engine in ENGINES_SHOWN}
        for _ in range(max(1, run.trials // 5)):
            for truth in truths[:5] if run.smoke else truths:
                observed = []
                for pair in combinations(truth.attributes, 2):
                    part = truth.project(pair)
                    channel = Mixture(0.5, part.values.ravel().tolist())
                    counts = sampled(run.rng, channel, part.values.ravel(), n, 1)[:, 0]
                    observed.append(Observation(part.domain, channel, counts))
                for engine in list(found):
                    try:
                        fitted = ENGINES[engine](observed, truth.domain)[0]
                    except MissingExtraError:
                        del found[engine]
                        continue
                    found[engine].append(float(np.abs((fitted - truth).values).sum() / 2))
        for engine, each in found.items():
            mean, error = mean_error(each)
            out.line(f"Survey, {n} a pair: total variation, {engine}", mean, error=error)
            out.row(n=n, engine=engine, distance=mean)
    return out


ITEM = Item(
    __name__,
    where="section 4.3",
    claim="A quadratic program makes the noisy views consistent and gives tables that no view covers.",
    why="With equality to all noisy views it has no solution; we fit a log-linear model through the channels instead.",
    compute=compute,
    trials=20,
    smoke=5,
)
