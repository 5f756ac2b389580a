"""Linear regression, chiefly for its disguised predictors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.errors import DesignError, InputError, MissingValueError
from deniable.inference.regression.formula import column_of
from deniable.inference.regression.model import Options, regress
from deniable.inference.regression.outcome import Channels, Disguised, Outcome
from deniable.inference.regression.responses import Normal

if TYPE_CHECKING:
    from typing import Unpack

    from deniable.inference.regression.result import Regression


def linear(formula: str, frame: Any, **options: Unpack[Options]) -> Regression:
    """Linear regression of a number with normal errors, by maximum likelihood.

    With `rr={"x": channel}` the predictor x is disguised: the likelihood is summed over what x could be, with a
    logistic (multinomial) model for x given the other predictors, fitted at the same time. sigma is the maximum
    likelihood one (it divides by n). Without `rr` the coefficients are those of least squares.

    Args:
        formula: "outcome ~ predictors"; a disguised predictor's name stands for its truth.
        frame: any data frame, or `Reports`.
        **options: rr, rr_models, weights, clusters, covariance: see `Options`.

    >>> import numpy as np, pandas as pd
    >>> import deniable as dn
    >>> rng = np.random.default_rng(1)
    >>> truth, device = rng.integers(0, 2, 4000), dn.Warner(0.8)
    >>> reports, y = device.randomize(truth, source=dn.Seeded(1)), 2 * truth + rng.normal(size=4000)
    >>> frame = pd.DataFrame({"x": reports, "y": y})
    >>> dn.linear("y ~ x", frame, rr={"x": device}).params.round(2).to_dict()
    {'Intercept': 0.02, 'x': 1.98}
    """
    return regress("linear", formula, frame, _Number(), channel=None, options=options)


class _Number:
    """An outcome that is a number, in the clear."""

    def column(self, name: str, data: Any, _channel: Channels) -> Outcome:
        """A column of numbers."""
        column = column_of(data, name)
        missing = int(column.isna().sum())
        if missing:
            raise MissingValueError(f"column {name!r} has {missing} missing values; drop those rows", rows=missing)
        try:
            values = column.to_numpy(dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"the outcome {name!r} of a linear model must be a number", attribute=name) from None
        return Outcome(Normal(), values[:, None], None, extra=("log(sigma)",))

    def heard(self, found: Disguised) -> Outcome:
        """Refused: an answer out of a few categories has no normal errors, and its disguise hides the number."""
        raise DesignError(
            f"the answers about {found.name!r} are disguised; a linear model reads its outcome as it stands. Use "
            f"multinomial() or logit() for a disguised outcome, or estimate() and its mean",
            attribute=found.name,
        )
