"""Store: what every back end does, and nothing more. `tests/storage/store_contract.py` checks each of them.

A stored report is three things: a **key**, which is a keyed hash of the report's id; the number of its design; and its
**cell**, the canonical text of everything else in it: `[block,ballot,[answers],[public]]`. No time, no address, no
order of arrival. The key is hashed under a random salt of the store's own, so that even ids that clients number one
after the other come to lie in no order.

Counts are kept by cell in the same transaction as the reports, and always equal a GROUP BY over them. Where reports are
sets, hardly two fall into the same cell, and there are about as many counts as reports: that is twice the space, and
nothing else changes.
"""

from __future__ import annotations

import hashlib
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path


class Fate(Enum):
    """What became of a report."""

    STORED = "stored"  # it is new, and now on disk
    SAME = "same"  # it was there already, word for word
    CONFLICT = "conflict"  # another report has its id


class Row(NamedTuple):
    """A report as it is stored: under `key`, in the cell `cell` of design number `design`."""

    key: bytes
    design: int
    cell: str


Mark: TypeAlias = tuple[int, int]


class Column(NamedTuple):
    """Some cells, joined by commas, and how many reports each has, likewise. A cell may come in several of these.

    Those that are sealed in a file have its mark: they are the same for as long as the mark is.
    """

    cells: str
    reports: str
    mark: Mark | None = None


class Readable(Protocol):
    """What can be read of reports: a store, or what of it is shown while its survey runs (`collection.shown_state`)."""

    def designs(self) -> dict[str, tuple[int, bytes]]:
        """Every design ever served: its id, its number, its bytes."""
        ...

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Row]:
        """The reports under these keys."""
        ...

    def counts(self, design: int) -> dict[str, int]:
        """How many reports each cell has."""
        ...

    def columns(self, design: int, known: Mark | None = None) -> list[Column]:
        """The same as a few long texts."""
        ...

    def total(self, design: int) -> int:
        """How many reports there are."""
        ...

    def tokens(self, purpose: str) -> list[bytes]:
        """All hashes of a purpose."""
        ...

    def saved(self, name: str) -> bytes | None:
        """The value under a name."""
        ...


