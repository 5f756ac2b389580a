"""Lines about the server: nothing of who asked, and nothing done to what else is logged in the process."""

from __future__ import annotations

import io
import json
import logging

import pytest
from starlette.applications import Starlette

from deniable.web.http.json_log import tell, tell_errors
from deniable.web.serve import server


class Closing(logging.StreamHandler):
    """One that closes what it writes to, as some libraries' handlers do."""

    def close(self):
        self.stream.close()
        super().close()


def test_a_server_leaves_the_handlers_of_everybody_else_as_they_are():
    logger, stream = logging.getLogger("of somebody else"), io.StringIO()
    handler = Closing(stream)
    logger.addHandler(handler)
    server(Starlette())
    logger.error("still told")
    assert stream.getvalue() == "still told\n"
    logger.removeHandler(handler)


def test_errors_are_told_wherever_standard_error_is_at_the_time(monkeypatch):
    tell_errors()
    for _ in range(2):
        stream = io.StringIO()
        monkeypatch.setattr("sys.stderr", stream)
        logging.getLogger("uvicorn.error").error("it")
        assert json.loads(stream.getvalue())["by"] == "uvicorn.error"
        stream.close()
    logging.getLogger("uvicorn.error").error("nobody hears it")  # and nothing comes of that
    with pytest.raises(ValueError, match="closed file"):
        tell("renewed")


def test_a_line_of_the_log_tells_the_kind_and_place_of_an_error_and_nothing_that_came(capfd):
    tell_errors()
    try:
        int("203.0.113.9")
    except ValueError:
        logging.getLogger("uvicorn.error").exception("%s broke it", "203.0.113.9")
    logging.getLogger("asyncio").error("from 203.0.113.9")
    logging.getLogger("uvicorn.access").info("203.0.113.9")
    tell("renewed", workers=2)
    first, second, third = capfd.readouterr().err.splitlines()
    place = json.loads(first).pop("at")
    assert json.loads(first) == {
        "level": "error", "event": "error", "by": "uvicorn.error", "kind": "ValueError", "at": place
    }  # fmt: skip
    assert place[-1].startswith("web/test_json_log.py:")
    assert json.loads(second) == {"level": "error", "event": "error", "by": "asyncio"}
    assert json.loads(third) == {"level": "info", "event": "renewed", "workers": 2}
