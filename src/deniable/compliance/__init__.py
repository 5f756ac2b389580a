"""Compliance: models for respondents who do not do as the device tells them."""

from __future__ import annotations

from deniable._public import answer
from deniable.compliance.cheating_detection import cdm, cdm_symmetric, cdm_triangular, cheating_detection
from deniable.compliance.compliance_result import Compliance
from deniable.compliance.crosswise_checks import anchored_crosswise, crosswise_bounds, extended_crosswise
from deniable.compliance.self_protective_no import self_protective
from deniable.compliance.stochastic_lie_detector import sld
from deniable.compliance.sum_score import SumScore, sum_score
from deniable.compliance.trait_regression import (
    anchored_predictor,
    anchored_regression,
    cdm_regression,
    sld_regression,
)

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

answer(globals(), __all__)
