"""A script for Python that needs nothing but NumPy: for readers who want to see every step."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from deniable.reporting.scripts.r_script import _number, _vector, comment

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deniable.reporting.scripts.tables import ScriptTable


def python_script(about: Sequence[str], tables: Sequence[ScriptTable]) -> str:
    """The script: what it is about, the data, and how they are estimated from."""
    head = "".join(f"# {comment(line)}\n" for line in about)
    program = files("deniable.reporting.scripts").joinpath("analysis.numpy").read_text(encoding="utf-8")
    imports = "from math import nan\nfrom statistics import NormalDist\n\nimport numpy as np\n"
    return f"{head}\n{imports}\ntables = {{}}\n{''.join(map(_table, tables))}\n{program}"


def _table(table: ScriptTable) -> str:
    rows, cells = table.chances.shape
    if table.is_summed:
        return f"""
tables[{table.name!r}] = {{
    "asked": {table.asked!r},
    "cells": {_list(map(repr, table.cells))},
    "sums": np.array({_list(map(_number, table.sums.ravel()))}, dtype=float).reshape(-1, 3),
    "found": np.array({_list(map(_number, table.found.ravel()))}, dtype=float).reshape(-1, {table.found.shape[1]}),
}}
"""
    return f"""
tables[{table.name!r}] = {{
    "asked": {table.asked!r},
    "cells": {_list(map(repr, table.cells))},
    "counts": np.array({_list(map(_number, table.counts))}, dtype=float),
    "group": np.array({_list(map(str, table.group))}),
    "listed": {list(table.listed)!r},
    "owner": np.array({_list(map(str, table.owner))}),
    "chances": np.array({_list(map(_number, table.chances.ravel()))}, dtype=float).reshape({rows}, {cells}),
    "found": np.array({_list(map(_number, table.found.ravel()))}, dtype=float).reshape(-1, {table.found.shape[1]}),
}}
"""


def _list(items: Iterable[str]) -> str:
    return f"[{_vector(items)[2:-1]}]"
