"""Power and sample size.

For one question the test is the exact binomial test of the number of reports of one category, see `binomial`; for two
groups that are asked it, that of their difference, see `two_samples`. For one attribute of a design it is the test of
the efficient estimate, see `pooled`; for the association of two, the test that `independence` would make, see
`simulated`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from deniable.channels.channel import Channel
from deniable.core.domain import Variable
from deniable.core.input_coercion import by_category, has_labels, in_order
from deniable.core.randomness import SECURE, Source, check_source
from deniable.errors import InputError
from deniable.planning.design_power import Pooled, pooled_test, rough, simulated, simulated_size
from deniable.planning.exact_power import BinomialTest, TwoSamples, binomial_test, two_samples
from deniable.planning.sample_size import Power, SampleSize, settle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from deniable.core.domain import Category
    from deniable.core.table import Table
    from deniable.designs.design import Design


def power(
    asked: Channel | Design,
    n: int,
    *,
    prevalence: float | tuple[float, float] | None = None,
    null: float = 0.0,
    alpha: float = 0.05,
    alternative: str = "greater",
    category: Category | None = None,
    table: Table | None = None,
    attributes: Sequence[str] | None = None,
    replicates: int = 2000,
    source: Source = SECURE,
) -> Power:
    """The probability to detect a prevalence, a difference between two groups, or an association.

    Args:
        asked: the channel of one question, or the design of a survey.
        n: the number of respondents; of two groups, in each.
        prevalence: the assumed prevalence of the category; with a channel also a pair, those of two groups that are
            compared.
        null: the prevalence under the null hypothesis.
        alpha: the level of the test.
        alternative: "greater", "less" or "two-sided".
        category: the category, or its code where the channel names none; of two, by default the sensitive one of a
            device, else the second.
        table: the assumed joint distribution of two attributes (with a design).
        attributes: which two; by default the table's. With prevalence=, the one that it is of.
        replicates: simulated surveys (with a design and a table).
        source: where they are drawn from.

    >>> from deniable.channels.survey_devices import Warner
    >>> found = power(Warner(0.8), 200, prevalence=0.1)
    >>> round(found, 3), round(found.normal, 3)
    (0.652, 0.668)
    >>> round(power(Warner(0.8), 1000, prevalence=(0.3, 0.2), alternative="two-sided"), 3)
    0.805
    """
    check_source(source)
    if n != int(n) or n < 1:
        raise InputError(f"the number of respondents is a whole number from 1, not {n!r}", n=n)
    if prevalence is not None:
        test = _of_prevalence(asked, prevalence, null, alpha, alternative, category=category, attributes=attributes)
        one = np.array([int(n)])
        normal = None if isinstance(test, Pooled) else float(test.approximate(one)[0])
        return Power(float(test.power(one)[0]), test.told, n=int(n), curve=test.power, normal=normal)
    if isinstance(asked, Channel):
        raise InputError("power of a prevalence test needs prevalence=")
    rejected, told = simulated(asked, n, table, attributes, alpha, replicates=replicates, source=source)
    error = float(np.sqrt(max(rejected * (1 - rejected), 1e-9) / replicates))
    return Power(rejected, told, error, n=n, curve=partial(rough, asked, table, attributes, alpha))


def sample_size(
    asked: Channel | Design,
    prevalence: float | tuple[float, float] | None = None,
    null: float = 0.0,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: str = "greater",
    category: Category | None = None,
    table: Table | None = None,
    attributes: Sequence[str] | None = None,
    replicates: int = 2000,
    source: Source = SECURE,
) -> SampleSize:
    """The number of respondents from which on a test has at least the given power.

    For a channel it is exact: the n beyond which the exact test never falls below the target; of two groups, of each.
    For a prevalence of a design it is the normal formula with the efficient estimate's errors. For an association it is
    simulated and good to a few percent. Arguments as for `power`.

    >>> from deniable.channels.survey_devices import ForcedResponse
    >>> n = sample_size(ForcedResponse([1 / 6, 1 / 6]), 0.2, null=0.1)
    >>> int(n), n.first, n.normal
    (291, 273, 264)
    """
    check_source(source)
    if not 0 < power < 1:
        raise InputError(f"power must lie between 0 and 1, not {power!r}")
    if prevalence is None:
        if isinstance(asked, Channel):
            raise InputError("the sample size of a prevalence test needs prevalence=")
        return simulated_size(asked, table, attributes, power, alpha, replicates=replicates, source=source)
    test = _of_prevalence(asked, prevalence, null, alpha, alternative, category=category, attributes=attributes)
    if power <= alpha:
        raise InputError(f"a power of {power:g} is no more than the level {alpha:g}: no respondents are needed")
    normal = test.normal(power)
    if isinstance(test, Pooled):
        first = last = max(2, int(np.ceil(normal)))
    else:
        first, last = settle(test.power, power, normal)
    return SampleSize(
        last,
        first=first,
        normal=int(np.ceil(normal)),
        reached=float(test.power(np.array([last]))[0]),
        test=test.told,
        wanted=power,
        curve=test.power,
    )


def _of_prevalence(
    asked: Channel | Design,
    prevalence: float | tuple[float, float],
    null: float,
    alpha: float,
    alternative: str,
    *,
    category: Category | None,
    attributes: Sequence[str] | None,
) -> BinomialTest | TwoSamples | Pooled:
    """The test of one prevalence or of two, through one channel or through a whole design."""
    if isinstance(prevalence, tuple | list):
        if not isinstance(asked, Channel):
            raise InputError("two groups are compared through one channel; give the channel of their question")
        if null:
            raise InputError("two groups are compared with each other: null= is for one prevalence")
        return two_samples(asked, prevalence, alpha, alternative=alternative, category=category)
    if isinstance(asked, Channel):
        return binomial_test(asked, prevalence, null, alpha, alternative=alternative, category=category)
    return pooled_test(asked, attributes, prevalence, null, alpha, alternative=alternative, category=category)


def sample_cost(channel: Channel, prevalence: ArrayLike | None = None) -> float:
    """How many times as many respondents a disguise needs as direct questions, for the same standard errors.

    The ratio of the summed variances: ((Q o Q) P pi - pi^2) over pi (1 - pi), at the given prevalence (a number for two
    categories, else all shares; even shares by default).

    >>> from deniable.channels.survey_devices import Warner
    >>> round(sample_cost(Warner(0.8), 0.1), 2)
    5.94
    """
    categories = channel.categories or tuple(range(channel.inputs))
    if prevalence is None:
        shares = np.full(channel.inputs, 1 / channel.inputs)
    elif has_labels(prevalence, categories):
        shares = by_category(prevalence, Variable("answer", categories), "the prevalence")
    else:
        shares = in_order(prevalence, "a prevalence or shares")
    if shares.ndim == 0:
        shares = np.array([1 - float(shares), float(shares)])[:: -1 if channel.sensitive == 0 else 1]
    if shares.shape != (channel.inputs,) or abs(shares.sum() - 1) > 1e-9 or (shares < 0).any():
        raise InputError(f"{channel.name} has {channel.inputs} truths: give one share for each, summing to 1")
    direct = float((shares * (1 - shares)).sum())
    if not direct > 0:
        raise InputError("if everybody gives the same answer, direct questions have no error to compare with")
    return float(channel.variance(shares.reshape(channel.input_shape), 1).sum()) / direct
