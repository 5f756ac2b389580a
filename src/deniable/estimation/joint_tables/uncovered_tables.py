"""Tables that no question covers: what the observed ones imply for them.

From pairs alone a triple is not determined. Every engine below fills the gap with its own idea of "nothing more than
was observed", and each result names its engine:

============ ===================================================================== =======================
"loglinear"  no interaction beyond the observed ones, by likelihood of the reports the default; always exists
"ipf"        the same idea, from reconciled tables projected to the simplex         quick
"qp", "l1"   the nearest table in least squares (of smallest norm), or in l1        extra `optimize`
"graphical"  the same as "loglinear" by least squares, as a graphical model         extra `graphical`
"product"    no interaction at all: the product of marginals                        best when noise is large
============ ===================================================================== =======================

Errors are those of a parametric bootstrap: reports are drawn anew from the fitted table, through the same channels, and
the engine is run on them. They say how much the result would move with other respondents and other coins. They do *not*
say how wrong the engine's idea is: an interaction nobody was asked about is invisible to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.sets.possible_sets import holds_sets
from deniable.core.randomness import SECURE, Seeded, Source
from deniable.core.results import Interval
from deniable.core.table import Table, product
from deniable.designs.observation import Observation
from deniable.errors import InputError
from deniable.estimation.estimate import Estimate
from deniable.estimation.intervals import tail
from deniable.estimation.inversion import pooled_inverse
from deniable.estimation.joint_tables.graphical_model import fit_graphical
from deniable.estimation.joint_tables.loglinear import fit_loglinear, generators
from deniable.estimation.joint_tables.minimum_norm import fit_quadratic
from deniable.estimation.joint_tables.reconcile_marginals import reconcile
from deniable.estimation.shown_intervals import shown_interval
from deniable.frozen import readonly
from deniable.likelihood.covariance_operator import Dispersion
from deniable.likelihood.evidence import of_counts
from deniable.likelihood.linearization import contributions, counts_of, recounted
from deniable.likelihood.report_group import Group
from deniable.numerics.proportional_fitting import fit_margins
from deniable.numerics.simplex import norm_sub
from deniable.text import listed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from deniable.core.domain import Domain
    from deniable.likelihood.evidence import Evidence

Engine = Callable[["Evidence"], tuple[Table, str]]
REPLICATES = 200
_MEASURED = 16  # replicates behind the warning
_ROUGHLY = 1e-2  # nats left to gain in a replicate's fit: errors of errors matter less
_SEEN = 1e-6  # of an even share: no cell of what rides along is smaller


def _loglinear(told: Evidence) -> tuple[Table, str]:
    fit = fit_loglinear(told)
    held = " + ".join("*".join(names) for names in fit.generators)
    return fit.table, f"the log-linear model {held}, fitted to the reports ({fit.evaluations} evaluations)"


def _ipf(told: Evidence) -> tuple[Table, str]:
    known = reconcile([o.narrow(told.asked) or o for o in told.observations])
    margins = [known.table(names) for names in generators(told)]
    fitted = fit_margins([Table(m.domain, norm_sub(m.values)) for m in margins], told.asked)
    return fitted, "iterative proportional fitting to the reconciled tables"


def _quadratic(told: Evidence) -> tuple[Table, str]:
    return fit_quadratic(_margins(told), told.asked), "least squares of smallest norm on the simplex"


def _absolute(told: Evidence) -> tuple[Table, str]:
    return fit_quadratic(_margins(told), told.asked, "l1"), "least absolute deviations on the simplex"


def _graphical(told: Evidence) -> tuple[Table, str]:
    model = fit_graphical(told)
    held = " + ".join("*".join(names) for names in model.pairs)
    return model.table(told.asked.names), f"the graphical model {held} (private-pgm)"


def _product(told: Evidence) -> tuple[Table, str]:
    parts = (told.asked.project(name) for name in told.asked)
    one_way = [Table(part, norm_sub(pooled_inverse(told, part).estimate)) for part in parts]
    return product(one_way), "the product of marginals without negative cells"


ENGINES: dict[str, Engine] = {
    "loglinear": _loglinear,
    "ipf": _ipf,
    "qp": _quadratic,
    "l1": _absolute,
    "graphical": _graphical,
    "product": _product,
}


def forget_blocks(told: Evidence) -> Evidence:
    """As counts alone, adding up what was reported in different blocks of a question: they become one mixture.

    A model goes through its reports many times; knowing each report's block would hardly sharpen it.
    """
    lighter = []
    for o in told.observations:
        pooled = o.channel.pooled()
        forgotten = pooled is not o.channel
        lighter.append(Observation(o.domain, pooled, o.counts.sum(axis=0), population=o.population) if forgotten else o)
    return of_counts(lighter, told.asked)


def has_sets(told: Evidence) -> bool:
    """Whether some reports are sets, whose counts have no likelihood."""
    return any(holds_sets(group.said.channel) for group in told.groups)


def _margins(told: Evidence) -> list[tuple[Table, float]]:
    """Unbiased tables of everything that was asked together, with the mean variance of their cells."""
    inverses = [pooled_inverse(told, told.asked.project(names)) for names in generators(told)]
    return [(Table(each.domain, each.estimate), float(each.variances.mean())) for each in inverses]


# -- the result ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Replicates(Dispersion):
    """A covariance by bootstrap; the replicates are made when first asked for."""

    draw: Callable[[], NDArray[np.float64]] | None = None
    degrees: float = np.inf

    @property
    def df(self) -> float:
        """Those of the evidence."""
        return self.degrees

    def _given(self) -> dict[str, Any]:
        return {**super()._given(), "draw": partial(np.asarray, self.values)}  # drawn now: the same ones elsewhere

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The replicates' tables, one along the last axis each."""
        assert self.draw is not None
        return readonly(self.draw())

    @cached_property
    def _centred(self) -> NDArray[np.float64]:
        return readonly(self.values - self.values.mean(axis=-1, keepdims=True))

    @cached_property
    def variances(self) -> NDArray[np.float64]:
        """Per-cell variances over the replicates."""
        return readonly(self.values.var(axis=-1, ddof=1))

    def __matmul__(self, w: ArrayLike) -> NDArray[np.float64]:
        """Multiply by a vector over the cells, in the table's shape."""
        vector = np.asarray(w, dtype=np.float64).reshape(self.domain.shape)
        along = np.tensordot(vector, self._centred, axes=vector.ndim)
        return (self._centred @ along) / (self.values.shape[-1] - 1)


