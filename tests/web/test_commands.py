"""`deniable new`, `serve` and `simulate`: from nothing to results."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
import urllib.request
from contextlib import contextmanager

import pytest
from click.testing import CliRunner

from deniable.cli.app import app
from deniable.cli.new import example_text
from deniable.collection.bearer_tokens import ANALYST, opens
from deniable.collection.collector import Collector
from deniable.errors import InputError
from deniable.storage.open_store import open_store
from deniable.web.serve import Service, listen

RUN = [sys.executable, "-c", "from deniable.cli import main; main()"]


def test_new_writes_a_survey_once(tmp_path):
    path = tmp_path / "survey.toml"
    assert CliRunner().invoke(app, ["new", str(path)]).exit_code == 0
    before = path.read_text(encoding="utf-8")
    path.write_text(before + "# mine", encoding="utf-8")
    again = CliRunner().invoke(app, ["new", str(path)])
    assert (again.exit_code, "not overwritten" in again.output) == (3, True)
    assert path.read_text(encoding="utf-8") == before + "# mine"


def test_a_bad_survey_is_one_line_and_an_exit_code(tmp_path):
    (tmp_path / "survey.toml").write_text("format = 1\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["serve", str(tmp_path / "survey.toml"), "--data", str(tmp_path / "data")])
    assert result.exit_code == 3
    assert "missing required field 'name'" in result.output
    assert not (tmp_path / "data").exists()


def test_the_token_is_shown_once_and_replaced_when_asked_for(tmp_path, monkeypatch):
    def run(server, sockets):
        async def live():
            async with server.config.app.router.lifespan_context(server.config.app):
                pass

        asyncio.run(live())

    monkeypatch.setattr("uvicorn.Server.run", run)
    (tmp_path / "survey.toml").write_text(example_text(), encoding="utf-8")
    arguments = ["serve", str(tmp_path / "survey.toml"), "--port", "0", "--data", str(tmp_path / "data")]
    told = [CliRunner().invoke(app, [*arguments, *extra]).output for extra in ([], [], ["--new-token"])]
    tokens = [re.findall(r"shown this once: (\S+)", text) for text in told]
    assert [len(found) for found in tokens] == [1, 0, 1]
    assert ["start it with --new-token" in text for text in told] == [False, True, False]
    store = open_store(tmp_path / "data")
    assert [opens(store, token, ANALYST) for token in (tokens[0][0], tokens[2][0])] == [False, True]
    store.close()


@pytest.mark.parametrize("command", ["serve", "issuer"])
def test_a_port_that_is_taken_costs_neither_a_token_nor_a_key(tmp_path, command):
    text = example_text()
    if command == "issuer":
        text = re.sub(r"(?m)^epsilon", 'admission = "blind"\nepsilon', text, count=1)
    (tmp_path / "survey.toml").write_text(text, encoding="utf-8")
    with listen("127.0.0.1", 0) as taken:
        where = ["--port", str(taken.getsockname()[1]), "--data", str(tmp_path / "data")]
        refused = CliRunner().invoke(app, [command, str(tmp_path / "survey.toml"), *where])
    assert refused.exit_code == 3
    assert "cannot listen" in refused.output
    assert "choose another with --port" in refused.output
    assert not (tmp_path / "data").exists()


def test_what_was_opened_is_closed_if_it_cannot_be_announced(tmp_path, monkeypatch):
    def fail(_self):
        closed.append("service")
        raise InputError("nothing can be served")

    closed, close = [], Collector.close
    monkeypatch.setattr(Service, "app", fail)
    monkeypatch.setattr(Collector, "close", lambda self: (closed.append("collector"), close(self)))
    (tmp_path / "survey.toml").write_text(example_text(), encoding="utf-8")
    where = ["--port", "0", "--data", str(tmp_path / "data")]
    assert CliRunner().invoke(app, ["serve", str(tmp_path / "survey.toml"), *where]).exit_code == 3
    assert closed == ["service", "collector"]


@contextmanager
def serving(command, folder):
    """A server and what it says, up to the line that suggests what to try; it is ended whatever happens."""
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        try:
            told = [server.stdout.readline()]
            while not told[-1].startswith("  try it"):
                assert told[-1], f"the server ended: {told}"
                told.append(server.stdout.readline())
            yield server, told
        finally:
            server.kill()


@pytest.mark.slow
def test_a_survey_from_nothing_to_results(tmp_path):
    subprocess.run([*RUN, "new"], check=True, cwd=tmp_path, capture_output=True)
    command = [*RUN, "serve", "survey.toml", "--port", "0", "--data", "data"]
    tokens = []
    for start in range(2):
        with serving(command, tmp_path) as (server, told):
            url = told[0].split()[-1]
            if not tokens:
                tokens.append(server.stdout.readline().split()[-1])
            done = subprocess.run(
                [*RUN, "simulate", url, "--n", "60", "--batch", "20"], check=True, capture_output=True
            )
            assert b"60 respondents answered" in done.stdout
            request = urllib.request.Request(  # noqa: S310 - our own server
                f"{url}/v1/results", headers={"Authorization": f"Bearer {tokens[0]}"}
            )
            with urllib.request.urlopen(request, timeout=300) as answer:  # noqa: S310 - our own server
                found = json.load(answer)
            server.send_signal(signal.SIGTERM)
            rest = server.stdout.read()
            assert server.wait() == 0  # it was told to end, and did
        # The token was shown the first time only; later it is said how to get in.
        assert "shown this once" not in rest
        assert ("--new-token" in rest) == (start == 1)
    assert 40 <= found["reports"] <= 100  # at least twenty are held back
    told = subprocess.run([*RUN, "estimate", "data", "--json"], check=True, cwd=tmp_path, capture_output=True).stdout
    assert json.loads(told)["reports"] == 120  # whoever has the files has all of them
    left = sorted(path.name for path in (tmp_path / "data").iterdir())
    assert left.pop(0).startswith("integers-sleep-and-substances-")
    (showing,) = (name for name in left if name.startswith("reports.showing-"))
    left.remove(showing)
    assert left == ["reports.lock", "reports.sealed.sqlite", "reports.sealing.lock", "reports.sqlite"]
