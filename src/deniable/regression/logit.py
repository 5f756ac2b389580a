"""Regressions of a yes-or-no outcome that went through a channel.

Pr(report u | x) = P[u, 0] (1 - F(x'b)) + P[u, 1] F(x'b), F the inverse of the link. The last category is modelled.

Multinomial logit for an outcome of several categories that went through a channel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deniable.errors import DesignError
from deniable.estimation.notes.stamped import stamped
from deniable.regression.data_source import Categories
from deniable.regression.likelihood.responses import CAUCHIT, CLOGLOG, LOGIT, PROBIT, Binary, Link, Softmax
from deniable.regression.model import Options, regress

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from deniable.core.domain import Category
    from deniable.regression.likelihood.disguised_outcome import Channels
    from deniable.regression.result import Regression


@stamped
def logit(
    formula: str,
    frame: Any,
    channel: Channels = None,
    *,
    design_column: str | None = None,
    categories: Sequence[Category] | None = None,
    **options: Unpack[Options],
) -> Regression:
    """Logistic regression of a disguised yes-or-no answer: log odds of the last category = x'b.

    Maximum likelihood with exact derivatives, from several starts: the likelihood of a disguised answer is not concave.
    Standard errors come from the observed Hessian unless weights, clusters or `covariance` say otherwise.

    Args:
        formula: "outcome ~ predictors"; the right-hand side is formulaic's language.
        frame: any data frame, or `Reports` (the channels are then known).
        channel: what the outcome went through: one channel; a mapping from values of `design_column` to channels; or
            one channel per row. None stands for a direct question.
        design_column: the column that says which of several channels a row went through.
        categories: the outcome's categories in order, where the channel does not name them.
        **options: weights, clusters, covariance, penalty, rr, rr_models: see `Options`.

    Raises:
        SeparationError: predictors tell the reports apart without error.
        DivergenceError: the likelihood is highest at infinity for another reason.

    >>> import numpy as np, pandas as pd
    >>> import deniable as dn
    >>> rng = np.random.default_rng(1)
    >>> age = rng.normal(size=5000)
    >>> truth = (rng.random(5000) < 1 / (1 + np.exp(1 - age))).astype(int)
    >>> device = dn.Warner(0.8)
    >>> frame = pd.DataFrame({"age": age, "cheated": device.randomize(truth, source=dn.Seeded(1))})
    >>> fit = dn.logit("cheated ~ age", frame, channel=device)
    >>> fit.params.round(2).to_dict()
    {'Intercept': -1.07, 'age': 1.02}
    """
    return _fit(LOGIT, formula, frame, channel, design_column=design_column, categories=categories, options=options)


@stamped
def probit(
    formula: str,
    frame: Any,
    channel: Channels = None,
    *,
    design_column: str | None = None,
    categories: Sequence[Category] | None = None,
    **options: Unpack[Options],
) -> Regression:
    """Probit regression of a disguised answer: Pr(last category) = Phi(x'b). Arguments as in `logit`."""
    return _fit(PROBIT, formula, frame, channel, design_column=design_column, categories=categories, options=options)


@stamped
def cloglog(
    formula: str,
    frame: Any,
    channel: Channels = None,
    *,
    design_column: str | None = None,
    categories: Sequence[Category] | None = None,
    **options: Unpack[Options],
) -> Regression:
    """Complementary log-log regression: Pr(last category) = 1 - exp(-exp(x'b)). Arguments as in `logit`."""
    return _fit(CLOGLOG, formula, frame, channel, design_column=design_column, categories=categories, options=options)


@stamped
def cauchit(
    formula: str,
    frame: Any,
    channel: Channels = None,
    *,
    design_column: str | None = None,
    categories: Sequence[Category] | None = None,
    **options: Unpack[Options],
) -> Regression:
    """Cauchy regression: Pr(last category) = 1/2 + arctan(x'b) / pi. Arguments as in `logit`."""
    return _fit(CAUCHIT, formula, frame, channel, design_column=design_column, categories=categories, options=options)


def _fit(
    link: Link,
    formula: str,
    frame: Any,
    channel: Channels,
    *,
    design_column: str | None,
    categories: Sequence[Category] | None,
    options: Options,
) -> Regression:
    def response(truths: int) -> Binary:
        if truths != 2:
            raise DesignError(
                f"{link.name} models two categories, the outcome has {truths}; use multinomial(), or "
                f'missing="drop" where one of them is "prefer not to say"',
                truths=truths,
            )
        return Binary(link)

    read = Categories(response, design_column, categories, options.get("missing"))
    return regress(link.name, formula, frame, read, channel=channel, options=options)


@stamped
def multinomial(
    formula: str,
    frame: Any,
    channel: Channels = None,
    *,
    design_column: str | None = None,
    categories: Sequence[Category] | None = None,
    **options: Unpack[Options],
) -> Regression:
    """Multinomial logistic regression of a disguised answer: log(pi_k / pi_0) = x'b_k for every category but the first.

    Pr(report u | x) = sum over k of P[u, k] pi_k(x). Coefficients are labelled (category, term). Arguments as in
    `logit`.
    """
    read = Categories(Softmax, design_column, categories, options.get("missing"))
    return regress("multinomial logit", formula, frame, read, channel=channel, options=options)
