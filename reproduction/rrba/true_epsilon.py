"""What the protocol as published reveals: fakes that never occur, and answers known for certain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable import Blocks
from deniable.datasets import network
from reproduction.item import Item, Reproduced, Run
from reproduction.rrba.protocol import N
from reproduction.rrba.revealed import revealed

if TYPE_CHECKING:
    from numpy.typing import NDArray

CASES = (("survey", 250), ("alarm", 250), ("alarm", 18))
KEEP, SMALL = 0.5, 50


def dealt(name: str, block: int, run: Run) -> tuple[float, float]:
    """Reading "each client answers one view": the library's own protocol, where a block is dealt out over the views."""
    source = network(name)
    design = Blocks(source.domain, k=2, mode="deniability", keep=KEEP, answer="all", block_size=block)
    reports = design.run(source.codes(N, run.source), source=run.source, update="last")
    fakes = padded([b.fakes for b in reports.published])
    asked = design.asked[reports.ballots]
    blocks, there = np.broadcast_to(reports.blocks[:, None], asked.shape), asked >= 0
    sent = fakes[blocks[there], asked[there]]
    known = (fakes[blocks, np.maximum(asked, 0), reports.answers] == 0) & there
    return float((sent == 0).any(axis=1).mean()), float(known.any(axis=1).mean())


def padded(fakes: list[tuple[tuple[int, ...], ...]]) -> NDArray[np.int64]:
    """Weights of fakes as one array: blocks, questions, cells (1 beyond a question's own)."""
    table = np.ones((len(fakes), len(fakes[0]), max(len(row) for row in fakes[0])), dtype=np.int64)
    for b, block in enumerate(fakes):
        for q, row in enumerate(block):
            table[b, q, : len(row)] = row
    return table


def compute(run: Run) -> Reproduced:
    """Shares of tables that hold a zero, and of clients one of whose answers is certain."""
    out = Reproduced()
    for name, block in run.track(run.some(CASES, 1)):
        answers = len(network(name).domain) // 2
        n = N if block > SMALL else N // 4
        each = [revealed(run.rng, name, block, n, KEEP) for _ in range(run.trials)]
        naive = revealed(run.rng, name, block, n, KEEP, never_below=0.0)[0]
        zeros, clients = (float(np.mean(found)) for found in zip(*each, strict=True))
        of_views, of_clients = dealt(name, block, run)
        where = f"{name}, blocks of {block}"
        out.line(f"{where}, each answers every table: tables sent with a zero", zeros, slack=0.08)
        out.line(f"{where}, each answers every table: the same, but shares of 1e-17 count as some", naive, slack=0.08)
        out.line(f"{where}, each answers every table: clients with a certain answer", clients, slack=0.5 * clients)
        out.line(f"{where}, dealt out over views: tables sent with a zero", of_views, slack=0.08)
        out.says(
            f"{where}, dealt out over views: no client's answer is certain: share of clients with one that is",
            of_clients,
            holds=of_clients == 0,
            slack=0.05,
        )
        out.line(f"{where}: answers of a client, whose epsilons add up", answers)
        out.row(network=name, block=block, zeros=zeros, clients=clients, zeros_dealt=of_views, clients_dealt=of_clients)
    return out


ITEM = Item(
    __name__,
    where="Theorem 4.1",
    claim="Nobody can identify true responses with confidence.",
    why="T has no floor: a cell whose fake never occurs is the truth whenever it is reported.",
    compute=compute,
    trials=3,
    smoke=1,
)
