"""Means of products of disguised and open columns, from every report that speaks of them.

A report has an unbiased score  w_i(v)  for every cell v of the attributes V that it speaks of: E(w_i(v) | truth) =
[truth is v]. So for any function f of these and of the open columns z,

    E f(v, z)  is the mean of  sum over v of  w_i(v) f(v, z_i),

over those who speak of V. Respondents are in groups by what they speak of; a group gives unbiased means m_g of some of
the wanted functions, with their covariance C_g over its n_g respondents. Pooled by generalised least squares:

    m = (sum of A_g' C_g^+ A_g)^-1  sum of A_g' C_g^+ m_g,        A_g picks what the group speaks of,

with the C_g that the likeliest table makes one expect: those of the scores themselves go together with the means, and
in groups of a few dozen respondents they decided which group was believed.

Nothing is assumed of the distribution of anything. Scores of counted reports are a left inverse of their channel,

    w = (P' L^-1 P)^-1 P' L^-1,        L = diag(lambda), lambda = P pi,

the best one where the truth is pi; any pi leaves the means unbiased, and pi is the likeliest table. L may depend on the
reports through estimated shares only: were it how often every report came, each would weigh itself, and where hardly
two reports are alike (sets, blocks) that is a bias. Scores of sets that cannot all be listed are the channel's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import NotCoveredError
from deniable.estimation.notes.denominators import applies_to_all
from deniable.likelihood.gather import gather
from deniable.likelihood.report_likelihoods import Counted, Listed, Moments, unbiased_scores
from deniable.regression.likelihood.posterior import likely_table
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.core.domain import Domain
    from deniable.designs.reports.reports import Reports
    from deniable.likelihood.report_group import Group
    from deniable.regression.likelihood.disguised_outcome import Disguised

    Array = NDArray[np.float64]

_AT_ONCE = 1 << 22  # numbers of functions on cells that are held at once


@dataclass(frozen=True, eq=False)
class Voices:
    """Respondents who speak of the same disguised attributes.

    Attributes:
        rows: which they are.
        names: the attributes.
        scores: of every cell, an axis an attribute after that of the respondents.
        likely: the table of these attributes that the reports make likeliest, flat; None where there are no reports.
        squares: E w w' of the scores under it, (cells, cells).
    """

    rows: NDArray[np.intp]
    names: tuple[str, ...]
    scores: Array
    likely: Array | None = None
    squares: Array | None = None

    def of(self, names: Sequence[str]) -> Array:
        """Scores of the cells of some of the attributes, in the order of `names`: (respondents, cells)."""
        others = tuple(1 + axis for axis, name in enumerate(self.names) if name not in names)
        summed = self.scores.sum(axis=others) if others else self.scores
        left = [name for name in self.names if name in names]
        return summed.transpose(0, *(1 + left.index(name) for name in names)).reshape(len(self.rows), -1)


@dataclass(frozen=True, eq=False)
class Wanted:
    """The mean of a function of some disguised attributes and of the open columns.

    Attributes:
        names: the attributes.
        values: of the function, (cells of the attributes, respondents).
    """

    names: tuple[str, ...]
    values: Array


@dataclass(frozen=True, eq=False)
class Heard:
    """Who speaks of what in reports.

    Attributes:
        voices: theirs. Those whose ballot has none of it are voices of nothing; whom it was not put to are in none.
        asked: the attributes, with the answers of those who were asked.
        n: how many respondents that are.
        used: what was used, in words.
    """

    voices: list[Voices]
    asked: Domain
    n: int
    used: tuple[str, ...]


def voices_of(reports: Reports, names: Sequence[str]) -> Heard:
    """Who speaks of some attributes in reports."""
    evidence = gather(reports, names, singly=True)
    people = evidence.respondents
    assert people is not None
    likely = likely_table(evidence.likely)
    found, left_out = [], []
    for number, group in enumerate(evidence.groups):
        rows = np.flatnonzero(people.group == number)
        if isinstance(group.said, Moments) or group.said.channel.is_partial:
            why = "tell only some sums" if group.said.channel.is_partial else "ask too much in one breath"
            left_out.append(f"{len(rows)} reports through {group.said.channel.name} {why}: left out")
            continue
        kept = tuple(name for name in group.said.part if name in names)
        own = tuple(map(len, group.said.part.values()))
        others = tuple(1 + axis for axis, name in enumerate(group.said.part) if name not in names)
        scores = _scores(group, likely).reshape(-1, *own).sum(axis=others)
        alone, flat = (
            group.down(likely[:, None]).reshape(1, *own).sum(axis=others).ravel(),
            scores.reshape(len(scores), -1),
        )
        squares = (flat.T * expected_shares(group, likely)) @ flat
        found.append(Voices(rows, kept, scores[people.report[rows]], alone, squares))
    among = reports.among_asked(names).among
    silent = np.flatnonzero(people.group < 0 if among is None else (people.group < 0) & among.inside)
    if len(silent):
        found.append(Voices(silent, (), np.ones(len(silent))))
    unasked = [f"{evidence.unasked} people were not asked"] if evidence.unasked else []
    told = (*evidence.used, *unasked, *applies_to_all([evidence.asked]), *left_out)
    return Heard(found, evidence.asked, reports.n - evidence.unasked, told)


def voices_of_columns(columns: Sequence[Disguised], n: int) -> list[Voices]:
    """All rows of a frame, whose columns were disguised one by one."""
    scores: Array = np.ones((n, 1))
    for column in columns:
        scores = (scores[:, :, None] * column.scores[:, None, :]).reshape(n, -1)
    shape = tuple(len(column.labels) for column in columns)
    return [Voices(np.arange(n), tuple(column.name for column in columns), scores.reshape(n, *shape))]


def _scores(group: Group, likely: Array) -> Array:
    """Unbiased scores of every listed report of a group: (reports, own cells)."""
    said = group.said
    assert isinstance(said, Counted | Listed)
    if isinstance(said, Listed) or said.matrix is None:
        return unbiased_scores(said, said.part)
    shares = said.matrix @ group.down(likely[:, None])[:, 0]
    weighted = np.divide(said.matrix, shares[:, None], out=np.zeros_like(said.matrix), where=shares[:, None] > 0)
    return np.asarray(np.linalg.solve(said.matrix.T @ weighted, weighted.T).T)


def pool(voices: Sequence[Voices], wanted: Sequence[Wanted], weights: Array) -> tuple[Array, Array]:
    """The means of all wanted functions, and how far every respondent pulls each: (respondents, functions).

    The sum of the pulls' outer products is the covariance of the means.
    """
    _asked(voices, wanted)
    known: list[tuple[Voices, list[int], Array, Array, Array]] = []
    sums, heavy = np.zeros(len(wanted)), np.zeros(len(wanted))
    for voice in voices:
        told = [place for place, one in enumerate(wanted) if set(one.names) <= set(voice.names)]
        weight = weights[voice.rows]
        if not told or weight.sum() <= 0:
            continue
        each = np.stack([_each(voice, wanted[place]) for place in told], axis=1)
        mean = weight @ each / weight.sum()
        sums[told] += weight.sum() * mean
        heavy[told] += weight.sum()
        away = (weight / weight.sum())[:, None] * (each - mean)
        known.append((voice, told, mean, away, _inverse(_covariance(voice, [wanted[i] for i in told], weight, away))))
    # From the plain means on: what does not vary in anybody (an intercept's square) stays as it is.
    plain = sums / heavy
    information, toward = np.zeros((len(wanted), len(wanted))), np.zeros(len(wanted))
    for _, told, mean, _, inside in known:
        information[np.ix_(told, told)] += inside
        toward[told] += inside @ (mean - plain[told])
    spread = _inverse(information)
    pulls = np.zeros((len(weights), len(wanted)))
    for voice, told, _, away, inside in known:
        pulls[voice.rows] += away @ (spread[:, told] @ inside).T
    return plain + spread @ toward, pulls


def expected_shares(group: Group, likely: Array) -> Array:
    """How frequent listed reports of a group are expected to be; those that cannot all be listed, as they came."""
    said = group.said
    assert isinstance(said, Counted | Listed)
    if isinstance(said, Counted):
        return said.apply(group.down(likely[:, None]))[:, 0]
    return said.counts / said.counts.sum()


def _covariance(voice: Voices, wanted: Sequence[Wanted], weight: Array, away: Array) -> Array:
    """The covariance of the means of a group, which it is weighted by: expected where the likeliest table is known."""
    if voice.likely is None or voice.squares is None:
        return away.T @ away
    share = weight / weight.sum()
    values, vectors = np.linalg.eigh(voice.squares)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    step = max(1, _AT_ONCE // (len(wanted) * len(voice.likely)))
    parts = [slice(start, start + step) for start in range(0, len(share), step)]
    mean = np.zeros(len(wanted))
    for some in parts:
        mean += np.einsum("fcn,c,n->f", _spread(wanted, voice, some), voice.likely, share[some], optimize=True)
    total = np.zeros((len(wanted), len(wanted)))
    for some in parts:  # scores of a report add up to one, so that a function less its mean is what it moves
        away = _spread(wanted, voice, some) - mean[:, None, None]
        moved = (np.einsum("kc,fcn->fkn", root, away, optimize=True) * share[some]).reshape(len(wanted), -1)
        total += moved @ moved.T
    return total


def _spread(wanted: Sequence[Wanted], voice: Voices, some: slice) -> Array:
    """Functions of some of a group's attributes on all its cells, at some respondents: (functions, cells, these)."""
    shape, rows = voice.scores.shape[1:], voice.rows[some]
    cells, found = np.indices(shape).reshape(len(shape), -1), []
    for one in wanted:
        axes = [voice.names.index(name) for name in one.names]
        lengths = tuple(shape[axis] for axis in axes)
        place = np.ravel_multi_index(tuple(cells[axes]), lengths) if axes else np.zeros(cells.shape[1], dtype=np.intp)
        found.append(one.values[:, rows][place])
    return np.stack(found)


