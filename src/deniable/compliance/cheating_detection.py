"""Cheating detection: some respondents say "no" whatever the device tells them.

With devices of different probabilities in two or more randomly formed groups, three shares can be told apart: pi who
carry the trait and say so as told, beta who do not and do as told, gamma = 1 - pi - beta who cheat by saying "no":

    lambda_j = P_j[1, 1] pi + P_j[1, 0] beta.

Nobody knows whether cheaters carry the trait, so the prevalence lies between pi and pi + gamma.

References:
    S. J. Clark and R. A. Desharnais (1998), Honest answers to embarrassing questions: detecting cheating in the
    randomized response model, Psychological Methods 3(2), 160-168. For devices that force both answers: M. Ostapczuk,
    M. Moshagen, Z. Zhao and J. Musch (2009), Journal of Educational and Behavioral Statistics 34(2), 267-287.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.survey_devices import ForcedResponse, Triangular
from deniable.compliance.compliance_result import Compliance, one_sided
from deniable.compliance.device_groups import Counts, count, fit_inside, fit_linear, sampling_for, yes_last
from deniable.core.input_coercion import by_label
from deniable.errors import DesignError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from deniable.channels.channel import Channel
    from deniable.compliance.device_groups import Weighted
    from deniable.sampling.read_sampling import Column

_NAMES = ("honest carriers", "honest others", "cheaters")


def cheating_detection(
    reports: ArrayLike | Counts,
    groups: ArrayLike | None = None,
    *,
    channels: Mapping[Any, Channel],
    model: str = "cheating detection",
    weights: Weighted = None,
    strata: Column | None = None,
    clusters: Column | None = None,
) -> Compliance:
    """Estimate honest carriers, honest others and cheaters from two or more groups with different devices.

    With two groups the estimate solves  lambda_j = P_j[1, 1] pi + P_j[1, 0] beta  exactly; with more, G2 tests the fit.
    `compliance` tests gamma = 0 by a one-sided likelihood ratio.

    Args:
        reports: one report (0 or 1) per respondent, or counts {group: (no, yes)}.
        groups: each respondent's group; not with counts.
        channels: each group's device, with two truths and two reports.
        model: what to call it.
        weights: survey weights, one a respondent, or what `rake` returns.
        strata: each respondent's stratum.
        clusters: each respondent's cluster.
    """
    channels = by_label(channels, "devices")
    for name, channel in channels.items():
        if (channel.inputs, channel.outputs) != (2, 2):
            raise DesignError(f"the device of group {name!r} must have two truths and two reports: {channel!r}")
    channels = {name: yes_last(channel) for name, channel in channels.items()}
    drawn = sampling_for(reports, weights, strata, clusters, counts=True)
    seen = count(reports, groups, list(channels), drawn)
    yes, n = seen.yes, seen.n
    A = np.array([[channel.matrix()[1, 1], channel.matrix()[1, 0]] for channel in channels.values()])
    found = fit_linear(seen, A, np.zeros(len(n)))
    pi, beta = found.theta
    to_all = np.array([[1, 0], [0, 1], [-1, -1.0]])  # gamma = 1 - pi - beta
    spread = np.sqrt(np.diagonal(to_all @ found.covariance @ to_all.T))
    values = (float(pi), float(beta), float(1 - pi - beta))
    inside, value = fit_inside(yes, n, lambda theta: A @ theta, found.theta, below_one=[(0, 1)])
    constrained = (float(inside[0]), float(inside[1]), float(max(1 - inside.sum(), 0.0)))
    # No cheating: beta = 1 - pi, one unknown left.
    naive, honest = fit_inside(yes, n, lambda theta: A[:, 1] + (A[:, 0] - A[:, 1]) * theta[0], found.theta[:1])
    notes = [f"The prevalence lies between {pi:.3f} (no cheater carries the trait) and {1 - beta:.3f} (all do)."]
    if min(values) < 0:
        notes.append(
            "A share is negative: noise reaches that far, or the groups differ in more than their device. The last "
            "column is the best fit among possible shares."
        )
    return Compliance(
        model,
        dict(zip(_NAMES, values, strict=True)),
        dict(zip(_NAMES, spread.tolist(), strict=True)),
        dict(zip(_NAMES, constrained, strict=True)),
        found.loglik,
        int(n.sum()),
        fit=found.fit_test(),
        compliance=one_sided(
            _positive(2 * (value - honest)),
            "nobody cheats (one-sided likelihood ratio)",
            found.effect(np.array([-1.0, -1.0])),
            seen.df,
        ),
        notes=tuple(notes),
        naive={"honest carriers": float(naive[0]), "honest others": float(1 - naive[0])},
        df=seen.df,
    )


def _positive(statistic: float) -> float:
    """A likelihood ratio whose two sides were maximised numerically: rounding is no evidence."""
    return statistic if statistic > 1e-6 else 0.0


def cdm(
    reports: ArrayLike | Counts,
    groups: ArrayLike | None = None,
    *,
    p: Mapping[Any, float],
    weights: Weighted = None,
    strata: Column | None = None,
    clusters: Column | None = None,
) -> Compliance:
    """Cheating detection model (Clark & Desharnais 1998): with probability p the device demands "yes", else the truth.

    lambda_j = pi + p_j beta, so  beta = (lambda_1 - lambda_2) / (p_1 - p_2)  and  pi = lambda_1 - p_1 beta.

    Args:
        reports: one report (0 or 1) per respondent, or counts {group: (no, yes)}.
        groups: each respondent's group; not with counts.
        p: each group's probability of being told to say yes.
        weights: survey weights, one a respondent, or what `rake` returns.
        strata: each respondent's stratum.
        clusters: each respondent's cluster.

    >>> found = cdm({"low": (550, 450), "high": (350, 650)}, p={"low": 0.25, "high": 0.75})
    >>> {name: round(share, 4) for name, share in found.params.items()}
    {'honest carriers': 0.35, 'honest others': 0.4, 'cheaters': 0.25}
    """
    channels = {name: ForcedResponse([0, share]) for name, share in by_label(p, "p").items()}
    drawn = sampling_for(reports, weights, strata, clusters, counts=True)
    return cheating_detection(reports, groups, channels=channels, model="cheating detection model", weights=drawn)


def cdm_symmetric(
    reports: ArrayLike | Counts,
    groups: ArrayLike | None = None,
    *,
    forced: Mapping[Any, tuple[float, float]],
    weights: Weighted = None,
    strata: Column | None = None,
    clusters: Column | None = None,
) -> Compliance:
    """Cheating detection with a device that forces both answers, so that a "no" incriminates nobody either.

    lambda_j = (1 - no_j) pi + yes_j beta.

    Args:
        reports: one report (0 or 1) per respondent, or counts {group: (no, yes)}.
        groups: each respondent's group; not with counts.
        forced: each group's probabilities (no, yes) of a forced "no" and a forced "yes".
        weights: survey weights, one a respondent, or what `rake` returns.
        strata: each respondent's stratum.
        clusters: each respondent's cluster.
    """
    channels = {name: ForcedResponse(list(pair)) for name, pair in by_label(forced, "forced answers").items()}
    drawn = sampling_for(reports, weights, strata, clusters, counts=True)
    return cheating_detection(
        reports, groups, channels=channels, model="symmetric cheating detection model", weights=drawn
    )


def cdm_triangular(
    reports: ArrayLike | Counts,
    groups: ArrayLike | None = None,
    *,
    p: Mapping[Any, float],
    weights: Weighted = None,
    strata: Column | None = None,
    clusters: Column | None = None,
) -> Compliance:
    """Cheating detection with the triangular model: cheaters say "no to both questions" whatever is true.

    lambda_j = pi + p_j beta is the share of "yes to at least one of the two", p_j the innocent question's prevalence.

    Args:
        reports: one report per respondent (1 = yes to at least one), or counts {group: (no to both, yes)}.
        groups: each respondent's group; not with counts.
        p: each group's probability of "yes" to the innocent question, as in `Triangular(p)`.
        weights: survey weights, one a respondent, or what `rake` returns.
        strata: each respondent's stratum.
        clusters: each respondent's cluster.

    References:
        J. Meisters, A. Hoffmann and J. Musch (2022), A new approach to detecting cheating in sensitive surveys: the
        cheating detection triangular model, Sociological Methods & Research.

    >>> found = cdm_triangular({"low": (550, 450), "high": (350, 650)}, p={"low": 0.25, "high": 0.75})
    >>> {name: round(share, 4) for name, share in found.params.items()}
    {'honest carriers': 0.35, 'honest others': 0.4, 'cheaters': 0.25}
    """
    channels = {name: Triangular(share) for name, share in by_label(p, "p").items()}
    drawn = sampling_for(reports, weights, strata, clusters, counts=True)
    return cheating_detection(
        reports, groups, channels=channels, model="cheating detection triangular model", weights=drawn
    )
