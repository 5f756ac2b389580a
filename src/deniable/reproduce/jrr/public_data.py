"""Comparison with RR on public data: affairs, and four questions about UCI Adult, at epsilon .1 and 1."""

from __future__ import annotations

from deniable.channels.paired_optimum import paired_optimum
from deniable.datasets import fair
from deniable.reproduce.adult import adult_counts
from deniable.reproduce.item import Item, Outcome, Run
from deniable.reproduce.jrr.surveys import simulated_gain
from deniable.tables.table import Table

QUESTIONS = (("income", ">50K"), ("sex", "Female"), ("race", "Other"), ("education", "Doctorate"))


def shares() -> dict[str, tuple[int, int]]:
    """(people, yeses) for every question."""
    tables = [("affair", "yes", Table.count(*fair()).project("affair"))]
    tables += [(name, category, adult_counts([name])) for name, category in QUESTIONS]
    return {f"{name} {yes}": (int(t.total), int(t.at(**{name: yes}))) for name, yes, t in tables}


def compute(run: Run) -> Outcome:
    """The best pairing's variance over RR's: closed form, and simulated at epsilon .1."""
    out = Outcome()
    for name, (n, yes) in run.track(list(shares().items())):
        for epsilon in (0.1, 1.0):
            best = paired_optimum(epsilon, n, 0, yes / n)
            out.line(f"{name} (n = {n}, f = {yes / n:.3f}), epsilon {epsilon:g}: variance over RR's", best.gain)
            out.row(question=name, n=n, share=yes / n, epsilon=epsilon, ratio=best.gain, method="closed form")
            out.says(f"{name}, epsilon {epsilon:g}: JRR beats RR: ratio", best.gain, holds=best.gain < 1)
        if not run.smoke:
            ratio, error = simulated_gain(run, 0.1, n, yes)
            out.line(f"{name}, epsilon 0.1: simulated", ratio, error=error)
    return out


ITEM = Item(
    __name__,
    where="slides 38-40, real data",
    claim="On real data at epsilon .1 JRR has a smaller error than RR.",
    compute=compute,
    trials=800,
    smoke=1,
)
