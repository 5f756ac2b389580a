"""The command line. It renders; what it renders is computed elsewhere."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from deniable.errors import MissingExtraError

_NEEDED = ("click", "rich")


def main() -> None:
    """Run `deniable`: the console script's entry point."""
    missing = [package for package in _NEEDED if find_spec(package) is None]
    if missing:
        sys.stderr.write(
            f"Error: the command line needs {' and '.join(missing)}: not installed. pip install 'deniable[cli]'\n"
        )
        sys.exit(MissingExtraError.exit_code)
    from deniable.cli.app import app

    app(prog_name="deniable")
