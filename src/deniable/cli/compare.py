"""`deniable compare`: the people of a table through several designs, and how far each estimate is from the truth."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING, Any, get_args

import click

from deniable.cli.asked_file import read_asked, request_of
from deniable.cli.design_options import design_options, in_words, read_options
from deniable.cli.terminal import FILE, TARGET, as_json, console, emit, laid_out, split, table_option
from deniable.core.distance import Distance
from deniable.designs.registry import DESIGNS
from deniable.errors import InputError
from deniable.plotting import pyplot

if TYPE_CHECKING:
    from pathlib import Path

    from deniable.designs.design import Design
    from deniable.designs.request import Request


@click.command("compare")
@click.argument("table", type=TARGET)
@click.option(
    "--domain",
    "domain_file",
    type=FILE,
    required=True,
    help="A TOML file: each attribute with its categories; or a survey.",
)
@click.option("--epsilon", type=float, help="The most that a person's whole report may tell; a survey file says it.")
@click.option(
    "--design",
    "designs",
    multiple=True,
    required=True,
    metavar="'KIND OPTION...'",
    help="A design, in the words that randomize takes after --design, such as 'views --answer all'. Repeatable.",
)
@click.option(
    "--n", type=click.IntRange(2), help="How many people are drawn each time; by default as many as TABLE has."
)
@click.option("--repeats", type=click.IntRange(2), default=20, show_default=True, help="How often people are drawn.")
@table_option("Attributes whose joint table is compared. Repeatable; else every share and every pair.")
@click.option(
    "--method",
    "methods",
    multiple=True,
    default=("auto",),
    show_default=True,
    help="How tables are estimated. Repeatable.",
)
@click.option(
    "--distance",
    type=click.Choice(get_args(Distance)),
    default="tv",
    show_default=True,
    help="How far tables are apart.",
)
@click.option("--plot", type=FILE, help="Draw the distances to this .svg file.")
@as_json
def command(
    *,
    table: Path | str,
    domain_file: Path,
    epsilon: float | None,
    designs: tuple[str, ...],
    n: int | None,
    repeats: int,
    tables: tuple[str, ...],
    methods: tuple[Any, ...],
    distance: Distance,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Try designs on the people of TABLE (.parquet or .csv), the truth, before anybody is asked.

    People are drawn from TABLE; each design disguises these same people, tables are estimated, and the distance from
    the truth is printed, with the true epsilon beside the one that a publication claims. Nothing is written, and no
    disguised row leaves the program.

    \b
    Examples:
      deniable compare people.csv --domain domain.toml --epsilon 1 --design joint --design independent
      deniable compare people.csv --domain d.toml --epsilon 2 --design views --design 'views --answer all' --table a,b
      deniable compare people.csv --domain survey.toml --design optimal --design 'blocks --block-size 100' --n 2000
    """  # noqa: D301 - click wants the character itself
    import pyarrow as pa

    from deniable.engines.randomize_job import open_typed
    from deniable.files.object_storage import place_of
    from deniable.planning.compare_designs import compare

    if plot is not None and plot.suffix.lower() != ".svg":
        raise InputError(f"plots are written to .svg files, not to {plot.name!r}")
    asked = read_asked(domain_file)
    wanted = [split(one) for one in tables]
    request = request_of(asked, (), epsilon, list(wanted))
    made: dict[str, Design] = {}
    for words in designs:
        name, design = _design(words, request)
        if name in made:
            raise InputError(
                f"--design {name!r} is there twice; every design is tried once, on all repeats", design=name
            )
        made[name] = design
    pieces = open_typed(place_of(table), next(iter(made.values())))
    people = pa.Table.from_batches(list(chain.from_iterable(pieces.pieces(list(asked.domain), 0))))
    found = compare(
        people,
        made,
        wanted or None,
        n=people.num_rows if n is None else n,
        repeats=repeats,
        methods=methods,
        distance=distance,
    )
    if plot is not None:
        found.plot()
        pyplot().savefig(plot, format="svg")
        pyplot().close()
    if as_json:
        emit({"n": found.n, "repeats": repeats, "distance": distance, "rows": [asdict(row) for row in found.rows]})
        return
    out, summary = console(), found.summary()
    out.print(laid_out(summary))
    for note in summary.notes:
        out.print(note, soft_wrap=True, markup=False)


@click.command("design", add_help_option=False)
@click.argument("kind", type=click.Choice(sorted(DESIGNS)))
@design_options
def _read(kind: str, **given: Any) -> tuple[str, Any]:
    return kind, read_options(kind, given)


def _design(words: str, request: Request) -> tuple[str, Design]:
    """A design and what it is called: the words of `deniable randomize`, without its --design."""
    try:
        kind, options = _read.main(shlex.split(words), prog_name="--design", standalone_mode=False)
    except (click.ClickException, ValueError) as error:
        told = error.format_message() if isinstance(error, click.ClickException) else str(error)
        raise InputError(f"--design {words!r}: {told}", design=words) from None
    name = in_words(kind, options).removeprefix("--design ")
    return name, DESIGNS[kind].make(request, options)
