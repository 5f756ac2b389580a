"""`deniable verify`: is what is stored as it was written?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli.terminal import PLACE, as_json, emit, name_of
from deniable.collection.verify_stored import Finding, verify_store
from deniable.device.origins import fingerprint
from deniable.device.privacy_statement import rounded_up
from deniable.device.protocol.messages import MOST_DESIGN_BYTES, design_id
from deniable.device.verify import verify
from deniable.errors import DesignError, InputError, RefusedDesignError
from deniable.storage.checksums import damaged_pages
from deniable.storage.open_store import FILE, is_address, is_store
from deniable.storage.salvage import repair
from deniable.storage.sqlite_files import Layout, forget_missing, is_orphaned

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command("verify")
@click.argument("what", type=PLACE)
@click.option(
    "--repair", "repairs", is_flag=True, help="Go on with the sealed reports that remain; a damaged file is kept."
)
@as_json
def command(what: Path | str, *, repairs: bool, as_json: bool) -> None:
    """Check WHAT: a collector's folder, a backup, a database, a design as it is served, or the certificate of a floor.

    Sealed reports have a checksum for every page, and backups one for every thousand reports. A store in which one does
    not agree is refused by every other command: what is damaged is never counted. Of a design everything is checked
    that respondents' devices check; the bound of a certificate is computed again. The exit code is 1 where something
    is wrong.

    \b
    Examples:
      deniable verify deniable-data
      deniable verify backup.sqlite
      deniable verify design.json
      deniable verify certificate.json
    """  # noqa: D301 - click wants the character itself
    if isinstance(what, Path) and what.is_file() and not is_store(what):
        found = [_certificate(what) or _design(what)]
    elif isinstance(what, Path) and not is_store(what / FILE if what.is_dir() else what) and not _is_orphaned(what):
        raise InputError(f"{what} is no collector's folder, backup, design or certificate", path=str(what))
    else:
        if repairs and not _is_orphaned(what):
            _repair(what)
        found = verify_store(what)
    if as_json:
        emit({"whole": all(one.is_whole for one in found), "findings": [asdict(one) for one in found]})
    else:
        _tell(found)
    if not all(one.is_whole for one in found):
        raise click.exceptions.Exit(1)


def _is_orphaned(what: Path | str) -> bool:
    """Whether a folder has parts of a store, and not the file that says what they are."""
    return not is_address(what) and Path(what).is_dir() and is_orphaned(Layout(Path(what) / FILE))


def _tell(found: Sequence[Finding]) -> None:
    for one in found:
        click.echo(f"{'whole  ' if one.is_whole else 'DAMAGED'}  {one.what}\n         {one.told}")


def _repair(what: Path | str) -> None:
    if is_address(what) or not Path(what).is_dir():
        raise InputError(f"--repair is for a collector's folder, not for {name_of(what)}")
    layout = Layout(Path(what) / FILE)
    if layout.sealed.exists() and damaged_pages(layout.sealed):
        click.echo(f"The damaged file is kept as {repair(layout)}", err=True)
    if lost := forget_missing(layout):
        click.echo(f"Gone on without {', '.join(lost)}, and the reports in there", err=True)


def _certificate(path: Path) -> Finding | None:
    """The certificate of a floor, by what it proves; None of what is none."""
    from deniable.optimal.certificate_file import MOST_BYTES, is_certificate, verified

    with path.open("rb") as file:
        body = file.read(MOST_BYTES + 1)
    if not is_certificate(body):
        return None
    try:
        proof = verified(body)
    except (DesignError, InputError) as error:
        return Finding(str(path), is_whole=False, told=f"no certificate that proves anything: {error.message}")
    proved = f"n times the summed variance of {proof.of} is at least {proof.bound:.6g} {proof.where}"
    return Finding(str(path), is_whole=True, told=f"{proved}, whatever the design; computed again ({proof.kind})")


def _design(path: Path) -> Finding:
    """A design, by everything that a device checks before it answers."""
    with path.open("rb") as file:
        body = file.read(MOST_DESIGN_BYTES + 1)
    try:
        found = verify(body, design_id(body))
    except RefusedDesignError as error:
        return Finding(str(path), is_whole=False, told=f"no design that a device would answer: {error.message}")
    epsilon = f"true epsilon {rounded_up(found.epsilon)}"
    return Finding(str(path), is_whole=True, told=f"design {found.id}, compare {fingerprint(found.id)}; {epsilon}")
