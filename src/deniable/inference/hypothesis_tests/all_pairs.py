"""All pairs of a survey: each tested, p-values corrected for their number, Cramer's V as a heat map."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from deniable.core.input_coercion import in_order
from deniable.core.results import TestResult, axes, frame_of
from deniable.core.summary import Shown, Summary, stamped_columns
from deniable.errors import EstimationError, InputError, InvalidTestError, NotCoveredError, TooFewReportsError
from deniable.estimation.notes.denominators import applies_to_all, refuse_unknown_askings
from deniable.estimation.notes.stamped import stamped
from deniable.estimation.several_sources import ASSOCIATED, differing
from deniable.frozen import Frozen
from deniable.inference.hypothesis_tests.choose_test import covering
from deniable.inference.hypothesis_tests.independence import all_tested, independence
from deniable.inference.measures.phi_squared import strength
from deniable.likelihood.efficient_estimate import efficient_from
from deniable.likelihood.gather import gather
from deniable.sampling.read_sampling import sampling_of
from deniable.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from deniable.core.randomness import Source
    from deniable.core.results import Frame
    from deniable.estimation.report_sources import Collected
    from deniable.likelihood.evidence import Evidence
    from deniable.sampling.read_sampling import Given, Weights

Adjustment = Literal["holm", "bh", "none"]
_STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


def adjusted(pvalues: ArrayLike, how: Adjustment = "holm") -> NDArray[np.float64]:
    """Correct p-values for their number.

    "holm": the chance of any false finding stays below alpha (Holm 1979): p_(i) (m - i + 1), made increasing. "bh": the
    expected share of false findings does (Benjamini & Hochberg 1995): p_(i) m / i, made increasing from above.

    >>> adjusted([0.01, 0.04, 0.03]).round(4).tolist(), adjusted([0.01, 0.04, 0.03], "bh").round(4).tolist()
    ([0.03, 0.06, 0.06], [0.03, 0.04, 0.04])
    """
    p = in_order(pvalues, "p-values")
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InputError("p-values are numbers between 0 and 1, one a test")
    m, order = len(p), np.argsort(p)
    if how == "none":
        return p
    if how == "holm":
        ranked = np.maximum.accumulate(p[order] * (m - np.arange(m)))
    elif how == "bh":
        ranked = np.minimum.accumulate((p[order] * m / np.arange(1, m + 1))[::-1])[::-1]
    else:
        raise InputError(f'multiplicity control must be "holm", "bh" or "none", not {how!r}')
    out = np.empty(m)
    out[order] = np.minimum(ranked, 1.0)
    return out


@dataclass(frozen=True, eq=False, repr=False)
class Pairs(Shown, Frozen):
    """Tests of all pairs.

    Attributes:
        pairs: the tested pairs of attributes.
        tests: their tests.
        v: their Cramer's V, corrected for noise.
        adjusted: p-values corrected for the number of pairs.
        control: how they were corrected.
        skipped: pairs that reports do not tell about: (hardly) anybody was asked both, or channels tell other sums.
        asked: for pairs that a public condition put to some respondents only, how many reports of those were used.
        everybody: that tests are about everybody, where nothing says whom a question was put to; that sources differ.
    """

    pairs: tuple[tuple[str, str], ...]
    tests: tuple[TestResult, ...]
    v: NDArray[np.float64]
    adjusted: NDArray[np.float64]
    control: str
    skipped: tuple[tuple[str, str], ...] = ()
    asked: Mapping[tuple[str, str], int] = field(default_factory=dict)
    everybody: tuple[str, ...] = ()

    def __getitem__(self, pair: tuple[str, str]) -> TestResult:
        for known, test in zip(self.pairs, self.tests, strict=True):
            if set(known) == set(pair):
                return test
        raise InputError(f"the pair {pair!r} was not tested")

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "a": [a for a, _ in self.pairs],
            "b": [b for _, b in self.pairs],
            "cramers_v": self.v.tolist(),
            "statistic": [float(test.statistic) for test in self.tests],
            "pvalue": [float(test.pvalue) for test in self.tests],
            "adjusted": self.adjusted.tolist(),
            "stars": [stars(p) for p in self.adjusted],
        }

    def notes(self) -> list[str]:
        """What was done, a sentence each."""
        told = [f"{len(self.pairs)} pairs; p-values adjusted by {self.control}; * below .05, ** .01, *** .001."]
        if self.asked:
            few = ", ".join(f"{' and '.join(pair)} {n}" for pair, n in self.asked.items())
            told.append(f"Not everybody was asked; reports of those who were: {few}.")
        told += self.everybody
        if self.skipped:
            pairs = counted(len(self.skipped), "pair")
            why = "too few, not asked together, or not known of whom they were asked"
            told.append(f"Left out: {pairs} that reports do not tell about: {why}.")
        return told

    def to_frame(self) -> Frame:
        """Write the tests as a data frame: a row a pair."""
        return frame_of(stamped_columns(self._columns(), self.everybody))

    def summary(self) -> Summary:
        """The pairs, a row each: how strong, how certain, by which test."""
        return of_pairs(
            self.pairs,
            {
                "Cramer's V": self.v.tolist(),
                "p": [float(test.pvalue) for test in self.tests],
                "p, corrected": self.adjusted.tolist(),
            },
            [test.method for test in self.tests],
            self.notes(),
        )

    def __repr__(self) -> str:
        return f"<Pairs: {len(self.pairs)} tests, {int((self.adjusted < 0.05).sum())} below .05 after {self.control}>"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw Cramer's V of every pair as a heat map, with a star or more where the adjusted p-value is small."""
        ax = axes(ax, size=(5.6, 4.6))
        names = list(dict.fromkeys(name for pair in self.pairs for name in pair))
        grid = np.full((len(names), len(names)), np.nan)
        for (a, b), v in zip(self.pairs, self.v, strict=True):
            i, j = names.index(a), names.index(b)
            grid[i, j] = grid[j, i] = v
        strongest = max(0.1, float(self.v.max(initial=0)))
        image = ax.imshow(grid, vmin=0, vmax=strongest, cmap="Blues")
        for (a, b), v, p in zip(self.pairs, self.v, self.adjusted, strict=True):
            for x, y in ((names.index(a), names.index(b)), (names.index(b), names.index(a))):
                colour = "white" if v > 0.6 * strongest else "black"
                ax.text(x, y, f"{v:.2f}\n{stars(p)}", ha="center", va="center", fontsize="small", color=colour)
        ax.set_xticks(range(len(names)), names, rotation=45, ha="right", parse_math=False)
        ax.set_yticks(range(len(names)), names, parse_math=False)
        ax.set_xlabel(f"p adjusted ({self.control}): * below .05, ** .01, *** .001")
        ax.figure.colorbar(image, ax=ax, label="Cramer's V")
        return ax


