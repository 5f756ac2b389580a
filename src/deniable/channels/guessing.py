"""Guessing: how often the best guess of a person's answer is right, before their report and after it (Bayes' rule).

With prior pi, the best guess before is the likeliest answer, right with probability max_v pi_v. After report u the
posterior of v is P[u, v] pi_v / lambda_u, so that over all reports

    likeliest answer        sum_u max_v P[u, v] pi_v
    drawn from the posterior    sum_u sum_v (P[u, v] pi_v)^2 / lambda_u       (Wang, Wu & Hu 2016, Theorem 2's rule)

is how often a guess is right: the Bayes vulnerability of quantitative information flow (Smith 2009). It depends on what
is believed before; epsilon does not: no guess is right more than e^epsilon times as often as before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deniable.core.domain import Domain, Variable
from deniable.core.input_coercion import by_cell, without_labels
from deniable.errors import InputError

if TYPE_CHECKING:
    from deniable.channels.channel import Channel

MOST_ENTRIES = 1 << 24  # of a list of what every report says of every truth


class Guessing(NamedTuple):
    """How often a guess of one person's answer is right.

    Attributes:
        before: by whoever knows the prior only, and guesses the likeliest answer.
        after: by whoever sees the report as well, and guesses the likeliest answer.
        drawn: the same, by whoever draws the guess from the posterior instead.
    """

    before: float
    after: float
    drawn: float


def guessing(channel: Channel, prior: Any) -> Guessing:
    """How often guesses are right, for a prior: numbers in the order of the truths, or by their names."""
    shape = channel.input_shape
    if channel.categories is not None and len(shape) == 1:
        domain = Domain([Variable("answer", channel.categories)])
        pi = by_cell(prior, domain, "a prior", absent=0.0).ravel()
    else:
        pi = np.asarray(without_labels(prior, "a prior"), dtype=np.float64)
        if pi.shape not in (shape, (channel.inputs,)):
            raise InputError(f"a prior of {channel.name} has {channel.inputs} numbers, not the shape {pi.shape}")
        pi = pi.ravel()
    if not np.isfinite(pi).all() or (pi < 0).any() or not pi.sum() > 0:
        raise InputError("a prior is made of numbers from 0 up, not all of them 0")
    pi = pi / pi.sum()
    every = channel.every_report(MOST_ENTRIES // channel.inputs)
    if every is None:
        raise InputError(
            f"{channel.name} has too many possible reports to go through them all; ask a channel of fewer categories, "
            f"or bound the guess by epsilon: it is right at most exp({channel.epsilon:.4g}) times as often as before"
        )
    joint = channel.likelihood(channel.from_rows(every.reshape(len(every), -1))) * pi
    lam = joint.sum(axis=1)
    drawn = (joint[lam > 0] ** 2 / lam[lam > 0, None]).sum()
    return Guessing(float(pi.max()), float(joint.max(axis=1).sum()), float(drawn))
