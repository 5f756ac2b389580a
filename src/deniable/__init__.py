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
    "Design": "designs.base",
    "Question": "designs.base",
    "Observation": "designs.observation",
    "Reports": "designs.reports",
    "Independent": "designs.independent",
    "Joint": "designs.joint",
    "Clusters": "designs.clusters",
    "Sampled": "designs.sampled",
    "Views": "designs.views",
    "Ledger": "privacy.ledger",
    "audit": "privacy.audit",
    "Estimate": "estimation.estimate",
    "estimate": "estimation.estimator",
    "find_clusters": "estimation.clusters",
    "randomize_in_clusters": "estimation.clusters",
    "rr_independent": "estimation.classic",
    "rr_joint": "estimation.classic",
    "rr_ind_joint": "estimation.classic",
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
