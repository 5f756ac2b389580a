"""Every analysis of reports, by name; those of one answer to a formula apart from those that are climbed to."""

from __future__ import annotations

from collections import Counter
from functools import cache

import narwhals as nw
import pandas as pd

import deniable as dn


def counted(frame):
    """How often each row stands in a frame."""
    rows = Counter(nw.from_native(frame).rows())
    return "\n".join(f"{','.join(map(str, row))}: {n}" for row, n in sorted(rows.items()))


@cache
def intercepts(reports):
    """A fit that another analysis goes on from."""
    return dn.random_intercept("c ~ 1", reports, groups="cluster")


def chance():
    """What a bootstrap draws: a source goes on from call to call, so that each has its own."""
    return {"replicates": 99, "source": dn.Seeded(6)}


CELLS = {"cluster": range(24), "size": range(10, 34)}
SAMPLED = {"weights": "weight", "strata": "region", "clusters": "cluster"}
BY_CHANCE = ("independence", "conditional_independence", "all_pairs", "goodness_of_fit", "homogeneity")
FLAT_THERE = {"linear": ("blocks, all of 4", "blocks, all of 5")}
# What is a formula of counts, to ten digits; everything else is climbed to, with few exceptions.
FORMULAS = {
    "estimate a by inversion": lambda reports: dn.estimate(reports, "a", "inversion"),
    "estimate b by inversion": lambda reports: dn.estimate(reports, "b", "inversion"),
}
OTHERS = {
    "estimate a": lambda reports: dn.estimate(reports, "a"),
    "estimate a, weighted": lambda reports: dn.estimate(reports, "a", **SAMPLED),
    "estimate a by z": lambda reports: dn.estimate(reports, "a", by="z"),
    "estimate a, c": lambda reports: dn.estimate(reports, ["a", "c"]),
    "estimate a, c by norm_sub": lambda reports: dn.estimate(reports, ["a", "c"], "norm_sub"),
    "estimate a, b, c": lambda reports: dn.estimate(reports, ["a", "b", "c"]),
    "totals": lambda reports: dn.estimate(reports, "b").totals(population=5000),
    "synthesize": lambda reports: counted(dn.synthesize(reports, 100, source=dn.Seeded(6))),
    "likelihood_data": lambda reports: dn.likelihood_data(reports, "a"),
    **{
        measure: (lambda reports, measure=measure: getattr(dn, measure)(dn.estimate(reports, ["a", "c"])))
        for measure in (
            *("entropy", "mutual_information", "chi2", "g2", "cramers_v", "phi", "correlation"),
            *("odds_ratio", "risk_ratio", "difference", "null_mean"),
        )
    },
    "derived": lambda reports: dn.derived(dn.estimate(reports, "a"), lambda shares: shares[0] ** 2),
    "mean": lambda reports: dn.mean(reports, "b"),
    "mean, weighted": lambda reports: dn.mean(reports, "b", **SAMPLED),
    "means_by": lambda reports: dn.means_by(reports, "b", "a"),
    "mean_difference": lambda reports: dn.mean_difference(reports, "b", "a"),
    "total": lambda reports: dn.total(reports, "b", size=1000),
    "median": lambda reports: dn.median(reports, "b", edges=[0, 1, 2, 3]),
    "quantile": lambda reports: dn.quantile(reports, [0.25, 0.75], "b", edges=[0, 1, 2, 3]),
    "cdf": lambda reports: dn.cdf(reports, "b"),
    "independence": lambda reports: dn.independence(reports, "a", "c", **chance()),
    "conditional_independence": lambda reports: dn.conditional_independence(reports, "a", "c", "b", **chance()),
    "all_pairs": lambda reports: dn.all_pairs(reports, **chance()),
    "goodness_of_fit": lambda reports: dn.goodness_of_fit(reports, "a", [0.5, 0.5], **chance()),
    "homogeneity": lambda reports: dn.homogeneity(reports, "c", "z", **chance()),
    "logit": lambda reports: dn.logit("c ~ a + z", reports),
    "logit, weighted": lambda reports: dn.logit("c ~ z", reports, **SAMPLED),
    "probit": lambda reports: dn.probit("c ~ z", reports),
    "cloglog": lambda reports: dn.cloglog("c ~ z", reports),
    "cauchit": lambda reports: dn.cauchit("c ~ z", reports),
    "multinomial": lambda reports: dn.multinomial("b ~ z", reports),
    "linear": lambda reports: dn.linear("b ~ a + z", reports),
    "random_intercept": intercepts,
    "poststratify": lambda reports: dn.poststratify(intercepts(reports), pd.DataFrame(CELLS)),
    "correlate": lambda reports: dn.correlate(reports, "a", "c"),
    "find_clusters": dn.find_clusters,
    "rake": lambda reports: dn.estimate(reports, "a", weights=dn.rake(reports, {"z": {0: 0.4, 1: 0.6}})),
}
