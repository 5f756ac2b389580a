"""A black-box audit: a lower bound on the epsilon that a program really has, from watching it run.

If a randomizer is epsilon-private, then for every two truths v, v' and every set of reports S

    Pr(report in S | v)  <=  e^epsilon  Pr(report in S | v').

So a set S for which the left side is provably larger than the right side proves the claim wrong. Part of the runs
looks for the worst v, v' and S (see `distinguish`); **fresh runs** then give two one-sided Clopper-Pearson bounds,
which share the error 1 - confidence between them, and

    lower_bound = max(0, ln( lower bound of Pr(S | v) / upper bound of Pr(S | v') )).

Since S was fixed before those runs began, the true epsilon is at least `lower_bound` with the stated confidence,
however S was found. An audit can convict and cannot acquit: n runs certify no more than about ln(n / 15).

A sampler may be right on a million values at once and wrong on one (a generator seeded anew at each call draws the
same noise for everybody), and a device randomizes one. So a part of the runs, with a tenth of the error, calls it with
one value at a time, and the larger of the two bounds is the result.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from deniable.errors import InputError
from deniable.plotting import epsilons
from deniable.privacy.event_search import Draw, Event, Ints, most_telling_event

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TELLING = 0.75  # of the claimed epsilon: from there on an audit says that it is not contradicted
MOST_TRUTHS = 64
"""With more truths than this, the first, the last and a random choice of the others are tried."""

_CHUNK = 1 << 16
_FEWEST_RUNS = 1000
# One value at a time is slow, and what it is there to find (the same noise each time) shows at once.
_MOST_SINGLE_RUNS = 10_000
_MOST_SINGLE_TRUTHS = 8

Report: TypeAlias = int | tuple[int, ...]
Progress: TypeAlias = Callable[[int, int], object]


@runtime_checkable
class Randomizer(Protocol):
    """A channel from `inputs` truth categories, coded 0, 1, ..., to reports."""

    @property
    def inputs(self) -> int:
        """The number of truth categories."""

    def randomize(self, codes: npt.NDArray[Any], /) -> npt.NDArray[Any]:
        """Map truth codes to reports: one integer each, or one row of integers each."""


@runtime_checkable
class Auditable(Protocol):
    """Whatever can name its own cases, as a design does, whose respondents hold more than one code."""

    def audit_cases(self) -> tuple[int, Callable[[Ints], npt.NDArray[Any]]]:
        """Return the number of different truths, and a function from their codes 0, 1, ... to reports."""


@dataclass(frozen=True)
class AuditResult:
    """What an audit found: with the stated confidence, the true epsilon is at least `lower_bound`.

    Args:
        lower_bound: The proven part of epsilon, from runs that had no part in choosing the event.
        claimed: The epsilon that was promised; None where there was no promise to compare with.
        confidence: How sure the bound is. A private randomizer is convicted with probability at most 1 - confidence.
        runs: How many reports were allowed to be drawn, all together.
        truths: The two truth codes (v, v') told apart best.
        event: The reports S that tell them apart: integers, or tuples of the values in `columns`.
        columns: Which columns of the report the event speaks of; None where a report is a single integer.
        one_at_a_time: Whether the event showed when the randomizer was called with single values.
        tried: How many truths were tried ...
        of: ... out of how many.
    """

    lower_bound: float
    claimed: float | None
    confidence: float
    runs: int
    truths: tuple[int, int]
    event: tuple[Report, ...]
    columns: tuple[int, ...] | None = None
    one_at_a_time: bool = False
    tried: int = 2
    of: int = 2

    @property
    def violated(self) -> bool:
        """Whether the proven epsilon exceeds the claimed one. False proves nothing; it is only not disproved."""
        return self.claimed is not None and self.lower_bound > self.claimed

    @property
    def is_telling(self) -> bool:
        """Whether it proves three quarters of what is claimed or more: less, and a broken promise could look the same.

        Of k-RR and other reports that come often it proves nine tenths and more; what it falls short of the claim, a
        promise might be broken by without being seen.
        """
        return self.claimed is None or self.lower_bound >= _TELLING * self.claimed

    def lines(self) -> tuple[str, ...]:
        """Return the result, one sentence a line."""
        first, second = self.truths
        lines = [
            f"epsilon is at least {self.lower_bound:.4f}, with {self.confidence:.4g} confidence ({self.runs} runs)",
            self._verdict(),
            f"Told apart best: truth {first} from truth {second}, by the reports {self._shown_event()}.",
        ]
        if self.one_at_a_time:
            lines.append("This shows when values are randomized one at a time, as a respondent's device does.")
        if self.tried < self.of:
            lines.append(f"Only {self.tried} of {self.of} truths were tried: the first, the last and a random choice.")
        return tuple(lines)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape(line)}</li>" for line in self.lines())
        return f'<section class="deniable-audit"><strong>Privacy audit</strong><ul>{items}</ul></section>'

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the proven lower bound beside the claimed epsilon."""
        claimed = [] if self.claimed is None else [("claimed", self.claimed)]
        proven = (f"proven, at least\n({self.confidence:.4g} confidence)", self.lower_bound)
        return epsilons([*claimed, proven], self._verdict(), ax)

    def _verdict(self) -> str:
        if self.claimed is None:
            return "No epsilon was claimed, so there is nothing to compare it with."
        if self.violated:
            return f"VIOLATED: the claimed epsilon {self.claimed:.4f} is not kept."
        if not self.is_telling:
            return (
                f"This audit cannot tell whether the claimed epsilon {self.claimed:.4f} is kept: it falls "
                f"{self.claimed - self.lower_bound:.2f} short of it, and would not have noticed one so much larger. "
                f"Its reports are too different from each other for so few runs, as those of hashes are; take more "
                f"runs, or recompute epsilon from the design."
            )
        return f"The claimed epsilon {self.claimed:.4f} is not contradicted."

    def _shown_event(self) -> str:
        shown = ", ".join(str(report) for report in self.event[:5])
        more = f", ... ({len(self.event)} in all)" if len(self.event) > 5 else ""
        where = f" in columns {', '.join(map(str, self.columns))}" if self.columns else ""
        return f"{{{shown}{more}}}{where}"


def audit(
    randomizer: Randomizer | Auditable | Callable[[Ints], npt.NDArray[Any]],
    *,
    runs: int = 200_000,
    confidence: float = 0.95,
    inputs: int | Sequence[int] | None = None,
    claimed: float | None = None,
    progress: Progress | None = None,
) -> AuditResult:
    """Watch a randomizer run, and prove how large its epsilon is at least.

    Args:
        randomizer: A design (`audit_cases` is preferred where it exists), a channel (`randomize` and `inputs`), or a
            plain function from an integer array of truth codes to as many reports: integers, or rows of integers.
        runs: How many reports may be drawn in all. More runs give a bound closer to the truth.
        confidence: The probability with which the bound holds.
        inputs: The truth codes to try, or their number k for 0, ..., k-1. Needed for a plain function.
        claimed: The promised epsilon; by default the randomizer's own `epsilon`, where it has one.
        progress: Called as progress(runs done, runs in all), now and then.

    Raises:
        InputError: There are fewer than two truths or too few runs, or the reports are not integers, one per code.

    >>> result = audit(lambda codes: codes, inputs=2, claimed=1.0, runs=2_000)  # every answer in clear
    >>> result.violated
    True
    """
    if not 0 < confidence < 1:
        raise InputError(f"confidence lies between 0 and 1; got {confidence!r}.", confidence=confidence)
    if runs < _FEWEST_RUNS:
        raise InputError(f"an audit needs at least {_FEWEST_RUNS} runs to see anything; got {runs}.", runs=runs)
    program, codes = _program_and_truths(randomizer, inputs)
    truths = _some_truths(codes, MOST_TRUTHS)
    meter = _Meter(runs, progress)
    singles = min(runs // 20, _MOST_SINGLE_RUNS)
    few = _some_truths(truths, _MOST_SINGLE_TRUTHS)
    # Two bounds, each wrong with its own part of the error: together wrong with at most all of it.
    together = _find_and_prove(_caller(program, meter, _CHUNK), truths, runs - singles, 0.9 * (1 - confidence))
    alone = _find_and_prove(_caller(program, meter, 1), few, singles, 0.1 * (1 - confidence))
    meter.finish()

    best = alone if alone.bound > together.bound else together
    return AuditResult(
        lower_bound=best.bound,
        claimed=_claim(randomizer) if claimed is None else float(claimed),
        confidence=confidence,
        runs=runs,
        truths=(best.event.first, best.event.second),
        event=tuple(_as_report(row) for row in best.event.outputs),
        columns=best.event.columns if best.width > 1 else None,
        one_at_a_time=best is alone,
        tried=len(truths),
        of=len(codes),
    )


@dataclass(frozen=True, eq=False)
class _Proof:
    """A lower bound on epsilon, the event that shows it, and how many columns a report has."""

    bound: float
    event: Event
    width: int


class _Meter:
    """Counts runs for the progress callback."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total = total
        self._progress = progress
        self._done = 0

    def add(self, runs: int) -> None:
        self._done = min(self._done + runs, self._total)
        if self._progress is not None:
            self._progress(self._done, self._total)

    def finish(self) -> None:
        self.add(self._total)


def _find_and_prove(draw: Draw, truths: Ints, runs: int, error: float) -> _Proof:
    """Find v, v' and S with half of the runs, then bound ln(Pr(S | v) / Pr(S | v')) from below with the other half."""
    level = error / 2
    each = max(1, runs // 4)
    event = most_telling_event(draw, truths, runs=runs // 2, z=NormalDist().inv_cdf(1 - level), proof=each)
    # The truths and the reports are settled here; all that follows is drawn afresh.
    labels = np.tile(np.array([event.first, event.second], dtype=np.int64), each)
    reports = draw(labels)
    inside = event.contains(reports)
    # The labels alternate: even places hold the first truth, odd ones the second.
    below = _binomial_below(int(inside[0::2].sum()), each, level)
    above = _binomial_above(int(inside[1::2].sum()), each, level)
    bound = math.log(below / above) if below > 0 else 0.0
    return _Proof(max(0.0, bound), event, reports.shape[1])


def _binomial_below(hits: int, n: int, level: float) -> float:
    """Clopper-Pearson: the p at which `hits` or more out of n has probability `level`."""
    from scipy.special import betaincinv

    return float(betaincinv(hits, n - hits + 1, level)) if hits > 0 else 0.0


def _binomial_above(hits: int, n: int, level: float) -> float:
    """Clopper-Pearson: the p at which `hits` or fewer out of n has probability `level`."""
    from scipy.special import betaincinv

    return float(betaincinv(hits + 1, n - hits, 1 - level)) if hits < n else 1.0


def _program_and_truths(
    randomizer: object, inputs: int | Sequence[int] | None
) -> tuple[Callable[[Ints], npt.NDArray[Any]], Ints]:
    count: object = None
    program: Callable[[Ints], npt.NDArray[Any]]
    if isinstance(randomizer, Auditable):
        count, program = randomizer.audit_cases()
    elif hasattr(randomizer, "randomize"):
        count, program = getattr(randomizer, "inputs", None), randomizer.randomize
    elif callable(randomizer):
        program = randomizer
    else:
        raise InputError(
            f"a {type(randomizer).__name__} cannot be audited: it has neither audit_cases nor randomize, and is not a "
            "function from truth codes to reports.",
            randomizer=randomizer,
        )
    wanted = count if inputs is None else inputs
    if wanted is None:
        raise InputError("which truths are there to try? Give inputs=k for the codes 0, ..., k-1, or a list of codes.")
    truths = np.unique(np.arange(wanted) if np.ndim(wanted) == 0 else np.asarray(wanted))  # type: ignore[call-overload, arg-type]
    if len(truths) < 2 or not np.issubdtype(truths.dtype, np.integer):
        raise InputError(f"an audit needs two truth codes or more, as integers; got inputs={wanted!r}.", inputs=wanted)
    return program, truths.astype(np.int64)


def _some_truths(truths: Ints, most: int) -> Ints:
    """Choose at most so many truths: the first, the last (where off-by-one errors live) and others at random."""
    if len(truths) <= most:
        return truths
    inner = secrets.SystemRandom().sample(range(1, len(truths) - 1), most - 2)
    return truths[[0, *sorted(inner), len(truths) - 1]]


def _caller(program: Callable[[Ints], npt.NDArray[Any]], meter: _Meter, size: int) -> Draw:
    """Call the program with so many codes at a time, and check what comes back."""

    def draw(codes: Ints) -> Ints:
        parts = []
        for start in range(0, len(codes), size):
            # A copy: a program that writes into its argument must not see or spoil the next call's codes.
            part = codes[start : start + size].copy()
            parts.append(_as_rows(program(part), len(part)))
            meter.add(len(part))
        return np.concatenate(parts)

    return draw


def _as_rows(reports: object, expected: int) -> Ints:
    array = np.asarray(reports)
    if array.ndim not in (1, 2) or len(array) != expected:
        raise InputError(
            f"{expected} truth codes went in and an array of shape {array.shape} came out; expected as many reports, "
            "integers or rows of integers.",
            shape=array.shape,
        )
    if array.dtype != np.bool_ and not np.issubdtype(array.dtype, np.integer):
        raise InputError(f"reports are integers; got {array.dtype}. Give each report a code.", dtype=array.dtype)
    rows = array.astype(np.int64)
    return rows[:, None] if rows.ndim == 1 else rows


def _as_report(row: Ints) -> Report:
    values = tuple(int(value) for value in row)
    return values[0] if len(values) == 1 else values


def _claim(randomizer: object) -> float | None:
    epsilon = getattr(randomizer, "epsilon", None)
    return float(epsilon) if isinstance(epsilon, int | float) else None
