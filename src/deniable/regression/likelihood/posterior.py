"""Heard: what every respondent's report says about the outcome and the disguised predictors of a regression.

Pr(report | cell) over the cells of

    x   the disguised predictors,
    y   the outcome, where it is disguised,
    u   attributes that ride along: a question asks them in one breath with x or y, and its channel does not collapse.

Respondents who were asked only some of it say what they know of that; those who were asked none of it are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.domain import Domain
from deniable.errors import DesignError, NotCoveredError
from deniable.estimation.notes.denominators import applies_to_all
from deniable.frozen import Frozen, readonly
from deniable.likelihood.em import fit
from deniable.likelihood.evidence import Evidence
from deniable.likelihood.gather import gather
from deniable.likelihood.report_group import Group
from deniable.likelihood.report_likelihoods import Counted, Listed, Moments
from deniable.regression.likelihood.disguised_outcome import Disguised
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from deniable.core.domain import Variable
    from deniable.designs.reports.reports import Reports

    Array = NDArray[np.float64]

MOST_CELLS = 128  # of x, y and u together, up to which attributes ride along
_STEPS = 200  # evaluations at most, for the table that starts are made of
_LEAST = 1e-4  # of the even share: no cell of that table is emptier


@dataclass(frozen=True, eq=False)
class Heard(Frozen):
    """Likelihood rows of those who speak.

    Attributes:
        predictors: the disguised predictors.
        outcome: the outcome, if that is disguised.
        riding: attributes that ride along.
        rows: which respondents speak.
        group: for each of them, its place in `groups`.
        alike: for each of them, a number that those share whose reports say the same.
        groups: reports of one kind each, seen from the table of x, y and u.
        chance: Pr(report | x, y, u), an axis each; one y where the outcome is open, one u where nothing rides along.
        used: what was used, in words.
    """

    predictors: tuple[Variable, ...]
    outcome: Variable | None
    riding: tuple[Variable, ...]
    rows: NDArray[np.intp]
    group: NDArray[np.intp]
    alike: NDArray[np.intp]
    groups: tuple[Group, ...]
    chance: Array
    used: tuple[str, ...]

    @property
    def through(self) -> str:
        """The channels that the outcome went through."""
        if self.outcome is None:
            return "direct question"
        return "; ".join(sorted({g.said.channel.name for g in self.groups if self.outcome.name in g.said.part}))

    @cached_property
    def table(self) -> Array:
        """Roughly how frequent x, y and u are: some steps towards the highest likelihood, for starts."""
        return readonly(likely_table(self.groups).reshape(self.chance.shape[1:]))

    @property
    def posterior(self) -> Array:
        """How likely each x is, whoever's report it is: (cells of x, respondents), not yet summing to one."""
        return np.asarray(np.einsum("ixyu,xyu->xi", self.chance, self.table, optimize=True))

    def column(self, name: str) -> Disguised:
        """One attribute alone, the others averaged out as the table has them: what starts are made of."""
        variables = [*self.predictors, *([self.outcome] if self.outcome is not None else []), *self.riding]
        names = [variable.name for variable in variables]
        axis, shape = names.index(name), tuple(len(variable) for variable in variables)
        own = np.moveaxis(self.table.reshape(shape), axis, 0).reshape(shape[axis], -1)
        rows = np.moveaxis(self.chance.reshape(-1, *shape), axis + 1, 1).reshape(-1, shape[axis], own.shape[1])
        share = own.sum(axis=1)
        chance = np.einsum("ivc,vc->iv", rows, own / share[:, None], optimize=True)
        lifted = chance / np.maximum(chance @ share, 1e-300)[:, None]
        # Unbiased at the table: the mean of the scores is then the share itself.
        scores = lifted @ np.linalg.pinv(lifted.T @ lifted / max(len(lifted), 1), hermitian=True)
        # All reports that can come, for whoever needs them: only where this attribute is all that they speak of.
        every = [g.said.matrix for g in self.groups if isinstance(g.said, Counted) and g.said.matrix is not None]
        alone = len(variables) == 1 and len(every) == len(self.groups)
        matrices = tuple(every) if alone else ()
        return Disguised(name, variables[axis].categories, chance, scores, matrices, self.group)


def likely_table(groups: tuple[Group, ...]) -> Array:
    """Roughly the likeliest table of what groups of reports speak of, flat, with nobody's share at zero."""
    if not groups:
        return np.zeros(0)
    domain = groups[0].domain
    found = fit(Evidence(domain, domain, groups, 0), most=_STEPS, strict=False)
    pi = np.maximum(found.pi, _LEAST / domain.cells)
    return np.asarray((pi / pi.sum()).ravel())


