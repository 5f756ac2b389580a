"""Which channel for a question with so many possible answers: named, or the one of least variance.

Which is best is computed, not remembered: every channel is made for the same epsilon, and the variances of the unbiased
cells are summed at even shares. k-RR is kept unless another is better by more than a hundredth, because its reports are
answers of the question, whose counts have a likelihood; so it is the default as well.

Where it is known how many respondents are planned, the work of counting and estimating is weighed as well (`steps`): of
channels whose variances are alike, the one that takes the fewest steps is taken.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from deniable.channels.krr import KRR
from deniable.channels.sets.block_design import BlockDesign
from deniable.channels.sets.hadamard import HadamardResponse
from deniable.channels.sets.hashing import LocalHashing, prime_for
from deniable.channels.sets.subset import SubsetSelection
from deniable.channels.sets.two_level import TwoLevel
from deniable.channels.sets.unary import Unary
from deniable.channels.two_level_krr import TwoLevelKRR
from deniable.device.channels.block_design import MOST_POINTS
from deniable.device.channels.channel_kind import IN_ONE_NUMBER
from deniable.device.channels.hadamard import MOST_CATEGORIES
from deniable.device.channels.hashing import MOST_VALUES, PRIME
from deniable.errors import DesignError, PrecisionError
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from deniable.channels.channel import Channel
    from deniable.core.domain import Domain

    Chooser = Callable[[Domain, float], Channel]
    """What makes the channel of a question, given its attributes and its epsilon."""

Choice = Literal["krr", "unary", "subset", "hashing", "hadamard", "block_design", "least_variance", "optimal"]

_MAKERS: dict[str, tuple[int, Callable[[int, float], Channel]]] = {  # the most categories it takes, and how it is made
    "krr": (1 << 32, KRR),
    "subset": (IN_ONE_NUMBER, SubsetSelection),
    "unary": (IN_ONE_NUMBER, Unary),
    "hashing": (PRIME, LocalHashing),
    "hadamard": (MOST_CATEGORIES, HadamardResponse),
    "block_design": (MOST_POINTS, BlockDesign),
}
# What "least_variance" chooses from where no number of respondents is planned. It never changes: survey files say it,
# and the design that they describe must stay the same.
_FIRST = ("krr", "subset", "unary", "hashing", "hadamard")
_BETTER = 0.99
_ALIKE = 1.02  # variances of this ratio: so many respondents more are easier found than more work is done


@lru_cache(maxsize=4096)
def best_channel(cells: int, epsilon: float, choice: Choice = "krr", *, n: int | None = None) -> Channel:
    """The channel for one question with this many possible answers; for "least_variance", with n respondents planned.

    >>> best_channel(4, 1.0, "least_variance"), best_channel(16, 1.0, "least_variance")
    (<KRR(4): 4 truths, 4 reports, epsilon 0.999961>, <SubsetSelection(16, d=4): 16 truths, epsilon 0.999961>)
    >>> best_channel(16, 1.0, "least_variance", n=5000), best_channel(9999, 1.0, "least_variance", n=10**6).name
    (<BlockDesign(16, order=4): 16 truths, 20 reports, epsilon 0.999961>, 'BlockDesign(9999, order=4)')
    """
    if choice not in get_args(Choice):
        raise DesignError(f"channel must be one of {listed(get_args(Choice))}, not {choice!r}", channel=choice)
    if choice == "optimal":
        raise DesignError(
            'an "optimal" channel is made for what is wanted of a question; give it to a design, or use '
            "optimal_channel",
            channel=choice,
        )
    if choice == "block_design" and cells == 2:
        choice = "krr"  # two points have no lines; lines through either would be k-RR's answers
    if choice != "least_variance":
        most, make = _MAKERS[choice]
        if cells > most:
            raise DesignError(
                f'a report through channel "{choice}" holds at most {most} possible answers, and this question has '
                f'{cells}. Use "block_design", "hashing" or "hadamard"',
                channel=choice,
            )
        return make(cells, epsilon)
    if n is not None:
        able = [name for name in _MAKERS if name != "block_design" or cells > 2]
        return _least_work(n, cells, epsilon, [*_all(cells, epsilon, able), *_wide(cells, epsilon)])
    return _least_variance(cells, epsilon, _all(cells, epsilon))


def planned_for(n: int) -> Chooser:
    """What chooses the channel of every question when n respondents are planned: for `channel=` of a design.

    >>> from deniable.core.domain import Domain
    >>> planned_for(10**6)(Domain({"shop": range(5000)}), 1.0).name
    'BlockDesign(5000, order=4)'
    """
    return partial(_planned, n)


def _planned(n: int, question: Domain, epsilon: float) -> Channel:
    return best_channel(question.cells, epsilon, "least_variance", n=n)


def steps(channel: Channel, n: int) -> float:
    """About how many elementary steps it takes to count n reports and to estimate every category's share.

    A category is counted in one step, and its shares are sums over all cells (or transforms of them). A set is looked
    at sixteen categories at a time. A hash must be looked at for every category, and no two reports are alike.
    """
    k = channel.inputs
    if isinstance(channel, LocalHashing):
        return float(n) * k
    if channel.is_support:
        return float(n) * (1 + -(-k // 16)) + k
    return n + channel.outputs * max(1.0, math.log2(channel.outputs))


@lru_cache(maxsize=4096)
def kept_channel(cells: int, epsilon: float, choice: Choice, again: float) -> Channel:
    """The same for a question that a panel repeats: what is kept is sent through a second level of epsilon `again`.

    Of k-RR the answer goes through k-RR anew, of sets each bit. What that costs in variance counts where the least is
    looked for; how easily people are found again by it does not.

    >>> [kept_channel(12, 1.0, choice, 2.0).name for choice in ("krr", "least_variance")]
    ['TwoLevelKRR(12)', 'TwoLevel(SubsetSelection(12, d=3))']
    """
    if choice != "least_variance":
        return _kept(best_channel(cells, epsilon, choice), again)
    able = [channel for channel in _all(cells, epsilon) if isinstance(channel, KRR | Unary | SubsetSelection)]
    return _least_variance(cells, epsilon, [_kept(channel, again) for channel in able])


def _kept(channel: Channel, again: float) -> Channel:
    if isinstance(channel, KRR):
        return TwoLevelKRR(channel, KRR(channel.inputs, again))
    if isinstance(channel, Unary | SubsetSelection):
        return TwoLevel(channel, KRR(2, again))
    raise DesignError(
        f"there is no second level for {channel.name}, so a panel cannot repeat what goes through it. Use "
        f'"krr", "unary", "subset" or "least_variance"',
        channel=channel.kind,
    )


def _all(cells: int, epsilon: float, names: Iterable[str] = _FIRST) -> list[Channel]:
    makers = [_MAKERS[name] for name in names]
    return [channel for most, make in makers if cells <= most and (channel := _made(make, cells, epsilon))]


def _wide(cells: int, epsilon: float) -> list[Channel]:
    """Local hashing to as many values as are best, where that is more than it takes by itself."""
    g = round(math.exp(epsilon)) + 1
    if not MOST_VALUES < g <= cells or cells > prime_for(g):
        return []
    found = _made(partial(LocalHashing, g=g), cells, epsilon)
    return [] if found is None else [found]


def _least_work(n: int, cells: int, epsilon: float, found: list[Channel]) -> Channel:
    best = _least_variance(cells, epsilon, found)
    most = _ALIKE * _total_variance(best)
    alike = [best, *(channel for channel in found if channel is not best and _total_variance(channel) <= most)]
    return min(alike, key=lambda channel: steps(channel, n))


def _least_variance(cells: int, epsilon: float, found: list[Channel]) -> Channel:
    if not found:
        raise PrecisionError(f"no channel for {cells} possible answers meets epsilon {epsilon:g}", requested=epsilon)
    spread = {channel: _total_variance(channel) for channel in found}
    best = min(found, key=lambda channel: spread[channel])
    plain = found[0]
    return plain if isinstance(plain, KRR | TwoLevelKRR) and spread[best] > _BETTER * spread[plain] else best


def _made(make: Callable[[int, float], Channel], cells: int, epsilon: float) -> Channel | None:
    try:
        return make(cells, epsilon)
    except PrecisionError:
        return None


def _total_variance(channel: Channel) -> float:
    return float(channel.variance(np.full(channel.inputs, 1 / channel.inputs), 1).sum())
