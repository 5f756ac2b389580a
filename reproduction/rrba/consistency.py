"""Section 4.3: three-way tables out of pairs."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from deniable import Mixture, Observation, Table
from deniable.estimation.joint_tables.graphical_model import fit_graphical
from deniable.estimation.joint_tables.minimum_norm import fit_quadratic
from deniable.estimation.joint_tables.uncovered_tables import ENGINES
from deniable.likelihood.evidence import of_counts
from reproduction.item import Item, Reproduced, Run
from reproduction.rrba.protocol import BLOCK, records, survey
from reproduction.simulated_counts import mean_error, projected_rows, sampled, tally

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Names = tuple[str, ...]
    Pairs = Mapping[Names, Observation]

KEEP, RIDGE = 0.5, 0.003
ALARM_A_PAIR = 80_000 // 37  # Alarm has 37 views
_FITS = 3  # surveys whose triples get a graphical model: it takes a second each
_TREES = (500, 4096)  # most cells that the junction tree of one model for all of Alarm may have


def counted(name: str, attributes: Sequence[str]) -> Table:
    """The shares of the records, attributes in the network's order."""
    source, codes = records(name)
    part = source.domain.project([a for a in source.domain.names if a in attributes])
    return Table(part, tally(codes[:, list(source.domain.axes(part))], part.shape)).normalize()


def infeasible(rng: np.random.Generator, truth: Table, n: int) -> bool:
    """Whether no table at all, negative cells allowed, has the three estimated pairs as its margins."""
    rows, target = [], []
    cells = np.indices(truth.shape).reshape(3, -1)
    for a, b in combinations(range(3), 2):
        pair = truth.project([truth.attributes[a], truth.attributes[b]])
        channel = Mixture(KEEP, pair.values.ravel().tolist())
        found = channel.solve(sampled(rng, channel, pair.values.ravel(), n, 1)[:, 0] / n).reshape(pair.shape)
        for i in range(pair.shape[0]):
            for j in range(pair.shape[1]):
                rows.append((cells[a] == i) & (cells[b] == j))
                target.append(found[i, j])
    matrix, wanted = np.array(rows, dtype=np.float64), np.array(target)
    solution = np.linalg.lstsq(matrix, wanted, rcond=None)[0]
    return bool(np.abs(matrix @ solution - wanted).max() > 1e-6)


def asked(rng: np.random.Generator, pair: Table, n: int) -> Observation:
    """One pair through the protocol, blocks of 250, T learned on the way; pooled, it is a mixture with the mean T."""
    found = survey(rng, pair.values.ravel()[None], KEEP, n=n, block=BLOCK)
    fakes = found.fakes.mean(axis=0)[0]
    return Observation(pair.domain, Mixture(KEEP, (fakes / fakes.sum()).tolist()), found.reports.sum(axis=0)[0])


def unbiased(observed: Observation) -> Table:
    """A pair's own estimate."""
    return Table(observed.domain, observed.channel.solve(observed.counts / observed.n).reshape(observed.domain.shape))


def margins_of_all(pairs: Pairs) -> dict[str, NDArray[np.float64]]:
    """Every attribute's shares: the mean over all pairs it is in."""
    found: dict[str, list[NDArray[np.float64]]] = {}
    for observed in pairs.values():
        for name in observed.domain.names:
            found.setdefault(name, []).append(unbiased(observed).project(name).values)
    return {name: projected_rows(np.mean(each, axis=0)[None])[0] for name, each in found.items()}


def distance(values: NDArray[np.float64], truth: Table) -> float:
    """Total variation."""
    return float(np.abs(values - truth.values).sum() / 2)


