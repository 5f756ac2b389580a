"""`deniable plan`: before anybody is asked, what each design would achieve at the same epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from deniable.cli.common import FILE, as_json, console, emit, grid, split, table_option
from deniable.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from deniable.planning.forecast import Forecast


@click.command("plan", short_help="Compare designs before anybody is asked.")
@click.argument("domain", type=FILE)
@click.option("--epsilon", type=float, required=True, help="The most that a person's whole report may tell.")
@click.option("--n", type=click.IntRange(1), required=True, help="How many respondents.")
@table_option("Attributes whose joint table is wanted. Repeatable; without it, every attribute by itself.")
@click.option("--error", type=float, help="A wanted standard error: how many respondents would it take?")
@click.option("--plot", type=FILE, help="Draw errors against n and epsilon to this .svg file.")
@as_json
def command(
    *,
    domain: Path,
    epsilon: float,
    n: int,
    tables: tuple[str, ...],
    error: float | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Forecast the errors of the tables you want, for every design, at the same true epsilon.

    DOMAIN is the TOML file that lists each attribute's categories.

    \b
    Example:
      deniable plan domain.toml --epsilon 2 --n 10000 --table sex,income
    """  # noqa: D301 - click wants the character itself
    from deniable.frames.domain_file import read_domain
    from deniable.planning.forecast import plan

    known = read_domain(domain)
    wanted = [split(table) for table in tables] or [[name] for name in known]
    if error is not None and not error > 0:
        raise InputError(f"a wanted standard error is above 0, not {error:g}")
    if plot is not None and plot.suffix.lower() != ".svg":
        raise InputError(f"plots are written to .svg files, not to {plot.name!r}")
    forecast = plan(known, epsilon, wanted, n)
    if plot is not None:
        _draw(plot, forecast)
    if as_json:
        emit(_data(forecast, error))
        return
    _show(forecast, error)


def _needed(forecast: Forecast, error: float) -> list[int | None]:
    """Respondents for the wanted error, a table each: variances are inverse to their number."""
    import math

    best = forecast.candidates[0]
    return [None if math.isnan(e) else math.ceil(forecast.n * (e / error) ** 2) for e in best.std_error]


def _show(forecast: Forecast, error: float | None) -> None:
    out = console()
    names = [" x ".join(table) for table in forecast.tables]
    rows = grid(["design"], ["true epsilon", *names, "relative"])
    for one in forecast.candidates:
        errors = ["-" if e != e else f"{e:.2%}" for e in one.std_error]  # noqa: PLR0124 - NaN differs from itself
        rows.add_row(one.name, f"{one.design.epsilon:.4f}", *errors, f"{forecast.error(one):.2f}")
    out.print(rows)
    for note in forecast.notes():
        out.print(note, markup=False)
    if error is not None:
        for name, needed in zip(names, _needed(forecast, error), strict=True):
            told = "no design covers it" if needed is None else f"{needed} respondents"
            out.print(f"A standard error of {error:.2%} for {name}: {told}.", markup=False)
    out.print("\n[bold]The most anybody can learn about one person[/bold]")
    for line in forecast.recommended.describe().lines():
        out.print(line, markup=False)


def _data(forecast: Forecast, error: float | None) -> dict[str, Any]:
    return {
        "n": forecast.n,
        "epsilon": forecast.epsilon,
        "tables": forecast.tables,
        "recommended": forecast.candidates[0].name,
        "needed": None if error is None else _needed(forecast, error),
        "candidates": [
            {
                "name": one.name,
                "epsilon": one.design.epsilon,
                "std_error": one.std_error,
                "reports": one.reports,
                "relative": forecast.error(one),
                "design": one.design.id,
            }
            for one in forecast.candidates
        ],
    }


def _draw(path: Path, forecast: Forecast) -> None:
    from deniable.results import pyplot

    plt = pyplot()
    axes = forecast.plot()
    path.parent.mkdir(parents=True, exist_ok=True)
    axes[0].figure.savefig(path, format="svg")
    plt.close(axes[0].figure)
