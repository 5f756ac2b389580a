"""Debiased columns: a score for every report, whose mean is the unbiased estimate of a share.

What reports say is linear in the shares: with a row of A for every report u to every ballot b,

    A[(b, u), v] = Pr(b) Pr(report u | truth v),

any left inverse L of A makes scores of reports, since the mean of L[c, (b, u)] over respondents has the expectation
pi_c. Of all of them this is the one of least variance at even shares, put together from ballots: with t the unbiased
scores that a ballot's own channels make of its reports, B the sums of the table that these are of, and M = E[t t'] at
even shares,

    L = J^+ B' M^-1 t,        J = sum over ballots of Pr(b) B' M^-1 B.

It is fixed by the design, not by anybody's answer; so a weighted mean, and the mean of any group that was not formed
by answers, are unbiased too, in whatever program they are taken. A cell that J does not reach is one whose share the
design does not tell: it has no column. Whoever was not asked has no score and is in no mean; where a public condition
puts a question to some, "does not apply" is nobody's truth, and P has no column for it (`asked_only`). In blocks, t
comes from the fakes of a report's own block, so that scores are unbiased in every block.

Where everybody is asked about a table in one way, the mean is what `estimate(..., "inversion")` gives. Where it is
asked in several ways (an attribute that several views hold), both are unbiased, and not equal: inversion weighs each
way by how many reports came through it, scores by its probability, since a score may not depend on who else answered.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.designs.reports.asked_only import applying
from deniable.errors import InputError
from deniable.files.reserved_columns import SHARE
from deniable.frozen import Frozen, readonly
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from deniable.channels.channel import Channel
    from deniable.core.domain import Category, Domain
    from deniable.designs.design import Design
    from deniable.designs.marginal_channel import Told
    from deniable.designs.reports.reports import Reports

    Array = NDArray[np.float64]
    Cell = tuple[tuple[str, Category], ...]

MOST_CELLS = 1024  # of a table that has a column a cell
_REACHED = 1e-10  # of what is told best: below it, J tells nothing
_HELD = 1 << 22  # numbers that are held at once
_SAID = {"<=": " up to ", ">=": " from ", "<": " below ", ">": " above "}


@dataclass(frozen=True, eq=False)
class Score(Frozen):
    """A column of scores: its name, the attributes and categories whose share it tells, a number a respondent."""

    name: str
    cell: Cell
    values: Array
    among: str = ""  # whom it is about, behind a comma, where that is not everybody

    @property
    def label(self) -> str:
        """What its mean is the share of.

        >>> Score("dn_share_smokes_yes", (("smokes", "yes"),), np.zeros(1)).label
        'smokes = yes'
        """
        return ", ".join(f"{name} = {category}" for name, category in self.cell) + self.among


def by_themselves(design: Design) -> list[list[str]]:
    """Every attribute by itself, but those of so many categories that nobody wants a column of each."""
    return [[variable.name] for variable in design.domain.values() if len(variable) <= MOST_CELLS]


def scores(reports: Reports, tables: Sequence[Sequence[str]]) -> list[Score]:
    """The scores of every cell of some tables that the design tells."""
    return Scorer(reports, tables).scores(0, reports.n)


class Scorer:
    """Makes the scores of reports from one row to another: whatever they are made with, each has the same."""

    def __init__(self, reports: Reports, tables: Sequence[Sequence[str]]) -> None:
        """Take reports and the tables whose cells are wanted."""
        self._tables: list[_Table] = []
        found: dict[Cell, tuple[int, int]] = {}
        for names in tables:
            asked = reports.among_asked(names)
            domain = applying(reports.design.domain.project(names), asked.among.without if asked.among else ())
            if domain.cells > MOST_CELLS:
                raise InputError(
                    f"{listed(names)} have {domain.cells} cells, and a column is made for each of {MOST_CELLS} at "
                    f"most: name fewer attributes at once",
                    attributes=tuple(names),
                )
            # Of pairs, errors of joint tables depend on who was paired with whom: no estimate gives them either.
            table = None if reports.design.correlated and len(names) > 1 else _table(asked, domain)
            if table is not None:
                for place in np.flatnonzero(table.reached).tolist():
                    codes = np.unravel_index(place, domain.shape)
                    cell = tuple((v.name, v.categories[code]) for v, code in zip(domain.values(), codes, strict=True))
                    found.setdefault(cell, (len(self._tables), place))
                self._tables.append(table)
        self._cells = dict(zip(score_names(list(found)), found.items(), strict=True))

    def scores(self, start: int, stop: int) -> list[Score]:
        """The scores of these rows; of no rows, what columns there are."""
        values = [_scores(table, start, stop) for table in self._tables]
        return [
            Score(name, cell, readonly(values[table][:, place]), self._tables[table].among)
            for name, (cell, (table, place)) in self._cells.items()
        ]


def score_columns(made: Sequence[Score]) -> dict[str, pa.Array]:
    """Scores as columns: nothing, and not NaN, where somebody was not asked, so that every program leaves it out."""
    import pyarrow as pa

    return {score.name: pa.array(score.values, from_pandas=True) for score in made}


def score_names(cells: Sequence[Cell]) -> list[str]:
    """Names that R and SQL take without quotes, all different, in whatever case.

    >>> score_names([(("age", "< 18"),), (("age", ">= 18"),), (("a", "no"), ("b", -1)), (("a", "NO"), ("b", -1))])
    ['dn_share_age_below_18', 'dn_share_age_from_18', 'dn_share_a_b_no_minus_1', 'dn_share_a_b_NO_minus_1_2']
    """
    taken: set[str] = set()
    found = []
    for cell in cells:
        parts = [name for name, _ in cell]
        parts += [f"minus {-c}" if not isinstance(c, str) and c < 0 else str(c) for _, c in cell]
        text = reduce(lambda known, sign: known.replace(sign, _SAID[sign]), _SAID, " ".join(parts))
        plain = SHARE + "_".join("".join(letter if letter.isalnum() else " " for letter in text).split())
        free, number = plain, 1
        while free.casefold() in taken:
            number += 1
            free = f"{plain}_{number}"
        taken.add(free.casefold())
        found.append(free)
    return found


@dataclass(frozen=True, eq=False)
class _Table:
    """How the scores of a table are made: of whom, of each ballot that tells something of it, which cells are told."""

    reports: Reports
    ballots: dict[int, _Spoken]
    reached: NDArray[np.bool_]

    @property
    def among(self) -> str:
        """Whom they are about."""
        return ", among those asked" if self.reports.among else ""


@dataclass(frozen=True, eq=False)
class _Spoken:
    """What a ballot tells, what a report weighs in each functional of its columns, and L from these to the cells.

    `weights` has a column's place, its channel from the truths that apply, and what its reports weigh.
    """

    told: Told
    weights: Sequence[tuple[int, Channel, Array]]
    mixed: Array


def _table(reports: Reports, domain: Domain) -> _Table | None:
    """How the scores of a table are made; None where the design tells nothing of it."""
    design, parts = reports.design, {}
    known: dict[Any, _Part | None] = {}
    for ballot in range(len(design.ballots)):
        told = design.told(ballot, domain.names)
        if told is not None:
            # Many ballots tell alike.
            key = (told.domain, told.channel, tuple(column.attributes for column in told.columns))
            part = known[key] if key in known else known.setdefault(key, _part(_columns(reports, told), domain))
            if part is not None:
                parts[ballot] = part
    if not parts:
        return None
    mixed = _mixing(parts, design.chances)
    spoken = {}
    for ballot, part in parts.items():
        here = reports.told(ballot, domain.names)
        if here is not None:
            channels = [channel for _, channel in _columns(reports, here)]
            weights = [(place, channels[place], _weights(channels[place], wanted)) for place, wanted in part.factors]
            spoken[ballot] = _Spoken(here, weights, mixed.by_ballot[ballot])
    return _Table(reports, spoken, mixed.reached)


def _columns(reports: Reports, told: Told) -> list[tuple[Domain, Channel]]:
    """What each column of what is told is about, and its channel: of truths that apply to those who are looked at."""
    domain, among = reports.design.domain, reports.among
    columns = told.columns if among is None else among.columns(told, domain)
    without = () if among is None else among.without
    return [(applying(domain.project(column.attributes), without), column.channel) for column in columns]


def _scores(table: _Table, start: int, stop: int) -> Array:
    """A score for every respondent from one to another and every cell, NaN for whoever was not asked."""
    reports = table.reports
    values = np.full((stop - start, len(table.reached)), np.nan)
    for ballot, rows in reports.rows_between(start, stop):
        said = table.ballots.get(ballot)
        if said is None:
            continue
        step = max(1, _HELD // max(len(each) for *_, each in said.weights))
        for first in range(0, len(rows), step):
            some = rows[first : first + step]
            codes = reports.codes(ballot, said.told, some)
            own = np.ones((len(some), 1))
            for place, channel, each in said.weights:
                mine = _rows(channel, codes[:, place], each)
                own = (own[:, :, None] * mine[:, None, :]).reshape(len(own), -1)
            values[some - start] = _by_row(own, said.mixed.T)
    return values


def _by_row(rows: Array, matrix: Array) -> Array:
    """Each row times a matrix, by itself: in a product of matrices its last digit may depend on the other rows."""
    return np.asarray((rows[:, None, :] @ matrix)[:, 0], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class _Part:
    """What a ballot's reports tell of a table.

    Attributes:
        factors: the columns that tell something of it, and the functionals of a column's own table that it tells.
        sums: B, the sums of the table that these are, all products of them.
        moments: M, how the scores of these spread at even shares.
        whole: whether they are the table itself.
    """

    factors: Sequence[tuple[int, Array]]
    sums: Array
    moments: Array
    whole: bool


@dataclass(frozen=True, eq=False)
class _Mixed:
    by_ballot: dict[int, Array]
    reached: NDArray[np.bool_]


def _mixing(parts: dict[int, _Part], chances: Array) -> _Mixed:
    """L for every ballot, from its own scores to those of the table."""
    alone = next(iter(parts.values()))
    cells = alone.sums.shape[1]
    if alone.whole and all(part is alone for part in parts.values()):
        return _Mixed(dict.fromkeys(parts, alone.sums.T), np.ones(cells, dtype=bool))
    asked = sum(chances[ballot] for ballot in parts)
    pulls = {
        id(part): part.sums.T @ np.linalg.pinv(part.moments, rcond=1e-13, hermitian=True) for part in parts.values()
    }
    total = np.zeros((cells, cells))
    for ballot, part in parts.items():
        total = total + chances[ballot] / asked * (pulls[id(part)] @ part.sums)
    if any(part.whole for part in parts.values()):
        inverse, reached = np.asarray(np.linalg.inv(total), dtype=np.float64), np.ones(cells, dtype=bool)
    else:
        inverse = _pinv(total, _REACHED)
        reached = np.abs(inverse @ total - np.eye(cells)).max(axis=1) < np.sqrt(_REACHED)
    return _Mixed({ballot: inverse @ pulls[id(part)] for ballot, part in parts.items()}, reached)


def _pinv(matrix: Array, rcond: float) -> Array:
    return np.asarray(np.linalg.pinv(matrix, rcond=rcond, hermitian=True), dtype=np.float64)


def _part(columns: Sequence[tuple[Domain, Channel]], domain: Domain) -> _Part | None:
    """What a ballot tells of a table by some columns; None where that is nothing."""
    factors, shapes, names = [], [], []
    moments: Array = np.ones((1, 1))
    whole = set(domain.names) <= {name for about, _ in columns for name in about}
    spans: Array = np.ones((1, 1))
    for place, (about, channel) in enumerate(columns):
        own, wanted = _wanted(about, domain)
        kept = _kept(channel, wanted)
        whole = whole and kept.shape[1] == wanted.shape[1]
        if not kept.shape[1]:
            continue
        along = wanted @ kept
        factors.append((place, along))
        names += own
        shapes += [len(domain[name]) for name in own]
        spans = np.asarray(np.kron(spans, kept), dtype=np.float64)
        moments = np.asarray(np.kron(moments, _moments(channel, along)), dtype=np.float64)
    if not factors:
        return None
    axes = tuple(domain.names.index(name) for name in names)
    codes = np.stack(np.unravel_index(np.arange(domain.cells), domain.shape))[list(axes)]
    inside = np.zeros((int(np.prod(shapes)), domain.cells))
    inside[np.ravel_multi_index(tuple(codes), tuple(shapes)), np.arange(domain.cells)] = 1.0
    return _Part(tuple(factors), spans.T @ inside, moments, whole)


def _wanted(own: Domain, domain: Domain) -> tuple[list[str], Array]:
    """The wanted attributes of a column, and the cells of their table as sums of the column's own cells."""
    names = [name for name in own if name in domain]
    table = own.project(names)
    codes = np.stack(np.unravel_index(np.arange(own.cells), own.shape))[list(own.axes(names))]
    wanted = np.zeros((own.cells, table.cells))
    wanted[np.arange(own.cells), np.ravel_multi_index(tuple(codes), table.shape)] = 1.0
    return names, wanted


