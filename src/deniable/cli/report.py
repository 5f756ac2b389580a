"""`deniable report`: everything the reports tell, as one file to read, print and check."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deniable.cli.common import FILE, as_json, emit, split, table_option
from deniable.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


@click.command("report", short_help="Write a report of everything the reports tell.")
@click.argument("reports", type=FILE)
@click.option("-o", "--output", type=FILE, required=True, help="The .html (or .md) file to write.")
@click.option("--markdown", is_flag=True, help="Write Markdown, whatever the file's name.")
@click.option("--title", help="The report's heading; the file's name without it.")
@table_option("Attributes to cross. Repeatable; without it, every pair if there are few.")
@click.option("--replicates", type=click.IntRange(19), default=999, show_default=True, help="Of bootstrap tests.")
@as_json
def command(
    *,
    reports: Path,
    output: Path,
    markdown: bool,
    title: str | None,
    tables: tuple[str, ...],
    replicates: int,
    as_json: bool,
) -> None:
    """Write what REPORTS tell to one file: questions, privacy, estimates, cross tables, tests, method, how to check it.

    The HTML file needs no network and runs no script.

    \b
    Example:
      deniable report reports.parquet -o report.html
    """  # noqa: D301 - click wants the character itself
    from deniable.frames.stored import open_reports
    from deniable.reporting.html import html
    from deniable.reporting.markdown import markdown as as_markdown
    from deniable.reporting.report import document
    from deniable.reporting.survey import sha256, survey

    suffix = output.suffix.lower()
    if not markdown and suffix not in (".html", ".htm", ".md"):
        raise InputError(f"a report is an .html or an .md file, not {output.name!r}; or say --markdown")
    output.parent.mkdir(parents=True, exist_ok=True)  # before the work, so that a wrong place is told at once
    opened = open_reports(reports)
    estimates, about = survey(opened, [split(table) for table in tables], replicates=replicates)
    facts = [("reports", f"{opened.n} in {reports.name}"), ("noise", "secure source, no seed")]
    if reports.is_file():
        facts.append((f"SHA-256 of {reports.name}", sha256(reports)))
    made = document(title or reports.stem, opened.design, estimates, facts=facts, **about)
    output.write_text(as_markdown(made) if markdown or suffix == ".md" else html(made), encoding="utf-8")
    if as_json:
        emit({"output": str(output), "reports": opened.n, "alarms": about["quality"]})
        return
    click.echo(f"{output}: {len(estimates)} tables, {len(about['crossed'])} cross tables.")
    for alarm in about["quality"]:
        click.echo(alarm, err=True)
