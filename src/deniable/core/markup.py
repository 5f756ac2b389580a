"""Tables as text for papers: LaTeX, Markdown and CSV. Everything in a cell is text, so everything is escaped."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Texts = Mapping[str, Sequence[str]]

# What makes a line one of a list, a quotation or a heading; a number with a point in it, or below zero, does not.
_BEGINS = re.compile(r"^(\d*)([.)](?=\s|$)|[-+](?=[-+\s]|$)|[>=])")
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def latex_text(text: str) -> str:
    r"""A text as LaTeX prints it.

    >>> print(latex_text("50% of A_1 & B"))
    50\% of A\_1 \& B
    """
    return "".join(_LATEX.get(letter, letter) for letter in " ".join(text.split()))


def latex(tables: Sequence[tuple[Texts, Sequence[bool]]], caption: str = "", notes: Sequence[str] = ()) -> str:
    r"""Tables with the rules of the package booktabs; a second table stands under the first, notes under both.

    Args:
        tables: the columns of each by heading, and which of them are numbers.
        caption: what they show.
        notes: what a reader must know, a sentence each.

    >>> print(latex([({"smokes": ["yes"], "share": ["25%"]}, [False, True])]))
    % \usepackage{booktabs}
    \begin{table}
    \begin{tabular}{lr}
    \toprule
    smokes & share \\
    \midrule
    yes & 25\% \\
    \bottomrule
    \end{tabular}
    \end{table}
    """
    lines = [r"% \usepackage{booktabs}", r"\begin{table}"]
    lines += [rf"\caption{{{latex_text(caption)}}}"] if caption else []
    for place, (columns, numbers) in enumerate(tables):
        kinds = "".join("r" if number else "l" for number in numbers)
        lines += [r"\medskip" + "\n"] if place else []
        lines += [rf"\begin{{tabular}}{{{kinds}}}", r"\toprule", _row(list(columns)), r"\midrule"]
        lines += [_row(row) for row in zip(*columns.values(), strict=True)]
        lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par\footnotesize {latex_text(note)}" for note in notes]
    return "\n".join([*lines, r"\end{table}"])


def _row(cells: Sequence[str]) -> str:
    return " & ".join(map(latex_text, cells)) + r" \\"


def markdown_text(text: str) -> str:
    r"""A text as Markdown shows it, wherever it stands: no emphasis, link, code, formula or HTML, and one line.

    >>> print(markdown_text("a|b * <c>"), markdown_text("1. $5"), markdown_text("62.9%"), markdown_text("-0.5"))
    a\|b \* &lt;c> 1\. \$5 62.9% -0.5
    """
    one_line = _BEGINS.sub(r"\1\\\2", " ".join(text.split()).replace("\\", "\\\\"))
    escaped = "".join(f"\\{letter}" if letter in "`*_[]|#$~" else letter for letter in one_line)
    return escaped.replace("&", "&amp;").replace("<", "&lt;")


def markdown(columns: Texts, numbers: Sequence[bool], caption: str = "", notes: Sequence[str] = ()) -> str:
    """A table with pipes.

    >>> print(markdown({"smokes": ["yes"], "share": ["25%"]}, [False, True]))
    | smokes | share |
    |---|---:|
    | yes | 25% |
    """
    rule = "|" + "|".join("---:" if number else "---" for number in numbers) + "|"
    rows = ["| " + " | ".join(map(markdown_text, row)) + " |" for row in zip(*columns.values(), strict=True)]
    head = "| " + " | ".join(map(markdown_text, columns)) + " |"
    before = [f"**{markdown_text(caption)}**\n"] if caption else []
    return "\n".join([*before, head, rule, *rows, *(f"\n{markdown_text(note)}" for note in notes)])


def comma_separated(columns: Texts) -> str:
    """Columns with commas between them.

    >>> print(comma_separated({"smokes": ["yes, often"], "share": ["0.25"]}), end="")
    smokes,share
    "yes, often",0.25
    """
    return comma_separated_rows([list(columns), *zip(*columns.values(), strict=True)])


def comma_separated_rows(rows: Iterable[Sequence[object]]) -> str:
    r"""Rows with commas between their cells.

    >>> comma_separated_rows([["a\r=1+1", 2]])
    '"a\r=1+1",2\n'
    """
    lines = []
    for row in rows:
        written = io.StringIO()
        csv.writer(written, lineterminator="\r\n").writerow(row)  # which has every kind of line end quoted
        lines.append(written.getvalue()[:-2])
    return "".join(f"{line}\n" for line in lines)
