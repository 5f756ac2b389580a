"""Whether fewer reports of a category came than the disguise alone makes: then people did not do as they were asked.

A report speaks for a category when no truth makes it likelier. Whatever is true of the respondents, each of them sends
such a report with at least the chance that the least favourable truth gives it, q for k-RR. So their number is at least
that of a binomial law, and its tail

    Pr(Binomial(n, q) <= number that came)

is an exact p-value of "everybody followed the instructions", of few reports as of many, weighted or drawn in clusters.
Of questions asked through different channels numbers add up; q is then their mean, which holds below n q - 1 (Hoeffding
1956). Several categories, tables and groups are looked at together by Bonferroni's inequality.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.summary import number
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.channels.channel import Channel
    from deniable.core.domain import Domain
    from deniable.designs.observation import Observation

    Array = NDArray[np.float64]

ALARM = 1e-3  # the chance that honest respondents are accused, whatever is looked at together
_MOST = 1 << 22  # entries of a channel's matrix that are looked at
_ALIKE = 1 - 1e-9  # of the largest chance of a report, from which on a truth makes it as likely as any


def fewer_than_chance(observations: Sequence[Observation], domain: Domain) -> Array:
    """The p-value of every cell of a table; 1 where the reports cannot tell.

    >>> from deniable.channels.survey_devices import Warner
    >>> from deniable.designs.observation import Observation
    >>> never_yes = Observation("smokes", Warner(0.8), [40, 0])
    >>> fewer_than_chance([never_yes], never_yes.domain).round(6).tolist()
    [1.0, 0.000133]
    """
    from scipy.special import bdtr

    came, expected, n = np.zeros(domain.cells), np.zeros(domain.cells), 0
    several = False
    for observation in observations:
        spoken = _speaking(observation, domain) if observation.n else None
        if spoken is not None:
            several, n = n > 0, n + observation.n
            came, expected = came + spoken[0], expected + observation.n * spoken[1]
    if not n:
        return np.ones(domain.shape)
    tail = bdtr(np.floor(came), n, np.clip(expected / n, 0.0, 1.0))
    return np.where(came <= expected - several, tail, 1.0).reshape(domain.shape)


def too_few(pvalues: Array, looked_at: int) -> list[int]:
    """The cells that too few reports speak for, if there are any among so many looked at."""
    return np.flatnonzero(pvalues.ravel() * looked_at < ALARM).tolist()


def accused(pvalues: Array, domain: Domain, looked_at: int, so: str) -> tuple[str, ...]:
    """The sentence about them; `so` says what may have happened."""
    corrected, few = np.minimum(pvalues.ravel() * looked_at, 1.0), too_few(pvalues, looked_at)
    if not few:
        return ()
    cells = list(product(*(variable.categories for variable in domain.values())))
    named = listed(", ".join(map(str, cells[cell])) for cell in few)
    told = f"Fewer reports of {named} ({' and '.join(domain)}) came than chance alone explains"
    return (f"{told}, even if that were true of nobody (p = {number(float(corrected.min()))}). {so}",)


def _speaking(observation: Observation, domain: Domain) -> tuple[Array, Array] | None:
    """For every cell how many reports speak for it, and the least chance of one that does; None if that is not seen."""
    part = observation.domain
    if not set(domain) <= set(part):
        return None
    counts, channel = observation.counts, observation.channel
    least = _singly(channel)
    if least is not None and len(part) == len(domain):
        inside = tuple(slice(0, size) for size in channel.input_shape)
        spoken = np.stack([counts[inside].ravel(), least])
    elif observation.is_support or channel.inputs * channel.outputs > _MOST:
        return None
    else:
        return _by_matrix(observation, domain)
    order = part.axes(domain)
    came, chance = (values.reshape(part.shape).transpose(order).ravel() for values in spoken)
    return came, chance


def _singly(channel: Channel) -> Array | None:
    """The least chance of the report of each truth, where a truth has one of its own."""
    least = np.ones(1)
    for factor in channel.factors:
        affine = factor.affine()
        if affine is None or (affine[0] <= 0).any():
            return None
        least = np.outer(least, affine[1]).ravel()
    return least


def _by_matrix(observation: Observation, domain: Domain) -> tuple[Array, Array]:
    part, matrix = observation.domain, observation.channel.matrix()
    others = [axis for axis in range(len(part)) if axis not in part.axes(domain)]
    order = [0, *(1 + axis for axis in (*part.axes(domain), *others))]
    likely = (
        matrix.reshape(len(matrix), *part.shape).transpose(order).reshape(len(matrix), domain.cells, -1).max(axis=2)
    )
    top = matrix.max(axis=1)
    tells = matrix.min(axis=1) < _ALIKE * top
    speaks = (likely >= _ALIKE * top[:, None]) & tells[:, None]
    return observation.counts.ravel() @ speaks, (speaks.T.astype(np.float64) @ matrix).min(axis=1)
