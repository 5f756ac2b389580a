"""`deniable export`: reports in another format, or as a table of categories, or their design alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deniable.cli.common import FILE, as_json, emit
from deniable.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


@click.command("export", short_help="Write reports in another format.")
@click.argument("reports", type=FILE)
@click.option("-o", "--output", type=FILE, required=True, help="A .parquet, .csv, .sav, .dta or .json file.")
@click.option("--labelled", is_flag=True, help="Categories instead of codes (.csv or .parquet), without the design.")
@as_json
def command(reports: Path, output: Path, labelled: bool, as_json: bool) -> None:
    """Write REPORTS to another file: Parquet, CSV, SPSS (.sav) or Stata (.dta), told by its name.

    Formats other than Parquet get their design in a JSON file beside them. A .json OUTPUT is the design alone.

    \b
    Examples:
      deniable export reports.parquet -o reports.sav
      deniable export reports.parquet --labelled -o disguised.csv
      deniable export reports.parquet -o design.json
    """  # noqa: D301 - click wants the character itself
    from deniable.designs.files import read_header, read_reports, write_table

    if output.exists():
        raise InputError(f"{output} is already there; choose another name", file=str(output))
    if output.suffix.lower() == ".json":
        output.write_bytes(read_header(reports).json())
        rows = None
    else:
        read = read_reports(reports)
        rows = read.n
        if labelled:
            write_table(read.labelled(), output)
        else:
            read.write(output)
    if as_json:
        emit({"output": str(output), "reports": rows})
    else:
        click.echo(f"{'The design' if rows is None else f'{rows} reports'} in {output}")
