"""Sampling: how respondents were drawn, and what follows for the variance of whatever is computed from them.

Respondents carry weights w and are drawn by clusters (households, schools) inside strata (regions). Every estimate is
to first order a weighted sum of what each respondent contributes, sum of w_i z_i. With Z_c the sum in cluster c of
stratum h, and n_h clusters there (drawn with replacement, as is usual),

    Cov = sum over h of  n_h / (n_h - 1)  sum over c of (Z_c - mean_h Z)(Z_c - mean_h Z)'.

Where weights were raked to known margins, z is what a weighted regression on the margins leaves of it (Deville &
Sarndal 1992): what is known does not vary. Where replicate weights are given, the covariance is theirs:
scale times the sum over r of  r_r (Z_r - mean Z)(Z_r - mean Z)',  Z_r the sums with the weights of replicate r.

A part of the population is looked at with the whole sample's clusters: respondents outside contribute nothing, but how
many of a cluster's lie inside is itself a matter of chance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import InputError, TooFewReportsError
from deniable.frozen import Frozen, readonly
from deniable.sampling.degrees_of_freedom import FEW, satterthwaite
from deniable.text import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from scipy import sparse

    from deniable.sampling.raking import Margins
    from deniable.sampling.replicate_weights import Replicated

    Array = NDArray[np.float64]
    Places = NDArray[np.int64]
    Inside = NDArray[np.bool_]
    Linear = tuple[Places, Array]  # each respondent's row in a table of contributions (-1: none), and that table

_PIECE = 1 << 22  # numbers that are worked on together
_DOMINANT = 0.5  # of all weight: more on one respondent leaves no sample


@dataclass(frozen=True, eq=False)
class Sampling(Frozen):
    """How respondents were drawn.

    Attributes:
        given: one weight a respondent, before anything was raked.
        stratum: each respondent's stratum, numbered from 0.
        cluster: each respondent's cluster, numbered from 0; every cluster lies in one stratum.
        told: what was given, in words.
        margins: what the weights are raked to; None if nothing.
        replicated: replicate weights; None if errors come from strata and clusters.
        inside: which respondents are looked at; None for all.
    """

    given: Array
    stratum: Places
    cluster: Places
    told: tuple[str, ...] = ()
    margins: Margins | None = None
    replicated: Replicated | None = None
    inside: Inside | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not len(self.given) == len(self.stratum) == len(self.cluster):
            raise InputError("weights, strata and clusters must each hold one value a respondent")
        if not len(self.given):
            raise TooFewReportsError("there are no respondents, so nothing can be estimated", n=0)
        lonely = int((self._sizes < 2).sum())
        if lonely and self.replicated is None:
            where = "there is" if len(self._sizes) == 1 else f"{lonely} of {len(self._sizes)} strata hold"
            way_out = "give clusters= that are smaller" if len(self._sizes) == 1 else "join them with neighbouring ones"
            raise TooFewReportsError(
                f"{where} a single cluster, in which the variance between clusters cannot be seen; {way_out}",
                strata=lonely,
            )

    @property
    def n(self) -> int:
        """How many respondents there are."""
        return len(self.given)

    @cached_property
    def within(self) -> NDArray[np.bool_]:
        """Which respondents are looked at."""
        return readonly(np.ones(self.n, dtype=bool) if self.inside is None else self.inside)

    def only(self, inside: NDArray[np.bool_]) -> Sampling:
        """The same sample, looking at some respondents only."""
        return replace(self, inside=self.within & inside)

    # -- weights -----------------------------------------------------------------------------------------------------

    @cached_property
    def weights(self) -> Array:
        """One a respondent, raked where margins are known; those outside are not left out of it."""
        if self.margins is None:
            return self.given
        return readonly(self.given * self._raked(self.given[:, None])[self.margins.cell, 0])

    def _raked(self, weights: Array) -> Array:
        """Factors of the cells for columns of weights, one a replicate."""
        assert self.margins is not None
        cells = len(self.margins.member)
        sums = [np.bincount(self.margins.cell, w, cells).astype(np.float64) for w in weights.T]
        return self.margins.factors(np.stack(sums, axis=1))

    @cached_property
    def total(self) -> float:
        """The sum of the weights inside: how many people of the population the respondents stand for."""
        w = self.weights[self.within]
        found = float(w.sum())
        if not found > 0:
            raise TooFewReportsError("nobody has any weight, so nothing can be estimated", n=len(w))
        worth = float((w / found).max())
        if worth > _DOMINANT:
            raise TooFewReportsError(
                f"one respondent carries {worth:.1%} of all weight, so nothing shows how estimates vary. Trim the "
                f"weights, or leave that respondent out",
                n=len(w),
            )
        return found

    @property
    def scale(self) -> float:
        """What brings the weights inside to a mean of one."""
        return float(self.within.sum()) / self.total

    @cached_property
    def scaled(self) -> Array:
        """Weights with a mean of one inside, and zero outside: what reports are counted with."""
        return readonly(np.where(self.within, self.weights * self.scale, 0.0))

    @property
    def effect(self) -> float:
        """Kish's 1 + cv^2 of the weights: how many times the respondents uneven weights alone cost."""
        w = self.weights[self.within]
        return float(len(w) * (w**2).sum() / w.sum() ** 2)

    # -- strata and clusters -----------------------------------------------------------------------------------------

    @cached_property
    def _home(self) -> Places:
        """Each cluster's stratum."""
        home = np.zeros(int(self.cluster.max()) + 1, dtype=np.int64)
        home[self.cluster] = self.stratum
        return readonly(home)

    @cached_property
    def _sizes(self) -> Places:
        """How many clusters each stratum holds."""
        return readonly(np.bincount(self._home))

    @cached_property
    def df(self) -> float:
        """Degrees of freedom of every error: Satterthwaite's (see `degrees_of_freedom`), or of replicates their rank's.

        Not the number of respondents: a hundred in each of ten villages tell about ten villages, and about fewer where
        one village holds most of the people.
        """
        most = self._most_degrees
        if self.replicated is not None:
            return most
        w = self.scaled
        sums = [np.bincount(self.cluster, each, len(self._home)).astype(np.float64) for each in (w, w**2)]
        return min(most, round(satterthwaite(self._home, *sums), 6))

    def df_beside(self, terms: int) -> float:
        """Degrees of freedom of a coefficient among so many terms that are fitted; R's `svyglm` has these at most."""
        return min(self.df, self._most_degrees + 1 - terms)

    @cached_property
    def _most_degrees(self) -> float:
        """Clusters less strata that hold anybody inside; of replicate weights, what differs between them."""
        if self.replicated is not None:
            found = self.replicated.rank(self.within) - 1
        else:
            clusters = np.unique(self.cluster[self.within])
            found = len(clusters) - len(np.unique(self._home[clusters]))
        if found < 1:
            n = int(self.within.sum())
            where = (
                "have the same weights, up to a factor, in every replicate"
                if self.replicated is not None
                else f"lie in {counted(len(clusters), 'cluster')}, no more than one a stratum"
            )
            raise TooFewReportsError(
                f"the {n} respondents looked at {where}, so the variance between clusters cannot be seen. Look at "
                f"larger groups",
                n=n,
            )
        return float(found)

    def _by_cluster(self, place: Places, size: int) -> sparse.csr_matrix:
        """Weights by cluster and place."""
        from scipy.sparse import csr_matrix

        seen = (place >= 0) & self.within
        shape = (len(self._home), size)
        return csr_matrix((self.scaled[seen], (self.cluster[seen], place[seen])), shape=shape)

    # -- variances ---------------------------------------------------------------------------------------------------

    def covariance(self, *parts: Linear) -> Array:
        """The covariance of the weighted sums of what respondents contribute.

        Args:
            parts: for every set of variables the row of each respondent in a table of contributions, -1 for those who
                contribute nothing; and that table, a row for each of these rows and a column a variable.
        """
        if self.replicated is not None:
            again = np.concatenate([self.replicates(place, len(z)).T @ z for place, z in parts], axis=1)
            return self.replicated.covariance(again)
        counts = [self._by_cluster(place, len(z)) for place, z in parts]
        tables = [z for _, z in parts]
        known = None if self.margins is None else self._explained(parts)
        everywhere = None if known is None else self._everywhere(len(known))
        width = sum(z.shape[1] for _, z in parts)
        ends = np.cumsum([0, *(z.shape[1] for _, z in parts)])
        scale = self._sizes / (self._sizes - 1)
        total, sums = np.zeros((width, width)), np.zeros((len(self._sizes), width))
        step = max(1, _PIECE // max(width, 1))
        for start in range(0, len(self._home), step):
            here = slice(start, start + step)
            z = np.zeros((len(self._home[here]), width))
            for k in range(len(parts)):
                z[:, ends[k] : ends[k + 1]] += counts[k][here] @ tables[k]
            if everywhere is not None:
                z -= everywhere[here] @ known
            total += (z * scale[self._home[here], None]).T @ z
            np.add.at(sums, self._home[here], z)
        return np.asarray(total - (sums * (scale / self._sizes)[:, None]).T @ sums)

    def _everywhere(self, cells: int) -> sparse.csr_matrix:
        """Weights by cluster and cell of the margins, of those outside too: they are part of what is known."""
        from scipy.sparse import csr_matrix

        assert self.margins is not None
        w = self.weights * self.scale
        return csr_matrix((w, (self.cluster, self.margins.cell)), shape=(len(self._home), cells))

    def _explained(self, parts: Sequence[Linear]) -> Array:
        """What known margins explain of the variables, by cell of the margins."""
        from scipy.sparse import csr_matrix

        assert self.margins is not None
        cells, w = len(self.margins.member), self.weights * self.scale
        sums = []
        for place, z in parts:
            seen = (place >= 0) & self.within
            where = (self.margins.cell[seen], place[seen])
            sums.append(csr_matrix((w[seen], where), shape=(cells, len(z))) @ z)
        weights = np.bincount(self.margins.cell, w, cells).astype(np.float64)
        return self.margins.explained(weights, np.concatenate(sums, axis=1))

    # -- replicates --------------------------------------------------------------------------------------------------

    def replicates(self, place: Places, size: int) -> Array:
        """The weighted counts at every place, with the weights of each given replicate: (places, replicates)."""
        from scipy.sparse import csr_matrix

        assert self.replicated is not None
        seen = np.flatnonzero((place >= 0) & self.within)
        picks = csr_matrix((np.full(len(seen), self.scale), (place[seen], seen)), shape=(size, self.n))
        return np.asarray(picks @ self.replicated.weights)

    def bootstrap(
        self, place: Places, size: int, replicates: int, rng: np.random.Generator
    ) -> Iterator[tuple[slice, Array]]:
        """Weighted counts of Rao & Wu's (1988) rescaled bootstrap, some replicates at a time.

        In every stratum n_h - 1 of its n_h clusters are drawn with replacement, and the weights of one that was drawn
        m times are multiplied by m n_h / (n_h - 1). Weights that were raked are raked again.
        """
        from scipy.sparse import csr_matrix

        if self.replicated is not None:
            raise InputError(
                "replicate weights say by themselves how estimates vary; nothing is drawn anew. Use a method other "
                "than the bootstrap"
            )
        pairs, pair = np.unique(
            np.stack([self.cluster, np.zeros_like(self.cluster) if self.margins is None else self.margins.cell]),
            axis=1,
            return_inverse=True,
        )
        seen = (place >= 0) & self.within
        base = self.given * self.scale
        by_place = csr_matrix((base[seen], (place[seen], pair.ravel()[seen])), shape=(size, pairs.shape[1]))
        by_pair = np.bincount(pair.ravel(), base, pairs.shape[1])
        step = max(1, _PIECE // pairs.shape[1])
        for start in range(0, replicates, step):
            count = min(step, replicates - start)
            often = np.empty((len(self._home), count))
            for h, clusters in enumerate(self._sizes.tolist()):
                drawn = rng.multinomial(clusters - 1, np.full(clusters, 1 / clusters), size=count)
                often[self._home == h] = drawn.T * (clusters / (clusters - 1))
            times = often[pairs[0]]
            if self.margins is not None:
                sums = np.zeros((len(self.margins.member), count))
                np.add.at(sums, pairs[1], by_pair[:, None] * times / self.scale)
                times = times * self.margins.factors(sums)[pairs[1]]
            yield slice(start, start + count), np.asarray(by_place @ times)

    # -- in words ----------------------------------------------------------------------------------------------------

    @property
    def words(self) -> str:
        """What errors are made of, in words."""
        what = listed(self.told).replace("'", "") or "equal weights"
        if self.replicated is not None:
            how = counted(self.replicated.weights.shape[1], "replicate")
        else:
            how = f"linearization over {what}"
        return f"errors by {how} ({self._degrees})"

    @property
    def _degrees(self) -> str:
        return f"{self.df:.1f}".removesuffix(".0") + " degrees of freedom"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What must be known of every error: that it is rough, where few clusters show how clusters vary."""
        if self.df >= FEW:
            return ()
        told = f"Errors stand on {self._degrees}: they are rough themselves, and intervals are wider for it."
        return (told,)

    def __repr__(self) -> str:
        clusters, strata = len(self._home), len(self._sizes)
        grouped = "" if clusters == self.n else f" in {counted(clusters, 'cluster')}"
        layered = "" if strata == 1 else f" of {strata} strata"
        raked = "" if self.margins is None else f", raked to {' and '.join(self.margins.names)}"
        return f"<Sampling of {self.n} respondents{grouped}{layered}{raked}; uneven weights cost {self.effect:.2f}>"
