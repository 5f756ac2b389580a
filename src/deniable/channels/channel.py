"""The one idea everything stands on: a channel is a column-stochastic map from truth to report.

P[u, v] = Pr(report u | truth v), every column sums to one, and reports are distributed as lambda = P pi.

What a channel must have::

    inputs, outputs        number of truths and of reports
    ratio                  max over u, v, v' of P[u, v] / P[u, v'], exactly
    _apply, _adjoint       P x and P' y along the middle axis of a (left, cells, right) array
    _solve, _solve_adjoint Q x and Q' y, where Q P = I
    _solve_squared         (Q o Q) x, which variances are made of
    _spread                diagonal and row sums of (Q o Q) P
    _matrix                P itself, for channels small enough to look at
    executed()             the channel of integers our code runs in its place, or a refusal
    weights()              those integers
    to_dict()              itself as plain data

What it may have: `affine()` (every cell's estimate depends on that cell's count alone), `collapse()` (what remains
of it when the reports of several attributes are summed over some of them), a faster `_outcome`.

Two kinds of reports. Mostly a report is a *category*, counts are multinomial and P is as above. For many categories a
report is better a *set* of truths (`support`): counted is then how many sets hold each truth, and one more cell says
how many reports there were. P maps to the expected shares of these counts, and all the algebra holds but for what
concerns how counts vary: `tally`, `reports_in`, `moments_times` and `draw` are where the two kinds differ.

Two kinds of numbers. A channel that *our code runs* is made of integers: W[u, v] of 2^bits equally likely draws turn
truth v into report u, and its probabilities, its ratio and its epsilon are computed from these integers. A survey
device performed *by hand* keeps the probabilities it states; zeros are then allowed, epsilon is infinite and says
so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from deniable.core.randomness import SECURE, Source, check_source
from deniable.device.epsilon import epsilon_of
from deniable.device.privacy_statement import Statement
from deniable.errors import InputError
from deniable.frozen import Frozen, readonly

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    from deniable.channels.guessing import Guessing
    from deniable.core.domain import Category

CHUNK = 1 << 17  # values disguised at a time: their scratch space stays in the processor's cache
_LOOKED_UP = 1 << 20  # up to this many entries, rows of P are looked up in the matrix
MATRIX_CELLS = 1 << 24  # an explicit matrix above this many entries is refused: use apply and solve


class Channel(Frozen, ABC):
    """A column-stochastic map from truth to report."""

    kind: ClassVar[str]  # what its plain data are called, and its file
    treats_alike: ClassVar[bool] = False  # whether any two truths could change places and nobody would notice
    inputs: int
    outputs: int
    name: str
    bits: int | None = None  # the width of a draw; None for a device performed by hand
    is_support: bool = False  # whether reports are sets of truths, counted by what they hold
    is_hashed: bool = False  # whether it takes arithmetic for every truth to tell which of them a report speaks for
    is_answer: bool = True  # whether a report is one of the truths; else it speaks for several of them
    is_partial: bool = False  # whether reports tell only some functionals of the truth's shares
    shares_context: bool = False  # whether a respondent's answers name something in common, such as their block
    categories: tuple[Category, ...] | None = None
    sensitive: int | None = None  # of a device for a yes-or-no question: which truth is the sensitive one

    def in_order_of(self, categories: Sequence[Category], name: str = "answer") -> Channel:  # noqa: ARG002 - none named
        """The same channel with its truths in the order in which something else lists them: names win.

        Where a channel names no truths, they are in whatever order they are listed.
        """
        return self

    @property
    def sums(self) -> int | None:
        """How many independent sums of the shares the reports tell; None where nobody counted."""
        return None if self.is_partial else self.inputs - 1

    # -- privacy ------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def ratio(self) -> Fraction | float:
        """The largest P[u, v] / P[u, v'], as a Fraction; infinite when a report rules a truth out."""

    @cached_property
    def epsilon(self) -> float:
        """ln(ratio), rounded up: the true epsilon of one report."""
        return epsilon_of(self.ratio)

    def describe(self) -> Statement:
        """Say in words what one report can tell about a person."""
        return Statement(self.ratio)

    def guessing(self, prior: Any) -> Guessing:
        """How often the best guess of a person's answer is right, before the report and after it.

        Args:
            prior: what is believed of the person before: numbers in the order of the truths, or by their names.
        """
        from deniable.channels.guessing import guessing

        return guessing(self, prior)

    def clones(self) -> Sequence[tuple[Fraction, Fraction]]:
        """How well a report hides among others' once all are shuffled: pairs (s, h) as `privacy.shuffle` takes them.

        h is the chance that a report tells two given truths apart at all; of the others' reports a share s at least are
        taken for one of these two, whatever their truths. None where nothing better is known than any channel has.
        """
        return ()

    # -- what it is made of -----------------------------------------------------------------------------------------

    @property
    def factors(self) -> tuple[Channel, ...]:
        """The channels that a product is made of, one an attribute or more; any other is its own."""
        return (self,)

    def with_factors(self, factors: Sequence[Channel]) -> Channel:
        """A channel of the same form, with other factors in the place of its own."""
        (only,) = factors
        return only

    def from_rows(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Reports as this channel takes them, from rows with a column a factor."""
        return rows[:, 0]

    def pooled(self) -> Channel:
        """The channel of a report whose context (a block) is forgotten; itself where there is none to forget."""
        return self

    def inverse_of_some(self, truths: Sequence[int]) -> NDArray[np.float64] | None:  # noqa: ARG002 - mostly the best one
        """Q where only some truths can be anybody's, of a channel that knows more than its matrix says; else None."""
        return None

    # -- the map and its inverse -----------------------------------------------------------------------------------

    def tells(self, w: ArrayLike) -> bool:  # noqa: ARG002 - a channel that can be inverted tells everything
        """Whether reports tell w . pi: whether w lies in the row space of P."""
        return True

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of the truth's distribution."""
        return (self.inputs,)

    @property
    def output_shape(self) -> tuple[int, ...]:
        """The shape of the reports' distribution."""
        return (self.outputs,)

    def apply(self, pi: ArrayLike) -> NDArray[np.float64]:
        """Map the truth's distribution to the reports': lambda = P pi. Trailing axes are carried along."""
        return self._whole(self._apply, pi, self.input_shape, self.output_shape)

    def adjoint(self, y: ArrayLike) -> NDArray[np.float64]:
        """P' y, for any y over the reports."""
        return self._whole(self._adjoint, y, self.output_shape, self.input_shape)

    def solve(self, lam: ArrayLike) -> NDArray[np.float64]:
        """Recover the truth's distribution: Q lambda, Q P = I. Unbiased when lambda are observed shares."""
        return self._whole(self._solve, lam, self.output_shape, self.input_shape)

    def solve_adjoint(self, w: ArrayLike) -> NDArray[np.float64]:
        """Q' w: the weight each report carries in the estimate of the linear functional w'pi."""
        return self._whole(self._solve_adjoint, w, self.input_shape, self.output_shape)

    def solve_squared(self, lam: ArrayLike) -> NDArray[np.float64]:
        """(Q o Q) lambda, the second moments of the estimate: Var = ((Q o Q) lambda - pi^2) / n."""
        return self._whole(self._solve_squared, lam, self.output_shape, self.input_shape)

    def spread(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Diagonal and row sums of D = (Q o Q) P: how a cell's second moment moves with the truth."""
        return self._spread()

    def variance(self, pi: ArrayLike, n: int) -> NDArray[np.float64]:
        """Per-cell variance of the unbiased estimate from n reports of independent respondents.

        ((Q o Q) P pi - pi^2) / n, sampling of the respondents included.
        """
        share = np.asarray(pi, dtype=np.float64)
        return (self.solve_squared(self.apply(share)) - share**2) / n

    @staticmethod
    def _whole(step: Any, x: ArrayLike, shape_in: tuple[int, ...], shape_out: tuple[int, ...]) -> NDArray[np.float64]:
        array = np.asarray(x, dtype=np.float64)
        if array.shape[: len(shape_in)] != shape_in:
            raise InputError(
                f"expected an array over {shape_in} cells, got one of shape {array.shape}",
                expected=shape_in,
                found=array.shape,
            )
        rest = array.shape[len(shape_in) :]
        cells = int(np.prod(shape_in))
        result: NDArray[np.float64] = step(array.reshape(1, cells, -1))
        return result.reshape(shape_out + rest)

    @abstractmethod
    def _apply(self, x: NDArray[np.float64]) -> NDArray[np.float64]: ...

    @abstractmethod
    def _adjoint(self, y: NDArray[np.float64]) -> NDArray[np.float64]: ...

    @abstractmethod
    def _solve(self, x: NDArray[np.float64]) -> NDArray[np.float64]: ...

    @abstractmethod
    def _solve_adjoint(self, y: NDArray[np.float64]) -> NDArray[np.float64]: ...

    @abstractmethod
    def _solve_squared(self, x: NDArray[np.float64]) -> NDArray[np.float64]: ...

    @abstractmethod
    def _spread(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

    @abstractmethod
    def _matrix(self) -> NDArray[np.float64]: ...

    def matrix(self) -> NDArray[np.float64]:
        """P itself, outputs x inputs."""
        if self.outputs * self.inputs > MATRIX_CELLS:
            raise InputError(
                f"the matrix of {self.name} would have {self.outputs} x {self.inputs} entries; use apply() and "
                "solve(), which never form it"
            )
        return self._matrix()

    # -- how counts come about, and how they vary -----------------------------------------------------------------

    @property
    def reports(self) -> int:
        """How many different reports there are: codes 0 .. reports - 1."""
        return self.outputs

    def tally(self, reports: NDArray[Any], times: NDArray[np.integer] | None = None) -> NDArray[np.int64]:
        """Count reports into the cells that `solve` takes; `times` says how often each of them came."""
        return np.bincount(reports.ravel().astype(np.int64), times, self.outputs).astype(np.int64)

    def members(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """What each report adds to the cells: a row of zeros and ones."""
        return np.eye(self.outputs)[reports.ravel().astype(np.int64)]

    def likelihood(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Pr(report | truth), a row a report: what each of them says about every truth."""
        codes, back = np.unique(np.asarray(reports).ravel().astype(np.int64), return_inverse=True)
        if self.outputs * self.inputs <= _LOOKED_UP:
            return self.matrix()[codes[back]]
        single = np.zeros((self.outputs, len(codes)))
        single[codes, np.arange(len(codes))] = 1.0
        return self.adjoint(single.reshape(*self.output_shape, -1)).reshape(self.inputs, -1).T[back]

    def every_report(self, most: int) -> NDArray[Any] | None:
        """All reports that can come, as codes; None where they are more than `most`."""
        return np.arange(self.outputs) if self.outputs <= most else None

    def reports_in(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """How many reports some counts stand for; trailing axes are carried along."""
        return counts.sum(axis=tuple(range(len(self.output_shape))))

    def moments_times(self, shares: NDArray[np.float64], w: NDArray[np.float64]) -> NDArray[np.float64]:
        """E[z z'] w, where z is the estimate that a single report makes: Q diag(lambda) Q' w."""
        return self.solve(shares * self.solve_adjoint(w))

    def second_moments(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """E[z z'] written out, for shares with a last axis of replicates: (replicates, inputs, inputs)."""
        q = self.solve(np.eye(self.outputs).reshape(*self.output_shape, -1)).reshape(self.inputs, -1)
        return np.einsum("au,ur,bu->rab", q, shares.reshape(self.outputs, -1), q, optimize=True)

    def draw(self, pi: NDArray[np.float64], n: int, rng: np.random.Generator, replicates: int) -> NDArray[np.float64]:
        """Counts of n reports of independent respondents, last axis of replicates; so may have pi a table each."""
        lam = self.apply(pi).reshape(self.outputs, -1)
        drawn = multinomials(lam, n, rng, replicates)
        return drawn.T.reshape(*self.output_shape, replicates).astype(np.float64)

    def affine(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """(scale, offset) with pi_v = (lambda_v - offset_v) / scale_v, where each cell is one binomial; else None."""
        return None

    def largest_weight(self) -> float:
        """The largest entry of the inverse in size: how many true answers one made-up report can weigh as much as."""
        affine = self.affine()
        if affine is not None:
            scale, offset = affine
            return float(np.max(np.maximum(np.abs(1 - offset), np.abs(offset)) / np.abs(scale)))
        each = np.eye(self.outputs)
        if self.is_partial:  # of what it tells: no report weighs more in a functional of range 1
            return float(np.abs(self.solve_adjoint(self.adjoint(each))).max())
        return float(np.abs(self.solve(each)).max())

    def collapse(self, shape: tuple[int, ...], keep: Sequence[int]) -> Channel | None:
        """The channel from kept attributes to kept attributes once the reports are summed over the others.

        Only channels whose collapsed form depends on the kept attributes alone have one.
        """
        return self if tuple(keep) == tuple(range(len(shape))) else None

    # -- running it ---------------------------------------------------------------------------------------------

    @abstractmethod
    def executed(self) -> Channel:
        """The channel of integers that our code runs for this one; refused when a weight would be zero."""

    @abstractmethod
    def weights(self) -> NDArray[np.int64]:
        """W[u, v]: how many of the 2^bits draws turn truth v into report u. Executed channels only."""

    def intervals(self, truth: int) -> list[tuple[int, int, int]]:
        """(first draw, one past the last, report) for a truth: the sampler written out, for inspection and tests."""
        ends = np.cumsum(self.weights()[:, truth]).tolist()
        return [(first, end, report) for report, (first, end) in enumerate(pairwise([0, *ends]))]

    def outcome(self, codes: ArrayLike, draws: ArrayLike) -> NDArray[Any]:
        """The reports that given draws select: what `randomize` does once the draws are there."""
        assert self.bits is not None
        given = np.asarray(codes)
        out = np.empty(given.size, dtype=self.report_dtype)
        self._outcome(given.ravel(), np.array(draws, dtype=f"u{self.bits // 8}").ravel(), out)
        return out.reshape(given.shape)

    @cached_property
    def _ends(self) -> NDArray[np.uint64]:
        """The ends of all intervals of all truths on one line, truth v shifted by v 2^bits."""
        ends = np.cumsum(self.weights(), axis=0).T.astype(np.uint64)
        shift = np.arange(self.inputs, dtype=np.uint64) << np.uint64(self.bits or 0)
        return readonly((ends + shift[:, None]).ravel())

    def _outcome(self, codes: NDArray[np.integer], draws: NDArray[np.unsignedinteger], out: NDArray[Any]) -> None:
        """Write the reports that these draws (which may be overwritten) select into `out`."""
        line = (codes.astype(np.uint64) << np.uint64(self.bits or 0)) | draws.astype(np.uint64)
        found = np.searchsorted(self._ends, line, side="right")
        out[:] = found - codes.astype(np.int64) * self.outputs

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """The smallest unsigned type that holds a report."""
        return np.min_scalar_type(self.reports - 1)

    def randomize(self, codes: ArrayLike, *, source: Source = SECURE, seed: None = None) -> NDArray[Any]:
        """Disguise answers, given as codes 0 .. inputs - 1; of a product of channels, a matrix with a row a respondent.

        `source` is for simulations; leave it alone otherwise. A `seed` is answered with what to write instead.
        """
        check_source(source, seed)
        return self._randomize(codes, source)

    def _randomize(self, codes: ArrayLike, source: Source) -> NDArray[Any]:
        run = self.executed()
        assert run.bits is not None
        given = np.asarray(codes)
        if given.dtype.kind not in "iub":
            raise InputError(f"codes must be whole numbers, not {given.dtype}; Variable.encode makes them")
        flat = given.ravel()
        out = np.empty(flat.shape, dtype=run.report_dtype)
        stream = source.stream()
        draws = np.empty(min(CHUNK, len(flat)), dtype=f"<u{run.bits // 8}")
        for start in range(0, len(flat), CHUNK):
            part = flat[start : start + CHUNK]
            # Without its sign a negative code is a huge one: one look finds both.
            seen = part.view(part.dtype.str.replace("i", "u")) if part.dtype.kind == "i" else part
            if seen.max() >= self.inputs:
                strangers = int(((flat < 0) | (flat >= self.inputs)).sum())
                raise InputError(
                    f"{strangers} codes lie outside 0 .. {self.inputs - 1}, the truths of {self.name}. Encode the "
                    "answers with Domain.encode, or use a channel with more categories",
                    rows=strangers,
                )
            words = draws[: len(part)]
            stream.fill(words)
            run._outcome(part, words, out[start : start + CHUNK])
        return out.reshape(given.shape)

    def estimate(self, reports: ArrayLike) -> NDArray[np.float64]:
        """The unbiased shares of the truths from disguised answers, as `randomize` gives them; they may be negative.

        `deniable.estimate` says how far off they may be, and takes whole designs.
        """
        counts = self.tally(np.asarray(reports)).reshape(self.output_shape).astype(np.float64)
        n = float(self.reports_in(counts))
        if not n:
            raise InputError("there are no reports to estimate anything from")
        return self.solve(counts / n)

    # -- identity ---------------------------------------------------------------------------------------------------

    @abstractmethod
    def to_dict(self) -> dict[str, object]:
        """The channel as plain data, from which `channel_from_dict` makes an equal one."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Channel) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(repr(self.to_dict()))

    def __repr__(self) -> str:
        return f"<{self.name}: {self.inputs} truths, {self.outputs} reports, epsilon {self.epsilon:.6g}>"


def multinomials(pi: NDArray[np.float64], n: int, rng: np.random.Generator, replicates: int) -> NDArray[np.int64]:
    """Multinomial counts (replicates, cells) from one column of shares, or from a column for each replicate."""
    shares = np.maximum(pi.T, 0.0)  # rounding may leave -1e-17
    shares = shares / shares.sum(axis=1, keepdims=True)
    return rng.multinomial(n, shares[0] if len(shares) == 1 else shares, size=replicates)
