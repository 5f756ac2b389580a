"""Compliance: models for respondents who do not do as the device tells them."""

from __future__ import annotations

from deniable.inference.compliance.cheating import cdm, cdm_symmetric, cdm_triangular, cheating_detection
from deniable.inference.compliance.crosswise import anchored_crosswise, crosswise_bounds, extended_crosswise
from deniable.inference.compliance.lies import sld
from deniable.inference.compliance.protective import self_protective
from deniable.inference.compliance.regressions import (
    anchored_predictor,
    anchored_regression,
    cdm_regression,
    sld_regression,
)
from deniable.inference.compliance.result import Compliance
from deniable.inference.compliance.score import SumScore, sum_score

__all__ = [
    "Compliance",
    "SumScore",
    "anchored_crosswise",
    "anchored_predictor",
    "anchored_regression",
    "cdm",
    "cdm_regression",
    "cdm_symmetric",
    "cdm_triangular",
    "cheating_detection",
    "crosswise_bounds",
    "extended_crosswise",
    "self_protective",
    "sld",
    "sld_regression",
    "sum_score",
]
