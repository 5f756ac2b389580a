"""Association: the interaction of attributes, their table less all that tables of fewer of them tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from deniable.aims.aim import Wanted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from deniable.aims.parse import Call
    from deniable.core.domain import Domain


@dataclass(frozen=True)
class Association(Wanted):
    """What the margins do not tell, at even shares.

    >>> from deniable.core.domain import Domain
    >>> Association(("sex", "smokes")).rows(Domain({"sex": ["F", "M"], "smokes": ["no", "yes"]}))[0].tolist()
    [0.25, -0.25, -0.25, 0.25]
    """

    kind: ClassVar[str] = "association"
    example: ClassVar[str] = "association(sex, smokes)"
    estimator: ClassVar[str | None] = None
    seen_in: ClassVar[str] = "no single number: see the test of association and the table of these attributes"
    fewest: ClassVar[int] = 2
    most: ClassVar[int | None] = None

    def even_sets(self, names: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
        """That of all its attributes."""
        return [names]

    def _rows(self, own: Domain, _shares: NDArray[np.float64]) -> NDArray[np.float64]:
        rows: NDArray[Any] = np.ones((1, 1))
        for size in own.shape:
            rows = np.kron(rows, np.eye(size) - 1 / size)
        return rows

    @classmethod
    def parse(cls, call: Call) -> Self:
        """Read names between commas."""
        call.options()
        return cls(call.names(","), call.weight)
