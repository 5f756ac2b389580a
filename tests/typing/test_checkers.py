"""Type checkers, run as users run them, on the wheel that users install: right uses pass, each wrong one is found."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
CACHE = HERE.parents[1] / ".mypy_cache" / "wheel"  # where `libraries.py` put what mypy knows about NumPy
# Not ours to annotate, and not annotated: what comes out of pyarrow and pandas.
SETTINGS = ["--strict", "--config-file=", "--disable-error-code=import-untyped", "--no-pretty", "--hide-error-context"]
MARKED = re.compile(r"# wrong: (?P<kind>[a-z-]+)$")
REPORTED = re.compile(r"^(?P<file>\w+\.py):(?P<line>\d+): error: .*\[(?P<kind>[a-z-]+)\]$")

# What pyright calls the same mistakes. An overload with one candidate left is a bad argument to it, not a bad call.
IN_PYRIGHT = {
    "attr-defined": {"reportAttributeAccessIssue"},
    "call-arg": {"reportCallIssue"},
    "call-overload": {"reportCallIssue", "reportArgumentType"},
    "arg-type": {"reportArgumentType"},
    "assignment": {"reportAssignmentType"},
    "operator": {"reportOperatorIssue"},
}


def marked():
    """The wrong lines: their numbers, with what is wrong with them."""
    lines = (HERE / "wrong.py").read_text(encoding="utf-8").splitlines()
    return {number: found["kind"] for number, line in enumerate(lines, 1) if (found := MARKED.search(line))}


def run(*command, check=False):
    """Run without the paths of this process: the package must come out of the wheel."""
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MYPYPATH")}
    return subprocess.run(command, check=check, capture_output=True, text=True, cwd=HERE, env=clean)


def test_the_package_checked_is_the_wheel(installed):
    done = run(installed, "-c", "import deniable; print(deniable.__file__)", check=True)
    assert Path(done.stdout.strip()).is_relative_to(installed.parents[1])


def test_right_uses_run(installed):
    done = run(installed, "-W", "ignore", "right.py")
    assert done.returncode == 0, done.stderr


def test_mypy_finds_every_wrong_use_and_no_other(installed):
    assert len(marked()) > 20
    settings = [*SETTINGS, "--python-executable", installed, "--cache-dir", CACHE]
    done = run(sys.executable, "-m", "mypy", *settings, "right.py", "wrong.py")
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    found = [REPORTED.match(line) for line in errors]
    assert all(found), done.stdout + done.stderr
    by_line = {int(one["line"]): one["kind"] for one in found if one["file"] == "wrong.py"}
    assert [line for line, one in zip(errors, found, strict=True) if one["file"] != "wrong.py"] == []
    assert by_line == marked()


def test_pyright_finds_every_wrong_use_and_no_other(installed):
    done = run(sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", installed, "right.py", "wrong.py")
    errors = [one for one in json.loads(done.stdout)["generalDiagnostics"] if one["severity"] == "error"]
    assert [one for one in errors if not one["file"].endswith("wrong.py")] == []
    found = {one["range"]["start"]["line"] + 1: one["rule"] for one in errors}
    wanted = marked()
    assert list(found) == list(wanted)
    assert [line for line, rule in found.items() if rule not in IN_PYRIGHT[wanted[line]]] == []
