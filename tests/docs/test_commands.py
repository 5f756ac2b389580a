"""Every printed command works as printed: pages are run from top to bottom in an empty folder."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "```console" in page.read_text(encoding="utf-8"))
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_works_as_printed(page, tmp_path):
    place = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": place, "COLUMNS": "120", "LC_ALL": "C.UTF-8"}
    for command, expected in steps(page.read_text(encoding="utf-8")):
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment, text=True, check=False, **streams)
        printed = done.stdout
        assert done.returncode == 0, (command, printed)
        wanted = "".join(f"{line}\n" for line in expected)
        assert doctest.OutputChecker().check_output(wanted, printed, LOOSE), (command, printed)


def test_there_are_such_pages():
    assert PAGES
