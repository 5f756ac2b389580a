"""Multinomial logit for an outcome of several categories that went through a channel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deniable.estimation.notes.stamped import stamped
from deniable.regression.data_source import Categories
from deniable.regression.likelihood.responses import Softmax
from deniable.regression.model import Options, regress

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from deniable.core.domain import Category
    from deniable.regression.likelihood.disguised_outcome import Channels
    from deniable.regression.result import Regression


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