def _kept(channel: Channel, wanted: Array) -> Array:
    """The combinations of wanted cells that a channel tells: all of them, but where it was made for some sums only."""
    if not channel.is_partial:
        return np.eye(wanted.shape[1])
    _, sizes, rows = np.linalg.svd(channel.matrix(), full_matrices=False)
    rows = rows[sizes > _REACHED * sizes[0]]
    missed = wanted - rows.T @ (rows @ wanted)
    _, left, directions = np.linalg.svd(missed)
    lost = int((left > np.sqrt(_REACHED)).sum())
    return np.asarray(directions[lost:].T, dtype=np.float64)


def _weights(channel: Channel, along: Array) -> Array:
    """What each cell that reports are tallied into weighs in some functionals."""
    return channel.solve_adjoint(along.reshape(*channel.input_shape, -1)).reshape(channel.outputs, -1)


def _rows(channel: Channel, codes: NDArray[Any], weights: Array) -> Array:
    """The same for each of some reports: sets are tallied into several cells, others into one."""
    return _by_row(channel.members(codes), weights) if channel.is_support else weights[codes.astype(np.int64)]


def _moments(channel: Channel, along: Array) -> Array:
    """E[t t'] at even shares."""
    shares = channel.apply(np.full(channel.input_shape, 1 / channel.inputs))
    if channel.is_support:
        return np.asarray(along.T @ channel.second_moments(shares[..., None])[0] @ along, dtype=np.float64)
    weights = _weights(channel, along)
    return np.asarray(weights.T @ (shares.reshape(-1, 1) * weights), dtype=np.float64)
