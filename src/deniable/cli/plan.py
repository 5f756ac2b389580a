"""`deniable plan`: before anybody is asked, what each design would achieve at the same epsilon."""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING, Any

import click
import msgspec

from deniable.cli.asked_file import read_asked
from deniable.cli.design_options import in_words, shares
from deniable.cli.terminal import FILE, as_json, console, emit, grid, laid_out, split, table_option, wanted_option
from deniable.core.summary import Summary
from deniable.errors import DesignError, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rich.table import Table as Grid

    from deniable.core.domain import Domain
    from deniable.designs.design import Design
    from deniable.planning.forecast import Forecast

    Shares = Mapping[str, Sequence[float]]

_ERRORS = (0.05, 0.02, 0.01)
_FACTORS = (0.5, 1, 2)
OWN = "as in the file"  # what the survey file's own design is called
NOT_JUDGED = (
    "The file's own design is in blocks, and is not judged here: its errors follow from fakes that are learned while "
    "it runs, not from its questions alone. At the same epsilon it is never better than views of as many attributes; "
    "-o writes the file with the recommended design."
)
_OTHER_COLUMNS, _BRIEF_COLUMNS = 66, 46  # characters that the columns beside those of the tables take


@click.command("plan")
@click.argument("asked", metavar="FILE", type=FILE)
@click.option("--epsilon", type=float, help="The most that a person's whole report may tell; a survey file says it.")
@click.option(
    "--n",
    type=click.IntRange(1),
    help="How many respondents. By default as many as bring the worst share within 5 points.",
)
@table_option(
    "Attributes whose joint table is wanted. Repeatable; else what a survey wants, or every share and every pair."
)
@wanted_option
@click.option(
    "--guess",
    "guesses",
    multiple=True,
    metavar="NAME=SHARE,...",
    help="What you expect an attribute's shares to be, in the order of its categories, such as smokes=0.8,0.2. Errors "
    "and designs are judged there; even shares otherwise, or a survey's own guess. Repeatable.",
)
@click.option("--error", type=float, help="A wanted standard error: how many respondents would it take?")
@click.option("-o", "--output", type=FILE, help="Write the survey file with the recommended design to this .toml file.")
@click.option("--plot", type=FILE, help="Draw errors against n and epsilon to this .svg file.")
@as_json
def command(
    *,
    asked: Path,
    epsilon: float | None,
    n: int | None,
    tables: tuple[str, ...],
    numbers: tuple[str, ...],
    guesses: tuple[str, ...],
    error: float | None,
    output: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Forecast the errors of the tables you want, for every design, at the same true epsilon.

    FILE is a survey file, whose own design is then judged beside the others (unless it is in blocks), or a TOML file
    that lists each attribute's categories. What another epsilon would give, how many respondents a wanted error takes,
    and the most anybody can learn about one person, are shown as well.

    \b
    Examples:
      deniable plan survey.toml
      deniable plan survey.toml --n 2000
      deniable plan survey.toml --n 2000 -o recommended.toml
      deniable plan domain.toml --epsilon 2 --n 10000 --table sex,income --error 0.01
      deniable plan survey.toml --n 2000 --guess smokes=0.8,0.2 -o recommended.toml
      deniable plan domain.toml --epsilon 1 --n 5000 --wanted "mean(age)" --wanted "cdf(income)"
    """  # noqa: D301 - click wants the character itself
    from deniable.designs.distance_to_best import nearness
    from deniable.planning.forecast import plan

    found = read_asked(asked)
    survey, wanted = found.survey, [*map(split, tables), *numbers]
    own = None if survey is None else survey.design
    guess = shares(guesses) or (None if survey is None else survey.guess) or None
    if epsilon is None and survey is None:
        raise InputError(f"{asked} lists categories and no epsilon: say it, as --epsilon 2")
    promised = survey.epsilon if epsilon is None and survey is not None else epsilon
    assert promised is not None
    if error is not None and not error > 0:
        raise InputError(f"a wanted standard error is above 0, not {error:g}")
    if plot is not None and plot.suffix.lower() != ".svg":
        raise InputError(f"plots are written to .svg files, not to {plot.name!r}")
    if output is not None and survey is None:
        raise InputError(
            f"{asked} is no survey file, so there are no questions to write beside the design: `deniable new` writes "
            f"one to begin with, or leave -o out",
            file=str(asked),
        )
    if output is not None and (wanted or epsilon is not None):
        raise InputError(
            "-o writes the survey file as it is, with another design: what is wanted of it, and its epsilon, are said "
            "in the file itself, not by --table, --wanted or --epsilon"
        )
    if output is not None and output.exists():
        raise InputError(f"{output} is already there; choose another name", file=str(output))
    also = {} if own is None or _in_blocks(own) else {OWN: own}
    forecast = plan(found.domain, promised, wanted or found.aims or None, n, truth=guess, also=also)
    said = [f"--epsilon={promised!r}"] if survey is None or epsilon is not None else []
    said += [f"--table={table}" for table in tables] + [f"--wanted={number}" for number in numbers]
    command = _command(asked, found.domain, forecast, said)
    if output is not None:
        _write(asked, output, forecast, guess)
    if plot is not None:
        _draw(plot, forecast)
    if as_json:
        judged = None if own is None else not _in_blocks(own)
        told = {"guess": None if guess is None else dict(guess), "own_design_judged": judged, "command": command}
        told |= {} if own is None else {"own_nearness": nearness(own, forecast.wanted, forecast.truth)}
        emit(_data(forecast, error) | told)
        return
    apart = [] if own is None else [NOT_JUDGED] if _in_blocks(own) else _own_nearness(forecast, own)
    _show(forecast, error, [*apart, f"Disguise a table by it: {command}"])


def _in_blocks(design: Design) -> bool:
    return design.served_in_blocks() is not None


def _own_nearness(forecast: Forecast, own: Design) -> list[str]:
    """How far the file's own design is from the best, where it is not the recommended one."""
    from deniable.designs.distance_to_best import nearness

    far = "" if own == forecast.recommended else nearness(own, forecast.wanted, forecast.truth)
    return [f"{OWN.capitalize()}: {far[:1].lower()}{far[1:]}"] if far else []


def _command(file: Path, known: Domain, forecast: Forecast, said: Sequence[str]) -> str:
    """What disguises a table by the recommended design; a survey's own needs no words."""
    best = forecast.candidates[0]
    names = list(best.design.domain) if best.design.domain != known else []
    words = ["deniable", "randomize", "people.parquet", f"--domain={file}", *said, *(f"--attribute={n}" for n in names)]
    design = [] if best.kind is None or best.options is None else [in_words(best.kind, best.options)]
    return " ".join([shlex.join(words), *design, "-o reports.parquet"])


def _write(asked: Path, output: Path, forecast: Forecast, guess: Shares | None) -> None:
    """The survey file with the recommended design; it is read again, to be sure that it asks for that very one."""
    from deniable.surveys.survey import parse_survey, read_text, with_design

    text = read_text(asked)
    best = next(one for one in forecast.candidates if not one.is_correlated)
    made = text
    if best.kind is not None and best.options is not None:
        more = {}
        if "made" in best.options.__struct_fields__:  # solved again by other libraries, it might be another design
            more = {"made": best.design.canonical().decode(), "guess": None if guess is None else dict(guess)}
        made = with_design(text, best.kind, msgspec.structs.replace(best.options, **more))
    if parse_survey(made).design != best.design:
        raise InputError(f"the design {best.name!r} cannot be written into a survey file")
    output.write_text(made if made.endswith("\n") else made + "\n", encoding="utf-8")


def _needed(forecast: Forecast, error: float) -> list[int | None]:
    """Respondents for the wanted error, an item each: variances are inverse to their number.

    Of a number that is no share, the error is a share of its range.
    """
    best, units = forecast.candidates[0], [one.unit(forecast.domain) or 1.0 for one in forecast.wanted]
    return [
        None if math.isnan(e) else math.ceil(forecast.n * (e / unit / error) ** 2)
        for e, unit in zip(best.std_error, units, strict=True)
    ]


def _show(forecast: Forecast, error: float | None, more: Sequence[str]) -> None:
    out = console()
    names = list(forecast.errors([]))
    # Many tables do not fit beside each other: they are then numbered in the headings, and named below.
    taken = sum(len(name) + 3 for name in names)
    brief, numbered = taken + _OTHER_COLUMNS > out.width, taken + _BRIEF_COLUMNS > out.width
    heads = [str(place) for place in range(1, len(names) + 1)] if numbered else names
    shown = forecast.summary()
    first, last = ("epsilon", ["worst", "times"]) if brief else ("true epsilon", ["worst share", "times the best"])
    titles = ["design", first, *heads, *last]
    columns = dict(zip(titles, shown.columns.values(), strict=True))
    out.print(laid_out(Summary(columns)))
    if numbered:
        out.print(", ".join(f"{place}: {name}" for place, name in zip(heads, names, strict=True)) + ".", markup=False)
    for note in forecast.notes():
        out.print(note, markup=False)
    for note in more:
        out.print(note, markup=False, soft_wrap=True)
    if error is not None:
        for name, (wanted, needed) in _grouped(forecast, error).items():
            told = "no design covers it" if needed is None else f"{needed} respondents"
            out.print(f"A standard error of {wanted} for {name}: {told}.", markup=False)
    else:
        out.print("\n[bold]Respondents for a wanted standard error[/bold] (the recommended design)")
        out.print(_sizes(forecast))
    out.print("\n[bold]What another epsilon would give[/bold] (the design recommended there)")
    out.print(_epsilons(forecast, heads))
    out.print("\n[bold]The most anybody can learn about one person[/bold]")
    for line in forecast.recommended.describe().lines():
        out.print(line, markup=False)


def _sizes(forecast: Forecast) -> Grid:
    rows = grid(["wanted"], [f"{error:.0%}" for error in _ERRORS])
    every = [_grouped(forecast, error) for error in _ERRORS]
    ranges = {name for name, one in zip(forecast.names, forecast.wanted, strict=True) if one.unit(forecast.domain)}
    for name in every[0]:
        sizes = [one[name][1] for one in every]
        told = f"{name}, of its range" if name in ranges else name
        rows.add_row(told, *("-" if size is None else str(size) for size in sizes))
    return rows


def _grouped(forecast: Forecast, error: float) -> dict[str, tuple[str, int | None]]:
    """For every column of the plan the error in its own unit, and how many respondents it takes."""
    needed, names = _needed(forecast, error), list(forecast.errors([]))
    if len(names) < len(needed):  # all shares and all pairs: the average of them has it
        count = len(forecast.domain)
        parts = [[one for one in part if one is not None] for part in (needed[:count], needed[count:])]
        told = [None if None in needed else math.ceil(sum(part) / len(part)) for part in parts]
        return {name: (f"{error:.2%}", one) for name, one in zip(names, told, strict=True)}
    units = [one.unit(forecast.domain) for one in forecast.wanted]
    texts = [f"{error:.2%}" if unit is None else f"{error * unit:.3g}" for unit in units]
    return dict(zip(names, zip(texts, needed, strict=True), strict=True))


def _epsilons(forecast: Forecast, names: list[str]) -> Grid:
    """The same plan at a half and at twice the epsilon, and what each lets anybody learn."""
    rows = grid(["design"], ["epsilon", *names, "odds times", "5% becomes"])
    for factor in _FACTORS:
        try:
            other = forecast if factor == 1 else forecast.at(epsilon=factor * forecast.epsilon)
        except DesignError:
            continue  # no design can be made for so much or so little
        best, told = other.candidates[0], other.recommended.describe()
        errors = [str(column[0]) for column in other.errors([best]).values()]
        belief = f"{math.ceil(1000 * told.posterior(0.05)) / 10:.1f}%"
        rows.add_row(best.name, f"{other.epsilon:g}", *errors, f"{math.ceil(100 * told.odds_factor) / 100:.2f}", belief)
    return rows


def _data(forecast: Forecast, error: float | None) -> dict[str, Any]:
    from deniable.designs.distance_to_best import nearness

    statement = forecast.recommended.describe()
    return {
        "n": forecast.n,
        "epsilon": forecast.epsilon,
        "tables": forecast.tables,
        "wanted": [str(one) for one in forecast.wanted],
        "recommended": forecast.candidates[0].name,
        "nearness": nearness(forecast.recommended, forecast.wanted, forecast.truth),
        "needed": None if error is None else _needed(forecast, error),
        "odds_factor": statement.odds_factor,
        "belief_after_5_percent": statement.posterior(0.05),
        "statement": statement.lines(),
        "candidates": [
            {
                "name": one.name,
                "epsilon": one.design.epsilon,
                "std_error": one.std_error,
                "reports": one.reports,
                "error": forecast.error(one),
                "worst_share": None if math.isnan(one.worst_share) else one.worst_share,
                "times_the_best": None if math.isnan(forecast.times(one)) else forecast.times(one),
                "design": one.design.id,
                "kind": one.kind,
                "options": None if one.options is None else msgspec.to_builtins(one.options),
            }
            for one in forecast.candidates
        ],
    }


def _draw(path: Path, forecast: Forecast) -> None:
    from deniable.core.results import pyplot

    plt = pyplot()
    forecast.plot()
    path.parent.mkdir(parents=True, exist_ok=True)
    plt.savefig(path, format="svg")
    plt.close()
