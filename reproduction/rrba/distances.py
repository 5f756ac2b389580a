"""Tables 5 and 6, Figure 7: distances of noisy tables from the true ones, every reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable import KRR
from reproduction.item import Reproduced, Run
from reproduction.rrba.protocol import N, Surveys, binary_tables, survey
from reproduction.rrba.subset_formula import typical_distance
from reproduction.simulated_counts import mean_error, projected_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_MOST_FITS = 30
RRBA, LAPLACE = ("literal: last two blocks", "pooled", "EM"), ("Laplace 2|T|/eps", "Laplace 2/eps, central")
WITHIN = 0.2  # Monte Carlo errors of both, and which tables the paper took


def distances(
    run: Run, network: str, k: int, keep: float, epsilon: float
) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """(l2, JS) by reading, one a trial. The Laplace readings add noise to the people's own counts."""
    rng = run.rng
    pi = binary_tables(network, k, run.trials, rng)
    found, literal, few = (
        survey(rng, pi, keep),
        survey(rng, pi, keep, update="last"),
        survey(rng, pi[:_MOST_FITS], keep),
    )
    rows, cells = found.people.shape
    channel = KRR(cells, epsilon=epsilon)
    lam = channel.apply(found.people.T / N).T
    told = channel.solve(rng.multinomial(N, lam / lam.sum(axis=1, keepdims=True)).T / N).T
    wide, right = (rng.laplace(scale=scale / epsilon, size=(rows, cells)) / N for scale in (2 * cells, 2))
    shares: dict[str, tuple[Surveys, NDArray[np.float64]]] = {
        "literal: last two blocks": (literal, literal.last_two),
        "pooled": (found, found.pooled),
        "EM": (few, few.likeliest()),
        "Laplace 2|T|/eps": (found, found.people / N + wide),
        "Laplace 2/eps, central": (found, found.people / N + right),
        "k-RR at the true epsilon": (found, told),
        "k-RR at the true epsilon, projected": (found, projected_rows(told)),
    }
    return {name: (surveys.l2(x), surveys.js(x)) for name, (surveys, x) in shares.items()}


def compare(
    run: Run, printed: Mapping[tuple[str, int], tuple[float, float, float, float]], keep: float, epsilon: float
) -> Reproduced:
    """Every setting of a table: the paper's RRBA and Laplace beside our readings of them."""
    out = Reproduced()
    settings = [key for key in printed if not run.smoke or key == ("survey", 2)]
    for network, k in run.track(settings):
        rrba_l2, laplace_l2, rrba_js, laplace_js = printed[network, k]
        for reading, (l2, js) in distances(run, network, k, keep, epsilon).items():
            kind = "RRBA" if reading in RRBA else "Laplace" if reading == LAPLACE[0] else ""
            for measure, each in (("l2", l2), ("JS", js)):
                paper = {
                    "RRBA l2": rrba_l2,
                    "RRBA JS": rrba_js,
                    "Laplace l2": laplace_l2,
                    "Laplace JS": laplace_js,
                }.get(f"{kind} {measure}")
                mean, error = mean_error(each)
                within = WITHIN * paper if paper else 0.0
                what = f"{network} {k}-way: {measure}, {reading}"
                out.line(what, mean, paper, tolerance=within, error=error)
                out.row(network=network, k=k, measure=measure, reading=reading, mean=mean, printed=paper or "")
        tables = binary_tables(network, k, run.trials, run.rng)
        best = float(np.sqrt((typical_distance(tables, epsilon, N) ** 2).mean()))
        what = f"{network} {k}-way: l2, subset selection at the true epsilon, closed form"
        out.line(what, best, slack=0.01 * best)
    _wins(out)
    out.notes.append("JS is the Jensen-Shannon distance: the square root of the divergence, natural logarithm.")
    return out


def _wins(out: Reproduced) -> None:
    """Who is nearer, by the table's own reading of the Laplace noise and by the right one."""
    rows = list(
        zip(out.data["network"], out.data["k"], out.data["measure"], out.data["reading"], out.data["mean"], strict=True)
    )
    value = {row[:4]: row[4] for row in rows}
    for network, k in dict.fromkeys((row[0], row[1]) for row in rows):
        ours = value[network, k, "l2", "pooled"]
        for reading in LAPLACE:
            ratio = ours / value[network, k, "l2", reading]
            words = f"{network} {k}-way: RRBA (pooled) beats {reading}: l2 over l2"
            out.says(words, ratio, holds=ratio < 1, slack=0.5 * ratio)
