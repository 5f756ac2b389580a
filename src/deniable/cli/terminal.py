"""What the commands share: their options in common, how they print, and the progress bar of what takes long."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

import click
from click.shell_completion import CompletionItem
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from deniable.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeVar

    from deniable.core.summary import Summary
    from deniable.designs.reports.reports import Reports

    F = TypeVar("F", bound=Callable[..., Any])

_BAR = 24  # characters
_SHORTEST_BAR = len("bar: estimate")
_LABEL = 30  # characters of a label beside which there is still room for a bar


class Local(click.Path):
    """A path of this machine. As one, an address would be a folder called `s3:`, and what is written there lost."""

    def __init__(self, **options: Any) -> None:
        """Take what `click.Path` takes."""
        super().__init__(path_type=Path, **options)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Refuse an address."""
        if isinstance(value, str) and "://" in value:
            _refuse_address(
                value, param, "lies on this machine", "Name a path here, and copy what you need from there or to there"
            )
        found: Any = super().convert(value, param, ctx)
        return Path(found)


def _refuse_address(value: str, param: click.Parameter | None, told: str, way_out: str) -> NoReturn:
    """Refuse an address, of which no more is told than how it begins: behind that there may be a password."""
    name = "this" if param is None else param.opts[0] if isinstance(param, click.Option) else param.human_readable_name
    address = f"{value.partition('://')[0]}://..."
    raise InputError(f"{name} {told}, and the address {address} does not. {way_out}", parameter=name)


FILE = Local()


class _Place(click.ParamType[Any]):
    """A path, or the address of a database or of an object, which is none."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path | str:  # noqa: ARG002
        """Leave an address as it is."""
        return value if isinstance(value, Path) or "://" in value else Path(value)

    def shell_complete(self, _ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete it as a file's name."""
        return [CompletionItem(incomplete, type="file")]


class _Target(_Place):
    """A path, or the address of an object; no other address holds a file that we can read or write."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path | str:
        """Leave an object's address as it is."""
        from deniable.files.object_storage import is_object

        place = super().convert(value, param, ctx)
        if isinstance(place, str) and not is_object(place):
            _refuse_address(
                place,
                param,
                "lies on this machine or in object storage",
                "Name a path here, or one such as s3://bucket/x",
            )
        return place


PLACE, TARGET = _Place(), _Target()

as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, for programs.")


design_option = click.option(
    "--design", metavar="HASH", help="How the design's hash begins, where a collector has reports to several."
)


def sampling_options(command: F) -> F:
    """--weights, --strata and --clusters: public columns that say how respondents were drawn."""
    for name, text in (
        ("clusters", "A public column: each respondent's cluster (primary sampling unit)."),
        ("strata", "A public column: each respondent's stratum."),
        ("weights", "A public column: each respondent's survey weight."),
    ):
        command = click.option(f"--{name}", metavar="COLUMN", help=text)(command)
    return command


def words_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """In which words questions and answers are shown."""
    survey = click.option("--words", type=FILE, help="The survey file whose words to show, where REPORTS have none.")
    language = click.option("--language", metavar="CODE", help="Show the survey's words in this language, such as de.")
    return survey(language(command))


def reports_at(
    place: Path | str,
    design: str | None = None,
    engine: str = "auto",
    *,
    words: Path | None = None,
    language: str | None = None,
    progress: Callable[[int, int | None], object] | None = None,
) -> Reports:
    """Open reports: a file of them, or what a collector has stored so far; with a survey's words, if any are known."""
    found = _opened(place, design, engine, progress)
    if words is not None:
        from deniable.surveys.survey import read_survey

        found = found.with_labels(read_survey(words).labels.served_as(found.labels.design))
    if language is None:
        return found
    if not found.labels.texts:
        raise InputError(
            f"these reports have no words, so they cannot be shown in {language!r}: name the survey file, as in "
            f"--words survey.toml"
        )
    return found.with_labels(found.labels.speaking(language))


def _opened(
    place: Path | str, design: str | None, engine: str, progress: Callable[[int, int | None], object] | None
) -> Reports:
    from deniable.collection.load_reports import collected
    from deniable.engines.stored_reports import open_reports

    found = collected(place, design)
    if found is None:
        if design is not None:
            raise InputError(
                "--design chooses among the designs of a collector's store; a file of reports has only one"
            )
        found = open_reports(place, engine=engine, progress=progress)
    if found.origin:
        click.echo(f"Note: {found.origin.said}.", err=True)
    return found


def origin_json(*opened: Reports) -> dict[str, Any]:
    """How many reports there are, and that they are simulated or a pilot's: in the JSON of all that reads some."""
    from deniable.estimation.report_sources import origin_of

    origin = origin_of(opened)
    return {"reports": sum(one.n for one in opened), **({"origin": origin.told} if origin else {})}


