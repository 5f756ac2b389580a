"""A do-file for Stata. We have no Stata: the file says that it was not run by us, and a test only holds it still."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from deniable.reporting.scripts.r import _number, comment

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from deniable.reporting.scripts.tables import ScriptTable

NOT_RUN = (
    "This file was not run by us: we have no Stata. It states the numbers of deniable beside its own; compare them."
)


def stata_script(about: Sequence[str], tables: Sequence[ScriptTable]) -> str:
    """The do-file: what it is about, how estimates are made, the data, and our own numbers."""
    head = "".join(f"* {_comment(line)}\n" for line in (NOT_RUN, *about))
    program = files("deniable.reporting.scripts").joinpath("analysis.mata").read_text(encoding="utf-8")
    return f"{head}version 14\nset matastrict off\n{program}\n{''.join(map(_table, tables))}"


def _table(table: ScriptTable) -> str:
    names = "\n".join(f"* {number}: {_comment(cell)}" for number, cell in enumerate(table.cells, start=1))
    if table.is_summed:
        return f"""
* {_comment(table.asked)}
* Rows are the answers; columns: the mean of scores, and its error. A score is a number that is made of one report; the
* mean of scores estimates a share, right on average. deniable export writes them in columns dn_share_...
{names}
mata:
sums = {_matrix(table.sums)}
mean = sums[, 2] :/ sums[, 1]
mean, sqrt((sums[, 3] - sums[, 1] :* mean :^ 2) :/ (sums[, 1] :- 1) :/ sums[, 1])
"the numbers of deniable (estimate, efficient, standard error):"
{_matrix(table.found[:, :3])}
end
"""
    return f"""
* {_comment(table.asked)}
* Rows are the answers; columns: estimate, efficient, standard error.
{names}
mata:
y = {_column(table.counts)}
P = {_matrix(table.chances)}
group = {_column(table.group)}
listed = {"(" + ", ".join(str(int(listed)) for listed in table.listed) + ")"}
owner = {_column(table.owner)}
found = estimate(y, P, group, listed, owner)
found
"the numbers of deniable:"
{_matrix(table.found[:, :3])}
end
"""


def _comment(text: str) -> str:
    r"""A text that ends with its line, and begins or ends no other comment.

    >>> _comment("a\nb /* c */ d // e")
    'a b / * c * / d / / e'
    """
    return comment(text).replace("/*", "/ *").replace("*/", "* /").replace("//", "/ /")


def _column(values: Iterable[float]) -> str:
    return "(" + " \\ ".join(map(_number, values)) + ")"


def _matrix(values: NDArray[np.float64]) -> str:
    return "(" + " \\\n".join(", ".join(_number(each, ".") for each in row) for row in values) + ")"