def of_pairs(
    pairs: Sequence[Sequence[str]],
    numbers: Mapping[str, Sequence[float]],
    tests: Sequence[str],
    notes: Sequence[str],
) -> Summary:
    """The layout of tested pairs, a row each; the last of the numbers, the corrected p-values, get their stars."""
    corrected = list(numbers.values())[-1]
    columns: dict[str, list[Any]] = {"pair": [" and ".join(pair) for pair in pairs]}
    columns |= {name: list(values) for name, values in numbers.items()}
    columns |= {"stars": [stars(p) for p in corrected], **({"test": list(tests)} if tests else {})}
    return Summary(columns, tuple(notes))


def stars(p: float) -> str:
    """Stars for a p-value.

    >>> stars(0.02), stars(0.2)
    ('*', '')
    """
    return next((mark for limit, mark in _STARS if p < limit), "")


@stamped
def all_pairs(
    reports: Collected,
    attributes: Sequence[str] | None = None,
    *,
    method: str = "auto",
    control: Adjustment = "holm",
    replicates: int = 999,
    source: Source | None = None,
    weights: Weights = None,
    strata: Given = None,
    clusters: Given = None,
) -> Pairs:
    """Test every pair of attributes for independence, corrected for their number.

    Args:
        reports: what respondents sent, tallies or observations.
        attributes: which attributes; all of the design's by default. Pairs nobody was asked together are left out.
        method: as for `independence`.
        control: "holm", "bh" (Benjamini-Hochberg) or "none".
        replicates: of each bootstrap; with many pairs take enough for the smallest adjusted p-value.
        source: where they are drawn from; by default a stream that the data determine.
        weights: survey weights, as for `independence`.
        strata: each respondent's stratum, or the name of a public column.
        clusters: each respondent's cluster, or the name of a public column.
    """
    drawn = sampling_of(reports, weights, strata, clusters)
    if attributes is None:
        design = getattr(reports, "design", None)
        if design is None:
            raise InputError("name the attributes to test; observations do not tell which belong to the survey")
        attributes = design.domain.names
    known, untold = _told(reports, attributes)
    if drawn is None:
        tests = all_tested(list(known.values()), method, replicates, source)
    else:
        more: dict[str, Any] = {"replicates": replicates, "source": source, "weights": drawn}
        tests = [independence(reports, *pair, method, **more) for pair in known]
        known = {pair: gather(reports, each.asked.names, sampling=drawn) for pair, each in known.items()}
    if not known:
        raise _nothing_told(untold)
    fixed = adjusted([test.pvalue for test in tests], control)
    values = np.array([strength(efficient_from(evidence)) for evidence in known.values()])
    everybody = applies_to_all(evidence.asked for evidence in known.values())
    unclear = [refusal.message for refusal in untold.values() if isinstance(refusal, InvalidTestError)]
    everybody += tuple(f"Not tested: {message}." for message in unclear[:1])
    everybody += differing(reports, list(known), ASSOCIATED, drawn)
    asked = {pair: evidence.n for pair, evidence in known.items() if evidence.unasked}
    return Pairs(tuple(known), tuple(tests), values, fixed, control, tuple(untold), asked, everybody)


def _told(
    reports: Collected, attributes: Sequence[str]
) -> tuple[dict[tuple[str, str], Evidence], dict[tuple[str, str], EstimationError]]:
    """What reports tell of each pair; of those that they do not tell about, why."""
    known: dict[tuple[str, str], Evidence] = {}
    untold: dict[tuple[str, str], EstimationError] = {}
    for pair in combinations(attributes, 2):
        try:
            evidence = covering(reports, pair)
        except (NotCoveredError, TooFewReportsError) as why:
            untold[pair] = why
            continue
        try:
            refuse_unknown_askings(evidence.asked)
            known[pair] = evidence
        except InvalidTestError as unclear:
            untold[pair] = unclear
    return known, untold


def _nothing_told(untold: Mapping[tuple[str, str], EstimationError]) -> EstimationError:
    """Why no pair can be tested."""
    for reason in untold.values():
        if isinstance(reason, TooFewReportsError | InvalidTestError) or getattr(reason, "asked", False):
            return reason
    return NotCoveredError(
        "no two attributes were asked of the same person, so no pair can be tested. Use a design that asks them "
        "together: Independent, Joint, or Views with k=2"
    )
