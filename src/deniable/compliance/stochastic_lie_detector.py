"""The stochastic lie detector: carriers tell the truth with probability t only.

Carriers should say "yes" always; others answer truthfully with a probability p_j that differs between randomly formed
groups, and say "yes" otherwise (Mangat's device). If carriers comply with probability t:

    lambda_j = pi t + (1 - pi) (1 - p_j).

Reference:
    M. Moshagen, J. Musch and E. Erdfelder (2012), A stochastic lie detector, Behavior Research Methods 44, 222-231.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.compliance.compliance_result import Compliance, one_sided
from deniable.compliance.device_groups import Counts, count, fit_inside, fit_linear, probabilities, sampling_for
from deniable.core.input_coercion import by_label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from deniable.compliance.device_groups import Weighted
    from deniable.sampling.read_sampling import Column


def sld(
    reports: ArrayLike | Counts,
    groups: ArrayLike | None = None,
    *,
    p: Mapping[Any, float],
    weights: Weighted = None,
    strata: Column | None = None,
    clusters: Column | None = None,
) -> Compliance:
    """Stochastic lie detector: the carriers' share pi, and the probability t that a carrier tells the truth.

    With two groups  1 - pi = (lambda_2 - lambda_1) / (p_1 - p_2)  and  t = (lambda_1 - (1 - pi)(1 - p_1)) / pi.
    Standard errors by the delta method. `compliance` tests t = 1 by a one-sided likelihood ratio.

    Args:
        reports: one report (0 or 1) per respondent, or counts {group: (no, yes)}.
        groups: each respondent's group; not with counts.
        p: each group's probability that a non-carrier answers truthfully, as in `Mangat(p)`.
        weights: survey weights, one a respondent, or what `rake` returns.
        strata: each respondent's stratum.
        clusters: each respondent's cluster.

    >>> found = sld({"a": (688, 312), "b": (352, 648)}, p={"a": 0.82, "b": 0.4})
    >>> {name: round(share, 4) for name, share in found.params.items()}
    {'carriers': 0.2, 'truthful carriers': 0.84}
    """
    p = by_label(p, "p")
    drawn = sampling_for(reports, weights, strata, clusters, counts=True)
    seen = count(reports, groups, list(p), drawn)
    yes, n = seen.yes, seen.n
    truthful = probabilities(p)
    # Linear in (pi t, 1 - pi).
    A = np.stack([np.ones(len(n)), 1 - truthful], axis=1)
    found = fit_linear(seen, A, np.zeros(len(n)))
    pi = 1 - float(found.theta[1])
    notes = []
    if pi > 0:
        t = float(found.theta[0]) / pi
        slopes = np.array([[0, -1], [1 / pi, t / pi]])  # d pi, d t over (pi t, 1 - pi)
        spread = np.sqrt(np.diagonal(slopes @ found.covariance @ slopes.T))
    else:
        t, spread = float("nan"), np.array([np.sqrt(found.covariance[1, 1]), np.nan])
        notes.append("No carriers are left to tell the truth: the estimate of their share is not positive.")
    if pi > 0 and pi < 2 * spread[0]:
        notes.append(
            "The carriers' share is within two standard errors of 0; how truthful they are, which divides by it, is "
            "hardly told, and its interval may have no ends."
        )
    if not 0 <= pi <= 1 or not (np.isnan(t) or 0 <= t <= 1):
        notes.append("A share lies outside [0, 1]: noise reaches that far, or the model does not hold.")

    def shares(theta: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
        return theta[0] * theta[1] + (1 - theta[0]) * (1 - truthful)

    turn = np.array([[1, -1], [-1, 1]])  # of the covariance of (pi t, 1 - pi), to that of (pi t, pi)
    start = np.array([pi, 0.5 if np.isnan(t) else t])
    inside, value = fit_inside(yes, n, shares, start)
    naive, honest = fit_inside(yes, n, lambda theta: theta[0] + (1 - theta[0]) * (1 - truthful), start[:1])
    statistic = 2 * (value - honest)
    return Compliance(
        "stochastic lie detector",
        {"carriers": pi, "truthful carriers": t},
        {"carriers": float(spread[0]), "truthful carriers": float(spread[1])},
        {"carriers": float(inside[0]), "truthful carriers": float(inside[1])},
        found.loglik,
        int(n.sum()),
        fit=found.fit_test(),
        # That no carrier lies is theta_1 + theta_2 = 1.
        compliance=one_sided(
            statistic if statistic > 1e-6 else 0.0,
            "no carrier lies (one-sided likelihood ratio)",
            found.effect(np.array([1.0, 1.0])),
            seen.df,
        ),
        notes=tuple(notes),
        naive={"carriers": float(naive[0])},
        df=seen.df,
        ratios={"truthful carriers": ((float(found.theta[0]), pi), tuple((turn * found.covariance).ravel().tolist()))},
    )
