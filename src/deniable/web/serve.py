"""Running the collector: a survey file, a folder for the data, an address."""

from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.collection import bearer_tokens as tokens
from deniable.collection.bearer_tokens import ANALYST, settle
from deniable.collection.collector import Collector
from deniable.collection.reuse_design import read_kept
from deniable.collection.survey_messages import LOOPBACK
from deniable.collection.token_issuer import DistantIssuer
from deniable.designs.extension import extension_of
from deniable.device.protocol.http_transport import Http
from deniable.device.protocol.messages import MOST_ADMISSION_BYTES
from deniable.errors import InputError, MissingExtraError
from deniable.storage.open_store import FILE, open_store
from deniable.surveys.survey import FOLDER
from deniable.web.http.graceful_shutdown import GRACE, Ending
from deniable.web.http.json_log import tell_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from starlette.applications import Starlette

    from deniable.storage.store import Store
    from deniable.surveys.survey import Survey
    from deniable.web.api.issuer_service import IssuerService
    from deniable.web.http.connection import Server

STORE = FILE
_FIRST_HANDED = 3  # the number of the first file that a service manager hands over


@dataclass
class Service:
    """A collector, its store, and the token to be shown if this is the first start."""

    collector: Collector
    store: Store
    token: str | None
    is_restored: bool = False  # whether it is served for the first time since it was put back from a copy

    @classmethod
    def open(
        cls,
        survey: Path,
        data: Path,
        database: str | None = None,
        *,
        issuer: str | None = None,
        new_token: bool = False,
        origins: Sequence[str] = LOOPBACK,
        pilot: bool = False,
        text: str | None = None,
        correct: str | None = None,
    ) -> Service:
        """Read the survey, open (or make) the store, and make the analyst's token the first time, or a new one.

        `origins` are the addresses at which respondents reach the survey: devices refuse it everywhere else.
        `issuer` is the address of an issuer that runs elsewhere, or a file with its public key.
        A `pilot` is another survey, with a store of its own inside the folder `data`. One of several workers is given
        the `text` of the survey file that all of them serve. `correct` says why words are corrected that people have
        answered under.
        """
        _application()  # before anything is made: without it there is nothing to show a token for
        if pilot:
            if database is not None or issuer is not None:
                raise InputError(
                    "a pilot keeps its reports in a folder and lets everybody in: leave --database and --issuer out"
                )
            data /= FOLDER
        checked = read_kept(survey, data, database, pilot=pilot, text=text)
        if text is not None:
            refuse_workers(checked)
        elsewhere = None if issuer is None else DistantIssuer(read_public_key(issuer))
        store = open_store(data, database)
        try:
            is_restored = settle(store)
            collector = Collector(checked, store, origins=origins, folder=data, issuer=elsewhere, correct=correct)
            if new_token:
                token: str | None = tokens.replace(store)
            else:  # several workers may start at once: each adds its own, and ends nobody else's
                token = None if store.has_tokens(ANALYST) else tokens.new_token(store, ANALYST)
        except BaseException:
            store.close()
            raise
        return cls(collector, store, token, is_restored)

    def app(self) -> Starlette:
        """The application."""
        return _application()(self.collector)


def refuse_workers(survey: Survey) -> None:
    """Refuse to serve by several workers what one alone can serve."""
    extension = extension_of(survey.design.kind)
    if extension.alone:
        raise InputError(f"a survey {extension.named} takes one worker: {extension.alone}. Leave --workers out")


def _application() -> Callable[[Collector], Starlette]:
    """What makes the application, if it is installed."""
    try:
        from deniable.web.api.app import create_app
        from deniable.web.site import site
    except ImportError as error:
        raise MissingExtraError(
            f"the collector needs {error.name}, which is not installed: pip install 'deniable[service]'",
            extra="service",
        ) from error
    return lambda collector: create_app(collector, site(collector))


def read_public_key(place: str) -> bytes:
    """An issuer's public key, from its address or from a file."""
    if not place.startswith(("http://", "https://")):
        return Path(place).read_bytes()
    connection = Http(place)
    answer = connection.request("GET", "/v1/issuer", most=MOST_ADMISSION_BYTES)
    connection.close()
    if answer.status != 200:
        raise InputError(f"{place} shows no issuer's key: it answered {answer.status}", url=place)
    return answer.body


@contextmanager
def background(service: Service | IssuerService, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Run a collector or an issuer in a thread of this process for the length of a `with` block; gives its address.

    For demonstrations and tests: a survey of real people deserves a process of its own.
    """
    taken = listen(host, port)
    running = server(service.app())
    thread = threading.Thread(target=running.run, kwargs={"sockets": [taken]}, name="deniable-server")
    thread.start()
    try:
        while not running.started and thread.is_alive():
            time.sleep(0.01)
        yield f"http://{host}:{taken.getsockname()[1]}"
    finally:
        running.should_exit = True
        thread.join()
        taken.close()


def listen(host: str, port: int) -> socket.socket:
    """Take the address, before anything is announced; port 0 takes any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    taken = socket.socket(family, socket.SOCK_STREAM)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((host, port))
        taken.listen()  # only then nobody else can take it
    except OSError as error:
        taken.close()
        way = "choose another with --port, or end what listens there"
        raise InputError(f"cannot listen on {host}:{port}: {error.strerror}; {way}", host=host, port=port) from error
    return taken


def inherited() -> socket.socket | None:
    """The listening socket that a service manager hands over, as systemd does; None: it hands over none.

    Such a socket stays while the program is restarted: whoever connects meanwhile waits, and is not refused.
    """
    if os.environ.get("LISTEN_PID") != str(os.getpid()):
        return None
    number = os.environ.pop("LISTEN_FDS", "0")
    if number != "1":
        raise InputError(f"the service manager hands over {number} sockets; the collector listens on one")
    given = socket.socket(fileno=_FIRST_HANDED)
    if given.family not in (socket.AF_INET, socket.AF_INET6) or given.type != socket.SOCK_STREAM:
        raise InputError("the service manager hands over a socket that is not TCP: set ListenStream to an address:port")
    return given


def server(app: Starlette, store: Store | None = None) -> Server:
    """The server: quiet, so that no log ever holds an address.

    With a `store`, the process ends in time after a signal told it to, also where the store does not answer.
    """
    import uvicorn

    from deniable.web.http.connection import Connection, Server

    tell_errors()
    return Server(
        uvicorn.Config(
            app,
            access_log=False,
            log_level="error",
            log_config=None,
            server_header=False,
            proxy_headers=False,
            http=Connection,
            ws="none",
            timeout_graceful_shutdown=GRACE,
            lifespan="on",
        ),
        None if store is None else Ending(lambda: store.saved("")),
    )
