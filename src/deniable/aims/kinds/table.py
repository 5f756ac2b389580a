"""Table: every cell of the joint table of some attributes; of one attribute, the share of every category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from deniable.aims.aim import Wanted
from deniable.aims.contrasts import subsets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from deniable.aims.parse import Call
    from deniable.core.domain import Domain


@dataclass(frozen=True)
class TableAim(Wanted):
    """Every cell of a table.

    >>> str(TableAim(("sex", "smokes"), weight=2))
    'sex * smokes weight 2'
    """

    kind: ClassVar[str] = "table"
    example: ClassVar[str] = "sex * smokes"
    estimator: ClassVar[str | None] = None  # estimates of tables are what all else is made of
    most: ClassVar[int | None] = None
    is_table: ClassVar[bool] = True

    def even_sets(self, names: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
        """All sets inside the table."""
        return subsets(names)

    def _rows(self, own: Domain, _shares: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.eye(own.cells)

    def _body(self) -> str:
        return " * ".join(self.attributes)

    @classmethod
    def parse(cls, call: Call) -> Self:
        """Read names between commas: "table(sex, smokes)" is "sex * smokes"."""
        call.options()
        return cls(call.names(","), call.weight)
