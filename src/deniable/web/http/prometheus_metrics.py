"""Metrics for whoever operates a collector, in the text format of Prometheus, on a listener of their own.

A counter that is asked every few seconds is a diary of arrivals: held against a diary of who fetched a token, or of who
was seen on the network, it would tell whose report is whose. So numbers are those that analysts are shown, and move in
the same steps (`collection.shown_state`): two diaries with steps of their own would tell what neither does. Nothing
here is about issuing, and nothing moves with a single request: no processor time, no memory, no lengths of queues.

A store that does not answer is waited for no longer than whoever scrapes waits: that it is away is what they must hear.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import msgspec

from deniable.collection.invitations import name_of
from deniable.collection.rejection_counts import REJECTED
from deniable.collection.shown_state import Shown, stepped
from deniable.collection.survey_lifecycle import date_mark, end_mark
from deniable.errors import InputError, StoreError
from deniable.version import __version__
from deniable.web.http.attempt import attempt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from concurrent.futures import Future

    from deniable.storage.store import Store
    from deniable.surveys.survey import Survey

HOST = "127.0.0.1"
_ISSUING = "used"  # the reason why an invitation gets no second token
_PATH = "/metrics"
_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_PATIENCE = 5.0  # seconds that whoever asks has for asking
_ANSWER = 2.0  # seconds that the store has for an answer


@dataclass(frozen=True)
class Frame:
    """Numbers that were taken together."""

    reports: Mapping[str, int]  # by design
    rejected: Mapping[str, int]  # by reason
    ended: bool  # whether somebody has ended the survey


class Served(msgspec.Struct, frozen=True):
    """What the listener must know of the survey that is served: the name of its end in the store, and its dates."""

    name: str
    opens: datetime | None
    closes: datetime | None

    @classmethod
    def of(cls, survey: Survey) -> Served:
        """What it must know of this one."""
        return cls(name_of(survey), survey.opens, survey.closes)

    def is_open(self, now: datetime) -> bool:
        """Tell whether reports are taken at this moment, if nobody has ended it."""
        return (self.opens is None or self.opens <= now) and not self.has_passed(now)

    def has_passed(self, now: datetime) -> bool:
        """Tell whether its date is over."""
        return self.closes is not None and self.closes <= now


@dataclass
class Figures:
    """What the listener shows of a survey and its store. The survey may become another while workers are renewed."""

    served: Served
    store: Store
    patience: float = _ANSWER
    _last: Frame = field(default=Frame({}, {}, ended=False), init=False)
    _asked: Future[Frame] | None = field(default=None, init=False)

    def follow(self, served: Served) -> None:
        """Show from now on what is true of this survey."""
        self.served = served

    def text(self) -> str:
        """Everything, a line a number. Where the store does not answer, the numbers of before, and that it does not."""
        try:
            self._last, answers = self._told(), True
        except (StoreError, TimeoutError):
            answers = False
        frame = self._last
        is_open = not frame.ended and self.served.is_open(datetime.now(UTC))
        return "".join(
            [
                _family("info", "gauge", "What is running.", {f'version="{__version__}"': 1}),
                _family("store_answers", "gauge", "Whether the store answers.", {"": int(answers)}),
                _family("open", "gauge", "Whether the survey takes reports.", {"": int(is_open)}) if answers else "",
                _family("reports_total", "counter", "Stored reports.", _labelled("design", frame.reports)),
                _family("rejected_total", "counter", "What was turned away.", _labelled("reason", frame.rejected)),
            ]
        )

    def _told(self) -> Frame:
        """What the store says, if it does so in time. An attempt goes on, and who asks next waits for it as well."""
        if self._asked is None or self._asked.done():
            self._asked = attempt(self._ask)
        return self._asked.result(self.patience)

    def _ask(self) -> Frame:
        """The numbers to show, and whether somebody has ended the survey."""
        store, end = self.store, self._end()
        shown = Shown(store)
        reports = {name: shown.total(number) for name, (number, _) in store.designs().items()}
        rejected = stepped(store, REJECTED, store.rejected(), end)
        return Frame(reports, _without(rejected), ended=end is not None and end == end_mark(self.served.name))

    def _end(self) -> str | None:
        """What the survey's end is called in the store (`Opening.end_name`); None while it runs."""
        name, closes = self.served.name, self.served.closes
        if self.store.saved(end_mark(name)) is not None:
            return end_mark(name)
        if closes is None:
            return None
        passed = self.served.has_passed(datetime.now(UTC)) or self.store.saved(date_mark(name, closes)) is not None
        return date_mark(name, closes) if passed else None


def _without(rejected: Mapping[str, int]) -> dict[str, int]:
    """Leave out what only issuing turns away."""
    return {reason: number for reason, number in rejected.items() if reason != _ISSUING}


def _labelled(label: str, numbers: Mapping[str, int]) -> dict[str, int]:
    return {f'{label}="{name}"': number for name, number in numbers.items()}


def _family(name: str, kind: str, text: str, numbers: Mapping[str, int]) -> str:
    lines = [f"deniable_{name}{f'{{{labels}}}' if labels else ''} {number}\n" for labels, number in numbers.items()]
    return "".join([f"# HELP deniable_{name} {text}\n# TYPE deniable_{name} {kind}\n", *lines])


class _Listener(HTTPServer):
    """One who asks at a time. Says nothing of who it was."""

    def __init__(self, port: int, figures: Figures) -> None:
        self.figures = figures
        super().__init__((HOST, port), _Answer)

    def handle_error(self, request: object, client_address: object) -> None:
        """Whoever went away is not named in any log."""


class _Answer(BaseHTTPRequestHandler):
    timeout = _PATIENCE
    server: _Listener

    def do_GET(self) -> None:
        status, body = HTTPStatus.NOT_FOUND, f"The numbers are at {_PATH}.\n"
        if self.path.partition("?")[0] == _PATH:
            status, body = HTTPStatus.OK, self.server.figures.text()
        self.send_response_only(status)
        self.send_header("Content-Type", _TYPE)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's own names
        """Nothing is logged."""


@contextmanager
def showing(figures: Figures, port: int) -> Iterator[str]:
    """Show numbers to this machine for the length of a `with` block; gives their address. Port 0 takes a free one."""
    try:
        listener = _Listener(port, figures)
    except (OSError, OverflowError) as error:
        told = getattr(error, "strerror", None) or "a port is a number from 0 to 65535"
        raise InputError(f"cannot show metrics on {HOST}:{port}: {told}. Choose another port", port=port) from error
    thread = threading.Thread(target=listener.serve_forever, name="deniable-metrics", daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{listener.server_address[1]}{_PATH}"
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()
