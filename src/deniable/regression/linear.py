"""Linear regression: of an open number by likelihood, of a disguised one on its scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.designs.reports.reports import Reports
from deniable.errors import InputError, MissingValueError
from deniable.estimation.notes.stamped import stamped
from deniable.regression.corrected_least_squares import on_scores
from deniable.regression.formula import column_of, split
from deniable.regression.likelihood.disguised_outcome import Channels, Disguised, Outcome
from deniable.regression.likelihood.responses import Normal
from deniable.regression.model import Options, regress

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from deniable.core.domain import Category
    from deniable.regression.corrected_least_squares import LeastSquares
    from deniable.regression.result import Regression


@stamped
def linear(
    formula: str,
    frame: Any,
    channel: Channels = None,
    *,
    design_column: str | None = None,
    categories: Sequence[Category] | None = None,
    **options: Unpack[Options],
) -> Regression | LeastSquares:
    """Linear regression of a number.

    An open outcome has normal errors and is fitted by maximum likelihood: with `rr={"x": channel}` the predictor x is
    disguised, and the likelihood is summed over what x could be, with a logistic (multinomial) model for x given the
    other predictors, fitted at the same time. sigma is the maximum likelihood one (it divides by n). Without `rr` the
    coefficients are those of least squares.

    A disguised outcome, whose categories are numbers, is fitted by least squares on unbiased scores, on disguised
    predictors too: nothing is assumed of its distribution, and standard errors are the sandwich's. See `scored`.

    Args:
        formula: "outcome ~ predictors"; a disguised predictor's name stands for its truth.
        frame: any data frame, or `Reports` (the channels are then known).
        channel: what the outcome of a frame went through, as in `logit`; None stands for an open number.
        design_column: as in `logit`.
        categories: the numbers that the outcome's categories are, in order, where the channel does not name them.
        **options: rr, rr_models, weights, clusters, covariance: see `Options`.

    Returns:
        A `Regression`; a `LeastSquares` where the outcome is disguised.

    >>> import numpy as np, pandas as pd
    >>> import deniable as dn
    >>> rng = np.random.default_rng(1)
    >>> truth, device = rng.integers(0, 2, 4000), dn.Warner(0.8)
    >>> reports, y = device.randomize(truth, source=dn.Seeded(1)), 2 * truth + rng.normal(size=4000)
    >>> frame = pd.DataFrame({"x": reports, "y": y})
    >>> dn.linear("y ~ x", frame, rr={"x": device}).params.round(2).to_dict()
    {'Intercept': 0.02, 'x': 1.98}
    """
    left, _ = split(formula)
    if channel is not None or (isinstance(frame, Reports) and left in frame.design.domain):
        return on_scores(formula, frame, channel, design_column=design_column, categories=categories, options=options)
    if design_column is not None or categories is not None:
        raise InputError("design_column= and categories= are for a disguised outcome: say its channel with channel=")
    return regress("linear", formula, frame, _Number(), channel=None, options=options)


class _Number:
    """An outcome that is a number, in the clear."""

    def column(self, name: str, data: Any, _channel: Channels) -> Outcome:
        """A column of numbers."""
        return open_number(name, data)

    def heard(self, found: Disguised) -> Outcome:
        """Never: a disguised outcome is fitted on its scores."""
        raise AssertionError(found.name)


def open_number(name: str, data: Any) -> Outcome:
    """A column of numbers as an outcome with normal errors."""
    column = column_of(data, name)
    missing = int(column.isna().sum())
    if missing:
        raise MissingValueError(f"column {name!r} has {missing} missing values; drop those rows", rows=missing)
    try:
        values = column.to_numpy(dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"the outcome {name!r} of a linear model must be a number", attribute=name) from None
    return Outcome(Normal(), values[:, None], None, extra=("log(sigma)",))
