"""`deniable new`: write a survey file to start from, commented, or out of another program's questionnaire."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from deniable.cli.terminal import FILE, as_json, emit
from deniable.errors import InputError

_EPSILON = 2.0


@click.command("new")
@click.argument("path", type=FILE, required=False)
@click.option("-o", "--output", type=FILE, help="The file to write: the same as PATH.")
@click.option("--from", "source", type=FILE, metavar="FILE", help="Take over a SurveyJS .json or XLSForm .xlsx file.")
@click.option("--epsilon", type=float, help=f"With --from: what a whole report may tell.  [default: {_EPSILON:g}]")
@click.option("--force", is_flag=True, help="Overwrite a file that is there already.")
@as_json
def command(
    *,
    path: Path | None,
    output: Path | None,
    source: Path | None,
    epsilon: float | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write a commented survey file to PATH (survey.toml unless said otherwise).

    It can be served as it is; the comments say what to change. With --from the questions are those of another
    program's questionnaire, as far as they can be disguised: only questions with a fixed list of answers can. What was
    left out, and why, stands in comments at the top of the file.

    \b
    Examples:
      deniable new survey.toml
      deniable new --from form.xlsx --epsilon 1.5 -o survey.toml
    """  # noqa: D301 - click wants the character itself
    if path is not None and output is not None and path != output:
        raise InputError(f"there are two files to write, {path} and {output}; name one")
    if epsilon is not None and source is None:
        raise InputError("--epsilon goes with --from; in a new survey file it is a line to edit")
    place = output or path or Path("survey.toml")
    text, left_out = _text(source, _EPSILON if epsilon is None else epsilon)
    try:
        with place.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(
            f"{place} is there already and is not overwritten; choose another name, or say --force", path=str(place)
        ) from None
    if as_json:
        emit({"output": str(place), "left_out": left_out})
        return
    for sentence in left_out:
        click.echo(sentence, err=True)
    click.echo(f"Wrote {place}. Edit it, then: deniable serve {place}")


def _text(source: Path | None, epsilon: float) -> tuple[str, tuple[str, ...]]:
    """The file's text, and a sentence for everything that was not taken over."""
    if source is None:
        return example_text(), ()
    from deniable.surveys.importing.import_survey import import_survey

    found = import_survey(source, epsilon)
    return found.file(source.name), found.left_out


def example_text() -> str:
    """The text of the example: it parses, and every kind of question is in it."""
    return files("deniable.surveys").joinpath("example.toml").read_text(encoding="utf-8")
