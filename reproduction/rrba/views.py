"""Section 4: the views of six and of five attributes."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

from deniable import Domain
from reproduction.item import Item, Reproduced, Run
from reproduction.rrba.protocol import views

if TYPE_CHECKING:
    from collections.abc import Iterable

SIX = ["AR EO ST", "AE RS OT", "AT RE OS", "AO RT ES", "AS RO ET"]
FIVE = ["AR EO", "RE OS", "AE RS", "AO ES", "AS RO"]


def as_sets(listed: list[str]) -> set[frozenset[str]]:
    """Views as sets of combinations."""
    return {frozenset("".join(sorted(pair)) for pair in view.split()) for view in listed}


def yes_no(names: Iterable[str]) -> Domain:
    """Attributes of two categories each."""
    return Domain({name: range(2) for name in names})


def compute(run: Run) -> Reproduced:
    """Our views beside the printed ones."""
    out = Reproduced()
    for names, printed in (("AREOST", SIX), ("AREOS", FIVE)):
        ours = {frozenset("".join(sorted(pair)) for pair in view) for view in views(yes_no(names))}
        same = len(ours & as_sets(printed))
        out.line(f"d = {len(names)}: number of views", len(ours), len(printed), tolerance=0)
        out.line(f"d = {len(names)}: views as printed", same, len(printed), tolerance=0)
        out.row(attributes=len(names), k=2, views=len(ours), bound=len(printed))
    for d, k in ((6, 3), (12, 3)) if run.smoke else ((6, 3), (12, 3), (37, 3)):
        found, bound = len(views(yes_no(map(str, range(d))), k)), -(-comb(d, k) // (d // k))
        out.line(f"d = {d}, k = {k}: views", found)
        out.line(f"d = {d}, k = {k}: fewest possible", bound)
        out.row(attributes=d, k=k, views=found, bound=bound)
    out.line("Alarm, n = 8000: respondents a pair", 8000 * 18 / comb(37, 2))
    out.line("Alarm, n = 8000: respondents a triple", 8000 * 12 / comb(37, 3))
    return out


ITEM = Item(
    __name__,
    where="section 4",
    claim="Six attributes need five views of three pairs, five attributes five views of two.",
    compute=compute,
)
