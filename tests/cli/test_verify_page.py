"""`deniable verify-page` against an honest server, and against ones that changed a byte."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from click.testing import CliRunner

from deniable.cli.app import app
from deniable.web.page.respondent_page import PAGE
from deniable.web.page.static_files import HASHES, PROGRAM, asset, published


def run(*arguments):
    return CliRunner().invoke(app, ["verify-page", *arguments], prog_name="deniable")


@contextmanager
def serving(files):
    """A server that has these files, and nothing else."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            found = files.get(self.path)
            self.send_response(404 if found is None else 302 if found == b"moved" else 200)
            self.send_header("Content-Length", str(len(found or b"")))
            self.end_headers()
            self.wfile.write(found or b"")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def honest():
    programs = {f"/static/{name}": asset(name) for name in PROGRAM}
    return {"/": asset(PAGE), f"/static/{HASHES}": published().encode(), **programs}


def test_a_collector_shows_the_published_page(collector):
    result = run(collector.url)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0].endswith(f"  {PAGE}  same")
    assert len(lines) == len(PROGRAM) + 3
    assert lines[-1] == "The same as published, byte for byte."
    assert json.loads(run(collector.url, "--json").output)["same"] is True


@pytest.mark.parametrize(
    ("path", "name"), [("/", PAGE), ("/static/device/client.mjs", "device/client.mjs"), (f"/static/{HASHES}", HASHES)]
)
def test_one_byte_is_noticed(path, name):
    files = honest()
    files[path] = files[path][:-2] + b" " + files[path][-1:]
    with serving(files) as url:
        result = run(url)
        found = run(url, "--json")
    assert (result.exit_code, found.exit_code) == (1, 1)
    assert [line.split("  ")[1] for line in result.stdout.splitlines() if "DIFFERS" in line] == [name]
    assert f"Not the published page: {name}." in result.stderr
    assert [each["file"] for each in json.loads(found.stdout)["files"] if each["differs"]] == [name]


def test_a_page_on_an_origin_of_its_own_needs_no_other_file():
    with serving({"/deniable/page.html": asset(PAGE)}) as url:
        result = run(f"{url}/deniable/page.html")
        assert run(f"{url}/deniable/").exit_code == 1
    assert result.exit_code == 0
    assert result.output.count("not here, and not needed") == len(PROGRAM) + 1


@pytest.mark.parametrize("answer", [b"moved", b""])
def test_what_is_no_page_differs(answer):
    with serving({"/": answer}) as url:
        result = run(url)
    assert result.exit_code == 1
    assert "Do not answer there." in result.stderr


@pytest.mark.parametrize(
    "url", ["survey.example.org", "ftp://survey.example.org", "https://a.example/?x=1", "https://"]
)
def test_what_is_no_address_is_refused(url):
    result = run(url)
    assert result.exit_code == 3
    assert "write the address of a page" in result.stderr


def test_a_server_that_is_not_there():
    with serving({}) as url:
        pass
    assert run(url).exit_code == 8
