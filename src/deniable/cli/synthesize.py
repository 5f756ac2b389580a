"""`deniable synthesize`: made-up records that tell what the reports tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deniable.cli.terminal import PLACE, TARGET, as_json, console, design_option, emit, origin_json, reports_at
from deniable.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

_ENDINGS = (".parquet", ".csv")


@click.command("synthesize")
@click.argument("reports", type=PLACE)
@click.option("-n", "--records", type=click.IntRange(1), help="How many records; by default as many as reports.")
@click.option("-o", "--output", type=TARGET, required=True, help="The .parquet or .csv file to write.")
@click.option("--attribute", "attributes", multiple=True, metavar="NAME", help="Only these. Repeatable.")
@click.option("--weights", metavar="COLUMN", help="A public column: records of the population that it weighs up to.")
@design_option
@as_json
def command(
    *,
    reports: Path | str,
    records: int | None,
    output: Path | str,
    attributes: tuple[str, ...],
    weights: str | None,
    design: str | None,
    as_json: bool,
) -> None:
    """Write records of people who do not exist, whose tables are those that REPORTS tell, to look at or to work with.

    REPORTS is a file, or what a collector has stored: its folder, its SQLite file, or postgresql://user@host/survey.
    No record is anybody's: they are dealt from estimated tables, so they tell no more than those. They have no errors
    of their own; do not compute intervals or tests from them, but from the reports.

    \b
    Examples:
      deniable synthesize reports.parquet -o people.parquet
      deniable synthesize deniable-data -n 1000 --attribute cheated --attribute stress -o people.csv
    """  # noqa: D301 - click wants the character itself
    from deniable.estimation.joint_tables.synthetic_records import synthesize
    from deniable.files.object_storage import place_of
    from deniable.files.write_batches import of_frame
    from deniable.files.write_files import write_table

    target = place_of(output)
    if target.suffix.lower() not in _ENDINGS:
        raise InputError(
            f"records are written to a {' or '.join(_ENDINGS)} file, not to {target.name!r}", file=str(target)
        )
    if target.exists():
        raise InputError(f"{target} is already there; choose another name", file=str(target))
    opened = reports_at(reports, design)
    opened.design.domain.project(attributes) if attributes else None
    n = opened.n if records is None else records
    made = synthesize(opened, n, attributes=list(attributes) or None, weights=weights)
    write_table(of_frame(made), target, opened.origin)
    if as_json:
        emit({"output": str(output), "records": n, **origin_json(opened)})
        return
    told = f"{n} made-up records in {output}, dealt from the tables that {opened.n} {opened.origin.kind}reports tell."
    console().print(told, soft_wrap=True, markup=False)
