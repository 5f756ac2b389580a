"""Reports and counts whose designs list the same categories in another order, brought to one: names win.

A channel that treats all truths alike, a matrix and a mixture can be seen in any order of their truths. Where that
cannot be (pairs, blocks, sets one by one), the others are brought to that one's order; several such stay as they are,
and whoever adds them up refuses them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.dense import Dense
from deniable.channels.match_categories import dealt
from deniable.channels.mixture import Mixture
from deniable.channels.sets.bit_masks import Mask
from deniable.core.category_order import arranged, have_same, same_order
from deniable.core.domain import Domain, Variable
from deniable.designs.design import Design
from deniable.designs.observation import Observation
from deniable.designs.question import Question
from deniable.designs.reports.reports import Reports
from deniable.designs.reports.tallies import Tallies
from deniable.frozen import readonly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.channels.channel import Channel

Reported = Reports | Tallies | Observation


def in_one_order(sources: Sequence[Any]) -> list[Any]:
    """Reports, tallies and observations with categories in the order of the first that cannot be moved, or the first.

    >>> import deniable as dn
    >>> one = dn.Observation(dn.Domain({"a": ["no", "yes"]}), dn.KRR(2, 1.0), [30, 10])
    >>> other = dn.Observation(dn.Domain({"a": ["yes", "no"]}), dn.KRR(2, 1.0), [10, 30])
    >>> in_one_order([one, other])[1].counts.tolist()
    [30.0, 10.0]
    """
    if len(sources) < 2:
        return list(sources)
    known: dict[str, Variable] = {}
    for source in sorted(sources, key=_can_move):
        for name, variable in _domain(source).items():
            known.setdefault(name, variable)
    return [_in_order(source, known) if _can_move(source) else source for source in sources]


def _domain(source: Reported) -> Domain:
    return source.domain if isinstance(source, Observation) else source.design.domain


def _can_move(source: Reported) -> bool:
    """Whether its categories can be listed in another order."""
    if type(source) is Reports:
        channels = [question.channel for question in source.design.questions]
        return not source.design.correlated and not any(one.is_support or not _moves(one) for one in channels)
    if type(source) is Tallies:
        return all(_can_move(observation) for observation in source.observations)
    if not isinstance(source, Observation):
        return False
    factors = source.channel.factors
    recoded = source.sets is None or all(isinstance(one, Mask) or not one.is_support for one in factors)
    return recoded and all(_moves(factor) for factor in factors)


def _moves(channel: Channel) -> bool:
    reports = channel.inputs + 1 if channel.is_support else channel.inputs
    alike = channel.treats_alike and (channel.is_support or channel.is_answer) and channel.outputs == reports
    return alike or isinstance(channel, Dense | Mixture)


def _in_order(source: Reported, known: dict[str, Variable]) -> Reported:
    own = _domain(source)
    moved = [name for name, v in own.items() if have_same(v, known[name]) and not same_order(v, known[name])]
    if not moved:
        return source
    wanted = Domain([known[name] if name in moved else v for name, v in own.items()])
    if isinstance(source, Reports):
        return _reports(source, wanted)
    if isinstance(source, Tallies):
        return replace(source, observations=tuple(_observation(o, wanted) for o in source.observations))
    return _observation(source, wanted)


def _reports(source: Reports, wanted: Domain) -> Reports:
    """The answers recoded, question by question."""
    design = source.design
    found = [
        _moved(one.channel, design.domain.project(one.attributes), wanted.project(one.attributes))
        for one in design.questions
    ]
    questions = [Question(one.attributes, channel) for one, (channel, _) in zip(design.questions, found, strict=True)]
    answers = source.answers.copy(order="F")
    for ballot, asked in enumerate(design.ballots):
        rows = source.rows_of(ballot)
        for place, index in enumerate(asked):
            recoded = np.argsort(found[index][1]).astype(answers.dtype)
            answers[rows, place] = recoded[answers[rows, place]]
    turned = Design(wanted, questions, design.ballots, design.weights)
    return Reports._of(**{**source._parts(), "design": turned, "answers": readonly(answers)})


def _observation(source: Observation, wanted: Domain) -> Observation:
    """The counts in another order, factor by factor."""
    channel, factors = source.channel, source.channel.factors
    counts = source.counts.reshape([factor.outputs for factor in factors])
    found, columns = [], []
    for axis, (factor, variables) in enumerate(dealt(factors, list(source.domain.values()))):
        moved, order = _moved(factor, Domain(variables), wanted.project([v.name for v in variables]))
        found.append(moved)
        counts = np.take(counts, order, axis=axis)
        if source.sets is not None:
            columns.append(_recoded(factor, source.sets.codes[:, axis], order))
    made = channel.with_factors(found)
    domain = wanted.project(source.domain.names)
    sets = None if source.sets is None else source.sets.of(columns)
    moved_counts = Observation(domain, made, counts, population=source.population, label=source.label, sets=sets)
    return moved_counts.coming_from(source.origin)


def _recoded(channel: Channel, codes: NDArray[Any], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Reports over the other order of truths, where `order` is as `_moved` has it."""
    if not channel.is_support:
        return np.argsort(order)[codes.astype(np.int64)]
    held = channel.members(codes)[:, order[:-1]].astype(np.int64)
    return held @ (1 << np.arange(channel.inputs))


def _moved(channel: Channel, own: Domain, wanted: Domain) -> tuple[Channel, NDArray[np.int64]]:
    """The channel over the other order of truths, and where each of its reports was."""
    cells = np.arange(own.cells, dtype=np.float64).reshape(own.shape)
    order = arranged(cells, own, wanted).ravel().astype(np.int64)
    stay = np.arange(channel.outputs)
    if (order == np.arange(own.cells)).all():
        return channel, stay
    if isinstance(channel, Dense):  # which reports there are is its own affair
        columns = [channel._columns[cell] for cell in order]
        return Dense._of(columns, channel.bits, channel.name, None, partial=channel.is_partial), stay
    if isinstance(channel, Mixture) and not channel.treats_alike:
        keep, *fakes = channel._shares
        return Mixture._of([keep, *(fakes[cell] for cell in order)], channel.bits), order
    assert channel.treats_alike
    return channel, np.append(order, channel.inputs) if channel.is_support else order  # the last cell counts reports
