"""Optimal channels for numbers that nobody chose: random rows, random truths, random epsilons.

Of each: the loss of the integers over the certified bound, which is recomputed in whole numbers from the certificate
alone; over the loss that the solver found with real numbers; the integers' own epsilon, exactly; and CPU-seconds, in a
process of its own with one thread: matrices of a dozen rows gain nothing by more, which wait for each other and are
charged for it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.benchmark import Claim
from deniable import optimal_channel
from deniable.device.epsilon import exp_below
from deniable.optimal.column_generation import certified, solution

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ANSWERS = (3, 13)
_EPSILONS = (0.3, 4.0)
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")  # read at the start


def wanted_at_random(rng: np.random.Generator) -> tuple[NDArray[np.float64], float, NDArray[np.float64] | None]:
    """Rows over 3 to 12 answers, an epsilon, and even shares or a skewed truth."""
    t = int(rng.integers(*_ANSWERS))
    rows = rng.normal(size=(int(rng.integers(1, t + 3)), t))
    if rng.random() < 0.5:
        rows = np.cumsum(rows, axis=1)
    if rng.random() < 0.3:
        rows *= rng.random(t) < 0.5
        rows[0, 0] += 1
    epsilon = float(np.exp(rng.uniform(*np.log(_EPSILONS))))
    truth = None if rng.random() < 0.4 else rng.dirichlet(np.full(t, rng.choice([0.3, 1.0, 5.0])))
    return rows, epsilon, truth


def held_back(count: int, seed: int) -> list[Claim]:
    """The worst of so many."""
    rng = np.random.default_rng(seed)
    over_bound, over_real, spent, took = [1.0], [1.0], [0.0], [0.0]
    for _ in range(count):
        rows, epsilon, truth = wanted_at_random(rng)
        started = process_time()
        channel = optimal_channel(rows, epsilon, truth)
        took.append(process_time() - started)
        proved = certified(rows, epsilon, truth).check()
        over_bound.append(channel.loss / max(proved, channel.bound))
        over_real.append(channel.loss / solution(channel.problem).point.loss)
        spent.append(float(channel.ratio > exp_below(epsilon)))
    of = f"{count} random channels"
    return [
        Claim(f"{of}: loss over the certified bound", max(over_bound), 1.005, at_most=True),
        Claim(f"{of}: loss over that of real numbers", max(over_real), 1.001, at_most=True),
        Claim(f"{of}: whose exact epsilon is above the asked one", sum(spent), 0, "", at_most=True),
        Claim(f"{of}: CPU-seconds of the slowest", max(took), 10, "s", at_most=True),
    ]


def in_one_thread(count: int, seed: int) -> list[Claim]:
    """The same, measured by a process whose linear algebra runs in one thread."""
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-m", "benchmarks.accuracy.random_aims", str(count), str(seed)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | _ONE_THREAD,
    )
    return [Claim(**fields) for fields in json.loads(done.stdout)]


if __name__ == "__main__":
    sys.stdout.write(json.dumps([asdict(claim) for claim in held_back(int(sys.argv[1]), int(sys.argv[2]))]))
