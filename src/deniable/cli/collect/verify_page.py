"""`deniable verify-page`: compare the respondent's page that a server shows with the one in this package."""

from __future__ import annotations

import hashlib
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import click

from deniable.cli.terminal import as_json, emit
from deniable.device.protocol.http_transport import Http
from deniable.errors import InputError

if TYPE_CHECKING:
    from deniable.device.protocol.http_transport import Response

_MOST = 1 << 22  # bytes


@click.command("verify-page")
@click.argument("url")
@as_json
def command(*, url: str, as_json: bool) -> None:
    """Fetch the respondent's page at URL, and its program, and compare every byte with this package's.

    The page is one file, the same for every survey, and holds the whole program. The files of the program lie beside it
    to be read; a page that is hosted elsewhere may do without them. The exit code is 1 where something differs.

    This tells what the server shows to you, now. It may show others something else; so ask from wherever you like, or
    open the page from a place that you trust more than the people who run the survey.

    \b
    Examples:
      deniable verify-page https://survey.example.org
      deniable verify-page https://university.example.org/deniable/page.html
    """  # noqa: D301 - click wants the character itself
    found = _compare(url)
    if as_json:
        emit({"url": url, "same": not any(each["differs"] for each in found), "files": found})
    else:
        for each in found:
            click.echo(f"{each['sha256'] or '-' * 64}  {each['file']}  {each['finding']}")
    differing = [each["file"] for each in found if each["differs"]]
    if differing:
        click.echo(f"Not the published page: {', '.join(differing)}. Do not answer there.", err=True)
        raise SystemExit(1)
    if not as_json:
        click.echo("The same as published, byte for byte.")


def _compare(url: str) -> list[dict[str, Any]]:
    """What the server shows under each address, and whether it should be so."""
    from deniable.web.page.respondent_page import PAGE
    from deniable.web.page.static_files import HASHES, PROGRAM, asset, published

    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise InputError(f"write the address of a page, such as https://survey.example.org; not {url!r}", url=url)
    page = parts.path or "/"
    expected = {HASHES: published().encode(), **{name: asset(name) for name in PROGRAM}}
    with closing(Http(f"{parts.scheme}://{parts.netloc}")) as server:
        found = [_judge(PAGE, server.request("GET", page, most=_MOST), asset(PAGE), is_needed=True)]
        for name, body in expected.items():
            answer = server.request("GET", urljoin(page, f"static/{name}"), most=_MOST)
            found.append(_judge(name, answer, body, is_needed=False))
    return found


def _judge(name: str, answer: Response, expected: bytes, *, is_needed: bool) -> dict[str, Any]:
    digest = hashlib.sha256(answer.body).hexdigest() if answer.status == 200 else None
    if answer.status == 404 and not is_needed:
        finding, differs = "not here, and not needed", False
    elif answer.status != 200:
        finding, differs = f"DIFFERS: the server answers {answer.status}", True
    elif answer.body != expected:
        finding, differs = f"DIFFERS from {hashlib.sha256(expected).hexdigest()}", True
    else:
        finding, differs = "same", False
    return {"file": name, "sha256": digest, "finding": finding, "differs": differs}
