"""The log of a server: lines of JSON on standard error, about the server and never about who asked.

A line names an event in words of the program's own. Of an error it tells the kind and the place in the program, not the
message: that may quote whatever came in a request. Lines have no time of their own; whoever keeps them adds it.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from contextlib import suppress
from pathlib import PurePath
from typing import Any

EVENTS = "deniable.events"
_LOUD = ("uvicorn", "asyncio")  # whose errors are told in the same way


class Line(logging.Formatter):
    """A record as a line of JSON, without what was filled into its message."""

    def format(self, record: logging.LogRecord) -> str:
        """The event, and the kind and place of an error."""
        told: dict[str, Any] = {"level": record.levelname.lower(), "event": str(record.msg).strip()}
        told |= getattr(record, "facts", {})
        kind, error, trace = record.exc_info or (None, None, None)
        if record.name != EVENTS:
            told |= {"event": "error", "by": record.name}
        if kind is not None and error is not None:
            frames = traceback.extract_tb(trace)
            told["kind"] = kind.__name__
            told["at"] = [f"{'/'.join(PurePath(one.filename).parts[-2:])}:{one.lineno}" for one in frames[-3:]]
        return json.dumps(told)


class _Lines(logging.Handler):
    """Writes records as lines to whatever standard error is at the time."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(Line())

    def emit(self, record: logging.LogRecord) -> None:
        """Write one; where nobody can hear it, that ends no server."""
        with suppress(OSError, ValueError):
            _write(self.format(record))


def tell_errors() -> None:
    """Let errors of the server be told as lines on standard error.

    It says so to the server's loggers alone: `logging.config` would close every handler there is in the process, those
    of whoever runs the server in a program of their own too.
    """
    for name in _LOUD:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [_Lines()], False
        logger.setLevel(logging.ERROR)


def tell(event: str, **facts: object) -> None:
    """Say what happened to the server."""
    record = logging.LogRecord(EVENTS, logging.INFO, "", 0, event, None, None)
    record.facts = facts
    _write(Line().format(record))


def _write(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
