"""Ranges: the shares from a first to a last category, both included."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from deniable.aims.aim import Wanted, code_of, only, pairs_text
from deniable.errors import InputError
from deniable.frozen import fix
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.aims.parse import Call
    from deniable.core.domain import Category, Domain


@dataclass(frozen=True)
class Ranges(Wanted):
    """The share between each of some pairs of `ends`.

    >>> from deniable.core.domain import Domain
    >>> Ranges(("age",), ends=[(20, 30)]).rows(Domain({"age": [20, 30, 60]})).tolist()
    [[1.0, 1.0, 0.0]]
    """

    kind: ClassVar[str] = "ranges"
    example: ClassVar[str] = "ranges(age; 20..40)"

    ends: Sequence[tuple[Category, Category]] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        fix(self, ends=tuple((first, last) for first, last in self.ends))

    def which(self, domain: Domain) -> list[str]:  # noqa: ARG002 - kinds need it
        """From where to where."""
        return [f"{first} to {last}" for first, last in self.ends]

    def _rows(self, own: Domain, _shares: NDArray[np.float64]) -> NDArray[np.float64]:
        variable, places = only(own), np.arange(own.cells)
        rows = [(code_of(variable, first) <= places) & (places <= code_of(variable, last)) for first, last in self.ends]
        if not rows or not all(row.any() for row in rows):
            raise InputError(
                f"a range of {variable.name!r} goes from an earlier to a later category of "
                f"{listed(variable.categories)}",
                attribute=variable.name,
            )
        return np.array(rows, dtype=np.float64)

    def _written(self) -> list[str]:
        return [pairs_text(self.ends)]

    @classmethod
    def parse(cls, call: Call) -> Self:
        """Read pairs of categories."""
        given = call.options(bare=True)
        if not given:
            raise call.refused("does not say from where to where")
        return cls(call.names(), call.weight, call.pairs(given[""]))
