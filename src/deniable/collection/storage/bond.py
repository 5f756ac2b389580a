"""Which files of a SQLite store belong together: each says of which store it is, and the main one what there must be.

Reports lie beside the file that says to which design they are. Without that, or beside another one, their numbers would
be read as those of other designs, and so as answers to other questions. So the main file has a name, by chance, that
every part has in it as well; a copy gets one of its own. It also keeps how far was sealed and which tail is the last,
so that a part which is gone is missed, and an older one in its place is known. Both are written after the parts
themselves: a crash in between leaves parts that are newer than what is said of them, which is no harm.

The sealed file has the names of its designs beside their numbers, so that it is told if these were mixed up.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from deniable.errors import InputError
from deniable.storage.sqlite_files import uri
from deniable.text import listed

if TYPE_CHECKING:
    from pathlib import Path

    from deniable.storage.sqlite_files import Layout, State

_LOOKS = 100  # at a store that another program changes; a second one is rare
_CLOSED = "closed-*"  # files that say of a survey that it was closed (`collection.restoring`)


class Bond(NamedTuple):
    """What the main file says: the store's name, how far was sealed, and the number of the last tail."""

    name: bytes
    sealed: int
    tail: int


def read_bond(db: sqlite3.Connection) -> Bond:
    """What a main file says."""
    return Bond(*db.execute("SELECT name, sealed, tail FROM main.store").fetchone())


def keep_bond(db: sqlite3.Connection, *, sealed: int | None = None, tail: int | None = None) -> None:
    """Say how far was sealed, or which tail is the last."""
    db.execute("UPDATE main.store SET sealed = coalesce(?, sealed), tail = coalesce(?, tail)", (sealed, tail))


def parts_beside(layout: Layout) -> list[str]:
    """The names of files that are nothing without the main one."""
    closed = sorted(path.name for path in layout.folder.glob(_CLOSED))
    return [*(path.name for path in (layout.sealed, *layout.tails()) if path.exists()), *closed]


def refuse_orphans(layout: Layout) -> None:
    """Refuse to make a main file where parts lie that belong to one which is gone, or empty."""
    if layout.folder.is_dir() and parts_beside(layout):
        raise InputError(orphaned(layout), path=str(layout.main))


def is_orphaned(layout: Layout) -> bool:
    """Whether parts lie in a folder, and no main file with anything in it."""
    if not layout.folder.is_dir() or not parts_beside(layout):
        return False
    return not layout.main.is_file() or not layout.main.stat().st_size or not _has_tables(layout.main)


def _has_tables(main: Path) -> bool:
    with closing(sqlite3.connect(uri(main, "mode=ro"), uri=True)) as db:
        try:
            return db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None
        except sqlite3.DatabaseError:  # it is no database, or damaged, which is said elsewhere
            return True


def orphaned(layout: Layout) -> str:
    """What is wrong where the main file is gone."""
    return (
        f"{layout.main} is gone or empty, and beside it lies {listed(parts_beside(layout))}: only the file that is "
        f"gone says to which questions these are answers. Put it back; or a backup in the place of everything that "
        f"begins with {layout.main.stem}.; or serve another survey from another folder"
    )


def refuse_strange_parts(db: sqlite3.Connection, layout: Layout) -> None:
    """Refuse a store of which a part is missing, or is not its own."""
    found = strange_parts(db, layout)
    if found:
        raise InputError(
            f"{'; '.join(found.values())}. Nothing is counted until then: put the right file back, or a backup in the "
            f"place of all; `deniable verify {layout.folder} --repair` goes on without what is missing",
            path=next(iter(found)),
        )


def strange_parts(db: sqlite3.Connection, layout: Layout) -> dict[str, str]:
    """What is wrong with the parts of a store, by the file that it is about."""
    for _ in range(_LOOKS):
        bond, state = read_bond(db), layout.state()
        try:
            found = _strange(db, layout, bond, state)
        except sqlite3.OperationalError:  # a part that was looked at has gone
            if layout.is_still(state):
                raise
            continue
        if not found or (read_bond(db) == bond and layout.state() == state):
            break
    return found


def _strange(db: sqlite3.Connection, layout: Layout, bond: Bond, state: State) -> dict[str, str]:
    found = {}
    if state.first < bond.sealed:
        what = "is missing, and all reports that were sealed" if not state.first else "is older than its store"
        found[str(layout.sealed)] = f"{layout.sealed} {what}"
    elif state.first:
        name, designs = _read(layout.sealed, "immutable=1", designs=True)
        known = dict(db.execute("SELECT number, id FROM main.designs").fetchall())
        if name != bond.name:
            found[str(layout.sealed)] = f"{layout.sealed} belongs to another store than {layout.main}"
        elif any(known.get(number) != design for number, design in designs.items()):
            found[str(layout.sealed)] = f"{layout.sealed} numbers its designs otherwise than {layout.main}"
    if bond.tail >= max(state.first, 1) and bond.tail not in state.tails:
        path = layout.tail(bond.tail)
        found[str(path)] = f"{path} is missing, and the latest reports"
    for path in map(layout.tail, state.tails):
        if _read(path, "mode=rw")[0] != bond.name:
            found[str(path)] = f"{path} belongs to another store than {layout.main}"
    return found


def _read(path: Path, how: str, *, designs: bool = False) -> tuple[bytes | None, dict[int, str]]:
    """Of which store a part is, and the designs that a sealed one names."""
    with closing(sqlite3.connect(uri(path, how), uri=True, timeout=30.0)) as db:
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'of'").fetchone() is None:
            return None, {}
        (name,) = db.execute("SELECT name FROM of").fetchone() or (None,)
        return name, dict(db.execute("SELECT number, id FROM designs").fetchall()) if designs else {}


def forget_missing(layout: Layout) -> list[str]:
    """Let a main file say that there is no more than there is; returns what is missing."""
    state = layout.state()
    with closing(sqlite3.connect(layout.main, isolation_level=None)) as db:
        bond = read_bond(db)
        lost = [] if state.first or not bond.sealed else [str(layout.sealed)]
        if bond.tail >= max(state.first, 1) and bond.tail not in state.tails:
            lost.append(str(layout.tail(bond.tail)))
        if lost:
            keep_bond(db, sealed=state.first, tail=max(state.tails, default=0))
    return lost
