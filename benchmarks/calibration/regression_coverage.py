"""Coverage of 95% intervals for regression coefficients, simulated on rows."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from benchmarks.benchmark import Claim, Measurement
from deniable import Joint, Seeded, Warner, linear, logit
from deniable.errors import DivergenceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from deniable.regression.result import Regression

    Maker = Callable[[int, np.random.Generator, Seeded], Regression]

COVERED = (0.93, 0.97)  # where the coverage of a 95% interval must lie
FITS = 2000
DEVICE = Warner(0.8)
SLOPES = (-1.0, 0.8, 0.5)  # the constant and the slopes of x and z, of every model
TOGETHER = Joint({"x": [0, 1], "y": [0, 1]}, epsilon=3.0)
_CASES = {
    "RR logit": (1_000, 5_000),
    "RR predictor in a linear model": (1_000,),
    "logit of Joint reports, outcome and predictor": (3_000,),
}


def outcome(n: int, rng: np.random.Generator, source: Seeded) -> Regression:
    """A logit model of a disguised outcome, fitted to n rows drawn anew."""
    x, z = rng.normal(size=n), rng.integers(0, 2, n)
    truth = rng.random(n) < _share(SLOPES[0] + SLOPES[1] * x + SLOPES[2] * z)
    report = DEVICE.randomize(truth.astype(np.int64), source=source)
    return logit("report ~ x + z", _frame(x=x, z=z, report=report), DEVICE)


def predictor(n: int, rng: np.random.Generator, source: Seeded) -> Regression:
    """A linear model with a disguised predictor, which depends on the open one."""
    z = rng.normal(size=n)
    truth = (rng.random(n) < _share(-1 + 0.5 * z)).astype(np.int64)
    y = SLOPES[0] + SLOPES[1] * truth + SLOPES[2] * z + rng.normal(size=n)
    # Its outcome is open, so it is fitted by likelihood.
    return cast(
        "Regression", linear("y ~ x + z", _frame(y=y, x=DEVICE.randomize(truth, source=source), z=z), rr={"x": DEVICE})
    )


def together(n: int, rng: np.random.Generator, source: Seeded) -> Regression:
    """A logit model of which outcome and predictor were asked in one question; another predictor is open."""
    z = rng.integers(0, 2, n).astype(np.float64)
    x = (rng.random(n) < _share((z - 1.0) / 2)).astype(np.int64)
    y = (rng.random(n) < _share(SLOPES[0] + SLOPES[1] * x + SLOPES[2] * z)).astype(np.int64)
    return logit("y ~ x + z", TOGETHER.randomize(_frame(x=x, y=y, z=z), keep=["z"], source=source))


_MAKERS: dict[str, Maker] = dict(zip(_CASES, (outcome, predictor, together), strict=True))


def regressions(count: int, seed: int) -> Iterator[tuple[str, str, int, int]]:
    """For every model, coefficient and n: how many of the 95% intervals hold the truth.

    A likelihood without a finite maximum has no interval; it counts as one that misses.
    """
    for model, sizes in _CASES.items():
        for n in sizes:
            source = Seeded(seed)
            rng = source.stream().generator()
            held = np.zeros(len(SLOPES), dtype=np.int64)
            for _ in range(count):
                try:
                    held += _MAKERS[model](n, rng, source).interval().contains(np.array(SLOPES))
                except DivergenceError:
                    continue
            for term, hits in zip(("constant", "slope of x", "slope of z"), held.tolist(), strict=True):
                yield model, term, n, hits


def _share(eta: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-eta))


def _frame(**columns: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(columns)


def measure(count: int = FITS, seed: int = 4) -> Measurement:
    """Count, and compare the least and the largest coverage with the bounds."""
    found = [(model, term, n, hits / count) for model, term, n, hits in regressions(count, seed)]
    held = [share for *_, share in found]
    rows = dict(zip(("model", "coefficient", "n", "coverage"), map(list, zip(*found, strict=True)), strict=True))
    claims = [
        Claim("least coverage", min(held), COVERED[0], ""),
        Claim("largest coverage", max(held), COVERED[1], "", at_most=True),
    ]
    return Measurement(f"95% intervals of regression coefficients, {count} surveys a model and size", rows, claims)


def main() -> int:
    """Measure and print."""
    return measure().show()


if __name__ == "__main__":
    sys.exit(main())
