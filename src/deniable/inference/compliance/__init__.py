"""Compliance: models for respondents who do not do as the device tells them."""

from __future__ import annotations

from deniable.inference.compliance.cheating import cdm, cdm_symmetric, cheating_detection
from deniable.inference.compliance.crosswise import anchored_crosswise, extended_crosswise
from deniable.inference.compliance.lies import sld
from deniable.inference.compliance.protective import self_protective
from deniable.inference.compliance.result import Compliance
from deniable.inference.compliance.score import SumScore, sum_score

__all__ = [
    "Compliance",
    "SumScore",
    "anchored_crosswise",
    "cdm",
    "cdm_symmetric",
    "cheating_detection",
    "extended_crosswise",
    "self_protective",
    "sld",
    "sum_score",
]
