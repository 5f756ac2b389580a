"""`deniable new`: write a survey file to start from."""

from __future__ import annotations

from pathlib import Path

import click

from deniable.errors import InputError
from deniable.surveys.example import example_text


@click.command("new", short_help="Write a survey file to start from.")
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path), default=Path("survey.toml"))
def command(path: Path) -> None:
    """Write a commented survey file to PATH (survey.toml unless said otherwise).

    It can be served as it is; the comments say what to change.

    \b
    Example:
      deniable new survey.toml
    """  # noqa: D301 - click wants the character itself
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(example_text())
    except FileExistsError:
        raise InputError(
            f"{path} is there already and is not overwritten; choose another name", path=str(path)
        ) from None
    click.echo(f"Wrote {path}. Edit it, then: deniable serve {path}")
