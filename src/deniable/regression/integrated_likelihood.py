"""The likelihood of disguised yes-or-no answers whose groups share an unseen shift, the shift integrated out.

Group g shares a shift s b_g of the linear predictor, b_g normal with variance 1:

    L_g = integral of  prod over its rows of  R_i(b)  phi(b)  db,
    R_i(b) = sum over cells c of  a_ic Pr(report_i | c, x_ic'beta + s b).

Cells are what the hidden predictors (and attributes that ride along) could be, a_ic what else the model says of them;
without any there is one cell. The integral is taken by adaptive Gauss-Hermite quadrature: nodes are placed around each
group's mode m_g with its curvature's width w_g, so that a dozen of them do. Derivatives: by Fisher's identity, the
gradient is the posterior mean of the complete data's; the Hessian is its difference quotient.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

from deniable.frozen import readonly
from deniable.regression.likelihood.responses import Binary, Softmax
from deniable.regression.segment_sums import Places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.regression.likelihood.mixture_likelihood import Likelihood
    from deniable.regression.likelihood.responses import Link

    Array = NDArray[np.float64]

NODES = 25
_MODE_STEPS = 60  # to each group's mode; half a dozen are usual
_COMPARED = 1 << 24  # numbers up to which rows are compared, so that those that are alike are one


class Integrated(NamedTuple):
    """The integrals of all groups: their nodes, and the posterior mass of each.

    Attributes:
        b: the nodes, a row a group.
        mass: of each node given the group's reports; a row sums to one.
        value: the log-likelihood.
        chance: of every row at every node, R over the largest a_ic of the row.
    """

    b: Array
    mass: Array
    value: float
    chance: Array


@dataclass(frozen=True)
class Marginal:
    """The log-likelihood of all parameters and log s, the random intercept integrated out.

    Attributes:
        likelihood: that of the rows, without groups; the first factor of every cell is the outcome's.
        groups: each row's group, numbered from 0.
        nodes: of the quadrature, per group.
    """

    likelihood: Likelihood
    groups: NDArray[np.intp]
    nodes: int = NODES

    @property
    def count(self) -> int:
        """How many groups there are."""
        return int(self.groups.max()) + 1

    @property
    def link(self) -> Link:
        """The outcome's link."""
        response = self.likelihood.cells[0].factors[0].response
        assert isinstance(response, Binary)
        return response.link

    @cached_property
    def _points(self) -> tuple[Array, Array]:
        return special.roots_hermite(self.nodes)

    @cached_property
    def _places(self) -> Places:
        """Rows that the model says the same of: those of a group that depend on the same, in every cell."""
        return Places.of([self.groups, *self._designs.values()])

    @cached_property
    def _runs(self) -> NDArray[np.intp]:
        """Where rows of another group begin."""
        return Places.of([self.groups]).starts

    @property
    def _designs(self) -> dict[int, Array]:
        """What the model depends on; cells and equations share most of it."""
        factors = [factor for cell in self.likelihood.cells for factor in cell.factors]
        return {id(design): design for factor in factors for design in factor.designs}

    @cached_property
    def _said(self) -> tuple[Array, Array]:
        """Pr(reports | cell) of every row, over the largest of the row; and the logarithm of that."""
        cells, none = self.likelihood.cells, np.zeros(self.likelihood.rows)
        logs = np.stack([none if cell.log_chance is None else cell.log_chance for cell in cells], axis=1)
        highest = logs.max(axis=1)
        return readonly(np.exp(logs - highest[:, None])), readonly(highest)

    @cached_property
    def _reported(self) -> tuple[Array, Array]:
        """Pr(report | cell, no) of every row, and the same for yes."""
        data = [cell.factors[0].data for cell in self.likelihood.cells]
        no, yes = (readonly(np.stack([one[:, y] for one in data], axis=1)) for y in (0, 1))
        return no, yes

    def integrate(self, params: Array) -> Integrated:
        """Take every group's integral at the parameters."""
        likes, _, level = self._cells(params[:-1])
        return self._integrate(params, likes, level)

    def _integrate(self, params: Array, likes: Array, level: Array) -> Integrated:
        weights = self.likelihood.weights
        mode, width = self._modes(params, likes)
        points, mass = self._points
        # b = m + sqrt(2) w t turns the integral of h(b) into  sqrt(2) w sum of weights e^(t^2) h(b).
        b = mode[:, None] + np.sqrt(2) * width[:, None] * points
        chance = self._chance(likes, self._link_at(params, b))
        logs = weights[:, None] * np.log(chance)
        inner = self._sum(logs) - b**2 / 2 - np.log(2 * np.pi) / 2 + points**2 + np.log(mass)
        highest = inner.max(axis=1, keepdims=True)
        parts = np.exp(inner - highest)
        total = parts.sum(axis=1)
        value = float((highest[:, 0] + np.log(total) + np.log(np.sqrt(2) * width)).sum() + weights @ level)
        return Integrated(b, parts / total[:, None], value, chance)

    def value(self, params: Array) -> tuple[float, Array]:
        """The log-likelihood and its gradient."""
        scale, count = float(np.exp(params[-1])), len(self.likelihood.cells)
        likes, beside, level = self._cells(params[:-1])
        at = self._integrate(params, likes, level)
        low, high, density, _ = self._link_at(params, at.b)
        weight = self.likelihood.weights[:, None] * at.mass[self.groups] / at.chance
        gradient = np.zeros(len(params))
        # By place: the sum of  weight a_ic (Pr(report | yes) - Pr(report | no))  times the link's density.
        pulls = self._places.crossed(likes, weight)
        pulled = (pulls[:, count:] - pulls[:, :count]) * density
        starts = self._places.starts
        gradient[-1] = (pulled.sum(axis=1) * at.b[self.groups[starts]]).sum() * scale
        held = likes * self._places.times(weight, np.concatenate([low, high], axis=1).transpose(0, 2, 1))
        for c, cell in enumerate(self.likelihood.cells):
            factor = cell.factors[0]
            gradient[factor.places[0]] += pulled[:, c].sum(axis=1) @ factor.designs[0][starts]
            share = held[:, c] + held[:, count + c]
            whole = np.add.reduceat(share, starts)[:, None]
            for other, (pi, chance) in zip(cell.factors[1:], beside[c], strict=True):
                # The sum of  share (q - pi),  q the probability of each truth once the report is known.
                known = self._places.crossed((share / chance)[:, None], other.data)[:, 0]
                steep = pi * (known - whole)
                for equation, (design, place) in enumerate(zip(other.designs, other.places, strict=True), start=1):
                    gradient[place] += steep[:, equation] @ design[starts]
        return at.value + self.likelihood.add_steady(params[:-1], gradient[:-1]), gradient

    def _cells(self, params: Array) -> tuple[Array, list[list[tuple[Array, Array]]], Array]:
        """What a row says of each cell, what cells' other factors do, and the logarithm that it is taken over.

        The first are  a_ic Pr(report_i | c, no)  for every cell, then the same for yes, over the row's largest a_ic.
        Of every other factor: its shares at each place, and the probability of each row's report.
        """
        said, level = self._said
        prior, beside = said.copy(), []
        for c, cell in enumerate(self.likelihood.cells):
            own = []
            for factor in cell.factors[1:]:
                assert isinstance(factor.response, Softmax)
                pi = factor.response.before(factor.eta(params, self._places.starts))
                chance = np.maximum(self._places.times(factor.data, pi[:, :, None])[:, 0], 1e-300)
                prior[:, c] *= chance
                own.append((pi, chance))
            beside.append(own)
        highest = prior.max(axis=1)
        prior /= highest[:, None]
        return np.hstack([prior * report for report in self._reported]), beside, level + np.log(highest)

    def _link_at(self, params: Array, b: Array) -> tuple[Array, Array, Array, Array]:
        """Pr(no), Pr(yes), its density and the density's slope, of every place, cell and node."""
        starts = self._places.starts
        etas = [
            cell.factors[0].designs[0][starts] @ params[cell.factors[0].places[0]] for cell in self.likelihood.cells
        ]
        shift = np.exp(params[-1]) * b[self.groups[starts]]
        low, high, density, slope = self.link.parts(np.stack(etas, axis=1)[:, :, None] + shift[:, None, :])
        return low, high, density, slope

    def _chance(self, likes: Array, link: tuple[Array, Array, Array, Array]) -> Array:
        """R of every row at every node."""
        return np.maximum(self._places.times(likes, np.concatenate(link[:2], axis=1)), 1e-300)

    def _sum(self, rows: Array) -> Array:
        """Add rows up within groups."""
        found = np.zeros((self.count, rows.shape[1]))
        np.add.at(found, self.groups[self._runs], np.add.reduceat(rows, self._runs, axis=0))
        return found

    def _modes(self, params: Array, likes: Array) -> tuple[Array, Array]:
        """Where each group's integrand is highest, and how wide it is there (never wider than the prior)."""
        b, step, weights = np.zeros(self.count), np.zeros(self.count), self.likelihood.weights
        height, curve, scale = np.full(self.count, -np.inf), np.ones(self.count), float(np.exp(params[-1]))
        for _ in range(_MODE_STEPS):
            link = self._link_at(params, (b + step)[:, None])
            chance = self._chance(likes, link)
            moved, second = (
                self._places.times(likes, np.concatenate([-part, part], axis=1)) / chance for part in link[2:]
            )
            there = self._sum(weights[:, None] * np.log(chance))[:, 0] - (b + step) ** 2 / 2
            # Where reports leave the integrand's flanks flat a step can lead down, and back, without end: it is halved.
            rises = there >= height - 1e-12 * np.abs(height)
            b, height = np.where(rises, b + step, b), np.where(rises, there, height)
            slope = scale * self._sum(weights[:, None] * moved)[:, 0] - b
            # The prior alone has curvature 1, which is the least that is divided by.
            bend = np.maximum(1 - scale**2 * self._sum(weights[:, None] * (second - moved**2))[:, 0], 1.0)
            curve = np.where(rises, bend, curve)
            step = np.where(rises, np.clip(slope / bend, -2, 2), step / 2)
            if np.abs(step).max() < 1e-8:
                break
        return b, 1 / np.sqrt(curve)

    def evaluate(self, params: Array) -> tuple[float, Array, Array]:
        """Value, gradient and Hessian."""
        value, gradient = self.value(params)
        hessian = np.empty((len(params), len(params)))
        for place in range(len(params)):
            change = np.zeros(len(params))
            change[place] = 1e-5
            hessian[place] = (self.value(params + change)[1] - self.value(params - change)[1]) / 2e-5
        return value, gradient, (hessian + hessian.T) / 2

    def compact(self) -> Marginal:
        """The same with rows of a group that are alike put together, and rows of a place next to each other."""
        # First what makes a place, so that the order in which alike rows are found keeps places together.
        arrays = {id(self.groups): self.groups[:, None].astype(np.float64), **self._designs}
        places = list(arrays.values())
        for cell in self.likelihood.cells:
            if cell.log_chance is not None:
                arrays[id(cell.log_chance)] = cell.log_chance[:, None]
            arrays |= {id(factor.data): factor.data for factor in cell.factors}
        if sum(array.size for array in arrays.values()) > _COMPARED:
            _, place = _alike(places)
            order = np.argsort(place, kind="stable")
            return replace(self, likelihood=self.likelihood.take(order), groups=self.groups[order])
        first, place = _alike(list(arrays.values()))
        weights = np.bincount(place, self.likelihood.weights).astype(np.float64)
        taken = replace(self.likelihood.take(first), weights=readonly(weights))
        return replace(self, likelihood=taken, groups=self.groups[first])


def _alike(arrays: Sequence[Array]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """One of every kind of rows, kinds that begin with the same arrays next to each other; and the kind of each row."""
    whole = np.ascontiguousarray(np.concatenate(arrays, axis=1))
    rows = whole.view(f"V{whole.itemsize * whole.shape[1]}").ravel()
    _, first, place = np.unique(rows, return_index=True, return_inverse=True)
    return first, place.ravel()
