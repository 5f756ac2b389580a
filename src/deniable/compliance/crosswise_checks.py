"""Crosswise models that notice respondents who answer at random.

References:
    D. W. Heck, A. Hoffmann and M. Moshagen (2018), Detecting nonadherence without loss in efficiency: a simple
    extension of the crosswise model, Behavior Research Methods 50, 1895-1905.
    Y. Atsusaka and R. T. Stevenson (2023), A bias-corrected estimator for the crosswise model with inattentive
    respondents, Political Analysis 31(1), 134-148.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.integer_weights import stated
from deniable.compliance.compliance_result import Compliance
from deniable.compliance.device_groups import (
    Counts,
    binary,
    count,
    fit_inside,
    fit_linear,
    probabilities,
    sampling_for,
)
from deniable.core.input_coercion import by_label, by_row, row_labels
from deniable.errors import InputError, NotIdentifiedError, TooFewReportsError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from deniable.compliance.device_groups import Weighted
    from deniable.sampling.read_sampling import Column


def extended_crosswise(
    reports: ArrayLike | Counts,
    groups: ArrayLike | None = None,
    *,
    p: Mapping[Any, float],
    weights: Weighted = None,
    strata: Column | None = None,
    clusters: Column | None = None,
) -> Compliance:
    """Extended crosswise model: the innocent question's p differs between groups, so one pi must explain both.

    lambda_j = p_j pi + (1 - p_j)(1 - pi) is the share of "my two answers are the same". With p_2 = 1 - p_1 nothing is
    lost against one group, and  G2  with one degree of freedom detects, for example, answers at random, which pull both
    lambda to 1/2.

    Args:
        reports: one report per respondent (1 = "the same"), or counts {group: (different, same)}.
        groups: each respondent's group; not with counts.
        p: each group's probability of "yes" to the innocent question, as in `Crosswise(p)`.
        weights: survey weights, one a respondent, or what `rake` returns.
        strata: each respondent's stratum.
        clusters: each respondent's cluster.

    >>> found = extended_crosswise({"a": (350, 650), "b": (650, 350)}, p={"a": 0.2, "b": 0.8})
    >>> round(found.params["carriers"], 4), round(found.fit.pvalue, 4)
    (0.25, 1.0)
    """
    p = by_label(p, "p")
    drawn = sampling_for(reports, weights, strata, clusters, counts=True)
    seen = count(reports, groups, list(p), drawn)
    yes, n = seen.yes, seen.n
    innocent = probabilities(p)
    if len(n) < 2 or np.ptp(innocent) == 0:
        raise NotIdentifiedError("the fit can only be tested with groups whose innocent questions differ in p")
    A, c = (2 * innocent - 1)[:, None], 1 - innocent
    found = fit_linear(seen, A, c)
    pi = float(found.theta[0])
    inside, _ = fit_inside(yes, n, lambda theta: c + A @ theta, found.theta)
    test = found.fit_test()
    notes = []
    if test is not None and test.pvalue < 0.05:
        notes.append("One share of carriers does not explain all groups: some respondents do not do as told.")
    if not 0 <= pi <= 1:
        notes.append("The share lies outside [0, 1]: noise reaches that far, or instructions were not followed.")
    return Compliance(
        "extended crosswise model",
        {"carriers": pi},
        {"carriers": float(np.sqrt(found.covariance[0, 0]))},
        {"carriers": float(inside[0])},
        found.loglik,
        int(n.sum()),
        fit=test,
        notes=tuple(notes),
        df=seen.df,
    )


def anchored_crosswise(
    reports: ArrayLike,
    anchors: ArrayLike,
    *,
    p: float,
    anchor_p: float,
    anchor_prevalence: float = 0.0,
    inattentive: float = 0.5,
    weights: Weighted = None,
    strata: Column | None = None,
    clusters: Column | None = None,
) -> Compliance:
    """Crosswise model corrected for inattention by an anchor: a second item whose prevalence is known.

    A share a of respondents is attentive, the others answer "the same" with probability r (1/2: they choose at random).

        anchor:  lambda' = a m' + (1 - a) r,     m' = anchor_p q + (1 - anchor_p)(1 - q),  q = the anchor's prevalence
        item:    lambda  = a (p pi + (1 - p)(1 - pi)) + (1 - a) r

    so  a = (lambda' - r) / (m' - r)  and  pi = ((lambda - (1 - a) r) / a - (1 - p)) / (2 p - 1). Standard errors by the
    delta method, with the covariance of a respondent's two reports.

    Args:
        reports: one report per respondent to the sensitive item; 1 = "my two answers are the same".
        anchors: the same respondents' reports to the anchor item.
        p: Pr("yes" to the sensitive item's innocent question).
        anchor_p: Pr("yes" to the anchor's innocent question).
        anchor_prevalence: the share of respondents to whom the anchor applies; by default nobody.
        inattentive: r, how often an inattentive respondent answers "the same".
        weights: survey weights, one a respondent, or what `rake` returns.
        strata: each respondent's stratum.
        clusters: each respondent's cluster.
    """
    p, anchor_p = float(stated(p, "p")), float(stated(anchor_p, "anchor_p"))
    anchor_prevalence = float(stated(anchor_prevalence, "anchor_prevalence"))
    inattentive = float(stated(inattentive, "inattentive"))
    item, anchor = binary(reports), binary(by_row(anchors, row_labels(reports), "anchors"))
    if item.shape != anchor.shape or item.ndim != 1:
        raise InputError(f"reports and anchors come from the same respondents: {item.shape} and {anchor.shape}")
    n = len(item)
    if n < 3:
        raise TooFewReportsError(f"{n} respondents are too few", n=n)
    expected = anchor_p * anchor_prevalence + (1 - anchor_p) * (1 - anchor_prevalence)
    if abs(expected - inattentive) < 1e-9 or abs(2 * p - 1) < 1e-9:
        raise NotIdentifiedError(
            "attentive and inattentive answers have the same distribution (with this p or anchor_p a fair coin would "
            "do as well): move the probabilities away from 1/2"
        )
    sampling = sampling_for(reports, weights, strata, clusters)
    both = np.stack([item, anchor]).astype(np.float64)
    lam, lam_anchor = (float(np.average(part, weights=None if sampling is None else sampling.scaled)) for part in both)
    attentive = (lam_anchor - inattentive) / (expected - inattentive)
    uncorrected = (lam - (1 - p)) / (2 * p - 1)
    if attentive <= 0:
        raise NotIdentifiedError(
            f"the anchor's reports leave no attentive respondent (estimated share {attentive:.3f}), so there is "
            "nothing to correct with. Check which answer is coded 1, and anchor_p",
            attentive=attentive,
        )
    # pi = (r + (lam - r) / a - (1 - p)) / (2 p - 1)
    pi = (inattentive + (lam - inattentive) / attentive - (1 - p)) / (2 * p - 1)
    d_attentive = 1 / (expected - inattentive)
    slopes = np.array(
        [
            [1 / (attentive * (2 * p - 1)), -(lam - inattentive) / attentive**2 * d_attentive / (2 * p - 1)],
            [0, d_attentive],
            [1 / (2 * p - 1), 0],
        ]
    )
    if sampling is None:
        covariance = np.cov(both) / n
    else:
        covariance = sampling.covariance((np.arange(n), (both.T - [lam, lam_anchor]) / sampling.scaled.sum()))
    spread = np.sqrt(np.diagonal(slopes @ covariance @ slopes.T))
    names = ("carriers", "attentive", "carriers, uncorrected")
    values = (pi, attentive, uncorrected)
    outside = [name for name, value in zip(names, values, strict=True) if not 0 <= value <= 1]
    # The cell probabilities of the pair are not modelled, so this is the log-likelihood of the two items on their own.
    shares = np.array([lam, lam_anchor])
    yes = shares * n
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(yes > 0, yes * np.log(shares), 0) + np.where(yes < n, (n - yes) * np.log1p(-shares), 0)
    return Compliance(
        "anchored crosswise model",
        dict(zip(names, values, strict=True)),
        dict(zip(names, spread.tolist(), strict=True)),
        {name: float(np.clip(value, 0, 1)) for name, value in zip(names, values, strict=True)},
        float(parts.sum()),
        n,
        notes=(f"Outside [0, 1]: {', '.join(outside)}. Noise reaches that far.",) if outside else (),
        df=np.inf if sampling is None else sampling.df,
    )


def crosswise_bounds(
    reports: ArrayLike,
    *,
    p: float,
    attentive: float = 0.5,
    inattentive: float = 0.5,
    weights: Weighted = None,
    strata: Column | None = None,
    clusters: Column | None = None,
) -> Compliance:
    """Without an anchor: between which shares of carriers the truth lies, if at least so many respondents attended.

    With a share a of attentive respondents, pi(a) = ((lambda - (1 - a) r) / a - (1 - p)) / (2 p - 1). It moves one way
    with a, so that the bounds are its values at a = 1 (everybody attended) and at the smallest a allowed; a can be no
    smaller than makes pi(a) leave [0, 1]. Each bound has the standard error of its own a.

    Args:
        reports: one report per respondent; 1 = "my two answers are the same".
        p: Pr("yes" to the innocent question), as in `Crosswise(p)`.
        attentive: the smallest share of attentive respondents that is thought possible.
        inattentive: r, how often an inattentive respondent answers "the same".
        weights: survey weights, one a respondent, or what `rake` returns.
        strata: each respondent's stratum.
        clusters: each respondent's cluster.

    >>> found = crosswise_bounds([0] * 700 + [1] * 300, p=0.2, attentive=0.8)
    >>> {name: round(share, 4) for name, share in found.params.items()}
    {'everybody attends': 0.8333, '0.8 attend': 0.9167}
    """
    p, least, r = (
        float(stated(x, name)) for x, name in ((p, "p"), (attentive, "attentive"), (inattentive, "inattentive"))
    )
    if abs(2 * p - 1) < 1e-9:
        raise NotIdentifiedError("with p = 1/2 answers do not depend on the trait: move p away from 1/2")
    item = binary(reports)
    n = len(item)
    if item.ndim != 1 or n < 3:
        raise TooFewReportsError(f"{item.size} respondents are too few", n=item.size)
    sampling = sampling_for(reports, weights, strata, clusters)
    lam = float(np.average(item, weights=None if sampling is None else sampling.scaled))
    if sampling is None:
        error = float(np.sqrt(lam * (1 - lam) / (n - 1)))
    else:
        away = (item - lam)[:, None] / sampling.scaled.sum()
        error = float(np.sqrt(sampling.covariance((np.arange(n), away))[0, 0]))
    # Attentive answers are "the same" with a probability between p and 1 - p: no smaller a explains lambda.
    possible = abs(lam - r) / max(abs(end - r) for end in (p, 1 - p) if (end - r) * (lam - r) >= 0) if lam != r else 0.0
    smallest = min(max(least, possible, 1e-6), 1.0)
    notes = [f"The share of carriers lies between the two, if at least {least:g} of the respondents attend."]
    if possible > least:
        notes.append(
            f"Fewer than {possible:.3g} attending could not have given these reports: the bound is taken there."
        )
    names = ("everybody attends", f"{smallest:.3g} attend")
    values = [((lam - (1 - a) * r) / a - (1 - p)) / (2 * p - 1) for a in (1.0, smallest)]
    errors = [error / (a * abs(2 * p - 1)) for a in (1.0, smallest)]
    share = np.clip(lam, 1e-12, 1 - 1e-12)
    return Compliance(
        "crosswise model, bounds without an anchor",
        dict(zip(names, values, strict=True)),
        dict(zip(names, errors, strict=True)),
        {name: float(np.clip(value, 0, 1)) for name, value in zip(names, values, strict=True)},
        float(n * (lam * np.log(share) + (1 - lam) * np.log1p(-share))),
        n,
        notes=tuple(notes),
        df=np.inf if sampling is None else sampling.df,
    )
