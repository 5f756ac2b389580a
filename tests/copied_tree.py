"""A copy of the package with files of its own: a kind that is thrown away after a test is added to it as one file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "src" / "deniable"


def copied_tree(folder, files):
    """Copy the package, bytecode included, and write files into it; returns the environment of its programs."""
    # Times are kept, so that nothing is compiled anew; what another process compiles just now is not there yet.
    shutil.copytree(PACKAGE, folder / "deniable", ignore=shutil.ignore_patterns("*.pyc.*"))
    for path, text in files.items():
        (folder / "deniable" / path).write_text(text, encoding="utf-8")
    return {**os.environ, "PYTHONPATH": str(folder)}


def run(program, *arguments, environment):
    """Run a Python program of the tests, or lines of one, and return what it prints."""
    given = [str(program)] if isinstance(program, Path) else ["-c", program]
    done = subprocess.run(
        [sys.executable, *given, *map(str, arguments)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
