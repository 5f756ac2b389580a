"""A notebook that estimates with deniable itself, from a file of reports that lies beside it.

A script for Python that needs nothing but NumPy: for readers who want to see every step.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from deniable.core.markup import markdown_text
from deniable.estimation.notes.refused import answers_about, too_few
from deniable.reporting.scripts.r_script import _number, _vector, comment

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deniable.designs.reports.reports import Reports
    from deniable.reporting.scripts.write_script import ScriptTable


def notebook(about: Sequence[str], reports: Reports, file: str, tables: Sequence[Sequence[str]] = ()) -> str:
    """The notebook, for the reports in `file`."""
    labels = reports.labels

    def named(name: str) -> str:
        """In the survey's words, which are a stranger's: a notebook shows Markdown, and HTML in it."""
        return markdown_text(labels.named(name))

    cells = [
        _words(
            f"# {markdown_text(reports.origin.titled(labels.heading('Disguised answers')))}\n\n"
            + "\n".join(f"{markdown_text(line)}  " for line in about)
        ),
        _code("import deniable as dn\n\n", f"reports = dn.open_reports({file!r})\n", "reports.describe()"),
    ]
    for name in reports.design.domain:
        if told := too_few(answers_about(reports, [name])):
            cells.append(_words(f"## {named(name)}\n\n{told}."))
            continue
        cells += [
            _words(f"## {named(name)}"),
            _code(f"estimate = dn.estimate(reports, {name!r})\n", "estimate"),
            _code("estimate.plot();"),
        ]
        for public in reports.public_names:
            if not all(too_few(answers_about(part, [name])) for _, part in reports.groups(public)):
                cells.append(_code(f"dn.estimate(reports, {name!r}, by={public!r})"))
    for table in tables:
        if len(table) > 1 and (told := too_few(answers_about(reports, table))):
            cells.append(_words(f"## {' and '.join(map(named, table))}\n\n{told}."))
            continue
        if len(table) > 1:
            cells += [
                _words(f"## {' and '.join(map(named, table))}"),
                _code(f"estimate = dn.estimate(reports, {list(table)!r})\n", "estimate"),
            ]
        if len(table) == 2:
            cells.append(_code(f"dn.independence(reports, {table[0]!r}, {table[1]!r})"))
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    made = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 4}
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def _words(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


def _code(*lines: str) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": list(lines)}


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
