"""Every printed command works as printed: pages are run from top to bottom in an empty folder.

A `deniable serve` is left running, as its reader would leave it, and stopped at the end of the page. It gets a free
port instead of 8000, so that pages can be run side by side. Other commands of ours that need nothing of the shell are
run in this process, which has loaded the program already: starting it anew takes longer than most commands.
"""

from __future__ import annotations

import contextlib
import doctest
import os
import re
import shlex
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from deniable.cli.app import app
from waiting import until

ROOT = Path(__file__).parents[2]
TEXTS = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")])
PAGES = [page for page in TEXTS if "```console" in page.read_text(encoding="utf-8")]
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
ADDRESS = "127.0.0.1:8000"


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


def is_ours_alone(command):
    """Whether a command is one of ours, and a shell would only split it into words."""
    return command.startswith("deniable ") and not set(command) & set("|&;<>()$`\\*?[]#~%!{}\n")


class Terminal:
    """An empty folder, and what a reader types there."""

    def __init__(self, folder, stack):
        self.folder, self.stack, self.port = folder, stack, free_port()
        self.stack.enter_context(contextlib.chdir(folder))
        place = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": place, "COLUMNS": "120", "LC_ALL": "C.UTF-8"}

    def type(self, command, expected):
        command = command.replace(ADDRESS, f"127.0.0.1:{self.port}")
        expected = [line.replace(ADDRESS, f"127.0.0.1:{self.port}") for line in expected]
        if command.startswith("deniable serve "):
            self.stack.enter_context(self.serving(command, expected))
            return
        code, printed = (self.here if is_ours_alone(command) else self.shell)(command)
        assert code == 0, (command, printed)
        assert fits(expected, printed), (command, printed)

    def here(self, command):
        environment = {name: self.environment[name] for name in ("COLUMNS", "LC_ALL")}
        done = CliRunner().invoke(app, shlex.split(command)[1:], prog_name="deniable", env=environment)
        return done.exit_code, done.output

    def shell(self, command):
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        done = subprocess.run(["bash", "-c", command], env=self.environment, text=True, check=False, **streams)
        return done.returncode, done.stdout

    @contextmanager
    def serving(self, command, expected):
        log = self.folder.parent / f"served{len(list(self.folder.parent.iterdir()))}"
        arguments = [*shlex.split(command), *([] if "--port" in command else ["--port", str(self.port)])]
        with log.open("w") as out:
            running = subprocess.Popen(arguments, env=self.environment, stdout=out, stderr=subprocess.STDOUT)
        try:
            until(lambda: running.poll() is not None or fits(expected, log.read_text(encoding="utf-8")))
            assert running.poll() is None, (command, log.read_text(encoding="utf-8"))
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


def test_a_command_that_needs_a_shell_gets_one():
    typed = [command for page in PAGES for command, _ in steps(page.read_text(encoding="utf-8"))]
    ours = [command for command in typed if command.startswith("deniable ")]
    assert 15 < sum(map(is_ours_alone, ours)) < len(ours) < len(typed)
    assert not is_ours_alone("deniable estimate reports.parquet || echo failed")


# --- commands that are named without being run ------------------------------------------------------------------------


def mentions(text):
    """Command lines of ours: at the beginning of a line of code, and between backticks."""
    yield from re.findall(r"^ *(?:\$ )?deniable ([a-z][^\n|>]*)", text, re.MULTILINE)
    yield from re.findall(r"`deniable ([a-z][^`|>]*)`", text)


NAMED = [(page, mention) for page in TEXTS for mention in mentions(page.read_text(encoding="utf-8"))]


def unknown_words(mention):
    """The command or the options in a line that there are not."""
    name, *arguments = shlex.split(mention, comments=True)
    # With the app's own settings: a command keeps the help option that it is first asked for.
    context = click.Context(app, **app.context_settings)
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