def listen(reports: Reports, predictors: Sequence[str], outcome: str | None) -> Heard:
    """Lay out what reports say."""
    asked = [*predictors, *([outcome] if outcome is not None else [])]
    evidence = gather(reports, asked, singly=True)
    domain, kept = _room(evidence)
    _together(evidence, [evidence.groups[number] for number in kept])
    people = evidence.respondents
    assert people is not None
    renumbered = np.full(len(evidence.groups) + 1, -1)
    renumbered[list(kept)] = np.arange(len(kept))
    group = renumbered[people.group]  # the last, -1, stands for those who were asked something else
    rows = np.flatnonzero(group >= 0)
    groups = tuple(Group(evidence.groups[number].said, domain) for number in kept)
    chance = np.empty((len(rows), domain.cells))
    for number, one in enumerate(groups):
        here = group[rows] == number
        chance[here] = one.rows(people.report[rows[here]])
    x = evidence.asked.cells if outcome is None else evidence.asked.cells // len(evidence.asked[outcome])
    return Heard(
        tuple(evidence.asked[name] for name in predictors),
        None if outcome is None else evidence.asked[outcome],
        tuple(variable for name, variable in domain.items() if name not in evidence.asked),
        readonly(rows),
        readonly(group[rows]),
        readonly(np.unique(chance.view(f"V{chance.itemsize * domain.cells}"), return_inverse=True)[1].ravel()),
        groups,
        readonly(chance.reshape(len(rows), x, evidence.asked.cells // x, -1)),
        _used(evidence, kept, domain),
    )


def _room(evidence: Evidence) -> tuple[Domain, tuple[int, ...]]:
    """The attributes of the table, and which groups of reports it holds: those first that say most of what is asked."""
    chosen, kept = dict(evidence.asked), []
    order = sorted(range(len(evidence.groups)), key=lambda n: -len(set(evidence.groups[n].said.part) & set(chosen)))
    for number in order:
        said = evidence.groups[number].said
        wider = {**chosen, **said.part}
        cells = Domain(list(wider.values())).cells
        if isinstance(said, Counted | Listed) and (len(wider) == len(chosen) or cells <= MOST_CELLS):
            chosen = wider
            kept.append(number)
    if not kept:
        raise DesignError(
            f"the questions about {listed(evidence.asked)} ask so much else in one breath that there are more than "
            f"{MOST_CELLS} cells to sum over. Use estimate() for tables, or a design whose channel collapses: "
            f'Independent, or channel="krr"',
            attributes=evidence.asked.names,
        )
    return Domain(list(chosen.values())), tuple(sorted(kept))


def _together(evidence: Evidence, groups: Sequence[Group]) -> None:
    """Refuse attributes that nobody was asked together: only the form of the model would relate them."""
    for pair in combinations(evidence.asked, 2):
        if not any(set(pair) <= set(group.said.part) for group in groups):
            raise NotCoveredError(
                f"no respondent was asked about {listed(pair)} together, so the reports do not say how they are "
                f"related. Use a design that asks them together: Independent, Joint, or Views with "
                f"k={len(evidence.asked)}",
                attributes=pair,
            )


def _used(evidence: Evidence, kept: Sequence[int], domain: Domain) -> tuple[str, ...]:
    told = []
    for number, group in enumerate(evidence.groups):
        why = "by their moments" if isinstance(group.said, Moments) else "too many attributes in one breath"
        left_out = "" if number in kept else f" (left out: {why})"
        about = " and ".join(group.said.part)
        told.append(f"{round(group.said.n)} reports about {about} through {group.said.channel.name}{left_out}")
    silent = [f"{evidence.silent} reports speak of none of it"] if evidence.silent else []
    if evidence.unasked:
        silent.append(f"{evidence.unasked} people were not asked")
    riding = [name for name in domain if name not in evidence.asked]
    along = [f"{' and '.join(riding)} ride along, any share given the outcome and the predictors"] if riding else []
    return (*told, *silent, *along, *applies_to_all([evidence.asked]))


def public_of(reports: Reports) -> pd.DataFrame:
    """The public columns of reports as pandas, a row a respondent even where there are none."""
    import pandas as pd

    if reports.public is None:
        return pd.DataFrame(index=pd.RangeIndex(reports.n))
    return reports.public.to_pandas().reset_index(drop=True)
