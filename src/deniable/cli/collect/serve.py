"""`deniable serve`: collect reports."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from deniable.cli.terminal import Local, data_option, database_option
from deniable.collection.simulated_marks import origin_in
from deniable.collection.survey_messages import LOOPBACK
from deniable.collection.token_issuer import constant_time_power
from deniable.device.device_state import DEFAULT_LIMIT
from deniable.device.origins import fingerprint, is_for, is_origin, origin_of
from deniable.device.privacy_statement import rounded_up
from deniable.device.verify import verify
from deniable.errors import InputError
from deniable.storage.open_store import open_store
from deniable.surveys.survey import FOLDER, pilot_of, read_survey
from deniable.text import counted
from deniable.web.dashboard.login import new_link
from deniable.web.http.graceful_shutdown import close_in_time
from deniable.web.http.prometheus_metrics import Figures, Served, showing
from deniable.web.http.worker_processes import Workers, Workplace
from deniable.web.serve import Service, inherited, listen, refuse_workers, server

if TYPE_CHECKING:
    from pathlib import Path

    from deniable.surveys.survey import Survey


@click.command("serve")
@click.argument("survey", type=Local(dir_okay=False))
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8000, show_default=True, help="The port to listen on; 0 takes a free one.")
@data_option("Folder for the reports.")
@database_option("A PostgreSQL database for the reports instead, as postgresql://user@host/survey.")
@click.option(
    "--url",
    "urls",
    multiple=True,
    metavar="ADDRESS",
    help="The address at which respondents reach the survey, as https://survey.example.org; may be given several "
    "times. Devices refuse the survey everywhere else. Without it, it can be answered on this machine only.",
)
@click.option(
    "--issuer",
    metavar="URL|FILE",
    help="The issuer of blind tokens, if it is another program: its address, or a file with its public key.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Processes that take reports on this port; more than one need --database.",
)
@click.option(
    "--metrics",
    metavar="PORT",
    type=int,
    help="Show numbers for Prometheus on this port of this machine, at /metrics; 0 takes a free one.",
)
@click.option(
    "--pilot",
    is_flag=True,
    help=f"Try the survey out: as a survey of its own, without invitations and dates, whose reports go to the folder "
    f"{FOLDER!r} in that of the reports and never count.",
)
@click.option(
    "--correct",
    metavar="WHY",
    help="Declare that words are corrected which people have answered under, and why. Respondents, and everybody who "
    "reads results, are shown them before and after. Choices stay as they are.",
)
@click.option("--new-token", is_flag=True, help="Replace the analyst's token; whoever is logged in is logged out.")
def command(
    *,
    survey: Path,
    host: str,
    port: int,
    data: Path,
    database: str | None,
    urls: tuple[str, ...],
    issuer: str | None,
    workers: int,
    metrics: int | None,
    pilot: bool,
    correct: str | None,
    new_token: bool,
) -> None:
    """Serve the survey file SURVEY until interrupted.

    Reports are on disk before they are acknowledged. The first start prints the analyst's token, once: keep it, only
    its hash is stored. Put a reverse proxy with TLS in front before you let anybody in from outside.

    With --database, several of these may serve the same survey, behind one proxy, and each may have several --workers
    on one port; a survey in pairs takes only one. SIGTERM finishes what has begun. With --workers, SIGHUP replaces
    all of them or none, and refuses nobody meanwhile.

    Once the first report came, questions and choices stay as they are for good, and so do all words, unless --correct
    declares what was wrong with them.

    \b
    Example:
      deniable serve survey.toml --port 8000
      deniable serve survey.toml --url https://survey.example.org
      deniable serve survey.toml --pilot --port 8001
      deniable serve survey.toml --correct "a misprint in the second question"
    """  # noqa: D301 - click wants the character itself
    given = inherited()
    host = host if given is None else given.getsockname()[0]
    origins = _origins(host, urls)
    checked = pilot_of(read_survey(survey)) if pilot else read_survey(survey)
    if workers > 1:
        _refuse_workers(checked, database)
    if checked.admission == "blind" and issuer is None:
        constant_time_power()  # without it the server would start, and fail for every respondent
    for warning in preflight(checked):  # what is wrong is told whether the port is free or not
        click.echo(f"Note: {warning}", err=True)
    # The port comes first: a token that was made can be shown only once.
    with given or listen(host, port) as taken, ExitStack() as beside:
        service = Service.open(
            survey,
            data,
            database,
            issuer=issuer,
            new_token=new_token,
            origins=origins,
            pilot=pilot,
            correct=correct,
        )
        place = "PostgreSQL" if database is not None else data / FOLDER if pilot else data
        try:
            app = service.app()
            figures = shown = None
            if metrics is not None:
                store = service.store
                if workers > 1:  # whose stores are their own
                    store = open_store(data, database)
                    beside.callback(close_in_time, store.close)
                figures = Figures(Served.of(service.collector.survey), store)
                shown = beside.enter_context(showing(figures, metrics))
            for note in found_there(service, place if database is None else "postgresql://..."):
                click.echo(f"Note: {note}", err=True)
            _announce(service, _url(host, taken.getsockname()[1]), place, urls, shown)
            if pilot:
                click.echo("This is a pilot: what comes here never counts. Serve the survey without --pilot to begin.")
            _let_in(service, origins[0] if urls else _url(host, taken.getsockname()[1]))
        except BaseException:
            service.collector.close()
            raise
        if workers == 1 or database is None:
            server(app, service.store).run(sockets=[taken])
        else:
            service.collector.close()  # each worker opens its own
            follow = None if figures is None else figures.follow
            Workers(Workplace(survey, data, database, issuer, origins), taken, workers, follow).run()


def _refuse_workers(survey: Survey, database: str | None) -> None:
    """Refuse several workers where one is all that there can be."""
    if database is None:
        raise InputError(
            "--workers needs PostgreSQL: one process alone writes to SQLite. Name a database, as in --database "
            "postgresql://user@host/survey, or leave --workers out"
        )
    refuse_workers(survey)


def preflight(survey: Survey, now: datetime | None = None) -> list[str]:
    """What an operator should know of a survey before it is served, a sentence each."""
    told = []
    moment = now or datetime.now(UTC)
    if survey.closes is not None and survey.closes <= moment:
        told.append(
            f"the survey closed on {survey.closes}: no report is taken, only results are shown. Move `closes` to go on"
        )
    if survey.design.epsilon > DEFAULT_LIMIT:
        told.append(
            f"epsilon {rounded_up(survey.design.epsilon)} is above {DEFAULT_LIMIT:g}, the most that a device gives "
            f"away unless its owner allows more: most respondents will be refused by their own devices. Lower `epsilon`"
        )
    return told


def found_there(service: Service, place: Path | str) -> list[str]:
    """What an operator should know of the reports that a store holds already, a sentence each."""
    known, store, told = service.collector, service.store, []
    if service.is_restored:
        told.append(
            "these reports were put back from a copy. Every analyst's token, link and login of before has ended"
            + (
                "; the survey was closed, as a file in its folder says, and stays so"
                if known.opening.is_ended
                else ". Whether the survey was closed since is in no copy: if it was, run `deniable close` now"
            )
        )
    origin = origin_in(store, known.numbers, known.survey.name)
    if origin.simulated:
        told.append(f"{origin.said}. Collect from people with another --data")
    answered = {
        name: verify(body, name)
        for name, (number, body) in store.designs().items()
        if name not in known.amendments and store.total(number)
    }
    if answered:
        names = [name[:12] for name in answered]
        told.append(
            f"{place} holds reports to other designs, whose hashes begin with {', '.join(names)}. They are kept, and "
            f"not counted with those to this one; `deniable estimate {place} --design {names[0]}` reads them. To "
            f"keep surveys apart, serve each with its own --data"
        )
    before = [design for design in answered.values() if design.message.survey == known.survey.name]
    was = {f"{float(design.message.epsilon):g}" for design in before} - {f"{known.survey.epsilon:g}"}
    if was:
        told.append(
            f"epsilon was {' or '.join(sorted(was))} when people answered {known.survey.name!r} before, and is "
            f"{known.survey.epsilon:g} now. To devices this is another survey: who answers again gives "
            f"away both. Put `epsilon` back to go on with the survey as it was"
        )
    return told


def _announce(service: Service, url: str, place: Path | str, urls: tuple[str, ...], metrics: str | None) -> None:
    """Say what is served, where, and to whom."""
    known = service.collector
    click.echo(f"Collecting {known.survey.name!r} at {url}")
    click.echo(f"  design      {known.design_id}")
    click.echo(f"  compare     {fingerprint(known.design_id)}, the same for everybody")
    click.echo(f"  answered at {', '.join(known.origins) if urls else f'{url} (this machine; --url for others)'}")
    true = rounded_up(known.survey.design.epsilon)
    click.echo(f"  promises    epsilon {known.survey.epsilon:g} a respondent; true {true}")
    click.echo(f"  reports in  {place}")
    for each in known.corrections:
        click.echo(f"  corrected   {counted(len(each.changes), 'text')} since people answered: {each.why}")
    if metrics is not None:
        click.echo(f"  metrics at  {metrics}")
    if not urls:  # elsewhere than at its own addresses devices refuse it, simulated ones too
        click.echo(f"  try it      deniable simulate {url} --n 1000")


def _let_in(service: Service, url: str) -> None:
    """Say how to get at the results: the analyst's token, if it is new."""
    if service.token is None:
        click.echo(f"The results are at {url}/analyst, for whoever has the analyst's token: it was shown at the first")
        click.echo("start. If it is lost, stop this and start it with --new-token.")
    else:
        click.echo(f"The analyst's token, shown this once: {service.token}")
        click.echo(f'  curl -H "Authorization: Bearer {service.token}" {url}/v1/results')
        click.echo(f"The results in a browser, with a link that works once: {url}{new_link(service.store)}")


def _origins(host: str, urls: tuple[str, ...]) -> tuple[str, ...]:
    """The addresses that the design names as its audience."""
    found = tuple(origin_of(url) for url in urls)
    strange = [url for url, origin in zip(urls, found, strict=True) if not is_origin(origin)]
    if strange:
        raise InputError(f"--url: {strange[0]!r} is not an address such as https://survey.example.org", url=strange[0])
    if not found and not is_for(LOOPBACK, f"http://{f'[{host}]' if ':' in host else host}"):
        raise InputError(
            f"--host {host} lets others than this machine in: say at which address they reach the survey, as in --url "
            f"https://survey.example.org. Their devices refuse it everywhere else",
            host=host,
        )
    return found or LOOPBACK


def _url(host: str, port: int) -> str:
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host  # noqa: S104 - compared, not bound
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"