@dataclass(frozen=True, eq=False)
class ModelEstimate(Estimate):
    """An estimate of a table that no question covers: a model's, so there is no unbiased core behind it.

    `unbiased` repeats the model's table; errors and intervals are the bootstrap's.
    """

    def interval(  # the arguments beyond level are the core's, and mean nothing here
        self,
        level: float = 0.95,
        method: Any = "bootstrap",
        *,
        clip: bool | None = None,
        simultaneous: bool = False,
        replicates: int = REPLICATES,  # noqa: ARG002
        source: Source = SECURE,  # noqa: ARG002
    ) -> Interval:
        """Percentiles of the bootstrap's replicates, stretched to `values`. The model's own error is not in them."""
        if method not in ("bootstrap", "wilson"):  # "wilson" is what a caller gets who did not choose
            raise InputError(f'no question covers this table, so its intervals are method="bootstrap", not {method!r}')
        if not 0 < level < 1:
            raise InputError(f"a confidence level lies between 0 and 1, not {level!r}", level=level)
        assert isinstance(self.dispersion, Replicates)
        miss = (1 - level) / (self.values.size if simultaneous and self.values.size > 2 else 1)
        least = tail(miss, self.dispersion.df)
        low, high = np.quantile(self.dispersion.values, [least, 1 - least], axis=-1)
        count = self.dispersion.values.shape[-1]
        found = Interval(low, high, level, f"parametric bootstrap, {count} replicates")
        return found if clip is False else shown_interval(found, self.values)


def model_estimate(
    told: Evidence, method: str, *, backend: str | None = None, replicates: int = REPLICATES
) -> ModelEstimate:
    """Estimate a table that no reports cover; `method` is an engine's name, or "auto".

    That is "loglinear", or "ipf" where reports are sets, whose counts have no likelihood. Of respondents with
    weights or clusters, replicates are Rao and Wu's.
    """
    sampling, domain = told.sampling, told.asked
    if sampling is not None and sampling.replicated is not None:
        raise InputError(
            f"no question covers {listed(domain)}, and errors of what a model implies are bootstrapped from strata and "
            f"clusters: give weights=, strata= and clusters= instead of replicate weights"
        )
    seen = forget_blocks(told)
    usual = "ipf" if has_sets(seen) else "loglinear"
    engine = usual if method == "auto" else method
    if engine not in ENGINES or (method == "auto" and not connected(generators(seen), domain)):
        pooled_inverse(seen)  # raises, and says what was asked together
    fitted, what = ENGINES[engine](seen)
    table = Table(domain, fitted.values, backend)

    def draw() -> NDArray[np.float64]:
        if sampling is None:
            return bootstrap(seen, table, engine, replicates)
        return refitted(seen, engine, _drawn_by_cluster(told, replicates))

    warning = (
        f"No question covers {listed(domain)} together: this is what the tables that were asked imply under the "
        f"engine's assumption. Errors ({replicates} bootstrap replicates) do not include that assumption's own."
    )
    warned = [warning]
    if engine != "product" and product_is_nearer(seen):
        warned.append(
            'The reports show less dependence than noise: the product of marginals (method="product") is expected to '
            "be nearer to the truth."
        )
    n = sum(o.n for o in seen.observations)
    dispersion = Replicates((), domain, "super", draw, np.inf if sampling is None else sampling.df)
    reason = f"no question covers the table; {what}"
    reason += "" if sampling is None else f"; {sampling.words}".replace("linearization", "Rao and Wu's bootstrap")
    return ModelEstimate(table, table, dispersion, n, engine, reason, tuple(warned))


