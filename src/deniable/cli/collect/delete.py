"""`deniable delete`: delete a survey and all its reports."""

from __future__ import annotations

import json
from contextlib import closing, nullcontext, suppress
from typing import TYPE_CHECKING

import click

from deniable.cli.terminal import Local, data_option, database_option
from deniable.cli.terminal import name_of as place_of
from deniable.collection.admission import closed_path, was_served
from deniable.collection.invitations import name_of
from deniable.collection.reuse_design import kept_in, read_kept
from deniable.collection.token_issuer import issuer_path
from deniable.errors import InputError
from deniable.storage.open_store import find_store
from deniable.surveys.survey import FOLDER

if TYPE_CHECKING:
    from pathlib import Path

    from deniable.storage.store import Store
    from deniable.surveys.survey import Survey

_OUT_OF_REACH = """Out of reach of this command, if there are any:
  backups, exports and reports that were written elsewhere
  archives, replicas and snapshots of the database or the disk
  an issuer on another machine, and lists of invitations
  what respondents' devices keep, and what a disk keeps in unused blocks"""


@click.command("delete")
@click.argument("survey", type=Local(dir_okay=False))
@data_option("The folder that the survey is served with.")
@database_option()
@click.option("--confirm", metavar="NAME", help="The survey's name, for programs; else it is asked for.")
def command(survey: Path, data: Path, database: str | None, confirm: str | None) -> None:
    """Delete all reports to the survey file SURVEY, its designs, invitations and issuer. This cannot be undone.

    Stop the collector first. A store that holds other surveys as well is not deleted. The survey file stays, and so
    does what is out of reach: backups, exports, archives of the database, the devices of respondents.

    \b
    Example:
      deniable delete survey.toml
    """  # noqa: D301 - click wants the character itself
    checked = read_kept(survey, data, database, new=False)
    place: Path | str = data if database is None else database
    issuer, store = issuer_path(data, checked.name, name_of(checked)), find_store(place)
    with closing(store) if store is not None else nullcontext():
        if store is None and not issuer.exists():  # an issuer is left where this was interrupted
            told = data if database is None else place_of(place)
            raise InputError(f"{told} holds neither reports nor an issuer of this survey", path=str(data))
        reports = 0 if store is None else _reports(store, checked)
        click.echo(f"This deletes {checked.name!r} and {reports} reports in {place_of(place)}, for good.")
        typed = click.prompt("Type the survey's name to go on") if confirm is None else confirm
        if typed != checked.name:
            raise InputError(f"{typed!r} is not the survey's name, {checked.name!r}: nothing was deleted")
        if store is not None:
            store.destroy()
    for path in (
        kept_in(data, checked),
        closed_path(data, checked.name, name_of(checked)),
        issuer,
        issuer.with_name(f"{issuer.name}-journal"),
        issuer.with_suffix(".lock"),
    ):
        path.unlink(missing_ok=True)
    with suppress(OSError):  # it holds something else, or is not there
        data.rmdir()
    click.echo(f"Deleted.\n{_OUT_OF_REACH}")
    if (data / FOLDER).exists():
        click.echo(f"The reports of its pilot are still in {data / FOLDER}; they never counted. Remove the folder")


def _reports(store: Store, survey: Survey) -> int:
    """How many reports there are; refuses a store that is not this survey's, and this one's alone."""
    if not was_served(store, survey):
        raise InputError(f"{survey.name!r} as its file is now was never served from here; delete it as it was served")
    others = sorted({json.loads(body)["survey"] for _, body in store.designs().values()} - {survey.name})
    if others:
        raise InputError(
            f"this store also holds {', '.join(map(repr, others))}, and reports of several surveys lie together: "
            f"export what you keep, then delete the folder, or the schema `deniable` of the database, yourself"
        )
    return sum(store.total(number) for number, _ in store.designs().values())
