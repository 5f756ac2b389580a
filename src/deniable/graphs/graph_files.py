"""Graphs in files, and generated graphs to try things on.

**Edge lists** are text: two names a line are an edge, one name a node without edges, what follows a # a comment.
networkx, igraph and spreadsheets read and write them. Names are separated by blanks, in .csv files by commas, in .tsv
files by tabs.

**Reports** go into either of two forms, and both say by which channel they were made:

* `.npz`: bits or numbers as they lie in memory, one bit a pair at most. For graphs of any size.
* anything else: an edge list of what was reported, the reporter first. At a small epsilon noise makes it much longer
  than the bits: about 7 bytes for each of q n^2 / 2 edges.

**Generated graphs** have a few well-linked people, and friends of friends who became friends.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from deniable.channels import krr
from deniable.core.randomness import Seeded
from deniable.core.untrusted_files import MOST_TOLD, clipped, parse_json, refuse_large_zip
from deniable.errors import DeniableError, InputError, tried
from deniable.files.publish_file import publish
from deniable.frozen import readonly
from deniable.graphs.graph import Graph, Node, labelled
from deniable.graphs.noisy_graph import NoisyGraph
from deniable.graphs.pair_sets import PairSet, check_size, number, pairs_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import BinaryIO

    from deniable.channels.krr import KRR
    from deniable.core.randomness import Source

FORMAT = 1
_MARK = "# deniable "


class _Header(msgspec.Struct, forbid_unknown_fields=True):
    """What makes reports more than numbers."""

    format: int
    channel: dict[str, Any]
    reports: int
    nodes: list[Any] | int  # a number n stands for 0 .. n - 1
    notes: tuple[str, ...] = ()


# -- edge lists --------------------------------------------------------------------------------------------------------


def read_graph(path: str | Path, nodes: Iterable[Node] | int | None = None) -> Graph:
    """Read an edge list. Names are texts; with a number n for `nodes`, whole numbers 0 .. n - 1."""
    file = Path(path)
    lines = tried(lambda: [names for names in _lines(file) if names], UnicodeDecodeError)
    if isinstance(lines, Exception):
        raise InputError(f"{file} is no edge list: it is not text in UTF-8", file=str(file))
    found: list[tuple[str, ...]] = lines
    edges: list[tuple[Any, ...]] = [names for names in found if len(names) == 2]
    try:
        if isinstance(nodes, int):
            return Graph([(_whole(one), _whole(other)) for one, other in edges], nodes)
        if nodes is None and len(edges) < len(found):
            nodes = dict.fromkeys(name for names in found for name in names)
        return Graph(edges, nodes)
    except InputError as error:
        raise InputError(f"{file}: {error}", **error.details) from None


def write_graph(graph: Graph, path: str | Path) -> None:
    """Write an edge list; nodes without edges get a line of their own."""
    alone = [graph.nodes[node] for node in np.flatnonzero(graph.degrees() == 0).tolist()]
    file = Path(path)
    with file.open("wb") as out:
        _write(out, file.suffix, "", [*((node,) for node in alone), *graph.edges()])


# -- reports -----------------------------------------------------------------------------------------------------------


def write_noisy_graph(noisy: NoisyGraph, path: str | Path) -> None:
    """Write reports, bit-packed into .npz or as an edge list into any other file; never in place of another file.

    A graph that is in a file is better disguised by `deniable.graphs.graph_job.randomize_graph`, which draws once.
    """
    file = Path(path)

    def write(place: Path) -> None:
        with place.open("wb") as out:
            write_reports(noisy, out, file.suffix)

    publish(file, write)


def write_reports(noisy: NoisyGraph, out: BinaryIO, suffix: str) -> None:
    """Write reports into an open file, in the form that the ending of its name says."""
    plain: Any = len(noisy.nodes) if noisy.nodes == range(len(noisy.nodes)) else list(noisy.nodes)
    header = _Header(FORMAT, noisy.channel.to_dict(), len(noisy.reports), plain, noisy.notes)
    try:
        told = msgspec.json.encode(header)
    except TypeError as error:
        raise InputError(f"nodes are written as texts or numbers: {error}") from None
    if suffix == ".npz":
        arrays: dict[str, Any] = {f"report{place}": pairs.data for place, pairs in enumerate(noisy.reports)}
        np.savez(out, header=np.frombuffer(told, dtype=np.uint8), **arrays)
    else:
        _write(out, suffix, f"{_MARK}{told.decode()}\n", noisy.edges())


def read_noisy_graph(path: str | Path) -> NoisyGraph:
    """Read what `write_noisy_graph` wrote."""
    file = Path(path)
    try:
        return _read_packed(file) if file.suffix == ".npz" else _read_listed(file)
    except DeniableError as error:
        raise type(error)(f"{file}: {error}", **error.details) from None
    except (KeyError, ValueError, EOFError, RuntimeError, MemoryError, zipfile.BadZipFile) as error:
        told = f"{file} does not hold the reports of a graph as deniable writes them: {clipped(error)}"
        raise InputError(told) from None


def _read_packed(file: Path) -> NoisyGraph:
    refuse_large_zip(file, file.stat().st_size)  # bits of noise are not compressed
    with np.load(file, allow_pickle=False) as arrays:
        header, nodes, channel = _opened(arrays["header"].tobytes())
        reports = tuple(PairSet(len(nodes), readonly(arrays[f"report{place}"])) for place in range(header.reports))
    return NoisyGraph(nodes, reports, channel, header.notes)


def _read_listed(file: Path) -> NoisyGraph:
    with file.open(encoding="utf-8") as lines:
        first = lines.readline(MOST_TOLD)
    if not first.startswith(_MARK):
        raise InputError("the first line does not say by which channel the reports were made; a true graph is read by "
                         "read_graph")  # fmt: skip
    header, nodes, channel = _opened(first[len(_MARK) :].encode())
    position = {str(node): code for code, node in enumerate(nodes)}
    found: list[list[tuple[int, int]]] = [[], []]
    for one, other in (names for names in _lines(file) if names):
        if one not in position or other not in position:
            raise InputError(f"{one!r} or {other!r} is not among the nodes", edge=(one, other))
        i, j = position[one], position[other]
        found[i > j].append((min(i, j), max(i, j)))
    if header.reports == 1 and found[1]:
        raise InputError("a pair is reported by its second end, although only first ends report")
    reports = tuple(_pairs(edges, len(nodes)) for edges in found[: header.reports])
    return NoisyGraph(nodes, reports, channel, header.notes)


def _opened(told: bytes) -> tuple[_Header, Sequence[Node], KRR]:
    try:
        header = parse_json(told, "it", _Header)
    except InputError as error:
        raise InputError(f"it does not hold the reports of a graph as deniable writes them: {error.message}") from None
    if header.format > FORMAT:
        raise InputError(f"it has format {header.format}, and this program reads formats up to {FORMAT}")
    try:
        channel = krr.part(header.channel)
    except TypeError as error:
        raise InputError(f"a graph's reports go through a two-category KRR: {error}") from None
    if channel.inputs != 2 or header.reports not in {1, 2}:
        raise InputError("a graph's reports go through a two-category KRR, one or two to a pair")
    return header, labelled(header.nodes), channel


def _pairs(edges: list[tuple[int, int]], n: int) -> PairSet:
    codes = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return PairSet(n, readonly(np.sort(number(codes[:, 0], codes[:, 1], n))))


# -- lines of names ----------------------------------------------------------------------------------------------------


def _separator(suffix: str) -> str | None:
    return {".csv": ",", ".tsv": "\t"}.get(suffix)


def _lines(file: Path) -> Iterator[tuple[str, ...]]:
    """The names on each line: none, one or two."""
    separator = _separator(file.suffix)
    with file.open(encoding="utf-8") as lines:
        for place, line in enumerate(lines, start=1):
            text = line.partition("#")[0].strip()
            names = tuple(name.strip() for name in text.split(separator)) if text else ()
            if len(names) > 2:
                raise InputError(
                    f"{file}, line {place}: an edge is two names, not {len(names)}. Weights and other columns are not "
                    f"protected; leave them out",
                    line=place,
                )
            yield names


def _write(out: BinaryIO, suffix: str, head: str, rows: Iterable[tuple[Node, ...]]) -> None:
    separator = _separator(suffix) or " "
    out.write(head.encode())
    for row in rows:
        names = [str(node) for node in row]
        for name in names:
            if not name or "#" in name or separator in name or name != name.strip() or len(name.splitlines()) != 1:
                raise InputError(
                    f"the name {name!r} cannot stand in this edge list: names are not empty and hold no "
                    f"{separator!r}, no # and no line break. Write to .tsv, or rename the nodes",
                    node=name,
                )
        out.write(f"{separator.join(names)}\n".encode())


def _whole(name: str) -> int:
    number = tried(lambda: int(name), ValueError)
    if isinstance(number, Exception):
        raise InputError("a node is not a whole number; leave out the number of nodes to read names")
    return number


def clustered_graph(nodes: int, edges: int, closing: float = 0.5, *, source: Source | None = None) -> Graph:
    """Grow a graph node by node, like Holme and Kim (2002).

    Every newcomer brings its share of the edges. Each goes to an older node chosen with probability proportional to its
    degree plus one, or, with probability `closing`, to a friend of a friend the newcomer has made already: a triangle.

    >>> clustered_graph(180, 684, closing=0.5)
    <Graph: 180 nodes, 684 edges>
    """
    if not 0 <= edges <= pairs_of(check_size(nodes)) or not 0 <= closing < 1:
        raise InputError(
            f"a graph of {nodes} nodes has 0 to {pairs_of(nodes)} edges, and closing is a probability below 1; asked "
            f"for {edges} edges, closing {closing}"
        )
    rng = (source or Seeded(1)).stream().generator()
    friends: list[list[int]] = [[] for _ in range(nodes)]
    ends = [0]  # every node once, and once more for each of its edges
    brought = 0
    for new in range(1, nodes):
        while brought < edges * new // (nodes - 1) and len(friends[new]) < new:
            old = ends[rng.integers(len(ends))]
            if friends[new] and rng.random() < closing:
                through = friends[friends[new][rng.integers(len(friends[new]))]]
                old = through[rng.integers(len(through))]
            if old != new and old not in friends[new]:
                friends[new].append(old)
                friends[old].append(new)
                ends.append(old)
                brought += 1
        ends += [new] * (1 + len(friends[new]))
    pairs = [(old, new) for new in range(nodes) for old in friends[new] if old < new]
    return Graph(np.array(pairs, dtype=np.int64).reshape(-1, 2), nodes)
