"""RR logit against statsmodels' ordinary Logit, side by side on the same rows.

statsmodels fits the truth, which nobody would have; `deniable` fits the disguised reports. Both get the same frame and
the same formula, and both compute standard errors.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from deniable.bench import Claim, Measurement, side_by_side
from deniable.channels.devices import Warner
from deniable.errors import MissingExtraError
from deniable.inference.regression.binary import logit
from deniable.randomness import Seeded

ROWS, PREDICTORS = 1_000_000, 10
FEW = 10_000  # rows of a usual survey, where what does not grow with them shows
LIMIT = 5.0  # an RR logit may take this many times as long as an ordinary one


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

    seconds = side_by_side({"plain": plain, "disguised": disguised}, repeats)
    rows_shown: dict[str, list[Any]] = {
        "fit": ["statsmodels Logit, the truth", f"deniable logit through {device.name}"],
        "CPU seconds": [seconds["plain"], seconds["disguised"]],
        "largest |error| / std error": [
            float(np.abs((params[1:] - slopes) / errors[1:]).max()) for params, errors in fitted.values()
        ],
        "std error of a slope": [float(errors[1:].mean()) for _, errors in fitted.values()],
    }
    claim = Claim("RR logit / ordinary logit", seconds["disguised"] / seconds["plain"], LIMIT, at_most=True)
    return Measurement(f"RR logit, {rows} rows x {predictors} predictors", rows_shown, [claim])


def main() -> int:
    """Measure and print: many rows, then few."""
    return max(measure().show(), measure(FEW, repeats=5).show())


if __name__ == "__main__":
    sys.exit(main())
