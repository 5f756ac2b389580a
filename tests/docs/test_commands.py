"""Every printed command works as printed: pages are run from top to bottom in an empty folder.

A `deniable serve` is left running, as its reader would leave it, and stopped at the end of the page. It gets a free
port instead of 8000, so that pages can be run side by side.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click
import pytest

from deniable.cli.app import app

ROOT = Path(__file__).parents[2]
TEXTS = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")])
PAGES = [page for page in TEXTS if "```console" in page.read_text(encoding="utf-8")]
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
ADDRESS = "127.0.0.1:8000"
LONGEST = 300  # seconds for a collector to come up


def steps(text):
    """(command, expected output) of every `$ ` line in a console block; lines with `> ` continue a command."""
    for block in re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        command, output = None, []
        for line in block.splitlines():
            if line.startswith("$ "):
                if command is not None:
                    yield command, output
                command, output = line[2:], []
            elif line.startswith("> ") and not output:
                command += "\n" + line[2:]
            else:
                output.append(line)
        yield command, output


def fits(expected, printed):
    wanted = "".join(f"{line}\n" for line in expected)
    return doctest.OutputChecker().check_output(wanted, printed, LOOSE)


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Terminal:
    """An empty folder, and what a reader types there."""

    def __init__(self, folder, stack):
        self.folder, self.stack, self.port = folder, stack, free_port()
        place = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": place, "COLUMNS": "120", "LC_ALL": "C.UTF-8"}

    def type(self, command, expected):
        command = command.replace(ADDRESS, f"127.0.0.1:{self.port}")
        expected = [line.replace(ADDRESS, f"127.0.0.1:{self.port}") for line in expected]
        if command.startswith("deniable serve "):
            self.stack.enter_context(self.serving(command, expected))
            return
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=self.environment, text=True, check=False, **streams
        )
        assert done.returncode == 0, (command, done.stdout)
        assert fits(expected, done.stdout), (command, done.stdout)

    @contextmanager
    def serving(self, command, expected):
        log = self.folder.parent / "served"
        arguments = [*shlex.split(command), "--port", str(self.port)]
        with log.open("w") as out:
            running = subprocess.Popen(
                arguments, cwd=self.folder, env=self.environment, stdout=out, stderr=subprocess.STDOUT
            )
        try:
            deadline = time.monotonic() + LONGEST
            while not fits(expected, printed := log.read_text(encoding="utf-8")):
                assert running.poll() is None, (command, printed)
                assert time.monotonic() < deadline, (command, printed)
                time.sleep(0.1)
            yield
        finally:
            running.terminate()
            running.wait()


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_the_page_works_as_printed(page, tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    with ExitStack() as stack:
        terminal = Terminal(folder, stack)
        for command, expected in steps(page.read_text(encoding="utf-8")):
            terminal.type(command, expected)


def test_there_are_such_pages():
    assert {"first-survey", "disguise-a-table"} <= {page.stem for page in PAGES}


# --- commands that are named without being run ------------------------------------------------------------------------


def mentions(text):
    """Command lines of ours: at the beginning of a line of code, and between backticks."""
    yield from re.findall(r"^ *(?:\$ )?deniable ([a-z][^\n|>]*)", text, re.MULTILINE)
    yield from re.findall(r"`deniable ([a-z][^`|>]*)`", text)


NAMED = [(page, mention) for page in TEXTS for mention in mentions(page.read_text(encoding="utf-8"))]


def unknown_words(mention):
    """The command or the options in a line that there are not."""
    name, *arguments = shlex.split(mention, comments=True)
    context = click.Context(app)
    command = app.get_command(context, name)
    if command is None:
        return [name]
    known = {option for parameter in command.get_params(context) for option in parameter.opts}
    return [word for word in arguments if word.startswith("-") and word.partition("=")[0] not in known]


def test_commands_that_are_only_named_are_there_with_their_options():
    wrong = {(page.name, mention): words for page, mention in NAMED if (words := unknown_words(mention))}
    assert len(NAMED) > 50
    assert wrong == {}


def test_a_command_that_is_not_there_is_found():
    assert unknown_words("estmate reports.parquet") == ["estmate"]
    assert unknown_words("estimate reports.parquet --tabel a,b --json") == ["--tabel"]