def print_origin(out: Console, *opened: Reports) -> None:
    """Say under what was printed that the reports are simulated, or a pilot's."""
    from deniable.estimation.report_sources import origin_of

    for note in origin_of(opened).note:
        out.print(note, soft_wrap=True, markup=False)


def name_of(place: Path | str) -> str:
    """What to call a place: without the folders, and without a password.

    >>> name_of(Path("surveys/smoking.parquet")), name_of("postgresql://me:secret@db.example.org/smoking")
    ('smoking.parquet', 'smoking at db.example.org')
    """
    from deniable.files.object_storage import is_object, place_of

    if isinstance(place, Path) or is_object(place):
        return place_of(place).name
    from deniable.storage.postgres_connection import place as without_password

    return without_password(place)


def table_option(text: str) -> Callable[[Any], Any]:
    """--table sex,income; may be given several times."""
    return click.option("--table", "tables", multiple=True, metavar="A,B", help=text)


def data_option(text: str, default: str = "deniable-data") -> Callable[[F], F]:
    """--data: the folder that a survey, or its issuer, is served with."""
    return click.option("--data", type=Local(file_okay=False), default=Path(default), show_default=True, help=text)


def database_option(text: str = "The PostgreSQL database, if any.") -> Callable[[F], F]:
    """--database: where reports are, if they are in no folder."""
    return click.option("--database", metavar="URL", envvar="DENIABLE_DATABASE", help=text)


wanted_option = click.option(
    "--wanted",
    "numbers",
    multiple=True,
    help='Another wanted number, such as "mean(age)", "cdf(age)" or "association(sex, income) weight 2". Repeatable.',
)


def console(*, stderr: bool = False, quiet: bool = False) -> Console:
    """Colours go to a terminal only, and numbers are not painted."""
    return Console(highlight=False, stderr=stderr, quiet=quiet)


def split(text: str) -> list[str]:
    """The names in "a,b".

    >>> split("sex, income")
    ['sex', 'income']
    """
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise InputError(f"write attributes with commas between them, such as sex,income; not {text!r}")
    return names


def emit(data: object) -> None:
    """Print JSON. What JSON has no number for (an infinite epsilon) becomes null."""
    import msgspec

    click.echo(msgspec.json.format(msgspec.json.encode(_finite(data)), indent=2))


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return str(data) if isinstance(data, str) else data  # a sentence may be one of a kind


def grid(headings: Sequence[str], right: Sequence[str] = ()) -> Grid:
    """A table for a terminal: some headings to the left, others over numbers."""
    made = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        made.add_column(heading, overflow="fold")
    for heading in right:
        made.add_column(heading, justify="right", no_wrap=True)
    return made


def laid_out(summary: Summary, last: Mapping[str, Sequence[str]] | None = None, rows: Sequence[int] = ()) -> Grid:
    """A summary's table for a terminal (or some of its rows), with columns of the terminal's own behind it."""
    made = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in summary.columns:
        right = summary.is_number(heading)
        made.add_column(heading, justify="right" if right else "left", no_wrap=right, overflow="fold")
    for heading in last or {}:
        made.add_column(heading, no_wrap=True)
    texts = [*summary.texts().values()]
    every = list(zip(*([column[row] for row in rows] if rows else column for column in texts), strict=True))
    for row in zip(every, *(last or {}).values(), strict=True) if last else ((row,) for row in every):
        made.add_row(*map(escape, (*row[0], *row[1:])))
    return made


def room_for_bars(summary: Summary, width: int) -> int:
    """How many characters a terminal has left for bars beside a table; 0 where they would be too short to compare."""
    texts = summary.texts()
    taken = [
        min(max(map(len, (heading, *column))), width if summary.is_number(heading) else _LABEL)
        for heading, column in texts.items()
    ]
    left = width - sum(taken) - 3 * (len(taken) + 1)
    return min(_BAR, left) if left >= _SHORTEST_BAR else 0


def bar(value: float, most: float, width: int, *, blocks: bool) -> str:
    """A share as a bar; what is below zero has none.

    >>> bar(0.25, 0.5, 12, blocks=False)
    '######'
    """
    return ("█" if blocks else "#") * max(0, round(value / most * width))


class Progress:
    """Rows done, rate and time left, on a terminal only; called with what is done and what there is (None: unknown)."""

    def __init__(self, description: str) -> None:
        from rich import progress
        from rich.text import Text

        class Rate(progress.ProgressColumn):
            def render(self, task: progress.Task) -> Text:
                return Text(f"{task.speed:,.0f} rows/s" if task.speed else "")

        columns = (
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.TextColumn("{task.completed:,.0f} rows"),
            Rate(),
            progress.TimeRemainingColumn(),
        )
        shown = sys.stderr.isatty()
        self._bar = progress.Progress(*columns, console=console(stderr=True), disable=not shown, transient=True)
        self._task = self._bar.add_task(description, total=None)

    def __call__(self, done: int, rows: int | None) -> None:
        """Draw it anew."""
        self._bar.update(self._task, completed=done, total=rows)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._bar.stop()
