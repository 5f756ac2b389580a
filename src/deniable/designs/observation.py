"""Observation: counts of reports and the channel that they came through, as estimators take them in."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.kronecker import product
from deniable.channels.match_categories import dealt, matched
from deniable.core.domain import Domain, Variable
from deniable.core.input_coercion import by_cell, has_labels, in_order
from deniable.core.provenance import PEOPLE, Origin
from deniable.designs.reports.set_reports import Sets, collapsed, joined
from deniable.errors import InputError
from deniable.frozen import Frozen, fix
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from deniable.channels.channel import Channel
    from deniable.core.input_coercion import Cells


@dataclass(frozen=True, eq=False)
class Observation(Frozen):
    """Counts of reports about some attributes, and the channel that made them.

    Attributes:
        domain: the attributes the reports speak of.
        channel: the map from a cell of that domain to a report.
        counts: how often each report came, in the channel's output shape; for reports that are sets, how many of them
            hold each truth, and how many there were.
        population: how many respondents the asked ones were drawn from (for fixed-population errors).
        label: what sets it apart from its neighbours: a question, a block, a group.
        sets: of reports that are sets these themselves, where they are known: they say more than the counts do.
        origin: whether the reports are simulated, or a pilot's; counts that somebody hands in cannot know.
    """

    domain: Domain
    channel: Channel
    counts: NDArray[np.float64]
    population: int
    label: str = ""
    sets: Sets | None = None
    origin: Origin = PEOPLE

    def __init__(
        self,
        attributes: Domain | Iterable[str] | str,
        channel: Channel,
        counts: Cells,
        *,
        population: int | None = None,
        label: str = "",
        sets: Sets | None = None,
        origin: Origin = PEOPLE,
    ) -> None:
        """Take a domain, or names alone: categories are then the channel's, or 0, 1, ... as the counts' shape has them.

        Counts that have labels (a series, a crosstab, a mapping) are read by them, and a report whose label is missing
        never came; others are in the channel's order.
        """
        if isinstance(attributes, Domain):
            domain = attributes
        else:
            names = [attributes] if isinstance(attributes, str) else list(attributes)
            domain = _numbered(names, channel, counts)
        if domain.cells != channel.inputs:
            raise InputError(
                f"{listed(domain)} have {domain.cells} cells but {channel.name} has {channel.inputs} truths",
                expected=channel.inputs,
                found=domain.cells,
            )
        channel, turned = matched(channel, domain)
        if turned and not has_labels(counts, next(iter(domain.values())).categories):
            raise InputError(
                f"{channel.name} lists its answers in another order than {listed(domain)}, so counts without labels "
                f"could be in either: give them by name, such as {{{domain[domain.names[0]].categories[0]!r}: 60, ...}}"
            )
        array = _read(counts, channel, domain)
        if array.size != channel.outputs:
            raise InputError(
                f"{channel.name} has {channel.outputs} reports but the counts have shape {array.shape}",
                expected=channel.outputs,
                found=array.size,
            )
        if not np.isfinite(array).all() or (array < 0).any():
            raise InputError("counts must be numbers from 0 upwards")
        fix(self, domain=domain, channel=channel, counts=array.reshape(channel.output_shape))
        if channel.is_support and (self.counts > self._reports * (1 + 1e-9)).any():
            raise InputError(
                f"{channel.name} counts sets: none of its cells can be larger than the number of reports, which is the "
                f"last of them ({self._reports:g})"
            )
        if sets is not None and (not channel.is_support or sets.n != self.n):
            raise InputError(f"{sets.n} sets cannot be what {self.n} reports through {channel.name} were")
        fix(self, population=self.n if population is None else int(population), label=label, sets=sets)
        fix(self, origin=origin)

    @classmethod
    def of_sets(cls, domain: Domain, channel: Channel, sets: Sets, *, population: int) -> Observation:
        """Count what sets hold, and keep them."""
        return cls(domain, channel, sets.held(channel), population=population, sets=sets)

    def coming_from(self, origin: Origin) -> Observation:
        """The same counts, of reports of which this is known."""
        return Observation(**{**self._given(), "origin": origin.share(self.n)}) if origin else self

    def without_sets(self) -> Observation:
        """The counts alone."""
        if self.sets is None:
            return self
        return Observation(**{**self._given(), "sets": None})

    def _given(self) -> dict[str, Any]:
        return {
            "attributes": self.domain,
            "channel": self.channel,
            "counts": self.counts,
            "population": self.population,
            "label": self.label,
            "sets": self.sets,
            "origin": self.origin,
        }

    @property
    def n(self) -> int:
        """How many reports were counted."""
        return round(self._reports)  # weighted counts may sum to 999.9999999

    @property
    def _reports(self) -> float:
        return float(self.channel.reports_in(self.counts))

    @property
    def shares(self) -> NDArray[np.float64]:
        """Observed shares of the reports: the estimate of lambda."""
        return self.counts / max(self._reports, 1.0)

    @property
    def is_support(self) -> bool:
        """Whether the counts are of sets: neither multinomial nor sufficient, see `channels.sets.support`."""
        return self.channel.is_support

    def truth_shape(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Reshape what the channel returns (over its truths) to the domain's axes."""
        return values.reshape(self.domain.shape + values.shape[len(self.channel.input_shape) :])

    def narrow(self, attributes: Iterable[str]) -> Observation | None:
        """Sum the reports over attributes that are not asked for, as far as the channels allow.

        Factors of a product that speak of none of them are dropped; k-RR and mixtures of a tuple collapse to part
        of it; other channels stay whole, and the result then speaks of more than was asked. None if nothing is
        left.
        """
        wanted = set(attributes)
        factors = self.channel.factors
        counts = self.counts.reshape([factor.outputs for factor in factors])
        columns: list[Any] = []
        kept: list[tuple[Channel, list[Variable]]] = []
        for axis, (factor, variables) in reversed(list(enumerate(dealt(factors, list(self.domain.values()))))):
            asked = [v for v in variables if v.name in wanted]
            if not asked:
                alone = np.moveaxis(counts, axis, 0)
                counts = factor.reports_in(alone.reshape(*factor.output_shape, *alone.shape[1:]))
                continue
            shape = tuple(len(v) for v in variables)
            axes = [i for i, v in enumerate(variables) if v.name in wanted]
            smaller = factor.collapse(shape, axes)
            column = None if self.sets is None else self.sets.codes[:, axis]
            if smaller is not None and len(asked) < len(variables):
                # A channel in blocks reports (block, answer): its blocks are an axis before those of the answer.
                blocks = factor.outputs // prod(shape)
                split = counts.reshape((*counts.shape[:axis], blocks, *shape, *counts.shape[axis + 1 :]))
                summed = split.sum(axis=tuple(axis + 1 + i for i in range(len(shape)) if i not in axes))
                counts = summed.reshape((*counts.shape[:axis], smaller.outputs, *counts.shape[axis + 1 :]))
                column = None if column is None else collapsed(column, factor.outputs, shape, axes)
            kept.insert(0, (factor, variables) if smaller is None else (smaller, asked))
            columns.insert(0, column)
        if not kept:
            return None
        channel = product([factor for factor, _ in kept])
        domain = Domain([v for _, variables in kept for v in variables])
        sets = self.sets.of(columns) if self.sets is not None and channel.is_support else None
        found = Observation(domain, channel, counts, population=self.population, label=self.label, sets=sets)
        return found.coming_from(self.origin)

    def __repr__(self) -> str:
        return f"<Observation of {' x '.join(self.domain)}: {self.n} reports through {self.channel.name}>"


