"""RR logit against statsmodels' ordinary Logit, side by side on the same rows.

statsmodels fits the truth, which nobody would have; `deniable` fits the disguised reports. Both get the same frame and
the same formula, and both compute standard errors. Beside them Newton's method written for this one model, on the same
frame: no formula, no checks, one start.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.benchmark import Claim, Measurement, side_by_side
from deniable import Seeded, Warner, logit
from deniable.errors import MissingExtraError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.channels.channel import Channel

    Array = NDArray[np.float64]

ROWS, PREDICTORS = 1_000_000, 10
FEW = 10_000  # rows of a usual survey, where what does not grow with them shows
LIMIT = 5.0  # an RR logit may take this many times as long as an ordinary one
TUNED = 2.0  # and this many times as long as Newton's method written for it


def newton(x: NDArray[np.float64], report: NDArray[np.int64], device: Channel) -> tuple[Array, Array]:
    """Coefficients and standard errors of an RR logit: L = a + b p(x beta), a and b the device's for the report."""
    chances = device.matrix()
    a, b = chances[report, 0], chances[report, 1] - chances[report, 0]
    beta = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-(x @ beta)))
        density = p * (1 - p)
        likelihood = a + b * p
        slope = b * density / likelihood
        bend = b * density * (1 - 2 * p) / likelihood - slope**2
        information = -(x.T @ (x * bend[:, None]))
        score = x.T @ slope
        step = np.linalg.solve(information, score)
        beta = beta + step
        if float(score @ step) < 1e-10:
            break
    return beta, np.sqrt(np.diagonal(np.linalg.inv(information)))


def measure(rows: int = ROWS, predictors: int = PREDICTORS, repeats: int = 2) -> Measurement:
    """Time both fits, of so many rows."""
    try:
        import pandas as pd
        from statsmodels.formula.api import logit as ordinary
    except ImportError:
        raise MissingExtraError(
            "this needs statsmodels: pip install 'deniable[bench,regression]'", extra="bench"
        ) from None
    rng = np.random.default_rng(1)
    x = rng.normal(size=(rows, predictors))
    slopes = np.linspace(-0.5, 0.5, predictors)
    truth = (rng.random(rows) < 1 / (1 + np.exp(1 - x @ slopes))).astype(np.int64)
    device = Warner(0.8)
    names = [f"x{column}" for column in range(predictors)]
    frame = pd.DataFrame(x, columns=names)
    frame["truth"], frame["report"] = truth, device.randomize(truth, source=Seeded(1))
    right = " + ".join(names)
    fitted: dict[str, Any] = {}

    def plain() -> None:
        found = ordinary(f"truth ~ {right}", frame).fit(disp=0)
        fitted["plain"] = found.params.to_numpy(), found.bse.to_numpy()

    def disguised() -> None:
        found = logit(f"report ~ {right}", frame, channel=device)
        fitted["disguised"] = found.params.to_numpy(), found.std_error.to_numpy()

    def tuned() -> None:
        columns = np.column_stack([np.ones(rows), *(frame[name] for name in names)])
        fitted["tuned"] = newton(columns, frame["report"].to_numpy(), device)

    seconds = side_by_side({"plain": plain, "disguised": disguised, "tuned": tuned}, repeats)
    rows_shown: dict[str, list[Any]] = {
        "fit": [
            "statsmodels Logit, the truth",
            f"RR logit through {device.name}",
            f"Newton's method written for {device.name}",
        ],
        "CPU seconds": [seconds["plain"], seconds["disguised"], seconds["tuned"]],
        "largest |error| / std error": [
            float(np.abs((fitted[how][0][1:] - slopes) / fitted[how][1][1:]).max()) for how in seconds
        ],
        "std error of a slope": [float(fitted[how][1][1:].mean()) for how in seconds],
    }
    claims = [Claim("RR logit / ordinary logit", seconds["disguised"] / seconds["plain"], LIMIT, at_most=True)]
    if rows > FEW:  # reading a formula takes longer than fitting few rows
        claims.append(Claim("RR logit / tuned Newton", seconds["disguised"] / seconds["tuned"], TUNED, at_most=True))
    return Measurement(f"RR logit, {rows} rows x {predictors} predictors", rows_shown, claims)


def main() -> int:
    """Measure and print: many rows, then few."""
    return max(measure().show(), measure(FEW, repeats=5).show())


if __name__ == "__main__":
    sys.exit(main())
