"""Any channel, given as its matrix."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.explicit_matrix import WORST_CONDITION, Explicit
from deniable.channels.integer_weights import largest_ratio, round_column, stated, weights_array, written
from deniable.core.category_order import places, says_yes_first
from deniable.core.data_frames import refuse_set
from deniable.core.input_coercion import without_labels
from deniable.device.channels.channel_kind import WIDTHS
from deniable.errors import NotExecutableError, ProbabilityError, SingularChannelError
from deniable.frozen import again, fix, readonly

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from deniable.core.domain import Category


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Dense(Explicit):
    """A channel given by P[u, v] = Pr(report u | truth v).

    >>> channel = Dense([[0.8, 0.3], [0.2, 0.7]])
    >>> channel.ratio, round(channel.condition, 3)
    (Fraction(7, 2), 2.027)
    """

    kind = "dense"

    _columns: tuple[tuple[Fraction, ...], ...]
    bits: int | None
    name: str
    categories: tuple[Category, ...] | None = None
    sensitive: int | None = None

    def __init__(self, matrix: Any, *, name: str | None = None, categories: Sequence[Category] | None = None) -> None:
        """Take the stated probabilities; at least as many reports (rows) as truths (columns)."""
        table = np.asarray(without_labels(matrix, "a channel's reports and truths"), dtype=object)
        if table.ndim != 2 or not table.size:
            raise ProbabilityError(f"a channel is a matrix of probabilities, not an array of shape {table.shape}")
        shares = [[stated(share, "a probability") for share in row] for row in table.tolist()]
        columns = [list(column) for column in zip(*shares, strict=True)]
        for truth, column in enumerate(columns):
            total = sum(column)
            if abs(float(total) - 1) > 1e-9:
                raise ProbabilityError(
                    f"column {truth} (reports given truth {truth}) sums to {float(total):g}, not to 1. P[u, v] is the "
                    f"probability of report u given truth v, so columns sum to one; transpose the matrix if rows do",
                    column=truth,
                    total=float(total),
                )
            columns[truth] = [share / total for share in column]
        refuse_set(categories, "categories")
        self._set(columns, None, name, categories)

    @classmethod
    def of_yes_no(cls, matrix: Any, *, name: str, categories: Sequence[Category] | None = None) -> Dense:
        """A device for a yes-or-no question: truth 1 is the sensitive one, "yes", and report 1 says so.

        `categories` are the names of truth 0 and truth 1; where their words say that yes comes first, they say the
        order in which truths are listed.
        """
        made = cls(matrix, name=name)
        fix(made, sensitive=1)
        return made if categories is None else made.in_order_of(categories)

    def order_of(self, categories: Sequence[Category], name: str = "answer") -> NDArray[np.int64]:
        """Which of its truths each category is, by name; refused where the names are not the same.

        Of a device for a yes-or-no question that has no names, "yes" is the sensitive truth, wherever it is listed.
        """
        refuse_set(categories, "categories")
        if len(categories) != self.inputs:
            raise ProbabilityError(f"{self.name} has {self.inputs} truths but {len(categories)} categories")
        if self.categories is not None:
            return places(self.categories, categories, name)
        turned = self.sensitive is not None and says_yes_first(categories)
        return np.arange(self.inputs)[:: -1 if turned else 1]

    def in_order_of(self, categories: Sequence[Category], name: str = "answer") -> Dense:
        """The same device with its truths, and reports that are answers, in the order of the categories: names win."""
        order = self.order_of(categories, name)
        same = (order == np.arange(self.inputs)).all()
        if same and (tuple(categories) == self.categories or (self.categories is None and self.sensitive is None)):
            return self
        told = order if self.outputs == self.inputs else np.arange(self.outputs)
        moved = [[self._columns[v][u] for u in told] for v in order]
        sensitive = None if self.sensitive is None else order.tolist().index(self.sensitive)
        return Dense._of(moved, self.bits, self.name, categories, partial=self.is_partial, sensitive=sensitive)

    @classmethod
    def from_weights(cls, weights: ArrayLike, bits: int, *, name: str | None = None, partial: bool = False) -> Dense:
        """Take integers W[u, v], every column summing to 2^bits; `partial` allows a channel that tells only some sums.

        >>> even = [3 << 14, 1 << 14, 1 << 14, 3 << 14]
        >>> parity = Dense.from_weights([even, [(1 << 16) - w for w in even]], 16, partial=True)
        >>> parity.tells([1, 0, 0, 1]), parity.tells([1, 1, 0, 0])
        (True, False)
        """
        table = np.asarray(weights)
        if bits not in WIDTHS or table.ndim != 2 or not table.size or table.dtype.kind not in "iu":
            raise ProbabilityError(f"weights must be a matrix of integers from 0, with 16- or 32-bit draws, not {bits}")
        # Each entry is checked before they are summed: huge ones could wrap around to the right total.
        if table.min() < 0 or table.max() > 1 << bits:
            raise ProbabilityError(
                f"weights must lie between 0 and 2^{bits} = {1 << bits}; found {table.min()} .. {table.max()}"
            )
        totals = table.sum(axis=0, dtype=np.int64)
        if (totals != 1 << bits).any():
            truth = int(np.argmax(totals != 1 << bits))
            raise ProbabilityError(
                f"the weights of column {truth} sum to {totals[truth]}, not to 2^{bits} = {1 << bits}",
                column=truth,
                total=int(totals[truth]),
            )
        whole = 1 << bits
        columns = [[Fraction(w, whole) for w in column] for column in table.T.tolist()]
        return cls._of(columns, bits, name, None, partial=partial)

    @classmethod
    def _of(
        cls,
        columns: Sequence[Sequence[Fraction]],
        bits: int | None,
        name: str | None,
        categories: Sequence[Category] | None,
        *,
        partial: bool = False,
        sensitive: int | None = None,
    ) -> Dense:
        made = cls.__new__(cls)
        made._set(columns, bits, name, categories, partial=partial)
        fix(made, sensitive=sensitive)
        return made

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return again(
            Dense._of,
            columns=self._columns,
            bits=self.bits,
            name=self.name,
            categories=self.categories,
            partial=self.is_partial,
            sensitive=self.sensitive,
        )

    def _set(
        self,
        columns: Sequence[Sequence[Fraction]],
        bits: int | None,
        name: str | None,
        categories: Sequence[Category] | None,
        *,
        partial: bool = False,
    ) -> None:
        fix(
            self,
            _columns=tuple(tuple(column) for column in columns),
            bits=bits,
            name=name or f"Dense({len(columns[0])}x{len(columns)})",
            categories=None if categories is None else tuple(categories),
        )
        if self.categories is not None and len(self.categories) != self.inputs:
            raise ProbabilityError(f"{self.name} has {self.inputs} truths but {len(self.categories)} categories")
        if self.inputs < 2:
            raise ProbabilityError(f"{self.name} has {self.inputs} truth; a question needs at least two")
        if partial:
            return
        if self.outputs < self.inputs:
            raise SingularChannelError(
                f"{self.name} has {self.inputs} truths but only {self.outputs} reports, so truths cannot be told apart",
                condition=float("inf"),
            )
        if self.condition > WORST_CONDITION:
            raise SingularChannelError(
                f"{self.name} cannot be inverted (condition number {self.condition:.3g}). Possible causes: (a) two "
                "truths give the same reports; (b) the device is a fair coin, which tells nothing; (c) the noise is "
                "so strong that nothing is left in double precision. Move the probabilities apart",
                condition=self.condition,
            )

    @cached_property
    def inputs(self) -> int:  # type: ignore[override]
        """The columns of P."""
        return len(self._columns)

    @cached_property
    def outputs(self) -> int:  # type: ignore[override]
        """The rows of P."""
        return len(self._columns[0])

    @cached_property
    def ratio(self) -> Fraction | float:
        """The largest ratio within a row, exactly."""
        return largest_ratio(list(zip(*self._columns, strict=True)))

    @cached_property
    def _p(self) -> NDArray[np.float64]:
        return readonly(np.array([[float(share) for share in column] for column in self._columns]).T.copy())

    @cached_property
    def _q(self) -> NDArray[np.float64]:
        return readonly(self._left_inverse())

    def affine(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """With two truths and two reports every cell is one binomial: pi_0 = (lambda_0 - P01) / (P00 - P01)."""
        if self.inputs != 2 or self.outputs != 2:
            return None
        return np.full(2, self._p[0, 0] - self._p[0, 1]), np.array([self._p[0, 1], self._p[1, 0]])

    def executed(self) -> Dense:
        """The integers nearest to what was stated, at 32 bits."""
        if self.bits is None:
            return self._rounded
        if self.ratio == float("inf"):
            raise NotExecutableError(
                f"{self.name} has a zero weight, so some report would rule a truth out (epsilon is infinite); it is "
                "not run. Give every report at least one draw",
                channel=self.name,
            )
        return self

    @cached_property
    def _rounded(self) -> Dense:
        columns = [round_column(column, WIDTHS[-1], self.name) for column in self._columns]
        whole = 1 << WIDTHS[-1]
        rounded = [[Fraction(weight, whole) for weight in column] for column in columns]
        return Dense._of(rounded, WIDTHS[-1], self.name, self.categories, sensitive=self.sensitive)

    def weights(self) -> NDArray[np.int64]:
        """The integers of the executed channel."""
        return self.executed()._weights.copy()

    @cached_property
    def _weights(self) -> NDArray[np.int64]:
        whole = 1 << (self.bits or 0)
        return readonly(weights_array([[int(share * whole) for share in column] for column in self._columns]))

    @classmethod
    def from_integers(cls, name: str, columns: Sequence[Sequence[int]], bits: int, *, partial: bool = False) -> Dense:
        """Read what `to_dict` wrote of integers."""
        channel = cls.from_weights([list(row) for row in zip(*columns, strict=True)], bits, name=name, partial=partial)
        if partial is not False and not channel.is_partial:
            raise ValueError("'partial' is said of channels that cannot be inverted only")
        return channel

    @classmethod
    def from_parts(cls, name: str, columns: Sequence[Sequence[str]]) -> Dense:
        """Read what `to_dict` wrote of stated probabilities."""
        return cls([[written(share) for share in row] for row in zip(*columns, strict=True)], name=name)

    def to_dict(self) -> dict[str, object]:
        """{"kind": "dense", ...}: integers when executed, else the stated probabilities, column by column."""
        columns: list[list[Any]]
        if self.bits is None:
            columns = [[str(share) for share in column] for column in self._columns]
            return {"kind": "dense", "name": self.name, "columns": columns}
        columns = [[int(share * (1 << self.bits)) for share in column] for column in self._columns]
        some = {"partial": True} if self.is_partial else {}
        return {"kind": "dense", "name": self.name, "columns": columns, "bits": self.bits, **some}
