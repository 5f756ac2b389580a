"""Summary: what a result shows, laid out once. Terminal, notebook, report and dashboard all show this.

A summary has columns of values, which know how they are written: labels, numbers, shares, spans. Who shows it adds what
its medium has (a bar, a drawing, a truth that is known) and changes neither the columns nor how a value is written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import wraps
from html import escape
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from deniable.core import markup as typeset
from deniable.core.csv_injection import plain
from deniable.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Columns = Mapping[str, Sequence[Any]]

STAMPED = "origin"  # the heading of that column
_IN_A_LINE = 3  # rows
_LINE = 160  # letters
_MOST_ROWS = 60  # a printed result stops here and says how many rows it left out


class Written(float):
    """A number, and how it is written."""

    text: str

    def __new__(cls, value: float, text: str) -> Self:
        """Take both."""
        made = super().__new__(cls, value)
        made.text = text
        return made

    def __getnewargs__(self) -> tuple[float, str]:  # type: ignore[override]
        return float(self), self.text

    def __str__(self) -> str:
        return self.text


def share(value: float, places: int = 1) -> Written:
    """A share of respondents, written in percent.

    >>> str(share(0.2512)), share(0.2512) + 0
    ('25.1%', 0.2512)
    """
    return Written(value, f"{value:.{places}%}" if math.isfinite(value) else number(float(value)))


class Lasting(str):
    """A sentence about a result that holds of whatever is made of it, too."""

    __slots__ = ()


class Stamp(Lasting):
    """A sentence on where reports come from, and the word or two for what leaves without its sentences."""

    __slots__ = ("word",)
    word: str

    def __new__(cls, said: str, word: str) -> Self:
        """Take both."""
        made = super().__new__(cls, said)
        made.word = word
        return made

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return str(self), self.word


def stamp_of(notes: Iterable[str]) -> str:
    """The word or two of the stamp among some sentences; nothing where there is none."""
    return next((note.word for note in notes if isinstance(note, Stamp)), "")


def stamped_columns(columns: Columns, notes: Iterable[str] = (), *, word: str = "") -> dict[str, Sequence[Any]]:
    """Columns that leave without their notes, with the stamp among these, or its word, as one of them.

    >>> stamped_columns({"value": [0.2]}, [Stamp("These reports are a pilot's.", "Pilot")])
    {'value': [0.2], 'origin': ['Pilot']}
    """
    found, word = dict(columns), word or stamp_of(notes)
    return found | {STAMPED: [word] * len(next(iter(found.values()), []))} if word else found


class Span(NamedTuple):
    """An interval of shares; its ends are NaN where there is none.

    >>> str(Span(0.1, 0.2)), str(Span(math.nan, math.nan))
    ('10.0% to 20.0%', '-')
    """

    low: float
    high: float

    def __str__(self) -> str:
        if math.isnan(self.low) and math.isnan(self.high):
            return number(math.nan)
        return f"{share(self.low)} to {share(self.high)}"


class Ends(Span):
    """An interval of numbers that are no shares.

    >>> str(Ends(1.5, math.inf)), str(Ends(math.nan, math.nan))
    ('1.5000 to infinite', '-')
    """

    def __str__(self) -> str:
        return "-" if math.isnan(self.low) and math.isnan(self.high) else f"{number(self.low)} to {number(self.high)}"


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Frozen):
    """What a result shows.

    Attributes:
        columns: a table: headings, and the values under each.
        notes: what a reader must know, a sentence each.
        title: what the table is of, where it does not say so itself.
        facts: single values that stand above the table, by name.
        beside: a second table.
        stamp: what a table that leaves without its notes says of itself in a column: simulated, or a pilot's.
    """

    columns: Columns
    notes: Sequence[str] = ()
    title: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)
    beside: Columns = field(default_factory=dict)
    stamp: str = ""

    def texts(self) -> dict[str, list[str]]:
        """The columns as they are written."""
        return _written(self.columns)

    def rows(self) -> list[dict[str, str]]:
        """The rows as they are written."""
        texts = self.texts()
        return [dict(zip(texts, row, strict=True)) for row in zip(*texts.values(), strict=True)]

    @property
    def line(self) -> str:
        """The result in one line: every value of a single row, else the first number of some.

        >>> Summary({"test": ["Pearson"], "p-value": [0.04]}).line, Summary({"x": ["a", "b"], "share": [0.1, 0.9]}).line
        ('test Pearson, p-value 0.0400', 'a 0.1000, b 0.9000')
        """
        rows = self.rows()
        parts = [f"{name} {number(value)}" for name, value in self.facts.items()]
        if len(rows) == 1:
            parts += [f"{heading} {text}".strip() for heading, text in rows[0].items() if text]
        else:
            # The first column is what rows are of, even where that is a number.
            numbers = [heading for place, heading in enumerate(self.columns) if place and self.is_number(heading)]
            shown = [heading for heading in self.columns if heading not in numbers[1:]]
            parts += [" ".join(row[heading] for heading in shown if row[heading]) for row in rows[:_IN_A_LINE]]
            parts += ["..."] if len(rows) > _IN_A_LINE else []
        return shorten(", ".join(parts) or " ".join((self.title, *self.notes)), _LINE, placeholder=" ...")

    def is_number(self, heading: str) -> bool:
        """Whether a column belongs to the right: it holds nothing but numbers."""
        return all(isinstance(value, int | float | Span) for value in self.columns[heading])

    def to_latex(self, path: str | Path | None = None) -> str:
        """The table as LaTeX (with the package booktabs), also written to a file if one is named."""
        facts = {"": list(self.facts), " ": [number(value) for value in self.facts.values()]}
        tables = [(facts, [False, True])] if self.facts else []
        tables += [(_written(table), _numeric(table)) for table in self._tables()]
        return _kept(typeset.latex(tables, self.title, self.notes), path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """The table as Markdown, also written to a file if one is named."""
        facts = [f"{name}: {number(value)}" for name, value in self.facts.items()]
        tables = [typeset.markdown(_written(table), _numeric(table)) for table in self._tables()[1:]]
        first = typeset.markdown(self.texts(), _numeric(self.columns), self.title, [*facts, *self.notes])
        return _kept("\n\n".join([first, *tables]), path)

    def to_csv(self, path: str | Path | None = None) -> str:
        """The table as CSV, numbers unrounded and intervals as two columns, also written to a file if one is named."""
        columns: dict[str, list[str]] = {}
        for heading, values in self.columns.items():
            if values and all(isinstance(value, Span) for value in values):
                columns[f"{heading}, low"] = [repr(float(value.low)) for value in values]
                columns[f"{heading}, high"] = [repr(float(value.high)) for value in values]
            else:
                columns[heading] = [repr(float(v)) if isinstance(v, float) else plain(str(v)) for v in values]
        if word := self.stamp or stamp_of(self.notes):
            columns[STAMPED] = [word] * len(next(iter(columns.values()), []))
        return _kept(typeset.comma_separated({plain(heading): texts for heading, texts in columns.items()}), path)

    def _tables(self) -> list[Columns]:
        return [table for table in (self.columns, self.beside) if next(iter(table.values()), ())]

    def __str__(self) -> str:
        head = [self.title] if self.title else []
        tables = [text_table(table) for table in self._tables()]
        if self.facts:
            width = max(map(len, self.facts))
            facts = "\n".join(f"{name:<{width}}  {number(value)}" for name, value in self.facts.items())
            line = "-" * max((len(row) for table in tables for row in table.splitlines()), default=width)
            tables = [f"\n{line}\n".join([facts, *tables])]
        return "\n".join([*head, *tables, *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(number(v))}</dd>" for name, v in self.facts.items())
        tables = [html_table(table, "" if at else self.title) for at, table in enumerate(self._tables())]
        notes = [f"<p>{escape(note)}</p>" for note in self.notes]
        return "".join([f"<dl>{facts}</dl>" if facts else "", *tables, *notes])


_ELSEWHERE = {
    "interval": ("ci", "conf_int", "confint", "confidence_interval", "intervals"),
    "std_error": ("se", "bse", "stderr", "std_err", "standard_error"),
    "pvalue": ("p", "p_value", "pval", "pvalues"),
    "values": ("proportions", "shares", "prob", "probabilities", "estimate", "estimates", "p_hat"),
    "coefficients": ("params", "coef", "coef_", "beta"),
    "to_frame": ("to_pandas", "to_df", "to_dataframe", "df", "frame", "to_dict", "head", "to_polars"),
    "to_csv": ("to_excel", "to_html", "save"),
    "write": ("to_csv", "to_parquet", "to_excel", "save", "to_spss", "to_stata"),
}


def unknown_name(thing: object, name: str) -> str:
    """What to say of a name that there is not: which of ours is meant, where other packages have it."""
    kind = type(thing)
    told = f"{kind.__name__!r} object has no attribute {name!r}"
    ours = [known for known, others in _ELSEWHERE.items() if name in others and known in _names(kind)]
    return f"{told}; write .{' or .'.join(ours)}" if ours else told


def _names(kind: type) -> set[str]:
    return {*dir(kind), *(each for base in kind.__mro__ for each in getattr(base, "__annotations__", {}))}


def _stamping(plot: Callable[..., Any]) -> Callable[..., Any]:
    """The same drawing, whose axis begins with the stamp where there is one."""

    @wraps(plot)
    def drawn(self: Shown, *args: Any, **named: Any) -> Any:
        found, told = plot(self, *args, **named), self.summary()
        if word := told.stamp or stamp_of(told.notes):
            for ax in found if isinstance(found, Sequence) else [found]:
                if not ax.get_xlabel().startswith(word):
                    ax.set_xlabel(f"{word}: {ax.get_xlabel()}".removesuffix(": "), parse_math=False)
        return found

    return drawn


class Shown:
    """A result that shows its summary."""

    def __init_subclass__(cls, **named: object) -> None:
        """Whatever draws itself says in the drawing where its reports come from; no dataclass replaces `repr`."""
        super().__init_subclass__(**named)
        type.__setattr__(cls, "__repr__", cls.__repr__)
        if "plot" in vars(cls):
            type.__setattr__(cls, "plot", _stamping(vars(cls)["plot"]))

    def summary(self) -> Summary:
        """What it shows."""
        raise NotImplementedError

    def to_latex(self, path: str | Path | None = None) -> str:
        """The summary as LaTeX (with the package booktabs), also written to a file if one is named."""
        return self.summary().to_latex(path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """The summary as Markdown, also written to a file if one is named."""
        return self.summary().to_markdown(path)

    def to_csv(self, path: str | Path | None = None) -> str:
        """The summary as CSV, numbers unrounded, also written to a file if one is named."""
        return self.summary().to_csv(path)

    def __str__(self) -> str:
        return str(self.summary())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary().line}>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    if not TYPE_CHECKING:  # a checker is to refuse these names, not to take every one

        def __getattr__(self, name: str) -> Any:
            """Answer the names that other packages use with ours; nothing is there by them."""
            raise AttributeError(unknown_name(self, name))


def largest(values: Any, top: int) -> list[int]:
    """The places of the cells that are shown: all, in their order, or the largest `top` of more, the largest first.

    >>> largest([0.1, 0.5, 0.4], 2), largest([0.1, 0.5, 0.4], 3)
    ([1, 2], [0, 1, 2])
    """
    flat = [float(value) for value in getattr(values, "ravel", lambda: values)()]
    places = list(range(len(flat)))
    return places if len(flat) <= top else sorted(places, key=lambda place: -flat[place])[:top]


def beside(cells: Mapping[str, Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    """Put result columns beside attribute columns; a result column gives way to an attribute of the same name.

    >>> beside({"value": ["low", "high"]}, {"value": [0.1, 0.9]})
    {'value': ['low', 'high'], 'value_': [0.1, 0.9]}
    """
    joined = dict(cells)
    for name, values in columns.items():
        free = name
        while free in joined:
            free += "_"
        joined[free] = values
    return joined


def _written(columns: Columns) -> dict[str, list[str]]:
    return {heading: [number(value) for value in values] for heading, values in columns.items()}


def _numeric(columns: Columns) -> list[bool]:
    return [all(isinstance(value, int | float | Span) for value in values) for values in columns.values()]


def _kept(text: str, path: str | Path | None) -> str:
    """The text, written to a file as well if one is named."""
    if path is not None:
        Path(path).write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
    return text


def number(value: object) -> str:
    """Write a value short enough for a table.

    >>> number(0.123456), number(12), number(float("inf")), number(share(0.25))
    ('0.1235', '12', 'infinite', '25.0%')
    """
    if not isinstance(value, float) or isinstance(value, Written):
        return str(value)
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    if value == 0 or 1e-4 <= abs(value) < 1e6:
        return f"{value:.4f}"
    return f"{value:.3e}"


def text_table(columns: Columns) -> str:
    """Lay columns out as plain text, numbers to the right.

    >>> print(text_table({"cell": ["yes", "no"], "estimate": [0.25, 0.75]}))
    cell  estimate
    yes     0.2500
    no      0.7500
    """
    rows, left_out = _rows(columns)
    right = _numeric(columns)
    cells = [list(columns), *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    lines = [
        "  ".join(
            text.rjust(width) if is_number else text.ljust(width)
            for text, width, is_number in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in cells
    ]
    return "\n".join([*lines, *([f"... and {left_out} more rows"] if left_out else [])])


def html_table(columns: Columns, caption: str = "") -> str:
    """Lay columns out as an HTML table, everything escaped."""
    rows, left_out = _rows(columns)
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    more = f"<p>... and {left_out} more rows</p>" if left_out else ""
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _rows(columns: Columns) -> tuple[list[list[str]], int]:
    every = list(zip(*columns.values(), strict=True))
    return [[number(value) for value in row] for row in every[:_MOST_ROWS]], max(0, len(every) - _MOST_ROWS)