def compare(pairs: Pairs, truths: Sequence[Table], *, graphical: bool) -> dict[str, list[float]]:
    """Total variation of every triple by engine; each engine but one sees the triple's three pairs."""
    found: dict[str, list[float]] = {}
    shares = margins_of_all(pairs)
    for truth in truths:
        three = [pairs[pair] for pair in combinations(truth.attributes, 2)]
        told = of_counts(three, truth.domain)
        tables = {engine: ENGINES[engine](told)[0].values for engine in ("product", "ipf", "loglinear")}
        ends = [shares[name] for name in truth.attributes]
        tables["product, margins of all pairs"] = np.einsum("i,j,k->ijk", *ends)
        loose = [(unbiased(observed), 1.0) for observed in three]
        tables["qp, any best fit"] = fit_quadratic(loose, truth.domain).values
        tables["qp, the best fit of smallest norm"] = fit_quadratic(loose, truth.domain, ridge=RIDGE).values
        if graphical:
            tables["graphical (mbi)"] = fit_graphical(told).table(truth.attributes).values
        for engine, values in tables.items():
            found.setdefault(engine, []).append(distance(values, truth))
    return found


def add(out: Reproduced, where: str, rounds: Sequence[Mapping[str, list[float]]]) -> None:
    """A line an engine. The triples of a survey share their pairs, so errors are those between surveys."""
    for engine in rounds[0]:
        mean, error = mean_error([np.mean(each[engine]) for each in rounds if engine in each])
        out.line(f"{where}: total variation, {engine}", mean, error=error, slack=0.15 * mean)
        out.row(where=where, engine=engine, distance=mean)


def compute(run: Run) -> Reproduced:
    """All triples of Survey; of Alarm each attribute with its first two parents, where dependence is strong."""
    out = Reproduced()
    source = records("survey")[0]
    truths = [counted("survey", names) for names in combinations(source.domain.names, 3)]
    count = sum(infeasible(run.rng, truths[i % len(truths)], 1600) for i in range(run.trials * 10))
    note = "two pairs that share an attribute give it two different margins"
    share = count / (run.trials * 10)
    out.says("the quadratic program has a solution: share of cases without", share, holds=share < 0.5, note=note)
    every = list(combinations(source.domain.names, 2))
    repeats = 1 if run.smoke else run.trials // 5
    for n in run.track((8000,) if run.smoke else (1600, 8000)):
        rounds = []
        for repeat in range(repeats):
            pairs: Pairs = {pair: asked(run.rng, counted("survey", pair), n) for pair in every}
            rounds.append(compare(pairs, truths, graphical=repeat < _FITS and not run.smoke))
        add(out, f"Survey, {n} a pair", rounds)
    if not run.smoke:
        add(out, "Alarm, families, n = 80000", [families(run, joint=repeat == 0) for repeat in range(repeats)])
    return out


def families(run: Run, *, joint: bool) -> dict[str, list[float]]:
    """Each attribute of Alarm with its first two parents, every pair asked of 2,162 people."""
    domain = records("alarm")[0].domain
    parents = records("alarm")[0].parents
    truths = [counted("alarm", (name, *parents[name][:2])) for name in domain.names if len(parents[name]) > 1]
    needed = dict.fromkeys(pair for truth in truths for pair in combinations(truth.attributes, 2))
    chosen = list(combinations(domain.names, 2)) if joint else list(needed)
    pairs: Pairs = {pair: asked(run.rng, counted("alarm", pair), ALARM_A_PAIR) for pair in chosen}
    found = compare(pairs, truths, graphical=False)
    for cells in _TREES if joint else ():
        model = fit_graphical(of_counts(list(pairs.values()), domain), tree_cells=cells)
        name = f"one graphical model (mbi) of all attributes, junction tree of at most {cells} cells"
        found[name] = [distance(model.table(truth.attributes).values, truth) for truth in truths]
    return found


ITEM = Item(
    __name__,
    where="section 4.3",
    claim="A quadratic program makes the noisy views consistent and gives tables that no view covers.",
    why="With equality to all noisy views it has no solution; we fit a log-linear model through the channels instead.",
    compute=compute,
    trials=20,
    smoke=5,
)
