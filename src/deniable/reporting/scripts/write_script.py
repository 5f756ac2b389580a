"""Writing a script whose file name says the language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.device.privacy_statement import rounded_up
from deniable.errors import InputError
from deniable.files.write_files import write_whole
from deniable.inference.corrected_words import corrected_words
from deniable.reporting.describe_disguise import disguised
from deniable.reporting.scripts.plain import python_script
from deniable.reporting.scripts.python_scripts import notebook
from deniable.reporting.scripts.r_script import r_script
from deniable.reporting.scripts.tables import script_tables

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from deniable.designs.reports.reports import Reports

_LANGUAGES = {".r": r_script, ".py": python_script}
SCRIPTS = (*_LANGUAGES, ".ipynb")


def write_script(reports: Reports, path: Path, tables: Sequence[Sequence[str]] = ()) -> list[Path]:
    """Write a script of every attribute's estimate and of the asked tables; returns the files that were made.

    A notebook computes with deniable itself, so it gets the reports in a Parquet file beside it.
    """
    for table in tables:
        reports.design.domain.project(table)
    kind = path.suffix.lower()
    if kind != ".ipynb":
        made, refused = script_tables(reports, tables)
        if not made:
            raise refused[0].error
        without = [f"Without {' and '.join(one.attributes)}: {one.reason}." for one in refused]
        text = _LANGUAGES[kind]([*_about(reports), *without], made)
        write_whole(path, lambda place: place.write_text(text, encoding="utf-8"))
        return [path]
    beside = path.with_suffix(".parquet")
    if beside.exists():
        raise InputError(f"the notebook's reports would be {beside}, which is already there", file=str(beside))
    reports.write(beside, remarks=corrected_words(reports).lines)
    text = notebook(_about(reports), reports, beside.name, tables)
    write_whole(path, lambda place: place.write_text(text, encoding="utf-8"))
    return [path, beside]


def _about(reports: Reports) -> list[str]:
    """What a reader must know before the numbers."""
    named = reports.labels.design or reports.design.id
    return [
        *reports.origin.note,
        f"{reports.labels.heading('A survey')}: {reports.n} disguised reports, written by deniable.",
        f"Every answer was disguised before it came here: epsilon {rounded_up(reports.design.epsilon)} a respondent.",
        *disguised(reports.design, reports.labels),
        "Counts of reports are not counts of answers; the estimates below take the disguise out.",
        f"Design {named}.",
        *corrected_words(reports).lines,
    ]