def _each(voice: Voices, one: Wanted) -> Array:
    """Every respondent's unbiased value of a function."""
    values = one.values[:, voice.rows].T
    return np.asarray((voice.of(one.names) * values).sum(axis=1)) if one.names else values[:, 0]


def _inverse(covariance: Array) -> Array:
    """A covariance inverted where anything varies, in units of its own."""
    size = np.sqrt(np.diagonal(covariance))
    scale = np.where(size > 0, 1 / np.where(size > 0, size, 1.0), 0.0)
    return scale[:, None] * np.linalg.pinv(covariance * np.outer(scale, scale), hermitian=True, rcond=1e-9) * scale


def _asked(voices: Sequence[Voices], wanted: Sequence[Wanted]) -> None:
    """Refuse what nobody was asked together."""
    if not voices:
        raise NotCoveredError(
            "every report came through a channel that tells only some sums of the shares, and from none of them "
            "something can be said about a respondent's own answers. Ask for the numbers that the channels were made "
            "for, or use a design whose channels tell all shares"
        )
    for one in wanted:
        if not any(set(one.names) <= set(voice.names) for voice in voices):
            raise NotCoveredError(
                f"no respondent was asked about {listed(one.names)} together, so the reports do not say how they are "
                f"related. Use a design that asks them together: Independent, Joint, or Views with k={len(one.names)}",
                attributes=one.names,
            )


def cells_of(domain: Mapping[str, Sequence[object]], names: Sequence[str]) -> NDArray[np.intp]:
    """The codes of every cell of some attributes: (attributes, cells)."""
    shape = tuple(len(domain[name]) for name in names)
    return np.indices(shape).reshape(len(names), prod(shape)) if names else np.zeros((0, 1), dtype=np.intp)
