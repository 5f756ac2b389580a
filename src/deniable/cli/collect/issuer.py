"""`deniable issuer`: issue blind tokens, apart from the collector."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import click

from deniable.cli.terminal import Local, data_option
from deniable.errors import MissingExtraError
from deniable.web.serve import listen, server

if TYPE_CHECKING:
    from pathlib import Path


@click.command("issuer")
@click.argument("survey", type=Local(dir_okay=False))
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8001, show_default=True, help="The port to listen on; 0 takes a free one.")
@data_option("Folder for the issuer's file: not that of the reports.", "deniable-issuer")
def command(*, survey: Path, host: str, port: int, data: Path) -> None:
    """Sign blind tokens for the invitations to the survey file SURVEY until interrupted.

    Run it where the reports are not, make the invitations there, give its public key to `deniable serve --issuer`, and
    let the proxy pass /v1/issuer and /v1/tokens on to it.

    \b
    Example:
      deniable invite survey.toml --n 200 --data deniable-issuer > invitations.csv
      deniable issuer survey.toml --port 8001
    """  # noqa: D301 - click wants the character itself
    try:
        from deniable.web.api.issuer_service import IssuerService
    except ImportError as error:
        raise MissingExtraError(
            f"the issuer needs {error.name}, which is not installed: pip install 'deniable[service]'", extra="service"
        ) from error
    with listen(host, port) as taken:
        service = IssuerService.open(survey, data)
        try:
            app = service.app()
            click.echo(f"Issuing tokens for {service.survey.name!r} at port {taken.getsockname()[1]} of {host}")
            click.echo(f"  issuer      {hashlib.sha256(service.issuer.message).hexdigest()}")
            click.echo(f"  file in     {data}")
        except BaseException:
            service.issuer.close()
            raise
        server(app).run(sockets=[taken])
