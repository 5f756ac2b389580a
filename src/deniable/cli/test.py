"""`deniable test`: are two attributes independent?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from deniable.cli.common import PLACE, as_json, console, design_option, emit, reports_at, sampling_options
from deniable.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


@click.command("test")
@click.argument("reports", type=PLACE)
@click.argument("attributes", nargs=-1)
@click.option(
    "--method", default="auto", show_default=True, help="auto, lrt, pearson or wald; with weights, auto or bootstrap."
)
@click.option("--given", metavar="COLUMN", help="Test within each value of this attribute or public column.")
@click.option("--control", type=click.Choice(["holm", "bh", "none"]), default="holm", show_default=True)
@click.option("--replicates", type=click.IntRange(19), default=999, show_default=True, help="Of the bootstrap.")
@sampling_options
@design_option
@as_json
def command(
    *,
    reports: Path | str,
    attributes: tuple[str, ...],
    method: str,
    given: str | None,
    control: Any,
    replicates: int,
    weights: str | None,
    strata: str | None,
    clusters: str | None,
    design: str | None,
    as_json: bool,
) -> None:
    """Test two ATTRIBUTES of REPORTS for independence; with more or none, every pair, corrected for their number.

    REPORTS is a file, or what a collector has stored: its folder, its SQLite file, or postgresql://user@host/survey.
    The test is one that holds its level on disguised answers; those that do not are refused.

    \b
    Examples:
      deniable test reports.parquet sex income
      deniable test deniable-data
      deniable test reports.parquet --weights weight --clusters school
    """  # noqa: D301 - click wants the character itself
    from deniable.inference.all_pairs import all_pairs
    from deniable.inference.association import independence

    opened = reports_at(reports, design)
    opened.design.domain.project(attributes) if attributes else None
    if len(attributes) == 1:
        raise InputError(f"name at least two attributes to test {attributes[0]!r} against, or none for every pair")
    more: dict[str, Any] = {"replicates": replicates, "weights": weights, "strata": strata, "clusters": clusters}
    if len(attributes) != 2:
        if given is not None:
            raise InputError("--given goes with exactly two attributes")
        pairs = all_pairs(opened, list(attributes) or None, method=method, control=control, **more)
        if as_json:
            columns = pairs._columns()
            emit({"pairs": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]})
        else:
            console().print(str(pairs), soft_wrap=True, markup=False)
        return
    found = independence(opened, *attributes, method=method, given=given, **more)
    if as_json:
        emit(
            {
                "attributes": attributes,
                "statistic": float(found.statistic),
                "pvalue": float(found.pvalue),
                "df": None if found.df is None else float(found.df),
                "method": found.method,
                "notes": found.notes,
            }
        )
    else:
        console().print(str(found), soft_wrap=True, markup=False)
