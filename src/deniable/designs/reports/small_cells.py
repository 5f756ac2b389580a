"""Public columns that together single out a handful of respondents."""

from __future__ import annotations

import warnings
from typing import Any

from deniable.core.reserved_names import RESERVED
from deniable.errors import SmallCellWarning
from deniable.text import listed

SMALL_CELL = 10  # fewer respondents than this sharing their public values could be recognised by them
_SIZE = f"{RESERVED}size"


def warn_of_small_cells(public: Any) -> None:
    """Warn when public columns together single out a handful of respondents."""
    import narwhals as nw

    sizes = public.group_by(*public.columns).agg(nw.len().alias(_SIZE))[_SIZE]
    small = int((sizes < SMALL_CELL).sum())
    if small:
        warnings.warn(
            f"{small} combinations of the public columns {listed(public.columns)} are shared by fewer than "
            f"{SMALL_CELL} respondents, who could be recognised by them. Coarsen these columns, or keep fewer",
            SmallCellWarning,
            stacklevel=4,
        )
