"""`deniable demo`: the whole story on real answers, in a few seconds."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from rich.console import Console
from rich.progress import track

from deniable.cli.terminal import Local, as_json, emit, grid, laid_out
from deniable.collection.load_reports import stored_reports
from deniable.collection.simulate_respondents import Crowd
from deniable.core.summary import Summary, beside, share
from deniable.core.table import Table
from deniable.datasets import fair
from deniable.designs.kinds.views import Views
from deniable.estimation.estimator import estimate
from deniable.inference.hypothesis_tests.independence import independence
from deniable.reporting.report_file import held_by, write_report
from deniable.web.serve import Service, background

if TYPE_CHECKING:
    from rich.table import Table as Grid

    from deniable.designs.design import Design
    from deniable.designs.reports.reports import Reports
    from deniable.estimation.estimate import Estimate

PAIR = ("affair", "marriage")
LEVEL = 0.05
_BATCH = 50  # reports a request
_SHOWN = 4  # reports shown as they leave the devices
_DATA = (
    "The data: R. C. Fair (1978), A theory of extramarital affairs, Journal of Political Economy 86, 45-61; as it "
    "comes with statsmodels, with four attributes made binary."
)


@click.command("demo")
@click.option(
    "--output",
    type=Local(file_okay=False),
    default=Path("deniable-demo"),
    show_default=True,
    help="Folder for report.html.",
)
@click.option(
    "--epsilon",
    type=float,
    default=2.0,
    show_default=True,
    help="The most that a respondent's whole report may tell about them.",
)
@as_json
def command(output: Path, epsilon: float, as_json: bool) -> None:
    """Disguise real answers to a sensitive question, then recover the shares.

    Starts a collector, lets 6366 people answer it about marriage and affairs, each through a client of their own that
    disguises the answers, and then estimates the population's shares from the disguised answers alone. The truth is
    known here, so it is printed beside them. The noise is new in every run.

    \b
    Example:
      deniable demo --epsilon 1 --output demo
    """  # noqa: D301 - click wants the character itself
    # highlight=False: rich would otherwise colour every number. Colours go to a terminal only.
    console = Console(highlight=False, quiet=as_json)
    people, domain = fair()
    Views(domain, k=2, epsilon=epsilon)  # refuses an impossible epsilon before anything is written or started
    survey = output / "survey.toml"
    output.mkdir(parents=True, exist_ok=True)
    text = files("deniable.cli").joinpath("demo.toml").read_text(encoding="utf-8")
    survey.write_text(text.replace("epsilon = 2.0", f"epsilon = {epsilon}"), encoding="utf-8")
    reports = _collect(console, survey, people.to_pylist())
    design = reports.design
    truth = Table.count(people, domain)
    # As if others could have been asked as well: errors from all reports then, and rather too large for these people.
    one_way = [estimate(reports, name) for name in domain]
    pair = estimate(reports, PAIR)
    test = independence(reports, *PAIR)

    _step(console, 1, "The people")
    console.print(
        f"{len(people)} married women, and what they said about affairs, marriage, children and religion. Here the "
        f"true answers are known, so that you can check the result. In a real survey only the respondent knows them."
    )
    _step(console, 2, "The disguise")
    console.print(_disguise(design))
    _step(console, 3, "What leaves the devices")
    console.print(f"{_SHOWN} of the {reports.n} reports. This, and nothing else, is what a collector gets:")
    console.print(_first_reports(reports))
    console.print("Any of them may be true or not. Every combination of answers can produce every report.")
    _step(console, 4, "What a report can tell about a person")
    statement = design.describe()
    for line in statement.lines():
        if line not in statement.notes:
            console.print(line)
    _step(console, 5, "What the reports tell about everybody")
    console.print("Shares recovered from the disguised answers, the truth, and whether the interval holds it:")
    for known in one_way:
        console.print(_beside(known, truth))
    _step(console, 6, f"And how {PAIR[0]} goes with {PAIR[1]}")
    console.print(f"{pair.n} people's devices happened to draw this pair; what others told of either helps as well:")
    console.print(_beside(pair, truth))
    held, cells = held_by(pair, truth)
    console.print(
        f"The intervals hold {held} of the {cells} true values of this table. On average 19 in 20 or more do; "
        f"run it again for new noise."
    )
    _step(console, 7, "Do they depend on each other?")
    verdict = "They do" if test.pvalue < LEVEL else "The reports do not show it"
    console.print(f"{verdict}: p = {test.pvalue:.3g} by a test that knows about the disguise ({test.method}).")
    path = write_report(
        output / "report.html",
        "Affairs and marriage: a demonstration",
        design,
        [*one_way, pair],
        truth=truth,
        lead=f"The answers of {len(people)} people in a published survey, disguised anew by simulated devices. This is "
        f"what the disguised reports tell, beside the truth, which is known only because this is a demonstration.",
        citations=[_DATA],
    )
    _step(console, 8, "The report")
    # Not wrapped: a path must stay whole to be copied.
    console.print(f"The same with charts, method and citations: {path}", soft_wrap=True, markup=False)
    console.print(
        f"The survey itself, to serve with its page and its results in a browser: deniable serve {survey}",
        soft_wrap=True,
        markup=False,
    )
    if as_json:
        emit(
            {
                "respondents": len(people),
                "epsilon": design.epsilon,
                "estimates": [_told(known, truth) for known in [*one_way, pair]],
                "test": {"attributes": PAIR, "pvalue": float(test.pvalue), "method": test.method},
                "report": str(path),
                "survey": str(survey),
            }
        )


def _told(known: Estimate, truth: Table) -> dict[str, Any]:
    """An estimate beside the truth, as plain data."""
    rows = known.rows()
    numbers = {name: [getattr(row, name) for row in rows] for name in ("estimate", "low", "high")}
    true = known.true_shares(truth).ravel().tolist()
    return {"attributes": known.attributes, "cells": known.table.cells(), "truth": true, **numbers}


def _collect(console: Console, survey: Path, people: list[dict[str, Any]]) -> Reports:
    """Start a collector, let every person's own client answer it over HTTP, and take out what was collected."""
    with TemporaryDirectory(prefix="deniable-demo-") as folder:
        service = Service.open(survey, Path(folder))
        with background(service) as url:
            console.print(f"A collector is running at {url}, and {len(people)} respondents answer it in disguise.")
            crowd = Crowd(url, batch=_BATCH)
            for person in track(people, description="Answering", console=console, transient=True):
                crowd.answer(person)
            crowd.flush()
            return stored_reports(service.store, service.collector.design_id)


