"""The measurement of paired respondents over HTTP, on one small survey."""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

from benchmarks.accuracy.pairs_over_http import Errors, collect


def test_errors_over_http_are_those_that_are_stated():
    questions, errors = 40, Errors()
    collect(questions, 20, errors)
    assert (errors.respondents, errors.pairs) == (20, 10)
    assert len(errors.made) == len(errors.stated) == questions
    # Devices draw for themselves. An error over the stated one is nearly normal, and all together are nearly chi-square
    # with 40 degrees; beyond these bounds lies a chance below 1e-7.
    squares = float(np.sum(np.square(errors.made) / np.asarray(errors.stated)))
    assert chi2.ppf(5e-8, questions) < squares < chi2.isf(5e-8, questions)
