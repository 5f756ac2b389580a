"""`deniable graph`: disguise who is linked to whom, and estimate degrees and triangles from it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import click
import numpy as np
from click.core import ParameterSource

from deniable.cli.terminal import FILE, as_json, console, emit, laid_out
from deniable.core.untrusted_files import MOST_TOLD, read_text
from deniable.device.privacy_statement import rounded_up
from deniable.errors import InputError, tried

if TYPE_CHECKING:
    from deniable.graphs import NodeEstimate, NoisyGraph

    Reporter = Literal["one", "both"]


@click.command("graph")
@click.argument("source", metavar="FILE", type=FILE)
@click.option("--epsilon", type=float, help="What one report of one pair may tell. With it, FILE is disguised.")
@click.option("-o", "--output", type=FILE, help="Where to write the reports: .npz packs a bit a pair, else a list.")
@click.option("--nodes", metavar="FILE|N", help="Everybody, one name a line; or a number n for nodes 0 to n - 1.")
@click.option(
    "--reported-by", type=click.Choice(["one", "both"]), default="one", show_default=True, help="Both costs twice."
)
@click.option("--again", is_flag=True, help="Disguise FILE though it was before; the statement says the sum.")
@click.option("--row", metavar="NAME", help="Your own name: FILE lists those you are linked with, one a line.")
@click.option("--rows", is_flag=True, help="FILE holds everybody's rows (or is a folder of them): merge them.")
@click.option("--drop-missing", is_flag=True, help="With --rows: leave out who sent none.")
@click.option(
    "--of", "what", type=click.Choice(["degrees", "triangles"]), default="degrees", show_default=True, help="Estimate."
)
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True)
@click.option("--top", type=click.IntRange(min=1), default=10, show_default=True, help="How many nodes to show.")
@click.option("--csv", "table", type=FILE, help="Write the estimates of all nodes to this file.")
@as_json
def command(
    *,
    source: Path,
    epsilon: float | None,
    output: Path | None,
    nodes: str | None,
    reported_by: str,
    again: bool,
    row: str | None,
    rows: bool,
    drop_missing: bool,
    what: str,
    level: float,
    top: int,
    table: Path | None,
    as_json: bool,
) -> None:
    """Disguise the edge list in FILE, or estimate degrees or triangles from the reports in it.

    With --epsilon, FILE is an edge list, two names a line; every pair of nodes, linked or not, is disguised by a coin
    of its own, and the reports are written to --output. Without, FILE holds such reports. Edges that were disguised
    before are refused, also in another file, unless you say --again; the record of what was disguised lies in
    ~/.local/state/deniable, or where DENIABLE_RECORD says. There is no seed: the noise comes from the operating
    system's secure source.

    Where nobody has the edge list, everybody disguises their own row of it on their own device (--row), and the server
    puts the rows together (--rows). Of rows no record is kept: send one, once.

    \b
    Examples:
      deniable graph friends.edges --nodes people.txt --epsilon 4 -o reports.npz
      deniable graph my-friends.txt --row ann --nodes people.txt --epsilon 4 -o ann.json
      deniable graph folder-of-rows --rows --nodes people.txt -o reports.npz
      deniable graph reports.npz
      deniable graph reports.npz --of triangles --csv triangles.csv
    """  # noqa: D301 - click wants the character itself
    if rows:
        _only("--rows", "rows", "output", "nodes", "drop_missing")
        _merge(source, output, nodes, drop=drop_missing, as_json=as_json)
        return
    if drop_missing:
        raise InputError("--drop-missing belongs to --rows: it leaves out who sent no row")
    if row is not None:
        _only("--row", "row", "epsilon", "output", "nodes")
        _own_row(source, row, epsilon, output, nodes, as_json=as_json)
        return
    if epsilon is None:
        if output is not None or nodes is not None or again:
            raise InputError("--output, --nodes and --again belong to disguising an edge list; give --epsilon as well")
        _only("an estimate", "what", "level", "top", "table")
        _estimate(_reports(source), what, level, top, table, as_json=as_json)
        return
    if output is None:
        raise InputError("say where the reports go: -o reports.npz")
    _only("disguising an edge list", "epsilon", "output", "nodes", "reported_by", "again")
    _disguise(source, epsilon, output, nodes, cast("Reporter", reported_by), again=again, as_json=as_json)


def _only(what: str, *names: str) -> None:
    """Refuse options that say nothing of what is done, instead of leaving them unread."""
    context = click.get_current_context()
    for option in context.command.params:
        if (
            isinstance(option, click.Option)
            and option.name not in (*names, "as_json")
            and context.get_parameter_source(str(option.name)) is ParameterSource.COMMANDLINE
        ):
            raise InputError(f"{option.opts[-1]} does not belong to {what}: leave it out", option=option.opts[-1])


def _reports(source: Path) -> NoisyGraph:
    from deniable.graphs import read_graph, read_noisy_graph

    try:
        return read_noisy_graph(source)
    except InputError as refused:
        try:
            read_graph(source)
        except (InputError, UnicodeDecodeError):
            raise refused from None
        raise InputError(f"{source} is an edge list: to disguise it, give --epsilon and -o", file=source) from None


def _disguise(
    source: Path, epsilon: float, output: Path, nodes: str | None, reported_by: Reporter, *, again: bool, as_json: bool
) -> None:
    from deniable.graphs.graph_job import randomize_graph

    noisy = randomize_graph(source, output, epsilon, nodes=_everybody(nodes), reported_by=reported_by, again=again)
    _told(noisy, output, as_json=as_json)


def _told(noisy: NoisyGraph, output: Path, *, as_json: bool) -> None:
    """What the reports tell, and where they are."""
    statement = noisy.describe()
    if as_json:
        emit({"reports": str(output), "nodes": len(noisy.nodes), "epsilon": statement.epsilon,
              "person_epsilon": statement.person_epsilon, "statement": statement.lines()})  # fmt: skip
        return
    out = console()
    for line in statement.lines():
        out.print(line, markup=False)
    out.print(
        f"Reports of {len(noisy.nodes)} nodes: {output}. Estimate from them: deniable graph {output}", markup=False
    )


def _own_row(
    source: Path, name: str, epsilon: float | None, output: Path | None, nodes: str | None, *, as_json: bool
) -> None:
    from deniable.graphs import randomize_row, write_row

    known = _everybody(nodes)
    if known is None or output is None or epsilon is None:
        raise InputError("a row needs everybody's list and a place: --nodes people.txt --epsilon 4 -o ann.json")
    friends = _everybody(str(source)) if not str(source).isdecimal() else None
    if not isinstance(friends, list):
        raise InputError(f"{source} lists those you are linked with, one name a line")
    if isinstance(known, int):
        found = randomize_row(_number(name), [_number(one) for one in friends], known, epsilon)
    else:
        found = randomize_row(name, friends, known, epsilon)
    write_row(found, output)
    if as_json:
        emit({"row": str(output), "epsilon": found.channel.epsilon, "statement": found.lines()})
        return
    out = console()
    for line in (*found.lines(), f"Your row: {output}. Send it once; a second one would tell more."):
        out.print(line, soft_wrap=True, markup=False)


def _number(name: str) -> int:
    if not name.isdecimal():
        raise InputError("with a number of nodes their names are 0, 1, 2, and so on")
    return int(name)


def _merge(source: Path, output: Path | None, nodes: str | None, *, drop: bool, as_json: bool) -> None:
    from deniable.graphs import merge_rows, read_rows, write_noisy_graph

    known = _everybody(nodes)
    if known is None or output is None:
        raise InputError("--rows takes the list they were drawn with and a place: --nodes people.txt -o reports.npz")
    noisy = merge_rows(read_rows(source), known, missing="drop" if drop else "refuse")
    write_noisy_graph(noisy, output)
    _told(noisy, output, as_json=as_json)


def _everybody(nodes: str | None) -> list[str] | int | None:
    if nodes is None or nodes.isdecimal():
        return None if nodes is None else int(nodes)
    lines = tried(lambda: read_text(Path(nodes), "list of nodes", MOST_TOLD), UnicodeDecodeError)
    if isinstance(lines, Exception):
        raise InputError(f"{nodes} is no list of nodes: it is not text in UTF-8", file=nodes)
    return [name for name in (line.partition("#")[0].strip() for line in lines.splitlines()) if name]


def _estimate(noisy: NoisyGraph, what: str, level: float, top: int, table: Path | None, *, as_json: bool) -> None:
    found = noisy.degrees() if what == "degrees" else noisy.triangles()
    summary = found.summary(level)
    if table is not None:
        summary.to_csv(table)
    most = np.argsort(-found.values)[:top].tolist()
    if as_json:
        emit(_data(noisy, found, most, level))
        return
    out = console()
    out.print(laid_out(summary, rows=most))
    out.print(f"The largest {len(most)} of {len(found.nodes)} nodes. The largest estimates are too large on average.")
    out.print(f"epsilon of an edge: {rounded_up(noisy.epsilon)}.")
    for note in dict.fromkeys([*summary.notes, *noisy.notes]):
        out.print(note, markup=False)


def _data(noisy: NoisyGraph, found: NodeEstimate, most: Any, level: float) -> dict[str, Any]:
    interval = found.interval(level)
    return {
        "nodes": len(found.nodes),
        "epsilon": noisy.epsilon,
        "level": level,
        "total": asdict(found.total),
        "largest": [
            {
                "node": found.nodes[i],
                "estimate": float(found.values[i]),
                "std_error": float(found.std_error[i]),
                "low": float(interval.low[i]),
                "high": float(interval.high[i]),
            }
            for i in most
        ],
        "notes": [*found.notes, *noisy.notes],
    }
