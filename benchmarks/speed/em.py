"""How many evaluations maximum likelihood takes: ours against plain EM, both to the same certified gap.

Ours is a closed form where one channel that treats all cells alike said everything, and SQUAREM elsewhere.
"""

from __future__ import annotations

import sys
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.benchmark import Claim, Measurement
from deniable import KRR, Domain, Kronecker, Observation, Seeded
from deniable.datasets import adult
from deniable.errors import ConvergenceError, MissingExtraError
from deniable.likelihood.em import GAP, maximum_likelihood
from deniable.likelihood.evidence import of_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.channels.channel import Channel

EPSILON = 1.0  # a respondent's total
FEWER = 50  # how many times fewer evaluations


def records() -> tuple[NDArray[np.int64], Domain, str]:
    """Education and occupation of UCI Adult as codes; where it is not installed, made records of the same size."""
    try:
        frame, whole = adult()
    except MissingExtraError:
        # Skewed attributes, and rows that lean towards columns of their own: most cells are rare, as in the real table.
        rng = np.random.default_rng(0)
        share = np.outer(rng.dirichlet(np.full(16, 0.5)), np.ones(15)) * rng.dirichlet(np.full(15, 0.5), size=16)
        cells = rng.choice(share.size, size=32_561, p=share.ravel())
        domain = Domain({"education": range(16), "occupation": range(15)})
        return np.stack(np.divmod(cells, 15), axis=1), domain, "made records (UCI Adult is not installed)"
    domain = Domain([whole["education"], whole["occupation"]])
    return domain.encode(frame).astype(np.int64), domain, "UCI Adult"


def observe(codes: NDArray[np.int64], domain: Domain, channel: Channel, seed: int) -> Observation:
    """Disguise the records and count the reports."""
    apart = len(channel.input_shape) > 1
    truths = codes if apart else np.ravel_multi_index(tuple(codes.T), domain.shape)
    reports = channel.randomize(truths, source=Seeded(seed)).astype(np.int64)
    cells = np.ravel_multi_index(tuple(reports.T), channel.output_shape) if apart else reports
    return Observation(domain, channel, np.bincount(cells, minlength=channel.outputs))


def measure(codes: NDArray[np.int64], domain: Domain, title: str, *, gap: float = GAP, seed: int = 0) -> Measurement:
    """Fit the table to the reports of two designs, both ways; plain EM is stopped at twice the required ratio."""
    rows: dict[str, list[object]] = {"design": [], "by": [], "evaluations": [], "gap reached": [], "CPU s": []}
    claims = []
    half = EPSILON / len(domain)
    designs: dict[str, Channel] = {
        "one tuple": KRR(domain.cells, epsilon=EPSILON),
        "each attribute": Kronecker([KRR(size, epsilon=half) for size in domain.shape]),
    }
    for name, channel in designs.items():
        evidence = of_counts([observe(codes, domain, channel, seed)])
        start = process_time()
        fast = maximum_likelihood(evidence, gap=gap)
        middle = process_time()
        cap = 2 * FEWER * fast.evaluations
        try:
            slow = maximum_likelihood(evidence, gap=gap, accelerate=False, most=cap)
            plain, left, stopped = slow.evaluations, slow.gap, ""
        except ConvergenceError as error:
            plain, left, stopped = cap, float(str(error.details["gap"])), " (stopped)"
        seconds = (middle - start, process_time() - middle)
        found = ((fast.evaluations, fast.gap), (plain, left))
        ours = "closed form" if fast.evaluations == 1 else "SQUAREM"
        for by, (evaluations, reached), spent in zip((ours, f"plain EM{stopped}"), found, seconds, strict=True):
            row = (name, by, evaluations, f"{reached:.2g}", f"{spent:.3g}")
            for column, value in zip(rows.values(), row, strict=True):
                column.append(value)
        bound = " (lower bound)" if stopped else ""
        claims.append(Claim(f"{name}: fewer evaluations{bound}", plain / fast.evaluations, FEWER))
    notes = [
        f"Wanted: a certified gap of {gap:g} nats.",
        f"Plain EM is stopped at {2 * FEWER} times our evaluations; the ratio is then a lower bound.",
    ]
    shape = " x ".join(map(str, domain.shape))
    return Measurement(f"{shape} table, {len(codes)} reports, total epsilon {EPSILON:g}: {title}", rows, claims, notes)


def main() -> int:
    """Measure and print."""
    return measure(*records()).show()


if __name__ == "__main__":
    sys.exit(main())
