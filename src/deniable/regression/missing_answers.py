"""Answers that some would rather not give, and whom a model is then about.

    "drop"    those who would answer everything that the model is about. Who would not answer a predictor has an outcome
              of their own, whatever it is: a level and slopes of the open predictors that nobody asked for.
    "model"   everybody. To prefer not to say is a category of its own of a predictor; who prefers not to say the
              outcome is taken to answer like others with the same predictors (missing at random).

Nobody knows whose answer was "prefer not to say", so no report is dropped: the likelihood is summed over that as over
any truth. In both, the outcome is answered with a probability that has a model of its own, on the same predictors,

    Pr(y = v | x) = (1 - s) f(v | x'b),      Pr(y = "prefer not to say" | x) = s = 1 / (1 + exp(-x'g)).

Of several categories the odds of s against the first are exp(x'g): who prefers not to say is one category more of the
multinomial logit, given that one answers the others have the ratios that they would have without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from deniable.core.domain import Variable
from deniable.designs.reports.reports import Reports
from deniable.device.protocol.answer_encoding import SKIPPED
from deniable.inference.numbers.functionals_of_reports import only
from deniable.inference.numbers.ordered_attribute import left_out, ordered
from deniable.regression.likelihood.responses import Binary, Curve, Softmax, Written
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.core.domain import Category
    from deniable.inference.attribute_pairs import Missing
    from deniable.regression.likelihood.disguised_outcome import Disguised
    from deniable.regression.likelihood.responses import Response

    Array = NDArray[np.float64]

_DRAWN = ("weights", "strata", "clusters")


def skipped(labels: Sequence[Category]) -> int | None:
    """The code of "prefer not to say", where it is one of the categories.

    >>> skipped(["no", "yes", "prefer not to say"]), skipped(["no", "yes"])
    (2, None)
    """
    return list(labels).index(SKIPPED) if SKIPPED in labels else None


def answers(labels: Sequence[Category]) -> tuple[Category, ...]:
    """The others; numbers, where texts write them: beside "prefer not to say" they had to be texts.

    >>> answers(["0", "1", "2", "prefer not to say"])
    (0, 1, 2)
    """
    kept = tuple(label for label in labels if label != SKIPPED)
    try:
        numbers = tuple(float(str(label)) for label in kept) if len(kept) < len(labels) else ()
    except ValueError:
        return kept
    if not numbers or not np.isfinite(numbers).all():
        return kept
    return tuple(int(number) for number in numbers) if all(n.is_integer() for n in numbers) else numbers


def told_of(missing: Missing | None, outcome: str | None, predictors: Sequence[str]) -> tuple[str, ...]:
    """What is assumed of those who prefer not to say an outcome, or some predictors, in words."""
    if missing is None or not (outcome or predictors):
        return ()
    if missing == "drop":
        about = listed([*predictors, *([outcome] if outcome else [])])
        said = f"Of those who would answer {about}: who prefers not to say takes no part"
        return (f"{said} (missing='drop'), and nothing is assumed of what they would have said.",)
    told = []
    if outcome:
        alike = "is taken to answer like others with the same predictors: missing at random"
        told.append(f"Who prefers not to say {outcome!r} {alike}")
    if predictors:
        told.append(f"To prefer not to say {listed(predictors)} is a category of its own")
    return tuple(f"{sentence} (missing='model')." for sentence in told)


@dataclass(frozen=True)
class Answered:
    """A yes or no that some prefer not to say; its last equation is who.

    With R = Pr(report | answered), s the probability of preferring not to say and q that of the report then,

        L = (1 - s) R + s q,    w = (1 - s) R / L  the probability of having answered once the report is known,
        score = (w g, 1 - w - s),    g that of R.
    """

    response: Binary
    place: int  # the code of "prefer not to say"

    @property
    def equations(self) -> int:
        """One more."""
        return self.response.equations + 1

    @property
    def categories(self) -> int:
        """One more."""
        return self.response.categories + 1

    def parts(self, eta: Array, data: Array) -> tuple[Array, Array, Curve]:
        """Log L, score and Hessian."""
        said = np.delete(data, self.place, axis=1)
        possible = np.asarray(said.any(axis=1))
        logs, slope, curve = self.response.parts(eta[:, :-1], np.where(possible[:, None], said, 1.0))
        assert isinstance(curve, Written)
        share = expit(eta[:, -1])
        there = np.where(possible, (1 - share) * np.exp(logs), 0.0)
        chance = there + share * data[:, self.place]
        after = there / chance
        score = np.concatenate([after[:, None] * slope, (1 - after - share)[:, None]], axis=1)
        spread, m = after * (1 - after), slope.shape[1]
        hessian = np.empty((len(eta), m + 1, m + 1))
        hessian[:, :m, :m] = after[:, None, None] * curve.rows
        hessian[:, :m, :m] += spread[:, None, None] * slope[:, :, None] * slope[:, None, :]
        hessian[:, :m, m] = hessian[:, m, :m] = -spread[:, None] * slope
        hessian[:, m, m] = spread - share * (1 - share)
        return np.log(chance), score, Written(hessian)


@dataclass(frozen=True)
class AnsweredOf:
    """One of several categories that some prefer not to say; its last equation is who.

    Given that one answers, ratios of shares are those without that category, wherever it stands among them: the
    equation of a `Softmax` that has it last.
    """

    response: Softmax  # with one category more than the answers
    place: int  # the code of "prefer not to say"

    @property
    def equations(self) -> int:
        """One per answer but the first, and one more."""
        return self.response.equations

    @property
    def categories(self) -> int:
        """The answers, and one more."""
        return self.response.categories

    def parts(self, eta: Array, data: Array) -> tuple[Array, Array, Curve]:
        """Log L, score and Hessian."""
        return self.response.parts(eta, self.last(data))

    def last(self, columns: Array) -> Array:
        """Columns of all categories with that of "prefer not to say" last."""
        if self.place == self.response.categories - 1:
            return columns
        return np.concatenate([np.delete(columns, self.place, axis=1), columns[:, [self.place]]], axis=1)


def with_skips(response: Response, place: int) -> Response:
    """The response of an outcome that some prefer not to say, its last equation telling who."""
    if isinstance(response, Binary):
        return Answered(response, place)
    assert isinstance(response, Softmax)
    return AnsweredOf(Softmax(response.categories + 1), place)


# -- whom that leaves out, counted as means count them ---------------------------------------------------------------


def counted_out(
    source: Any, names: Iterable[str], columns: Iterable[Disguised | None], options: Mapping[str, Any]
) -> tuple[str, ...]:
    """How many respondents the attributes that some prefer not to say leave out, a sentence each.

    Of reports they are estimated; of a frame, whose columns were disguised one by one, by the mean of their scores.
    """
    if isinstance(source, Reports):
        drawn: Any = {name: options[name] for name in _DRAWN if options.get(name) is not None}
        return tuple(_of_reports(source, name, drawn) for name in names)
    known = {column.name: column for column in columns if column is not None}
    return tuple(_of_column(known[name]) for name in names if name in known)


def _of_reports(reports: Reports, name: str, drawn: Any) -> str:
    known, variable = only(reports, name, drawn)
    aside = _aside(variable)
    return left_out(variable, aside, float(known.table[[variable.code(each) for each in aside]].sum()), known.n)


def _of_column(column: Disguised) -> str:
    variable = Variable(column.name, column.labels)
    aside = _aside(variable)
    share = column.scores[:, [variable.code(each) for each in aside]].sum(axis=1).mean()
    return left_out(variable, aside, float(np.clip(share, 0.0, 1.0)), len(column.scores))


def _aside(variable: Variable) -> list[Category]:
    return [SKIPPED] if SKIPPED in variable.categories else ordered(variable).aside
