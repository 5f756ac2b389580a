"""`deniable backup`: copy a collector's reports into one file."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import click

from deniable.cli.terminal import PLACE, Local, name_of
from deniable.errors import InputError
from deniable.storage.open_store import find_store

if TYPE_CHECKING:
    from pathlib import Path


@click.command("backup")
@click.argument("data", type=PLACE)
@click.argument("file", type=Local(dir_okay=False))
def command(data: Path | str, file: Path) -> None:
    """Copy the reports in DATA, a folder or a database's address, into a new FILE, also while they arrive.

    The copy is consistent, and everything in it lies in the order of its keys: it tells nothing of the order in which
    reports came. Every command that takes the folder takes the file. Issuers of blind tokens are not in it.

    \b
    Example:
      deniable backup deniable-data backup.sqlite
      deniable backup postgresql://user@host/survey backup.sqlite
    """  # noqa: D301 - click wants the character itself
    store = find_store(data)
    if store is None:
        raise InputError(f"{name_of(data)} holds no reports that a collector has stored")
    with closing(store):
        store.copy(file)
    click.echo(f"The reports in {file}")
