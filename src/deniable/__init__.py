"""Ask sensitive questions, learn the population, never the person.

Randomized response under local differential privacy. Names are loaded when first used, so that importing the part that
runs on a respondent's device loads nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

_HOME = {
    "Domain": "domain",
    "Variable": "domain",
    "Seeded": "randomness",
    "Table": "tables.table",
    "KRR": "channels.krr",
    "Mixture": "channels.mixture",
    "Dense": "channels.dense",
    "Kronecker": "channels.kronecker",
    "BinnedLaplace": "channels.laplace",
    "Warner": "channels.devices",
    "ForcedResponse": "channels.devices",
    "UnrelatedQuestion": "channels.devices",
    "Crosswise": "channels.devices",
    "Triangular": "channels.devices",
    "Kuk": "channels.devices",
    "Mangat": "channels.devices",
    "Unary": "channels.unary",
    "SubsetSelection": "channels.subset",
    "LocalHashing": "channels.hashing",
    "HadamardResponse": "channels.hadamard",
    "TwoLevel": "channels.two_level",
    "Design": "designs.base",
    "Question": "designs.base",
    "Observation": "designs.observation",
    "Reports": "designs.reports",
    "read_reports": "designs.files",
    "open_reports": "frames.stored",
    "design_from_dict": "designs.codec",
    "Independent": "designs.independent",
    "Joint": "designs.joint",
    "Clusters": "designs.clusters",
    "Sampled": "designs.sampled",
    "Views": "designs.views",
    "Blocks": "designs.blocks",
    "Paired": "designs.paired",
    "PairedReports": "designs.paired_reports",
    "PairedItems": "designs.paired_items",
    "Coins": "channels.paired",
    "paired_optimum": "channels.paired_optimum",
    "Ledger": "privacy.ledger",
    "Client": "collection.client",
    "Survey": "surveys.survey",
    "read_survey": "surveys.survey",
    "audit": "privacy.audit",
    "Estimate": "estimation.estimate",
    "estimate": "estimation.estimator",
    "synthesize": "estimation.synthesis",
    "block_size": "estimation.blocks",
    "find_clusters": "estimation.clusters",
    "randomize_in_clusters": "estimation.clusters",
    "rr_independent": "estimation.classic",
    "rr_joint": "estimation.classic",
    "rr_ind_joint": "estimation.classic",
    "logit": "inference.regression.binary",
    "probit": "inference.regression.binary",
    "cloglog": "inference.regression.binary",
    "cauchit": "inference.regression.binary",
    "multinomial": "inference.regression.multinomial",
    "linear": "inference.regression.linear",
    "correlate": "inference.regression.correlation",
    "random_intercept": "inference.regression.mixed",
    "cheating_detection": "inference.compliance.cheating",
    "cdm": "inference.compliance.cheating",
    "cdm_symmetric": "inference.compliance.cheating",
    "sld": "inference.compliance.lies",
    "extended_crosswise": "inference.compliance.crosswise",
    "anchored_crosswise": "inference.compliance.crosswise",
    "self_protective": "inference.compliance.protective",
    "sum_score": "inference.compliance.score",
    "prevalence": "inference.prevalence",
    "Prevalence": "inference.prevalence",
    "Prevalences": "inference.prevalence",
    "unrelated_two_samples": "inference.unrelated",
    "Measure": "inference.delta",
    "derived": "inference.delta",
    "entropy": "inference.measures",
    "mutual_information": "inference.measures",
    "chi2": "inference.measures",
    "g2": "inference.measures",
    "cramers_v": "inference.measures",
    "correlation": "inference.measures",
    "phi": "inference.measures",
    "odds_ratio": "inference.measures",
    "risk_ratio": "inference.measures",
    "difference": "inference.measures",
    "null_mean": "inference.measures",
    "independence": "inference.association",
    "conditional_independence": "inference.association",
    "goodness_of_fit": "inference.goodness",
    "homogeneity": "inference.goodness",
    "all_pairs": "inference.pairs",
    "adjusted": "inference.pairs",
    "power": "planning.power",
    "sample_size": "planning.power",
    "sample_size_for_width": "planning.power",
    "sample_cost": "planning.power",
    "plan": "planning.forecast",
    "Forecast": "planning.forecast",
    "Graph": "graphs.graph",
    "NoisyGraph": "graphs.noisy",
    "read_graph": "graphs.files",
    "read_noisy_graph": "graphs.files",
    "Interval": "results",
    "TestResult": "results",
    "DeniableError": "errors",
}

__all__ = sorted(_HOME)  # noqa: PLE0605 - a list, made of the table above

if TYPE_CHECKING:
    from typing import Any


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
