"""`deniable report`: everything the reports tell, as one file to read, print and check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli.terminal import (
    FILE,
    PLACE,
    as_json,
    design_option,
    emit,
    name_of,
    origin_json,
    reports_at,
    sampling_options,
    split,
    table_option,
    words_options,
)
from deniable.errors import InputError
from deniable.text import counted

if TYPE_CHECKING:
    from deniable.reporting.methods_section import Facts


@click.command("report")
@click.argument("reports", type=PLACE)
@click.option("-o", "--output", type=FILE, required=True, help="The .html (or .md) file to write.")
@click.option("--markdown", is_flag=True, help="Write Markdown, whatever the file's name.")
@click.option(
    "--methods",
    "paragraphs",
    is_flag=True,
    help="Write the paper's paragraphs instead: for participants, ethics board, methods, data, references (en, de).",
)
@click.option("--title", help="The report's heading; the file's name without it.")
@table_option("Attributes to cross. Repeatable; without it, every pair if there are few.")
@click.option(
    "--wanted",
    "numbers",
    multiple=True,
    help='Another number to tell, such as "mean(age)"; what the survey was made for, where REPORTS do not know it.',
)
@click.option("--by", multiple=True, metavar="COLUMN", help="Public columns to group by; all with few values if none.")
@click.option("--no-groups", is_flag=True, help="Show everybody together only.")
@click.option("--replicates", type=click.IntRange(19), default=999, show_default=True, help="Of bootstrap tests.")
@sampling_options
@words_options
@design_option
@as_json
def command(
    *,
    reports: Path | str,
    output: Path,
    markdown: bool,
    paragraphs: bool,
    title: str | None,
    tables: tuple[str, ...],
    numbers: tuple[str, ...],
    by: tuple[str, ...],
    no_groups: bool,
    replicates: int,
    weights: str | None,
    strata: str | None,
    clusters: str | None,
    words: Path | None,
    language: str | None,
    design: str | None,
    as_json: bool,
) -> None:
    """Write what REPORTS tell to one file: questions, privacy, estimates, cross tables, tests, method, how to check it.

    REPORTS is a file, or what a collector has stored: its folder, its SQLite file, or postgresql://user@host/survey.
    The HTML file needs no network and runs no script. With --methods, REPORTS may also be a survey file, before
    anybody is asked.

    \b
    Examples:
      deniable report reports.parquet -o report.html
      deniable report deniable-data -o report.html
      deniable report survey.toml --methods -o ethics.md --language de
      deniable report reports.parquet -o report.html --weights weight --strata region --clusters school
    """  # noqa: D301 - click wants the character itself
    from deniable.aims.parse import read_wanted
    from deniable.reporting.html import html
    from deniable.reporting.markdown import markdown as as_markdown
    from deniable.reporting.methods_section import methods
    from deniable.reporting.report_file import document
    from deniable.reporting.survey_results import sha256, survey
    from deniable.sampling.read_sampling import sampling_of
    from deniable.storage.open_store import is_store

    suffix = output.suffix.lower()
    if not markdown and suffix not in (".html", ".htm", ".md"):
        raise InputError(f"a report is an .html or an .md file, not {output.name!r}; or say --markdown")
    output.parent.mkdir(parents=True, exist_ok=True)  # before the work, so that a wrong place is told at once
    if paragraphs:
        made = methods(_facts(reports, design, words, language).of_sample(weights, strata, clusters))
        output.write_text(as_markdown(made) if markdown or suffix == ".md" else html(made), encoding="utf-8")
        click.echo(f"{output}: {counted(len(made.sections), 'section')}.")
        return
    if no_groups and by:
        raise InputError("--by names columns to group by, and --no-groups wants none: leave one of them out")
    columns = () if no_groups else by or None
    opened = reports_at(reports, design, words=words, language=language)
    drawn = sampling_of(opened, weights, strata, clusters)
    wanted = [split(table) for table in tables]
    more = [read_wanted(text) for text in numbers]
    estimates, about = survey(opened, wanted, by=columns, replicates=replicates, sampling=drawn, wanted=more)
    name = name_of(reports)
    facts = [("reports", f"{opened.n} in {name}")]
    stated = {"weights": weights, "strata": strata, "clusters": clusters}
    facts += [(what, f"column {column}") for what, column in stated.items() if column is not None]
    if isinstance(reports, Path) and reports.is_file() and not is_store(reports):  # a store goes on changing
        facts.append((f"SHA-256 of {name}", sha256(reports)))
    made = document(title or opened.labels.heading(Path(name).stem), opened.design, estimates, facts=facts, **about)
    output.write_text(as_markdown(made) if markdown or suffix == ".md" else html(made), encoding="utf-8")
    if as_json:
        told = {"alarms": about["quality"], "nearness": about["aims"].nearness}
        emit({"output": str(output), **origin_json(opened), **told})
        return
    click.echo(f"{output}: {counted(len(estimates), 'table')}, {counted(len(about['crossed']), 'cross table')}.")
    for alarm in about["quality"]:
        click.echo(alarm, err=True)


def _facts(place: Path | str, design: str | None, words: Path | None, language: str | None) -> Facts:
    """What the paragraphs are made of: of a survey file, or of what its collector took in."""
    from deniable.reporting.methods_section import facts_of_reports, facts_of_survey
    from deniable.surveys.survey import is_survey, read_survey

    if isinstance(place, Path) and place.suffix.lower() == ".toml" and is_survey(place):
        return facts_of_survey(read_survey(place), language)
    found = reports_at(place, design, words=words, language=language)
    survey = None if words is None else read_survey(words)
    return facts_of_reports(found, survey)
