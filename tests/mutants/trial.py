"""A changed module under its tests, in a process of its own; no file is ever touched.

A process that has loaded what the tests need of other packages, and nothing of the package under test, is forked once a
mutant. In the copy an import hook hands out the changed module, and pytest runs until the first failure.
"""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import resource
import shutil
import signal
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mutants.table import Subject

_MEMORY = 12 << 30  # bytes of address space: a change may ask for any amount
_PATIENCE = 30.0  # seconds that every test is given beyond ten times what it took
_QUIET = ("-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=no", "--no-header")
_LOADED = ("-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning")  # that is what a copy is for


@dataclass(frozen=True)
class Timed:
    """A test: how long it took, and which lines of the module it ran."""

    name: str
    seconds: float
    lines: frozenset[int]

    @property
    def file(self) -> str:
        """Where it stands."""
        return self.name.partition("::")[0]


@dataclass(frozen=True)
class Fate:
    """What became of a mutant: the test that noticed it, or None."""

    noticed_by: str | None
    seconds: float


def place_of(module: str) -> Path:
    """The file of a module, found without loading anything."""
    top, *inner = module.split(".")
    spec = importlib.util.find_spec(top)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(top)
    origin = Path(spec.origin)
    return origin.parent.joinpath(*inner).with_suffix(".py") if inner else origin


# --- what runs in the copy --------------------------------------------------------------------------------------------


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a syntax tree under the name of the file that it was read from, and keeps no bytecode."""

    tree: ast.Module

    def get_code(self, fullname: str) -> Any:  # noqa: ARG002 - the one module there is
        return compile(self.tree, self.path, "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, module: str, tree: ast.Module) -> None:
        self._module, self._place = module, str(place_of(module))
        self._tree = tree

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> Any:
        if name != self._module:
            return None
        loader = _Loader(name, self._place)
        loader.tree = self._tree
        return importlib.util.spec_from_file_location(name, self._place, loader=loader)

    def pytest_sessionstart(self) -> None:
        """Step before pytest's own hook, which would load a file that it was given by name."""
        sys.meta_path.remove(self)
        sys.meta_path.insert(0, self)


class _Watching:
    """Notes which lines of the module each test runs, also through what it shares with others."""

    def __init__(self, place: Path, answer: Path) -> None:
        self._place, self._answer = str(place), answer
        self._now: set[int] = set()
        self._tests: dict[str, tuple[float, set[int], list[str]]] = {}
        self._shared: dict[str, set[int]] = {}  # by file that was collected, and by fixture that outlives a test
        sys.settrace(self._called)
        threading.settrace(self._called)

    def _called(self, frame: Any, _event: str, _arg: object) -> Any:
        return self._line if frame.f_code.co_filename == self._place else None

    def _line(self, frame: Any, _event: str, _arg: object) -> Any:
        self._now.add(frame.f_lineno)
        return self._line

    @contextmanager
    def _into(self, lines: set[int]) -> Iterator[None]:
        before, self._now = self._now, lines
        try:
            yield
        finally:
            self._now = before

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: Any) -> Any:
        with self._into(self._shared.setdefault(collector.nodeid.partition("::")[0], set())):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Any:
        if fixturedef.scope == "function":
            return (yield)
        with self._into(self._shared.setdefault(fixturedef.argname, set())):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        lines: set[int] = set()
        start = time.perf_counter()
        with self._into(lines):
            found = yield
        shared = [item.nodeid.partition("::")[0], *getattr(item, "fixturenames", ())]
        self._tests[item.nodeid] = (time.perf_counter() - start, lines, shared)
        return found

    def pytest_sessionfinish(self) -> None:
        sys.settrace(None)
        tests = [
            (name, seconds, sorted(lines.union(*(self._shared.get(part, set()) for part in shared))))
            for name, (seconds, lines, shared) in self._tests.items()
        ]
        others = sorted(
            name
            for name, module in list(sys.modules.items())
            if "site-packages" in (getattr(module, "__file__", None) or "")
        )
        self._answer.write_text(json.dumps({"tests": tests, "others": others}))


class _Trying:
    """Runs the given tests in their order, each for as long as it may take, and notes the first that fails."""

    def __init__(self, tests: Sequence[Timed], answer: Path) -> None:
        self._tests, self._answer = {test.name: (place, test.seconds) for place, test in enumerate(tests)}, answer

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        known = [item for item in items if item.nodeid in self._tests]
        items[:] = sorted(known, key=lambda item: self._tests[item.nodeid][0])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._answer.write_text(nodeid)
        signal.setitimer(signal.ITIMER_REAL, _PATIENCE + 10 * self._tests[nodeid][1])

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:  # noticed; what a changed module leaves behind is not worth tidying
            os._exit(1)


# --- what runs in the process that is copied --------------------------------------------------------------------------


def _copy(work: Callable[[], int], folder: Path) -> int:
    """Do something in a copy of this process, with no more to say than its answer and its exit code."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        log = os.open(folder / "output", os.O_CREAT | os.O_WRONLY)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the copy, even one that never comes back to Python
        code = work()
    except BaseException as error:  # noqa: BLE001 - the copy must end here, whatever happened
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    os._exit(code)


def _end(child: int) -> None:
    """End whatever the copy has left running."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)


def _pytest(arguments: Sequence[str], plugin: object, module: str, tree: ast.Module, folder: Path) -> int:
    sys.path[:] = [place for place in sys.path if Path(place) != Path(__file__).resolve().parent.parent]
    finder = _Finder(module, tree)
    sys.meta_path.insert(0, finder)
    return int(
        pytest.main([*_QUIET, *_LOADED, "--basetemp", str(folder / "tmp"), *arguments], plugins=[finder, plugin])
    )


def watched(subject: Subject, folder: Path) -> list[Timed]:
    """Run all tests of an unchanged module, and load into this process whatever they need of other packages."""
    place = place_of(subject.module)
    tree = ast.parse(place.read_text(encoding="utf-8"))
    answer = folder / "answer"
    child = _copy(lambda: _pytest(subject.tests, _Watching(place, answer), subject.module, tree, folder), folder)
    _, status = os.waitpid(child, 0)
    _end(child)
    if os.waitstatus_to_exitcode(status) != 0:
        raise RuntimeError(f"the tests of {subject.module} fail without any change: see {folder / 'output'}")
    found = json.loads(answer.read_text())
    for name in found["others"]:
        with suppress(Exception):
            importlib.import_module(name)
    return [Timed(name, seconds, frozenset(lines)) for name, seconds, lines in found["tests"]]


def start(subject: Subject, tree: ast.Module, tests: Sequence[Timed], folder: Path) -> int:
    """Try a changed module; returns the process to wait for."""
    files = sorted({test.file for test in tests})
    plugin = _Trying(tests, folder / "answer")

    def work() -> int:
        signal.setitimer(signal.ITIMER_REAL, 10 * _PATIENCE)  # until the first test begins
        return _pytest(files, plugin, subject.module, tree, folder)

    return _copy(work, folder)


def fate(child: int, status: int, folder: Path, seconds: float) -> Fate:
    """What became of a mutant whose process has ended."""
    _end(child)
    code = os.waitstatus_to_exitcode(status)
    if code in (70, 4):
        raise RuntimeError(f"a mutant could not be tried: see {folder / 'output'}")
    answer = folder / "answer"
    last = answer.read_text() if answer.exists() else "while its tests were collected"
    shutil.rmtree(folder, ignore_errors=True)
    return Fate(None if code == 0 else last, seconds)
