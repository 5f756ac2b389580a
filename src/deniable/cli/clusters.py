"""`deniable clusters`: which attributes depend on each other, and are best asked as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deniable.cli.terminal import PLACE, as_json, console, design_option, emit, origin_json, print_origin, reports_at
from deniable.errors import InputError
from deniable.text import counted

if TYPE_CHECKING:
    from pathlib import Path


@click.command("clusters")
@click.argument("reports", type=PLACE)
@click.argument("attributes", nargs=-1)
@click.option(
    "--most-cells", type=click.IntRange(2), default=50, show_default=True, help="Combinations of answers in a cluster."
)
@click.option(
    "--least",
    type=click.FloatRange(0, 1),
    default=0.1,
    show_default=True,
    help="Attributes whose Cramer's V, corrected for noise, is below this stay apart.",
)
@design_option
@as_json
def command(
    *,
    reports: Path | str,
    attributes: tuple[str, ...],
    most_cells: int,
    least: float,
    design: str | None,
    as_json: bool,
) -> None:
    """Partition ATTRIBUTES of REPORTS (all, if none is named) so that dependent ones share a cluster.

    REPORTS is a pilot that tells every pair of attributes: a file, or what a collector has stored. What is printed can
    be given to `deniable randomize --design clusters`, for people who are not in the pilot.

    \b
    Examples:
      deniable clusters pilot.parquet
      deniable clusters deniable-data sex income age --most-cells 20
    """  # noqa: D301 - click wants the character itself
    from deniable.estimation.find_clusters import find_clusters

    opened = reports_at(reports, design)
    names = list(opened.design.domain.project(attributes) if attributes else opened.design.domain)
    if len(names) < 2:
        raise InputError("name at least two attributes: one alone has nothing to depend on")
    found = find_clusters(opened, names, most_cells=most_cells, least_dependence=least)
    if as_json:
        emit({"clusters": found, **origin_json(opened)})
        return
    out = console()
    out.print(
        f"{counted(len(found), 'cluster')} of {len(names)} attributes, from {opened.n} reports:",
        soft_wrap=True,
        markup=False,
    )
    for cluster in found:
        out.print(f"--cluster {','.join(cluster)}", soft_wrap=True, markup=False)
    print_origin(out, opened)
