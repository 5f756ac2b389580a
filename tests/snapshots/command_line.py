"""The command line as its users call it: by the name that the package installs, wherever its code lies."""

from __future__ import annotations

import contextlib
import io
import sys
from importlib.metadata import entry_points

import pytest

(ENTRY,) = entry_points(group="console_scripts", name="deniable")
COLUMNS = "100"  # of the terminal


def deniable(*arguments):
    """What a command prints; of one that is refused the exit code and why."""
    printed, said = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
        patch.setattr(sys, "argv", ["deniable", *map(str, arguments)])
        patch.setenv("COLUMNS", COLUMNS)
        with pytest.raises(SystemExit) as ended:
            ENTRY.load()()
    text, told = (stream.buffer.getvalue().decode() for stream in (printed, said))
    return f"exit {ended.value.code}: {told}" if ended.value.code else text
