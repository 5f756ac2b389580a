"""`deniable invite`: make invitations."""

from __future__ import annotations

import csv
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import click

from deniable.cli.terminal import Local, data_option, database_option
from deniable.collection.admission import refuse_open
from deniable.collection.invitations import check_number, invite, name_of
from deniable.collection.reuse_design import read_kept
from deniable.collection.token_issuer import LocalIssuer, issuer_path
from deniable.storage.open_store import open_store

if TYPE_CHECKING:
    from pathlib import Path


@click.command("invite")
@click.argument("survey", type=Local(dir_okay=False))
@click.option("--n", "number", type=click.IntRange(1), required=True, help="How many.")
@click.option("--url", default="", help="The survey's address: writes a link for each invitation as well.")
@data_option("The folder that the survey, or its issuer, is served with.")
@database_option()
def command(survey: Path, number: int, url: str, data: Path, database: str | None) -> None:
    """Write N invitations to the survey file SURVEY as CSV, a line each.

    Each lets one report in. Only hashes are stored: what is printed here cannot be printed again. Links carry the
    invitation behind a #, which browsers do not send. The survey may be running meanwhile.

    \b
    Example:
      deniable invite survey.toml --n 200 --url https://survey.example.org > invitations.csv
    """  # noqa: D301 - click wants the character itself
    checked = read_kept(survey, data, database)
    refuse_open(checked)
    name = name_of(checked)
    if checked.admission == "blind":  # the issuer's file, and never a database
        with closing(LocalIssuer(issuer_path(data, checked.name, name))) as issuer:
            made = issuer.invite(check_number(number))
    else:
        with closing(open_store(data, database)) as store:
            made = invite(store, name, number)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["invitation", "link"] if url else ["invitation"])
    for code in made:
        writer.writerow([code, f"{url.rstrip('/')}/#invitation={code}"] if url else [code])
