"""A person's own row of a disguised graph: drawn on their own device, merged with the others' on a server.

Nobody needs the graph to disguise it. Whoever is linked knows with whom, and answers for the pairs with those who come
*later* on the public list of nodes: so every pair is reported once, by its first end, and an edge costs one epsilon. A
row says yes or no to every later node, by a coin each, whether they are linked or not; how long it is tells nothing but
the place on the list.

From rows of all nodes the server makes the same `NoisyGraph` as `randomize` would. Of who sent nothing no pair with a
later node is known: with `missing="drop"` the graph is that of those who answered, among whom every pair is reported.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from deniable.channels import krr
from deniable.channels.krr import KRR
from deniable.core.randomness import SECURE, Source, check_source
from deniable.core.untrusted_files import parse_json
from deniable.device.privacy_statement import rounded_up
from deniable.errors import DesignError, InputError
from deniable.files.publish_file import publish
from deniable.frozen import Frozen, readonly
from deniable.graphs.edges import toss
from deniable.graphs.graph import Node, labelled
from deniable.graphs.noisy_graph import NoisyGraph
from deniable.graphs.pair_sets import MOST_NODES, PairSet, check_size, number
from deniable.text import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

FORMAT = 1
_MOST_BYTES = 8 * MOST_NODES  # of a row: the places of all nodes, with their commas


class _Row(msgspec.Struct, forbid_unknown_fields=True):
    """A row as it travels, one JSON object a line."""

    format: int
    channel: dict[str, Any]
    nodes: str
    place: int
    linked: list[int]


@dataclass(frozen=True, eq=False, repr=False)
class NoisyRow(Frozen):
    """What one node says of its pairs with those that come later on the list.

    Attributes:
        place: the node's place on the list, from 0.
        linked: the places of those with whom a pair is reported as an edge, noise and all, ascending.
        channel: the two-category channel that every answer went through.
        nodes: the SHA-256 of the public list of nodes.
    """

    place: int
    linked: NDArray[np.int64]
    channel: KRR
    nodes: str

    def __repr__(self) -> str:
        return f"<NoisyRow of node {self.place}: {counted(len(self.linked), 'pair')} reported as edges>"

    def lines(self) -> tuple[str, ...]:
        """What the row tells, for the person whose it is."""
        epsilon = rounded_up(self.channel.epsilon)
        who = (
            "You answered for your pairs with those who come after you on the list; those before you answer for theirs."
        )
        sent = f"All that you sent together tells more: up to {epsilon} for each person after you."
        what = "Single links are protected, not the list of everybody you know."
        return f"epsilon of a link: {epsilon} (rounded up). {who}", f"{sent} {what}"

    def to_json(self) -> str:
        """The row as one line of text, for `merge_rows`."""
        told = _Row(FORMAT, self.channel.to_dict(), self.nodes, self.place, self.linked.tolist())
        return msgspec.json.encode(told).decode()


def randomize_row(
    node: Node,
    linked: Iterable[Node],
    nodes: Sequence[Node] | int,
    epsilon: float | None = None,
    *,
    channel: KRR | None = None,
    source: Source = SECURE,
) -> NoisyRow:
    """Disguise a person's own row of the edge list, on their own device.

    Every call draws anew: send one row, since two of them tell what both tell together.

    Args:
        node: who answers.
        linked: those whom the person is linked with; of these, who comes earlier on the list answers for the pair.
        nodes: the public list of all nodes, in the order that everybody has; or a number n for 0 .. n - 1.
        epsilon: what one report of one pair may tell.
        channel: the two-category channel itself, in place of `epsilon`.
        source: for simulations only; leave it alone otherwise.

    >>> from deniable.core.randomness import Seeded
    >>> randomize_row("ann", ["cem"], ["ann", "bob", "cem", "dan"], epsilon=4.0, source=Seeded(1)).linked.tolist()
    [2]
    """
    check_source(source)
    if (epsilon is None) == (channel is None):
        raise DesignError("give either an epsilon for the report of a pair, or a channel")
    coin = KRR(2, epsilon=epsilon) if channel is None else channel
    if coin.inputs != 2:
        raise DesignError(f"a pair is an edge or not, but {coin.name} has {coin.inputs} categories", channel=coin)
    known = labelled(nodes)
    check_size(len(known))
    where = {name: place for place, name in enumerate(known)}
    if isinstance(linked, str):
        raise InputError(f"those who are linked are a list, such as [{linked!r}]")
    friends = list(linked)
    strangers = [name for name in (node, *friends) if name not in where]
    if strangers:
        raise InputError(f"names that are not on the list of nodes: {len(strangers)}; all of them must be")
    place, others = where[node], {where[name] for name in friends}
    if place in others:
        raise InputError("nobody is linked with themselves: leave your own name out")
    later = len(known) - place - 1
    said = np.zeros(later, dtype=np.uint8)
    said[[other - place - 1 for other in others if other > place]] = 1
    coins = [np.unpackbits(words.view(np.uint8), bitorder="little") for words in
             toss(later, coin.other, coin.bits, source.stream())]  # fmt: skip
    flips = np.concatenate([*coins, np.empty(0, dtype=np.uint8)])[:later]
    return NoisyRow(place, readonly(np.flatnonzero(said ^ flips) + place + 1), coin, digest(known))


def merge_rows(
    rows: Iterable[NoisyRow], nodes: Sequence[Node] | int, *, missing: Literal["refuse", "drop"] = "refuse"
) -> NoisyGraph:
    """Put everybody's rows together.

    Args:
        rows: a row of every node, in whatever order.
        nodes: the public list that they were drawn with.
        missing: what becomes of nodes without a row: `"refuse"`, or `"drop"` them from the graph.

    >>> from deniable.core.randomness import Seeded
    >>> friends = {"ann": ["bob"], "bob": ["ann"], "cem": []}
    >>> rows = [
    ...     randomize_row(one, known, list(friends), epsilon=4.0, source=Seeded(1)) for one, known in friends.items()
    ... ]
    >>> merge_rows(rows, list(friends))
    <NoisyGraph: 3 nodes, 1 pairs reported as edges, epsilon 3.99978 an edge>
    """
    if missing not in ("refuse", "drop"):
        raise InputError(f'missing is "refuse" or "drop", not {missing!r}')
    known = labelled(nodes)
    found: dict[int, NoisyRow] = {}
    expected = digest(known)
    for row in rows:
        if row.nodes != expected:
            raise InputError(f"the row of node {row.place} was drawn with another list of nodes, or in another order")
        if row.place >= len(known) or (len(row.linked) and row.linked[-1] >= len(known)):
            raise InputError(f"a row names node {max(row.place, *row.linked[-1:])} of a list of {len(known)}")
        if row.place in found:
            raise InputError(
                f"there are two rows of node {known[row.place]!r}: a pair is reported once, so take the first that came"
            )
        found[row.place] = row
    if not found:
        raise InputError("there is no row")
    channels = {json.dumps(row.channel.to_dict(), sort_keys=True) for row in found.values()}
    if len(channels) > 1:
        raise InputError("the rows went through different channels; merge those of one survey")
    # The last node has no pair to report, so that nothing is lost without its row.
    absent = [place for place in range(len(known) - 1) if place not in found]
    if absent and missing == "refuse":
        raise InputError(
            f"{counted(len(absent), 'node')} sent no row ({listed(known[place] for place in absent)}), and nobody else "
            f'reports their pairs with later ones. Wait for them, or say missing="drop" for the graph of the others',
            missing=len(absent),
        )
    kept = [place for place in range(len(known)) if place in found or place == len(known) - 1]
    new = np.full(len(known), -1, dtype=np.int64)
    new[kept] = np.arange(len(kept))
    parts = [np.empty(0, dtype=np.int64)]
    for place, row in found.items():
        others = new[row.linked]
        others = others[others >= 0]
        parts.append(number(np.full(len(others), new[place]), others, check_size(len(kept))))
    pairs = PairSet(len(kept), readonly(np.sort(np.concatenate(parts))))
    whole = len(kept) == len(known)
    notes = (
        () if whole else (f"Of {len(known)} nodes {len(kept)} sent their rows; links with the others are not counted.",)
    )
    names = known if whole else [known[place] for place in kept]
    return NoisyGraph(names, (pairs,), next(iter(found.values())).channel, notes)


def digest(nodes: Sequence[Node]) -> str:
    """The SHA-256 of a list of nodes: rows are merged only if they were drawn with the same."""
    plain = len(nodes) if nodes == range(len(nodes)) else list(nodes)
    return hashlib.sha256(json.dumps(plain, ensure_ascii=False, default=str).encode()).hexdigest()


def write_row(row: NoisyRow, path: str | Path) -> None:
    """Write a row to a file of its own; never in place of another file, since a second row would tell more."""
    publish(Path(path), lambda place: place.write_text(row.to_json() + "\n", encoding="utf-8"))


def read_rows(path: str | Path) -> list[NoisyRow]:
    """Read rows: a file with one a line, or a folder of such files."""
    place = Path(path)
    files = (
        sorted(file for file in place.iterdir() if file.suffix in (".json", ".jsonl")) if place.is_dir() else [place]
    )
    if not files:
        raise InputError(f"{place} holds no rows: files that end in .json or .jsonl", file=str(place))
    return [_read(line, file, at) for file in files for at, line in enumerate(_lines(file), start=1) if line.strip()]


def _lines(file: Path) -> Iterator[bytes]:
    """The lines of a file that strangers sent, none of which is longer than a row can be."""
    with file.open("rb") as lines:
        while line := lines.readline(_MOST_BYTES + 1):
            if len(line) > _MOST_BYTES:
                raise InputError(
                    f"{file} holds no rows: it has a line of more than {_MOST_BYTES} bytes", file=str(file)
                )
            yield line


def _read(line: bytes, file: Path, at: int) -> NoisyRow:
    told = parse_json(line, f"{file}, line {at}", _Row)
    if told.format != FORMAT:
        raise InputError(f"{file}, line {at} has format {told.format}, and this program reads format {FORMAT}")
    linked = np.array(told.linked, dtype=np.int64)
    if told.place < 0 or (len(linked) and (linked[0] <= told.place or (np.diff(linked) <= 0).any())):
        raise InputError(f"{file}, line {at}: a row names nodes that come after its own, ascending")
    try:
        channel = krr.part(told.channel)
    except TypeError as error:
        raise InputError(f"{file}, line {at}: a graph's rows go through a two-category KRR: {error}") from None
    if channel.inputs != 2:
        raise InputError(f"{file}, line {at}: a graph's rows go through a two-category KRR")
    return NoisyRow(told.place, readonly(linked), channel, told.nodes)