def _numbered(names: Sequence[str], channel: Channel, counts: Any) -> Domain:
    """Attributes whose categories nobody named: those that the channel knows, else numbers from 0."""
    if len(names) == 1 and channel.categories is not None:
        return Domain({names[0]: channel.categories})
    shape = channel.input_shape if len(channel.input_shape) == len(names) else np.shape(counts)
    if len(shape) != len(names):
        raise InputError(
            f"{listed(names)} name {len(names)} attributes but the counts have shape {shape}; give a Domain, or counts "
            f"with one axis an attribute"
        )
    return Domain(dict(zip(names, map(range, shape), strict=True)))


def _read(counts: Any, channel: Channel, domain: Domain) -> NDArray[np.float64]:
    """Counts by their labels: answers, or the numbers of reports that are none."""
    answers = channel.is_answer and channel.outputs == domain.cells
    reports = domain if answers else Domain({"report": range(max(channel.outputs, 2))})
    if has_labels(counts, next(iter(reports.values())).categories):
        return by_cell(counts, reports, "the counts", absent=0.0)
    return in_order(counts, "counts of reports")


def merge(observations: Iterable[Observation]) -> list[Observation]:
    """Add the counts of observations that share attributes, channel and label: they are one larger sample."""
    groups: dict[tuple[object, ...], list[Observation]] = {}
    for observation in observations:
        groups.setdefault((observation.domain, observation.channel, observation.label), []).append(observation)
    return [
        Observation(
            domain,  # type: ignore[arg-type]
            channel,  # type: ignore[arg-type]
            np.sum([part.counts for part in parts], axis=0),
            population=max(part.population for part in parts),
            label=str(label),
            sets=joined([part.sets for part in parts]),
        )
        for (domain, channel, label), parts in groups.items()
    ]