class Store(Protocol):
    """A durable store of reports. `add` is called from one thread; the others may be called from any."""

    salt: bytes
    is_shared: bool  # whether several programs add reports at the same time
    place: str  # by which another program opens it
    home: bytes  # tells this place from another one into which a copy was put

    @property
    def folder(self) -> Path | None:
        """Where its files are, if it has files of its own."""
        ...

    def register(self, design_id: str, body: bytes) -> int:
        """Keep a design for good, and return its number in this store."""
        ...

    def designs(self) -> dict[str, tuple[int, bytes]]:
        """Every design ever served: its id, its number, its bytes."""
        ...

    def add(self, rows: Sequence[Row]) -> list[Fate]:
        """Store rows, all in one transaction. When this returns, they are on disk and counted once.

        Raises:
            StoreFullError: there is no space; nothing of this call was stored.
            StoreError: anything else went wrong; nothing of this call was stored.
        """
        ...

    def find(self, keys: Sequence[bytes], *, shown: bool = False) -> dict[bytes, Row]:
        """The reports under these keys, as far as there are any; or those `shown` while a survey runs (`held`)."""
        ...

    def counts(self, design: int, *, shown: bool = False) -> dict[str, int]:
        """How many reports each cell has."""
        ...

    def counts_in(self, design: int, block: str, *, shown: bool = False) -> dict[str, int]:
        """The same for the cells of one block, without looking at those of others."""
        ...

    def columns(self, design: int, known: Mark | None = None, *, shown: bool = False) -> list[Column]:
        """The same as a few long texts: where reports are sets, there are as many cells as reports.

        Of what has a mark that the caller knows, one empty column with that mark stands for all.
        """
        ...

    def total(self, design: int, *, shown: bool = False) -> int:
        """How many reports there are."""
        ...

    def recount(self, design: int) -> dict[str, int]:
        """The same by GROUP BY over the reports: for tests and audits."""
        ...

    def scan(self, design: int) -> Iterator[str]:
        """The cells of all reports, one each, in the store's own order."""
        ...

    def add_rejected(self, reasons: Mapping[str, int]) -> None:
        """Count what was turned away: so many more for each reason, and nothing else about it."""
        ...

    def rejected(self) -> dict[str, int]:
        """How much was ever turned away, by reason."""
        ...

    def add_token(self, digest: bytes, purpose: str) -> None:
        """Keep the hash of a secret that opens something."""
        ...

    def has_token(self, digest: bytes, purpose: str) -> bool:
        """Tell whether this is the hash of such a secret."""
        ...

    def has_tokens(self, purpose: str) -> bool:
        """Tell whether any such secret was ever made."""
        ...

    def add_tokens(self, digests: Sequence[bytes], purpose: str) -> None:
        """Keep many hashes at once; those that are there already stay."""
        ...

    def held(self, digests: Sequence[bytes], purpose: str) -> set[bytes]:
        """Which of these hashes are there."""
        ...

    def drop_tokens(self, purpose: str) -> None:
        """Forget all hashes of a purpose: what they are hashes of opens nothing any more."""
        ...

    def tokens(self, purpose: str) -> list[bytes]:
        """All hashes of a purpose, in order."""
        ...

    def save(self, name: str, value: bytes) -> bytes:
        """Keep a value under a name, unless there is one: the first stays for good. Returns the one that stays."""
        ...

    def saved(self, name: str) -> bytes | None:
        """The value under a name."""
        ...

    def saved_under(self, start: str) -> dict[str, bytes]:
        """The values under all names that begin like this."""
        ...

    def forget(self, start: str) -> None:
        """Drop the values under all names that begin like this."""
        ...

    def drop(self, name: str) -> None:
        """Drop the value under a name, if there is one."""
        ...

    def claim(self) -> bool:
        """Be the one program that does what only one may do, until this is closed. False: another one is."""
        ...

    def show(self, plan: str, design: str) -> str | None:
        """Say that a design is shown to respondents until this is closed. Another one of its plan that is: by whom?

        Where a store is shared by several programs, nobody knows: None. The first report decides there.
        """
        ...

    def seal(self) -> None:
        """Seal what has arrived, now: after that nothing tells in which order it came."""
        ...

    def tend(self) -> None:
        """Seal reports whenever it is due, until this is closed; what was left unsealed, now."""
        ...

    def copy(self, target: Path) -> None:
        """Copy everything into one new SQLite file, in the order of its keys; reports go on arriving meanwhile."""
        ...

    def compact(self, ended: Collection[int] = ()) -> None:
        """Write everything anew in the order of its keys, so that not even the pages' layout tells what came first.

        Nothing is held back to designs that have `ended`.
        """
        ...

    def destroy(self) -> None:
        """Delete everything that is stored, and close.

        Raises:
            InputError: another program has it open; nothing was deleted.
        """
        ...

    def close(self) -> None:
        """Close the store, with nothing left in a journal."""
        ...


def cells_of(block: str) -> str:
    """How the cells of a block's reports begin: by this many characters they are told from all others.

    >>> cells_of("ab" * 32)[:10]
    '["abababab'
    """
    return f'["{block}'


def block_of(cell: str) -> str:
    """The block that a cell names.

    >>> block_of('["' + "ab" * 32 + '",0,[1],[]]')[:8]
    'abababab'
    """
    return cell[2:66]


def key_of(salt: bytes, report_id: str) -> bytes:
    """The key a report is stored under: 16 bytes of a keyed hash of its id."""
    return hashlib.blake2b(bytes.fromhex(report_id), digest_size=16, key=salt).digest()


def fates(rows: Sequence[Row], fresh: dict[bytes, Row], taken: dict[bytes, Row]) -> list[Fate]:
    """What became of rows, given the first of each key among them and those whose key had been taken before."""
    found = []
    seen: set[bytes] = set()
    for row in rows:
        there = taken.get(row.key, fresh[row.key])
        if row != there:
            found.append(Fate.CONFLICT)
        else:
            found.append(Fate.SAME if row.key in taken or row.key in seen else Fate.STORED)
        seen.add(row.key)
    return found
