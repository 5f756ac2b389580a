"""`deniable bench`: measure this package beside its peers."""

from __future__ import annotations

import pkgutil
from contextlib import redirect_stdout
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from typing import TYPE_CHECKING

import click

from deniable.cli.common import as_json, emit
from deniable.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from types import ModuleType

ROOM = "deniable.bench"


@click.command("bench")
@click.argument("name", required=False)
@as_json
def command(name: str | None, as_json: bool) -> None:
    """Run the benchmark NAME, or `all` of them; without a name, list them.

    A benchmark prints its table. The exit code is 1 when one of them falls short of what the project promises.

    \b
    Examples:
      deniable bench
      deniable bench all
    """  # noqa: D301 - click wants the character itself
    found = benchmarks()
    if name is None and as_json:
        emit([{"name": known, "summary": _summary(known)} for known in found])
        return
    if name is None:
        for known in found:
            click.echo(f"{known:12} {_summary(known)}")
        if not found:
            click.echo("There are no benchmarks in this installation.")
        return
    if name != "all" and name not in found:
        raise InputError(f"there is no benchmark {name!r}; choose from {', '.join(['all', *found])}", name=name)
    worst, done = 0, []
    for chosen in found if name == "all" else [name]:
        if as_json:
            printed = StringIO()
            with redirect_stdout(printed):
                code = int(_load(chosen).main())
            lines = printed.getvalue().splitlines()
            done.append({"name": chosen, "summary": _summary(chosen), "met": code == 0, "printed": lines})
        else:
            click.echo(f"== {chosen}: {_summary(chosen)}")
            code = int(_load(chosen).main())
        worst = max(worst, code)
    if as_json:
        emit(done)
    raise SystemExit(worst)


def benchmarks() -> list[str]:
    """Name the benchmarks: the modules of `deniable.bench` with a `main`."""
    if find_spec(ROOM) is None:
        return []
    modules = pkgutil.iter_modules(import_module(ROOM).__path__)
    return sorted(module.name for module in modules if hasattr(_load(module.name), "main"))


def _load(name: str) -> ModuleType:
    try:
        return import_module(f"{ROOM}.{name}")
    except MissingExtraError:
        raise
    except ImportError as missing:
        raise MissingExtraError(
            f"the benchmark {name!r} needs {missing.name}, which is not installed. In a checkout, `make bench` "
            f"installs it; elsewhere: pip install 'deniable[bench]'",
            package=missing.name,
        ) from missing


def _summary(name: str) -> str:
    return (_load(name).__doc__ or "").strip().partition("\n")[0]
