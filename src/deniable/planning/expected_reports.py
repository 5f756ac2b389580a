"""What a design's reports would look like on average: observations whose counts are expectations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from deniable.channels.sets.possible_sets import possible_sets
from deniable.core.domain import Domain
from deniable.core.table import Table
from deniable.designs.observation import Observation, merge
from deniable.errors import InputError, NotCoveredError
from deniable.likelihood.efficient_estimate import tangent_inverse
from deniable.likelihood.gather import Finding, room_for
from deniable.likelihood.report_likelihoods import Counted, Moments
from deniable.likelihood.respondents import how_listed
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.aims.assumed_truth import Population
    from deniable.designs.design import Design
    from deniable.likelihood.evidence import Evidence

    Array = NDArray[np.float64]

_RARE = 1e-12
_MISSED = 1e-6  # of a functional's length: how much of it may lie where reports say nothing, by rounding


def expected_observations(
    design: Design, table: Table | Population | None, n: float, attributes: Sequence[str]
) -> list[Observation]:
    """Expected counts about some attributes from n respondents, for ballots that ask all of them.

    `table` is the assumed truth (even shares by default; also for attributes it does not hold).
    """
    if not n >= 2:
        raise InputError(f"a forecast needs at least 2 respondents, not {n}", n=n)
    names = design.domain.project(attributes).names
    if table is not None:
        table = table.in_order_of(design.domain)
    found = []
    for ballot in range(len(design.ballots)):
        told = design.told(ballot, names)
        if told is None or not set(names) <= set(told.domain):
            continue
        truth = _truth(told.domain.names, design, table)
        counts = n * design.chances[ballot] * told.channel.apply(truth.values.reshape(told.channel.input_shape))
        found.append(Observation(told.domain, told.channel, counts, population=round(n)))
    if not found:
        raise NotCoveredError(f"a {design.title} asks nobody about {listed(names)} together", attributes=names)
    return merge(found)


def expected_evidence(
    design: Design, table: Table | Population | None, n: float, attributes: Sequence[str]
) -> tuple[Evidence, Table]:
    """What n respondents would say on average about some attributes, on every ballot, and the truth that is assumed.

    `table` as above. Sets that are too many to be listed are expected by what they hold.
    """
    expected_observations(design, table, n, attributes)  # refuses what nobody would be asked
    names = design.domain.project(attributes).names
    asked = [(told, n * chance) for b, chance in enumerate(design.chances) if (told := design.told(b, names))]
    room = room_for({name: v for told, _ in asked for name, v in told.domain.items()}, names)
    finding = Finding(names, room)
    for told, each in asked:
        truth = _truth(told.domain.names, design, table).values
        inside = [v for v in told.domain.values() if v.name in room]
        how = how_listed(told)
        if len(inside) < len(told.domain) or how == "seen":
            counts = each * told.channel.apply(truth.reshape(told.channel.input_shape))
            finding.add(Moments(Domain(inside), Observation(told.domain, told.channel, counts, population=round(n))))
        elif how == "cells":
            counts = each * told.channel.apply(truth.reshape(told.channel.input_shape)).ravel()
            finding.add(Counted(told.domain, told.channel, counts, each))
        else:
            every = possible_sets(told.channel)
            assert every is not None
            said = Counted(told.domain, told.channel, np.zeros(len(every)), each, every)
            finding.add(replace(said, counts=each * said.apply(truth.reshape(-1, 1))[:, 0]))
    evidence = finding.evidence([], None)
    return evidence, _truth(evidence.domain.names, design, table)


def expected_variances(evidence: Evidence, truth: Array, rows: Array) -> Array | None:
    """The variances of functionals of the asked table, rows over its cells, if the truth is this; None if not told.

    These are of the best estimate that all reports together allow.
    """
    wide = rows @ evidence.margin
    flat = np.asarray(truth, dtype=np.float64).ravel()
    flat = (flat + _RARE) / (flat + _RARE).sum()  # a cell that nobody is in has no information to be scaled by
    inverse, told = tangent_inverse(evidence.information(flat), flat)
    away = (wide - (wide @ flat)[:, None]).T
    if np.linalg.norm(away - told @ away) > _MISSED * np.linalg.norm(away):
        return None
    return np.asarray(np.einsum("ij,jk,ik->i", wide, inverse, wide))


def _truth(names: Sequence[str], design: Design, table: Table | Population | None) -> Table:
    known = [] if table is None else [name for name in names if name in table.domain]
    others = [name for name in names if name not in known]
    parts = []
    if known:
        assert table is not None
        parts.append(table.in_order_of(design.domain).normalize().project(known))
    if others:
        domain = design.domain.project(others)
        parts.append(Table(domain, np.full(domain.shape, 1 / domain.cells)))
    whole = parts[0] if len(parts) == 1 else parts[0] * parts[1]
    if (whole.values < 0).any():
        raise InputError("the assumed table has negative cells; project it to the simplex first")
    return whole.project(names)