def _drawn_by_cluster(told: Evidence, replicates: int) -> list[NDArray[np.float64]]:
    """Counts of every group of reports, clusters being drawn anew with replacement, replicates last."""
    place, _ = contributions(told, [np.zeros((len(counts_of(group)), 0)) for group in told.groups])
    sizes = [len(counts_of(group)) for group in told.groups]
    assert told.respondents is not None
    assert told.respondents.sampling is not None
    rng = Seeded(0).stream().generator()
    parts = told.respondents.sampling.bootstrap(place, sum(sizes), replicates, rng)
    every = np.concatenate([counts for _, counts in parts], axis=1)
    ends, drawn = np.cumsum(sizes)[:-1], []
    for group, mine in zip(told.groups, np.split(every, ends), strict=True):
        alone = [replace(told, groups=(Group(recounted(group.said, y), group.domain),)) for y in mine.T]
        drawn.append(np.stack([forget_blocks(one).observations[0].counts.ravel() for one in alone], axis=-1))
    return drawn


def connected(sets: Sequence[tuple[str, ...]], domain: Domain) -> bool:
    """Tell whether the observed sets hang together, so that no attribute is merely assumed to be independent."""
    reached = {domain.names[0]}
    while more := {name for s in sets if reached & set(s) for name in s} - reached:
        reached |= more
    return reached == set(domain)


def product_is_nearer(told: Evidence) -> bool:
    """Tell whether dropping all interactions is expected to cost less than the noise they are estimated with.

    Akaike's criterion: interactions are worth having when they raise the log-likelihood of the reports by more than
    their number. Where noise drives cells to zero, not all of them are free to move, and their number says too much: so
    it is measured, as twice the mean rise when reports are drawn anew from the product of marginals.

    Reports that are sets have no likelihood. There, the tables that were asked are looked at themselves: with D their
    distance from the product of marginals and V their cells' variances, E[sum D^2] = (squared dependence) + sum V, and
    the product errs by the first, the table by the second.
    """
    if has_sets(told):
        return _distance_is_noise(told)
    alone = [(name,) for name in told.asked]
    apart = fit_loglinear(told, sets=alone)
    rise = float(fit_loglinear(told).loglik[0] - apart.loglik[0])
    drawn = draw_reports(told, apart.table, _MEASURED, Seeded(0))
    with_noise = fit_loglinear(told, counts=drawn, gap=_ROUGHLY).loglik
    free = 2 * float((with_noise - fit_loglinear(told, sets=alone, counts=drawn).loglik).mean())
    return rise < free


def _distance_is_noise(told: Evidence) -> bool:
    distance = noise = 0.0
    for names in (names for names in generators(told) if len(names) > 1):
        whole, parts = pooled_inverse(told, told.asked.project(names)), [told.asked.project(name) for name in names]
        apart = product([Table(part, pooled_inverse(told, part).estimate) for part in parts]).project(names)
        distance += float(((whole.estimate - apart.values) ** 2).sum())
        noise += float(whole.variances.sum())
    return distance < 2 * noise


def draw_reports(told: Evidence, table: Table, replicates: int, source: Source) -> list[NDArray[np.float64]]:
    """Counts of reports drawn anew from a table through their channels, replicates last."""
    rng = source.stream().generator()
    drawn = []
    for o in told.observations:
        own = _through(o, table).reshape(o.channel.input_shape)
        drawn.append(o.channel.draw(own, o.n, rng, replicates).reshape(o.channel.outputs, replicates))
    return drawn


def _through(o: Observation, table: Table) -> NDArray[np.float64]:
    """The table of an observation's attributes: the given one, within its cells what the observation says of others.

    Others are there where a channel has no form for part of its attributes (sets of pairs, say).
    """
    known = [name for name in o.domain if name in table.domain]
    if len(known) == len(o.domain):
        return table.project(known).values
    said = np.asarray(o.channel.solve(o.counts.reshape(o.channel.output_shape) / o.n))
    shares = np.maximum(norm_sub(said.ravel()), _SEEN / o.domain.cells).reshape(o.domain.shape)
    others = tuple(axis for axis, name in enumerate(o.domain) if name not in known)
    here = [1 if axis in others else size for axis, size in enumerate(o.domain.shape)]
    given = table.project(known).values.reshape(here) if known else 1.0
    return np.asarray(shares / shares.sum(axis=others, keepdims=True) * given)


def bootstrap(
    told: Evidence, table: Table, engine: str, replicates: int, source: Source | None = None
) -> NDArray[np.float64]:
    """Tables fitted to reports drawn anew from a fitted one. From a fixed seed: the same data give the same errors."""
    return refitted(told, engine, draw_reports(told, table, replicates, source or Seeded(0)))


def refitted(told: Evidence, engine: str, drawn: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Tables that an engine fits to other counts of the same reports, replicates last."""
    if engine == "loglinear":
        return fit_loglinear(told, counts=list(drawn), gap=_ROUGHLY).tables
    again = []
    for i in range(drawn[0].shape[-1]):
        fresh = [
            Observation(o.domain, o.channel, c[:, i].reshape(o.channel.output_shape), population=o.population)
            for o, c in zip(told.observations, drawn, strict=True)
        ]
        again.append(ENGINES[engine](of_counts(fresh, told.asked))[0].values)
    return np.stack(again, axis=-1)