def _step(console: Console, number: int, heading: str) -> None:
    console.print(f"\n[bold]{number}. {heading}[/bold]")


def _disguise(design: Design) -> str:
    channel = design.questions[0].channel
    weights = channel.weights()[:, 0]
    true, other, draws = int(weights[0]), int(weights[1]), int(weights.sum())
    return (
        f"Each device draws one of the {len(design.questions)} pairs of questions, for instance {' and '.join(PAIR)}. "
        f"It then says the true pair of answers with probability {true / draws:.1%}, and each of the other "
        f"{channel.outputs - 1} with probability {other / draws:.1%}. These probabilities are exact: {true} and "
        f"{other} of {draws} equally likely draws from a cryptographic source."
    )


def _first_reports(reports: Reports) -> Grid:
    shown = grid(["asked about", "reported"])
    # Reports come out of the store sorted by what they say, so that nobody can tell who came when.
    rows = np.linspace(0, reports.n - 1, _SHOWN).astype(int)
    for ballot, answer in zip(reports.ballots[rows], reports.answers[rows, 0], strict=True):
        (index,) = reports.design.ballots[int(ballot)]
        asked = reports.design.domain.project(reports.design.questions[index].attributes)
        codes = np.stack(np.unravel_index([int(answer)], asked.shape), axis=1)
        said = [f"{name}: {column[0].as_py()}" for name, column in asked.decode(codes).items()]
        shown.add_row(" and ".join(asked), ", ".join(said))
    return shown


def _beside(known: Estimate, truth: Table) -> Grid:
    """An estimate's summary, and behind it the true shares."""
    shares = known.true_shares(truth).ravel().tolist()
    held = ["yes" if row.holds(true) else "no" for row, true in zip(known.rows(), shares, strict=True)]
    truths = {"truth": [share(true) for true in shares], "holds it": held}
    return laid_out(Summary(beside(known.summary().columns, truths)))
