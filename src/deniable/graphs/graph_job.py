"""An edge list in a file, disguised into a file of reports once (`engines.one_disguise`): all of it is one part."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.channels.krr import KRR
from deniable.engines.disguise_record import Terms
from deniable.engines.one_disguise import OF_GRAPH, once
from deniable.engines.sealed_parts import unseal
from deniable.engines.source_marks import of_graph, of_lines
from deniable.errors import InputError
from deniable.graphs.edge_statement import EdgeStatement
from deniable.graphs.edges import randomize
from deniable.graphs.graph_files import read_graph, read_noisy_graph, write_reports
from deniable.graphs.pair_sets import endpoints

if TYPE_CHECKING:
    from collections.abc import Iterable

    from deniable.graphs.edges import Reporter
    from deniable.graphs.graph import Graph, Node
    from deniable.graphs.noisy_graph import NoisyGraph


def randomize_graph(
    source: str | Path,
    target: str | Path,
    epsilon: float,
    *,
    nodes: Iterable[Node] | int | None = None,
    reported_by: Reporter = "one",
    again: bool = False,
) -> NoisyGraph:
    """Disguise every pair of the graph in a file, and write the reports to another.

    Interrupted, and called again with the same arguments, it ends what it began. Edges that were disguised before on
    this account are refused, whatever their file is called now.

    Args:
        source: an edge list, as `read_graph` reads it.
        target: the file to write, as `write_noisy_graph` writes it; it must not exist.
        epsilon: what one report of one pair may spend.
        nodes: everybody, as for `read_graph`.
        reported_by: `"one"` end of a pair answers for it, or `"both"` do.
        again: disguise edges that were disguised before; the statement then says what all their disguises tell.

    Returns:
        The reports, as they are in the target.
    """
    place, goal = Path(source), Path(target)
    if not place.is_file():
        raise InputError(f"there is no file {place}", file=str(place))
    truth, coin = read_graph(place, nodes), KRR(2, epsilon=epsilon)
    stated = EdgeStatement(coin.ratio, 1 if reported_by == "one" else 2, len(truth.nodes))
    terms = Terms(f"{coin.to_dict()} by {reported_by} of {len(truth.nodes)} nodes")
    with once(place, lambda key: _edges(truth, key), goal, terms, stated.epsilon, again=again, words=OF_GRAPH) as job:
        if not job.is_made:
            if not job.finished():
                noisy = randomize(truth, channel=coin, reported_by=reported_by).with_notes(*job.notes)
                with job.part(0) as out:
                    write_reports(noisy, out, goal.suffix)

            def write(path: Path) -> None:
                with unseal(job.finished()[0]) as part, path.open("wb") as out:
                    shutil.copyfileobj(part, out)

            job.put_together(write)
    return read_noisy_graph(goal)


def _edges(truth: Graph, key: bytes) -> tuple[str, ...]:
    """The marks of the edges, in whatever order a file lists them: with the nodes' names, and without."""
    lines = sorted("\0".join(sorted(map(str, edge))).encode() for edge in truth.edges())
    ends = endpoints(truth.pairs.data, len(truth.nodes))
    return of_lines(lines, key) if lines else "", of_graph(*ends, key)
