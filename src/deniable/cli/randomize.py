"""`deniable randomize`: disguise a table, row by row, into a file of reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from deniable.cli.asked_file import Asked, read_asked, request_of, words_of
from deniable.cli.design_options import anew, design_options, flag, read_options
from deniable.cli.terminal import FILE, TARGET, Progress, as_json, console, emit, split, table_option, wanted_option
from deniable.designs.registry import DESIGNS
from deniable.errors import DesignError, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from deniable.designs.design import Design
    from deniable.designs.request import Request
    from deniable.surveys.survey import Survey


@click.command("randomize")
@click.argument("table", type=TARGET)
@click.option("-o", "--output", type=TARGET, required=True, help="The .parquet file to write.")
@click.option(
    "--domain",
    "domain_file",
    type=FILE,
    help="A TOML file: each attribute with its categories; or a survey file, whose epsilon, wanted numbers and design "
    "are then taken unless you say others.",
)
@click.option("--infer-domain", is_flag=True, help="Read the categories off the data instead; discloses rare ones.")
@click.option("--attribute", "attributes", multiple=True, metavar="NAME", help="Disguise only these. Repeatable.")
@click.option("--epsilon", type=float, help="The most that a person's whole report may tell; a survey file says it.")
@table_option(
    "Attributes whose joint table is wanted. Repeatable; else what a survey wants, or every share and every pair."
)
@wanted_option
@click.option(
    "--design",
    "kind",
    type=click.Choice(sorted(DESIGNS)),
    help="Who is asked what: optimal by default, or a survey's own.",
)
@design_options
@click.option("--keep", multiple=True, metavar="NAME", help="A public column that rides along in clear. Repeatable.")
@click.option("--again", is_flag=True, help="Disguise TABLE though it was before; the statement says the sum.")
@as_json
def command(
    *,
    table: Path | str,
    output: Path | str,
    domain_file: Path | None,
    infer_domain: bool,
    attributes: tuple[str, ...],
    epsilon: float | None,
    tables: tuple[str, ...],
    numbers: tuple[str, ...],
    kind: str | None,
    keep: tuple[str, ...],
    again: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Disguise TABLE (.parquet or .csv), a row a person, and write the reports with their design.

    Memory use does not grow with the table, blocks and pairs aside, which need all of it. Interrupted, and run again
    with the same arguments, it goes on where it stopped: no row is disguised twice. A table that was disguised before
    is refused, also under another name or in another format, unless you say --again; the record of what was disguised
    lies in ~/.local/state/deniable, or where DENIABLE_RECORD says. There is no seed: the noise comes from the operating
    system's secure source. By default every share and every pair is what the reports are for, as in a plan, which
    prints the command for the design that it recommends. Of paired rows, epsilon is what whoever knows their coins may
    learn.

    \b
    Examples:
      deniable randomize people.parquet --domain domain.toml --epsilon 2 -o reports.parquet
      deniable randomize people.parquet --domain domain.toml --epsilon 2 --design blocks -o reports.parquet
      deniable randomize people.csv --domain d.toml --epsilon 4 --design paired --p 0.7 --rho -0.1 -o reports.parquet
    """  # noqa: D301 - click wants the character itself
    from deniable.engines.domain_file import INFERRED
    from deniable.engines.domain_file import infer_domain as infer
    from deniable.engines.randomize_job import randomize_table, recognisable
    from deniable.engines.read_reports import read_header

    if (domain_file is None) == (not infer_domain):
        raise InputError(
            "give --domain with the file that lists the categories (or, if that a category occurs is no secret, "
            "--infer-domain), and not both"
        )
    warned = []
    if domain_file is None:
        asked = Asked(infer(table, list(attributes) or None), (), None)
        warned.append(INFERRED)
        click.echo(f"Warning: {INFERRED}", err=True)
    else:
        asked = read_asked(domain_file)
    wanted: list[str | list[str]] = [*map(split, tables), *numbers]
    request = request_of(asked, attributes, epsilon, wanted)
    design = _design(asked.survey, request, kind, given, is_changed=bool(attributes or wanted or epsilon))
    with Progress("Disguising") as progress:
        words = words_of(asked, request, keep)
        rows = randomize_table(table, output, design, keep, notes=warned, words=words, again=again, progress=progress)
    notes = read_header(output).notes
    if told := recognisable(output, keep):
        click.echo(f"Warning: {told}", err=True)
    if as_json:
        emit(
            {
                "output": str(output),
                "reports": rows,
                "design": design.id,
                "epsilon": design.epsilon,
                "notes": notes,
            }
        )
        return
    out = console()
    for line in (f"{rows} reports in {output}", *design.describe().lines(), *notes):
        out.print(line, soft_wrap=True, markup=False)


def _design(
    survey: Survey | None, request: Request, kind: str | None, given: Mapping[str, Any], *, is_changed: bool
) -> Design:
    """The design that is asked for: a survey's own, as far as nothing else is said."""
    before = survey.options if survey is not None and kind in (None, survey.kind) else None
    kind = kind or ("optimal" if survey is None else survey.kind)
    options = read_options(kind, given, anew(before) if before is not None and is_changed else before)
    try:
        return DESIGNS[kind].make(request, options)
    except DesignError as error:
        option = options.at_fault(error)
        at_fault = f"{flag(option)}: " if option else ""
        raise type(error)(f"{at_fault}{error.message}; or choose another --design", **error.details) from error
