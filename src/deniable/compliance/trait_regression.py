"""Regressions where respondents lie, cheat or do not attend: who carries the trait, and what follows from it.

References:
    M. Moshagen, J. Musch and E. Erdfelder (2012), A stochastic lie detector, Behavior Research Methods 44, 222-231.
    S. J. Clark and R. A. Desharnais (1998), Honest answers to embarrassing questions, Psychological Methods 3(2),
    160-168.
    Y. Atsusaka and R. T. Stevenson (2023), A bias-corrected estimator for the crosswise model with inattentive
    respondents, Political Analysis 31(1), 134-148: regressions with an anchor, the trait as outcome and as predictor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from deniable.channels.integer_weights import stated
from deniable.compliance.device_groups import binary, yes_last
from deniable.compliance.latent_regression import HowDrawn, Manner, of_trait, with_trait
from deniable.errors import DesignError, InputError, NotIdentifiedError, UnknownCategoryError
from deniable.regression.formula import as_pandas, column_of, split
from deniable.regression.likelihood.disguised_outcome import Outcome, disguised
from deniable.regression.likelihood.responses import LOGIT, Binary
from deniable.regression.linear import open_number
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Unpack

    from numpy.typing import NDArray

    from deniable.channels.channel import Channel
    from deniable.regression.result import Regression

    Array = NDArray[np.float64]


def sld_regression(
    formula: str,
    frame: Any,
    *,
    groups: str,
    p: Mapping[Any, float],
    truthful: str = "1",
    **how: Unpack[HowDrawn],
) -> Regression:
    """Logistic regression of the trait under the stochastic lie detector.

    Pr(yes) = pi(x) t + (1 - pi(x)) (1 - p_j): log odds of carrying the trait are x'b, carriers tell the truth with
    probability t, whose own log odds have the model `truthful`.

    Args:
        formula: "reports ~ predictors"; reports are 0 and 1.
        frame: any data frame.
        groups: the column that names each respondent's randomly formed group.
        p: each group's probability that a non-carrier answers truthfully, as in `Mangat(p)`.
        truthful: the right-hand side of the carriers' truthfulness; "1" for one share.
        **how: weights, strata, clusters: see `HowDrawn`.
    """
    said, at = _reports(formula, frame), _members(frame, groups, p)
    honest = np.array([float(stated(share, f"p of group {name!r}")) for name, share in p.items()])[at]
    _differ(honest, "groups whose p differ")
    yes = np.stack([np.stack([1 - honest, 1 - honest], 1), np.tile([0.0, 1.0], (len(said), 1))], axis=1)
    manner = Manner("truthful", truthful, _of_yes(said, yes), "stochastic lie detector")
    return of_trait("logit, stochastic lie detector", formula, frame, manner, how)


def cdm_regression(
    formula: str,
    frame: Any,
    *,
    groups: str,
    channels: Mapping[Any, Channel],
    cheating: str = "1",
    **how: Unpack[HowDrawn],
) -> Regression:
    """Logistic regression of the trait under cheating detection: cheaters say "no" whatever the device tells them.

    Pr(yes) = (1 - gamma) (P_j[1, 1] pi(x) + P_j[1, 0] (1 - pi(x))): pi is the share of carriers among those who do as
    told, gamma that of cheaters, whose log odds have the model `cheating`.

    Args:
        formula: "reports ~ predictors"; reports are 0 and 1.
        frame: any data frame.
        groups: the column that names each respondent's randomly formed group.
        channels: each group's device: `ForcedResponse([0, p])` in the classic model, `Triangular(p)` in the triangular.
        cheating: the right-hand side of cheating; "1" for one share.
        **how: weights, strata, clusters: see `HowDrawn`.
    """
    for name, channel in channels.items():
        if (channel.inputs, channel.outputs) != (2, 2):
            raise DesignError(f"the device of group {name!r} must have two truths and two reports: {channel!r}")
    said, at = _reports(formula, frame), _members(frame, groups, channels)
    channels = {name: yes_last(channel) for name, channel in channels.items()}
    chances = np.array([channel.matrix()[1] for channel in channels.values()])[at]
    _differ(chances[:, 0], "groups whose devices differ")
    yes = np.stack([chances, np.zeros_like(chances)], axis=2)  # (rows, trait, cheating)
    device = "; ".join(dict.fromkeys(channel.name for channel in channels.values()))
    manner = Manner("cheating", cheating, _of_yes(said, yes), device)
    return of_trait("logit, cheating detection", formula, frame, manner, how)


def anchored_regression(
    formula: str,
    frame: Any,
    *,
    anchor: str,
    p: float,
    anchor_p: float,
    anchor_prevalence: float = 0.0,
    inattentive: float = 0.5,
    attentive: str = "1",
    **how: Unpack[HowDrawn],
) -> Regression:
    """Logistic regression of a crosswise item, corrected for inattention by an anchor item.

    An attentive respondent answers item and anchor as told, another says "the same" with probability r to either. Log
    odds of carrying the trait are x'b; attention has the model `attentive`. It is taken to be independent of the trait
    given the predictors.

    Args:
        formula: "reports ~ predictors"; reports are 1 where the two answers are the same.
        frame: any data frame.
        anchor: the column of the same respondents' reports to the anchor.
        p: Pr("yes" to the item's innocent question).
        anchor_p: Pr("yes" to the anchor's innocent question).
        anchor_prevalence: the share of respondents to whom the anchor applies; by default nobody.
        inattentive: r.
        attentive: the right-hand side of attention; "1" for one share.
        **how: weights, strata, clusters: see `HowDrawn`.
    """
    said = _reports(formula, frame)
    manner = _anchored(frame, said, anchor, (p, anchor_p, anchor_prevalence, inattentive), attentive)
    return of_trait("logit, anchored crosswise", formula, frame, manner, how)


def anchored_predictor(
    formula: str,
    frame: Any,
    *,
    trait: str,
    anchor: str,
    p: float,
    anchor_p: float,
    anchor_prevalence: float = 0.0,
    inattentive: float = 0.5,
    attentive: str = "1",
    model: Literal["linear", "logit"] = "linear",
    **how: Unpack[HowDrawn],
) -> Regression:
    """Regression of an open outcome on a crosswise item, corrected for inattention by an anchor item.

    In the formula `trait` stands for the truth (0 or 1); its own model is logistic, on the other predictors. The other
    arguments are those of `anchored_regression`.

    Args:
        formula: "outcome ~ trait + predictors".
        frame: any data frame.
        trait: the column of the item's reports.
        anchor: the column of the anchor's.
        p: as above.
        anchor_p: as above.
        anchor_prevalence: as above.
        inattentive: as above.
        attentive: as above.
        model: "linear" for a number with normal errors, "logit" for an outcome of 0 and 1.
        **how: as above.
    """
    data = as_pandas(frame)
    said = binary(column_of(data, trait))
    manner = _anchored(frame, said, anchor, (p, anchor_p, anchor_prevalence, inattentive), attentive)
    left, _ = split(formula)
    if model == "linear":
        outcome = open_number(left, data)
    elif model == "logit":
        found = disguised(left, column_of(data, left), None)
        if len(found.labels) != 2:
            raise DesignError(f"logit models two categories, {left!r} has {len(found.labels)}")
        outcome = Outcome(Binary(LOGIT), found.chance, found)
    else:
        raise InputError(f'model is "linear" or "logit", not {model!r}')
    return with_trait(f"{model}, anchored crosswise predictor", formula, frame, manner, outcome, trait=trait, how=how)


def _reports(formula: str, frame: Any) -> NDArray[np.int64]:
    return binary(column_of(as_pandas(frame), split(formula)[0]))


def _members(frame: Any, groups: str, known: Mapping[Any, object]) -> NDArray[np.intp]:
    """Each row's group, numbered in the order of its devices."""
    named = column_of(as_pandas(frame), groups).tolist()
    strangers = sorted({str(value) for value in set(named) - set(known)})
    if strangers:
        raise UnknownCategoryError(f"no device is given for groups {listed(strangers)}; there are {listed(known)}")
    place = {name: index for index, name in enumerate(known)}
    return np.array([place[name] for name in named], dtype=np.intp)


def _differ(shares: Array, wanted: str) -> None:
    if not np.ptp(shares):
        raise NotIdentifiedError(
            f"one device for everybody does not tell those who do not follow it from those without the trait: two "
            f"{wanted} are needed"
        )


def _of_yes(said: NDArray[np.int64], yes: Array) -> Array:
    """Pr(the report that came | trait, manner), out of the probability of a yes."""
    return np.where(said[:, None, None] == 1, yes, 1 - yes)


def _anchored(
    frame: Any, said: NDArray[np.int64], anchor: str, shares: tuple[float, float, float, float], attentive: str
) -> Manner:
    anchors = binary(column_of(as_pandas(frame), anchor))
    names = ("p", "anchor_p", "anchor_prevalence", "inattentive")
    p, anchor_p, known, r = (float(stated(share, name)) for share, name in zip(shares, names, strict=True))
    expected = anchor_p * known + (1 - anchor_p) * (1 - known)
    if abs(expected - r) < 1e-9 or abs(2 * p - 1) < 1e-9:
        raise NotIdentifiedError(
            "attentive and inattentive answers have the same distribution (with this p or anchor_p a fair coin would "
            "do as well): move the probabilities away from 1/2"
        )
    n = len(said)
    item = _of_yes(said, np.broadcast_to(np.array([[r, 1 - p], [r, p]]), (n, 2, 2)))  # (rows, trait, attentive)
    other = _of_yes(anchors, np.broadcast_to(np.array([[r, expected]] * 2), (n, 2, 2)))
    return Manner("attentive", attentive, item * other, f"Crosswise({p:g}), anchored")
