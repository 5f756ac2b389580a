"""Run a benchmark by its name, or all of them: `make bench BENCH=name`, or `python -m benchmarks name`.

A benchmark is a module of one of the folders here that has a `main`; it prints its table.
"""

from __future__ import annotations

import pkgutil
import sys
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from typing import TYPE_CHECKING

import click
import msgspec

from deniable import DeniableError
from deniable.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from types import ModuleType

ROOM = "benchmarks"


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, for programs.")
def command(name: str | None, as_json: bool) -> None:  # noqa: FBT001 - a command's flags arrive as booleans
    """Run the benchmark NAME, or `all` of them; without a name, list them.

    A benchmark prints its table. The exit code is 1 when one of them falls short of what the project promises.
    """
    known = found()
    if name is None:
        _list(known, as_json=as_json)
        return
    if name != "all" and name not in known:
        raise InputError(f"there is no benchmark {name!r}; choose from {', '.join(['all', *known])}", name=name)
    worst, done = 0, []
    for chosen in known if name == "all" else [name]:
        if as_json:
            with redirect_stdout(StringIO()) as printed:
                code = int(known[chosen].main())
            lines = printed.getvalue().splitlines()
            done.append({"name": chosen, "summary": _summary(known[chosen]), "met": code == 0, "printed": lines})
        else:
            click.echo(f"== {chosen}: {_summary(known[chosen])}")
            code = int(known[chosen].main())
        worst = max(worst, code)
    if as_json:
        _emit(done)
    raise SystemExit(worst)


def found() -> dict[str, ModuleType]:
    """The benchmarks by name: the modules of this package that have a `main`."""
    every = pkgutil.walk_packages(import_module(ROOM).__path__, f"{ROOM}.")
    modules = [_load(one.name) for one in every if not one.ispkg and not one.name.endswith(".__main__")]
    return {module.__name__.rpartition(".")[2]: module for module in modules if hasattr(module, "main")}


def _load(name: str) -> ModuleType:
    try:
        return import_module(name)
    except MissingExtraError:
        raise
    except ImportError as missing:
        raise MissingExtraError(
            f"the benchmark {name.rpartition('.')[2]!r} needs {missing.name}, which is not installed; `make bench` "
            f"installs it",
            package=missing.name,
        ) from missing


def _list(known: dict[str, ModuleType], *, as_json: bool) -> None:
    summaries = {name: _summary(module) for name, module in known.items()}
    if as_json:
        _emit([{"name": name, "summary": summary} for name, summary in summaries.items()])
    else:
        click.echo("\n".join(f"{name:20} {summary}" for name, summary in summaries.items()))


def _summary(module: ModuleType) -> str:
    return (module.__doc__ or "").strip().partition("\n")[0]


def _emit(data: object) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(data), indent=2))


def main() -> None:
    """Run it; one of our errors is a line and an exit code."""
    try:
        command(prog_name="python -m benchmarks")
    except DeniableError as error:
        click.echo(f"Error: {error.message}", err=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
