"""Let mypy read the libraries once, at set-up, as Python compiles them then: both checks find them read.

What it knows of NumPy and others takes it half of its time, and changes only when they do.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
OURS = ("src", "benchmarks", "reproduction")
MADE = ROOT / "build" / "libraries.py"


def imported():
    """What our modules import that is not ours."""
    for path in (path for folder in OURS for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from (one.name for one in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module


def read(*settings):
    subprocess.run([sys.executable, "-m", "mypy", *settings, MADE], cwd=ROOT, check=False, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    names = {name for name in imported() if name.partition(".")[0] not in ("__future__", "deniable", *OURS)}
    MADE.parent.mkdir(exist_ok=True)
    MADE.write_text("".join(f"import {name}\n" for name in sorted(names)), encoding="utf-8")
    read()  # as for our own code
    sys.path.insert(0, str(Path(__file__).parent))
    from test_checkers import CACHE, SETTINGS

    read(*SETTINGS, "--cache-dir", CACHE)  # as for users of the wheel
