"""`estimate`: from reports to a table with honest errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from deniable.designs.observation import Observation, merge
from deniable.designs.reports import Reports, Tallies
from deniable.domain import Domain
from deniable.errors import InputError, UnknownAttributeError
from deniable.estimation.consistency import ENGINES, forget_blocks, model_estimate
from deniable.estimation.dispersion import Dispersion, Population
from deniable.estimation.em import GAP, MOST_CELLS, maximum_likelihood, refuse_sets
from deniable.estimation.estimate import Estimate
from deniable.estimation.inversion import covering, invert
from deniable.estimation.least_squares import MOST_CELLS as LEAST_SQUARES_CELLS
from deniable.estimation.least_squares import least_squares
from deniable.estimation.paired import pair_notes, with_pairs
from deniable.estimation.shrinkage import shrink
from deniable.tables.simplex import norm_sub
from deniable.tables.table import Table
from deniable.wording import listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

Method = Literal[
    "auto", "inversion", "norm_sub", "mle", "wls", "shrink", "product", "loglinear", "ipf", "qp", "l1", "graphical"
]
Evidence = Reports | Tallies | Observation | Sequence[Reports | Tallies | Observation]

# Above this many average cells, a typical standard error makes the joint table worse than the product of marginals:
# measured on tables with Cramer's V from 0 to .5, the two cross between 1.5 and 8.
SHRINK_ABOVE = 4.0


@overload
def estimate(
    reports: Evidence,
    attributes: str | Iterable[str],
    method: Method = ...,
    by: None = ...,
    *,
    population: Population = ...,
    gap: float = ...,
) -> Estimate: ...


@overload
def estimate(
    reports: Evidence,
    attributes: str | Iterable[str],
    method: Method = ...,
    *,
    by: str,
    population: Population = ...,
    gap: float = ...,
) -> dict[Any, Estimate]: ...


@overload
def estimate(
    reports: Evidence,
    attributes: str | Iterable[str],
    method: Method,
    by: str,
    *,
    population: Population = ...,
    gap: float = ...,
) -> dict[Any, Estimate]: ...


def estimate(
    reports: Evidence,
    attributes: str | Iterable[str],
    method: Method = "auto",
    by: str | None = None,
    *,
    population: Population = "super",
    gap: float = GAP,
) -> Estimate | dict[Any, Estimate]:
    """Estimate the joint table of some attributes.

    Args:
        reports: what respondents sent (or a simulation's tallies, or observations; or a list of these, pooled).
        attributes: whose joint table is wanted.
        method: "inversion" (unbiased, may be negative), "norm_sub" (its projection to the simplex), "mle" (maximum
            likelihood), "wls" (weighted least squares on the simplex), "shrink" (towards the product of marginals),
            "product" (the product itself, of marginals without negative cells: RR-Independent), or "auto": "mle"
            ("wls" where reports are sets) when the table is small for the reports at hand, else "shrink". For tables
            that no question covers, "auto" is "loglinear" ("ipf" where reports are sets); "ipf", "qp", "l1" and
            "graphical" are others, see `consistency`.
        by: a public column; the result is then a dictionary with an estimate for each of its values.
        population: "super" (respondents are a sample: the default) or "fixed" (only the people at hand matter).
        gap: for "mle", how many nats of log-likelihood may be left to gain.

    Returns:
        An `Estimate`, or a dictionary of them when `by` is given.
    """
    names = [attributes] if isinstance(attributes, str) else list(attributes)
    if by is not None:
        if not isinstance(reports, Reports):
            raise InputError("by= needs reports with public columns; observations and simulations have none")
        return {
            value: estimate(part, names, method, population=population, gap=gap) for value, part in reports.groups(by)
        }
    observations = evidence(reports, names)
    domain = _domain(observations, names)
    backend = next((r.backend for r in _listed(reports) if isinstance(r, Reports | Tallies)), None)
    if not any(set(domain) <= set(o.domain) for o in observations):
        return model_estimate(observations, domain, method, backend=backend)
    samples = covering(observations, domain)
    unbiased = Table(domain, invert(samples), backend)
    dispersion = with_pairs(Dispersion(samples, domain, population), _listed(reports))
    chosen, why = _choose(method, unbiased, dispersion)
    table, what = _apply(chosen, unbiased, dispersion, observations, gap)
    reason = "; ".join([*why, what, *pair_notes(dispersion)])
    return Estimate(table, unbiased, dispersion, sum(s.observation.n for s in samples), chosen, reason)


def evidence(reports: Evidence, attributes: Sequence[str]) -> list[Observation]:
    """Everything the reports say about some attributes, samples of the same kind merged."""
    observations: list[Observation] = []
    for source in _listed(reports):
        if isinstance(source, Observation):
            observations += [source] if set(source.domain) & set(attributes) else []
        else:
            observations += source.tabulate(attributes)
    return merge(observations)


def _listed(reports: Evidence) -> Sequence[Reports | Tallies | Observation]:
    return [reports] if isinstance(reports, Reports | Tallies | Observation) else reports


def _domain(observations: Sequence[Observation], names: Sequence[str]) -> Domain:
    known = {v.name: v for o in observations for v in o.domain.values()}
    missing = [name for name in names if name not in known]
    if missing:
        raise UnknownAttributeError(
            f"no report speaks of {listed(missing)}; there are reports about {listed(known) or 'nothing'}",
            attribute=missing[0],
        )
    return Domain([known[name] for name in names])


def _choose(method: Method, unbiased: Table, dispersion: Dispersion) -> tuple[str, list[str]]:
    """Settle "auto", with the reason."""
    if method != "auto":
        return method, []
    cells = unbiased.values.size
    noise = float(np.sqrt(dispersion.variances.mean())) * cells
    told = f"a typical standard error is {noise:.2g} times the average cell"
    if len(unbiased.domain) > 1 and noise > SHRINK_ABOVE:
        return "shrink", [f"{told}, more than {SHRINK_ABOVE:g}, so the joint table alone would be mostly noise"]
    if any(sample.observation.is_support for sample in dispersion.samples):
        if cells > LEAST_SQUARES_CELLS:
            return "norm_sub", [f"reports are sets, and {cells} cells are too many for weighted least squares"]
        return "wls", ["reports are sets, whose counts have no likelihood"]
    if len(unbiased.domain) > 1 and cells > MOST_CELLS:
        return "shrink", [f"{cells} cells are too many for maximum likelihood (at most {MOST_CELLS})"]
    return "mle", [told if len(unbiased.domain) > 1 else "one attribute"]


def _apply(
    method: str, unbiased: Table, dispersion: Dispersion, observations: Sequence[Observation], gap: float
) -> tuple[Table, str]:
    """The table by a method, and what was done in words."""
    domain, backend = unbiased.domain, unbiased.backend
    if method == "inversion":
        return unbiased, "the channel inverted, nothing clipped"
    if method in ("norm_sub", "wls"):
        weighted = method == "wls"
        values = least_squares(unbiased.values, dispersion) if weighted else norm_sub(unbiased.values)
        told = "the nearest table without negative cells" + (", distance measured in its errors" if weighted else "")
        return Table(domain, values, backend), told
    if method == "mle":
        refuse_sets([sample.observation for sample in dispersion.samples])
        likely = [o for o in observations if not o.is_support]  # sets about fewer attributes have no likelihood to add
        fit = maximum_likelihood(likely, domain, gap=gap)
        every = sum(o.n for o in likely)
        told = (
            f"maximum likelihood from all {every} reports that speak of any of them, at most {fit.gap:.1g} nats short"
        )
        return Table(domain, fit.table.values, backend), told
    if method == "shrink":
        variance = float(dispersion.variances.sum())
        shrunk = shrink(unbiased, variance, [Table(m.domain, m.values) for m in _one_way(observations, domain)])
        return shrunk.table, f"shrunk to the product of marginals, of which the joint table kept {shrunk.weight:.0%}"
    if method in ENGINES:
        fitted, what = ENGINES[method](forget_blocks(observations), domain)
        return Table(domain, fitted.values, backend), what
    known = ["auto", "inversion", "norm_sub", "mle", "wls", "shrink", *ENGINES]
    raise InputError(f"there is no method {method!r}; choose from {listed(known)}", method=method)


def _one_way(observations: Sequence[Observation], domain: Domain) -> list[Table]:
    """Unbiased one-way tables, each from every observation that speaks of its attribute."""
    return [Table(part, _unbiased(observations, part)) for part in (domain.project(name) for name in domain)]


def _unbiased(observations: Sequence[Observation], part: Domain) -> NDArray[np.float64]:
    """What one attribute's reports say; sets miss or exceed a total of one by chance, which is spread evenly."""
    table = invert(covering(observations, part))
    return table - (table.sum() - 1) / table.size
