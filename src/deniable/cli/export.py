"""`deniable export`: reports in another format, or as a table of categories, or their design alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deniable.cli.common import FILE, PLACE, as_json, design_option, emit, reports_at
from deniable.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


@click.command("export")
@click.argument("reports", type=PLACE)
@click.option("-o", "--output", type=FILE, required=True, help="A .parquet, .csv, .sav, .dta or .json file.")
@click.option("--labelled", is_flag=True, help="Categories instead of codes (.csv or .parquet), without the design.")
@design_option
@as_json
def command(*, reports: Path | str, output: Path, labelled: bool, design: str | None, as_json: bool) -> None:
    """Write REPORTS to another file: Parquet, CSV, SPSS (.sav) or Stata (.dta), told by its name.

    REPORTS is a file, or what a collector has stored: its folder, its SQLite file, or postgresql://user@host/survey.
    The collector may be running meanwhile. Formats other than Parquet get their design in a JSON file beside them. A
    .json OUTPUT is the design alone.

    \b
    Examples:
      deniable export deniable-data -o reports.parquet
      deniable export postgresql://user@host/survey -o reports.csv
      deniable export reports.parquet -o reports.sav
      deniable export reports.parquet --labelled -o disguised.csv
      deniable export reports.parquet -o design.json
    """  # noqa: D301 - click wants the character itself
    from deniable.designs.files import write_table

    if output.exists():
        raise InputError(f"{output} is already there; choose another name", file=str(output))
    opened, rows = reports_at(reports, design), None
    if output.suffix.lower() == ".json":
        output.write_bytes(opened.header.json())
    else:
        rows = opened.n
        if labelled:
            write_table(opened.labelled(), output)
        else:
            opened.write(output)
    if as_json:
        emit({"output": str(output), "reports": rows})
    else:
        click.echo(f"{'The design' if rows is None else f'{rows} reports'} in {output}")
