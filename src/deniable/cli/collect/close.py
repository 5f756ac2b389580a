"""`deniable close`: close a survey for good."""

from __future__ import annotations

from contextlib import closing, nullcontext
from typing import TYPE_CHECKING

import click

from deniable.cli.terminal import Local, data_option, database_option
from deniable.cli.terminal import name_of as place_of
from deniable.collection.admission import mark_end, numbers_of, was_served
from deniable.collection.invitations import name_of
from deniable.collection.reuse_design import read_kept
from deniable.collection.token_issuer import LocalIssuer, issuer_path
from deniable.errors import InputError
from deniable.storage.open_store import find_store

if TYPE_CHECKING:
    from pathlib import Path


@click.command("close")
@click.argument("survey", type=Local(dir_okay=False))
@data_option("The folder that the survey, or its issuer, is served with.")
@database_option()
def command(survey: Path, data: Path, database: str | None) -> None:
    """Take no more reports to the survey file SURVEY, and leave nothing behind that tells who took part.

    Every invitation is marked as used, the issuer's secret key is deleted, and the reports are written anew. This
    cannot be undone. The survey may be running meanwhile. Where the issuer has a folder of its own, close both.

    \b
    Example:
      deniable close survey.toml
    """  # noqa: D301 - click wants the character itself
    checked = read_kept(survey, data, database, new=False)
    name = name_of(checked)
    place: Path | str = data if database is None else database
    path, store = issuer_path(data, checked.name, name), find_store(place)
    with closing(store) if store is not None else nullcontext():
        if store is None and not path.exists():
            told = data if database is None else place_of(place)
            raise InputError(f"{told} holds neither reports nor an issuer of this survey", path=str(data))
        if store is not None and not was_served(store, checked):  # before anything is deleted
            raise InputError(f"{survey} as it is now was never served from here; close it as it was served")
        if path.exists():
            with closing(LocalIssuer(path)) as issuer:
                issuer.end()
            click.echo("The issuer's secret key is deleted; every invitation is marked as used")
        if store is not None:
            mark_end(store, checked, data)
            store.compact(numbers_of(store, checked))
            click.echo("The survey takes no more reports")
