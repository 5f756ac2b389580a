"""`deniable simulate`: made-up respondents, each with the real client, over HTTP."""

from __future__ import annotations

import csv
from contextlib import closing
from typing import Any, TextIO

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table as Grid

from deniable.cli.terminal import as_json, emit
from deniable.collection.simulate_respondents import Crowd, Population
from deniable.errors import InputError


@click.command("simulate")
@click.argument("url")
@click.option(
    "--n", "respondents", type=click.IntRange(1), default=1000, show_default=True, help="How many respondents."
)
@click.option("--batch", type=click.IntRange(1, 1000), default=1, show_default=True, help="Reports a request.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which made-up population; disguises stay secret.")
@click.option(
    "--invitations",
    type=click.File(encoding="utf-8"),
    help="Invitations as `deniable invite` writes them, for a survey that needs them.",
)
@click.option(
    "--force", is_flag=True, help="Also where other people's reports are shown. What is estimated then is no result."
)
@as_json
def command(  # noqa: PLR0917 - click passes every option by its name
    url: str, respondents: int, batch: int, seed: int, invitations: TextIO | None, force: bool, as_json: bool
) -> None:
    """Answer the survey at URL as many made-up respondents, and print the truth about them.

    Every respondent has a device of their own: it fetches the design, verifies it, draws its ballot, disguises the
    answers and sends the report. The shares printed are the true ones; compare them with the collector's results.

    The collector marks what comes from here as simulated, and results say so. Where other people's reports are
    shown, nothing is sent: made-up reports cannot be taken out again. Try a survey out with `deniable serve --pilot`.

    \b
    Example:
      deniable simulate http://127.0.0.1:8000 --n 1000
    """  # noqa: D301 - click wants the character itself
    console = Console(highlight=False, quiet=as_json)
    given = [] if invitations is None else [line["invitation"] for line in csv.DictReader(invitations)]
    with closing(Crowd(url, batch=batch, invitations=given)) as crowd:
        if not force and crowd.is_among_others:
            raise InputError(
                f"{url} holds other people's reports, and made-up ones would be counted with them for good. Simulate "
                f"where it does not matter, as in `deniable serve survey.toml --pilot`; or say --force",
                url=url,
            )
        population = Population(crowd.design, seed)
        people = [population.person() for _ in range(respondents)]
        for person in track(people, description="Answering", console=console, transient=True):
            crowd.answer(person)
        crowd.flush()
    if as_json:
        emit({"url": url, "respondents": respondents, "truth": _shares(crowd, population, people)})
        return
    console.print(f"{respondents} respondents answered {url} in disguise. The truth about them:", soft_wrap=True)
    grid = Grid("question", "answer", "true share")
    for name, shares in _shares(crowd, population, people).items():
        for place, (category, share) in enumerate(shares.items()):
            grid.add_row("" if place else name, category, f"{share:.1%}")
    console.print(grid)


def _shares(crowd: Crowd, population: Population, people: list[Any]) -> dict[str, dict[str, float]]:
    """The true share of every answer, by question."""
    return {
        name: {
            str(category): sum(population.code(person, name) == code for person in people) / len(people)
            for code, category in enumerate(variable.categories)
        }
        for name, variable in crowd.design.domain.items()
    }
