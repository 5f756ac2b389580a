"""Reports that are held back: stored, and not shown to anybody who watches a running survey.

Whoever looks at numbers again and again, as an analyst may, would see each report come if they moved with it. So what
is shown moves in steps. A step shows at least `FEWEST_TOGETHER` more reports to a design, and of designs in blocks as
many more of a block, or it shows none. As many are always held back, so that the last step, which is the end of the
survey and shows everything, is no smaller than the others; where nothing was shown before, it shows what there is.

Which are held back follows from the keys alone: after a step those with the lowest, which are random. Others wait until
they are enough. A step is taken when reports are sealed, by the program that seals, and what is held back stands in the
sealed file itself: so all workers show the same, after a restart too, and nothing is computed where a report is taken.

The tail is not shown at all. A copy of a store says what was held back when it was made, with what was in the tail; put
back, it shows nothing that was not shown before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.device.protocol.messages import FEWEST_TOGETHER
from deniable.storage.unsealed_reports import BLOCK

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Sequence

_LEAVES = len(BLOCK) + 64  # characters at the beginning of a cell that tell its block
_GROUP = f"""design, CASE WHEN substr(cell, 1, {len(BLOCK)}) = '{BLOCK}' THEN substr(cell, 1, {_LEAVES}) END"""
# What the tables of reports are to whoever may only see what is shown.
_SHOWN = """
    CREATE TEMP VIEW reports AS SELECT * FROM {0}.reports WHERE key NOT IN (SELECT key FROM temp.held);
    CREATE TEMP VIEW counts AS
        SELECT counts.design, counts.cell, counts.reports - COALESCE(held.reports, 0) AS reports
        FROM {0}.counts AS counts LEFT JOIN temp.held_counts AS held USING (design, cell)
        WHERE counts.reports > COALESCE(held.reports, 0);
    CREATE TEMP VIEW totals AS
        SELECT totals.design, totals.reports - (SELECT COUNT(*) FROM temp.held WHERE held.design = totals.design)
        AS reports FROM {0}.totals AS totals
"""
_COUNTED = """
    CREATE TEMP TABLE held_counts (
        design INTEGER NOT NULL, cell TEXT NOT NULL, reports INTEGER NOT NULL, PRIMARY KEY (design, cell)
    ) WITHOUT ROWID
"""


def hold_back(draft: sqlite3.Connection, parts: Sequence[str], ended: Collection[int] = ()) -> None:
    """Take a step in a draft, if it is due: say which reports are held back from now on.

    Args:
        draft: what a sealed file is written from; it says what was held back until now.
        parts: the attached files whose reports come in.
        ended: the designs whose survey is over: nothing to them is held back.
    """
    new = "".join(f" UNION ALL SELECT key, design, cell FROM {part}" for part in parts)  # noqa: S608 - our names
    draft.execute(
        f"""
        CREATE TEMP TABLE waiting AS
        SELECT key, design, cell FROM (
            SELECT key, design, cell, ROW_NUMBER() OVER (PARTITION BY {_GROUP} ORDER BY key) AS place,
                COUNT(*) OVER (PARTITION BY {_GROUP}) AS together
            FROM (SELECT key, design, cell FROM main.held{new})
        ) WHERE place <= {FEWEST_TOGETHER} OR together < 2 * {FEWEST_TOGETHER}
        """  # noqa: S608 - our names
    )
    draft.execute("DELETE FROM main.held")
    draft.execute("INSERT INTO main.held SELECT key, design, cell FROM temp.waiting ORDER BY key")
    draft.execute("DROP TABLE temp.waiting")
    draft.executemany("DELETE FROM main.held WHERE design = ?", [(number,) for number in ended])


def copy_held(db: sqlite3.Connection, counted: str, tails: Sequence[str]) -> None:
    """Say in a copy what is not shown of the store that it is copied from: what is held back, and the tail."""
    db.execute("DELETE FROM main.held")
    for part in (f"{counted}.held", *(f"{tail}.reports" for tail in tails)):
        db.execute(f"INSERT INTO main.held SELECT key, design, cell FROM {part} ORDER BY key")  # noqa: S608 - our names


def show_without(db: sqlite3.Connection, counted: str) -> None:
    """Let the tables of `temp` be those of an attached file without what is held back.

    That file does not change: what is held back is read once.
    """
    db.execute("PRAGMA temp_store = MEMORY")
    db.execute("CREATE TEMP TABLE held (key BLOB PRIMARY KEY, design INTEGER, cell TEXT) WITHOUT ROWID")
    db.execute(_COUNTED)
    db.execute(f"INSERT INTO temp.held SELECT key, design, cell FROM {counted}.held")  # noqa: S608 - our names
    db.execute("INSERT INTO temp.held_counts SELECT design, cell, COUNT(*) FROM temp.held GROUP BY design, cell")
    for statement in _SHOWN.format(counted).split(";"):
        db.execute(statement)
