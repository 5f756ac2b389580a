"""The tables of a SQLite store, file by file, and the number of their format: another one is refused.

What is sealed, a copy, and a main file in which nothing was ever sealed have the same tables of reports, so whoever
reads need not ask which of them it is.
"""

from __future__ import annotations

FORMAT = 5  # of the main file and of copies; it stands where SQLite keeps a number for its users
_COUNTS = """
    CREATE TABLE {} (
        design INTEGER NOT NULL, cell TEXT NOT NULL, reports INTEGER NOT NULL, PRIMARY KEY (design, cell)
    ) WITHOUT ROWID
"""
_TOTALS = "CREATE TABLE totals (design INTEGER PRIMARY KEY, reports INTEGER NOT NULL)"
REPORTS = {
    "reports": """
        CREATE TABLE reports (key BLOB PRIMARY KEY, design INTEGER NOT NULL, cell TEXT NOT NULL) WITHOUT ROWID
    """,
    "counts": _COUNTS.format("counts"),
    "totals": _TOTALS,
    # With rowids: whoever has to find the reports in a damaged file page by page (`salvage`) finds none of these.
    "held": "CREATE TABLE held (key BLOB NOT NULL, design INTEGER NOT NULL, cell TEXT NOT NULL)",
}
OF = "CREATE TABLE of (name BLOB NOT NULL)"  # which store a part is of (`bond`)
SEALED = {
    **REPORTS,
    "of": OF,
    "designs": "CREATE TABLE designs (number INTEGER PRIMARY KEY, id TEXT NOT NULL)",
}
MAIN = (
    "CREATE TABLE store (salt BLOB NOT NULL, name BLOB NOT NULL, sealed INTEGER NOT NULL, tail INTEGER NOT NULL)",
    "CREATE TABLE designs (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, body BLOB NOT NULL)",
    *REPORTS.values(),
    # Columns in the order of the key: of others some versions of SQLite say, when they check, that they are damaged.
    "CREATE TABLE tokens (purpose TEXT NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (purpose, digest)) WITHOUT ROWID",
    "CREATE TABLE kept (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE rejected (reason TEXT PRIMARY KEY, reports INTEGER NOT NULL) WITHOUT ROWID",
)
# In a tail, reports are as they arrived, and those in blocks are counted by cell in the transaction that adds them: the
# open block is counted again and again, and must not take longer the more reports there are in others. An index over
# the reports would have each of them change a page of its own.
TAIL = (
    "CREATE TABLE reports (key BLOB NOT NULL, design INTEGER NOT NULL, cell TEXT NOT NULL)",
    _TOTALS,
    _COUNTS.format("in_blocks"),
    OF,
)
