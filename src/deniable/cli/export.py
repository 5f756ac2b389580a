"""`deniable export`: reports for another program, a script that analyses them, or their design alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.terminal import (
    PLACE,
    TARGET,
    as_json,
    design_option,
    emit,
    origin_json,
    reports_at,
    split,
    table_option,
    words_options,
)
from deniable.errors import InputError

if TYPE_CHECKING:
    from deniable.files.object_storage import Object


@click.command("export")
@click.argument("reports", type=PLACE)
@click.option(
    "-o",
    "--output",
    type=TARGET,
    required=True,
    help="A .sav, .dta, .csv, .parquet, .json file of reports; an .R, .py or .ipynb file that analyses them.",
)
@click.option("--labelled", is_flag=True, help="Answers instead of codes (.csv, .parquet), without design and scores.")
@click.option("--no-scores", is_flag=True, help="The reports as they are, without columns whose means estimate shares.")
@table_option("Attributes whose joint table is wanted beside every attribute by itself. Repeatable.")
@words_options
@design_option
@as_json
def command(
    *,
    reports: Path | str,
    output: Path | str,
    labelled: bool,
    no_scores: bool,
    tables: tuple[str, ...],
    words: Path | None,
    language: str | None,
    design: str | None,
    as_json: bool,
) -> None:
    """Write REPORTS to another file, told by its name, for whoever works with another program.

    REPORTS is a file, or what a collector has stored: its folder, its SQLite file, or postgresql://user@host/survey.
    The collector may be running meanwhile. Files may lie in object storage: s3://bucket/reports.parquet.

    SPSS (.sav) and Stata (.dta) files have a named column a question, with the question as its label, the answers as
    labels of its codes, and nothing where somebody was not asked; so have .csv and .parquet files with --labelled.
    Without it these hold the reports as they are, to be read back. Formats other than Parquet get their design in a
    JSON file beside them; a .json OUTPUT is the design alone.

    Beside the reports stand scores (with --labelled there are the answers alone), a column for every answer to every
    question, and for every cell of the tables asked for: dn_share_smokes_yes. Their means, weighted means and means in
    groups are unbiased estimates of shares in any program. Nothing else is to be done with them: a score is not
    clipped, rounded or regressed on.

    An .R or .py script holds counts, matrices and the estimates' formulas, and prints the same numbers as `deniable
    estimate`; R needs no package, Python only NumPy. An .ipynb notebook computes with deniable, from a Parquet file
    beside it.

    \b
    Examples:
      deniable export deniable-data -o reports.parquet
      deniable export deniable-data -o reports.sav --language de
      deniable export reports.parquet --labelled -o disguised.csv
      deniable export deniable-data -o analysis.R --table cheated,stress
      deniable export reports.parquet -o design.json
    """  # noqa: D301 - click wants the character itself
    from deniable.designs.reports.debiased_columns import by_themselves
    from deniable.designs.reports.labelled_table import labelled_batches
    from deniable.engines.read_reports import read_header
    from deniable.files.header import ADVICE
    from deniable.files.object_storage import place_of
    from deniable.files.write_files import write_table
    from deniable.inference.corrected_words import corrected_words
    from deniable.reporting.scripts.write_script import SCRIPTS, remarks_on, write_script

    target = place_of(output)
    if target.exists():
        raise InputError(f"{target} is already there; choose another name", file=str(target))
    kind = target.suffix.lower()
    _refuse_what_does_not_fit(target, tables=tables, labelled=labelled, no_scores=no_scores)
    opened = reports_at(reports, design, words=words, language=language)
    corrected = corrected_words(opened)
    made: list[Any] = [target]
    rows = None if kind == ".json" else opened.n
    scored = 0
    if kind == ".json":
        target.write_bytes(replace(opened.header, remarks=remarks_on(opened)).json())
    elif kind in SCRIPTS:
        if not isinstance(target, Path):
            raise InputError(f"scripts are written to this machine, not to {target}; copy them from here")
        made = [*write_script(opened, target, [split(table) for table in tables])]
    elif labelled:
        write_table(labelled_batches(opened, in_words=bool(opened.labels.answers)), target, opened.origin)
    else:
        asked = [] if no_scores else [*by_themselves(opened.design), *(split(table) for table in tables)]
        opened.write(target, debiased=asked, remarks=remarks_on(opened))
        scored = len(read_header(target).scores or ())
    if as_json:
        beside = {"beside": [str(file) for file in made[1:]]} if len(made) > 1 else {}
        left_out = {"reports": None} if rows is None else {}
        more = {**beside, **({"scores": scored} if scored else {})}
        said = {"corrections": [each.told for each in corrected]} if corrected else {}
        emit({"output": str(output), **origin_json(opened), **said, **left_out, **more})
    else:
        told = "The design" if rows is None else f"{rows} {opened.origin.kind}reports"
        click.echo(f"{told} in {' and '.join(map(str, made))}")
        if scored:
            click.echo(ADVICE)
        for line in corrected.lines:
            click.echo(line)


def _refuse_what_does_not_fit(
    target: Path | Object, *, tables: tuple[str, ...], labelled: bool, no_scores: bool
) -> None:
    """Refuse options that say nothing about a file of this kind."""
    from deniable.files.write_files import is_sheet
    from deniable.reporting.scripts.write_script import SCRIPTS

    kind = target.suffix.lower()
    if tables and (labelled or no_scores or kind == ".json"):
        raise InputError(
            f"--table asks for scores or a script ({', '.join(SCRIPTS)}); {target.name} is to have neither"
        )
    if no_scores and (labelled or kind == ".json" or kind in SCRIPTS):
        raise InputError(f"--no-scores goes with files of reports; {target.name} has no scores anyway")
    if labelled and (is_sheet(target) or kind in SCRIPTS):
        raise InputError(f"--labelled goes with .csv and .parquet; {target.name} has its labels anyway")
