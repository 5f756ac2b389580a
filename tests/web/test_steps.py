"""What pages and addresses read: reports as they are shown, never those that are stored."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

import pytest

import deniable.web
from deniable.collection.shown_state import Shown, stepped
from deniable.device.protocol.messages import FEWEST_TOGETHER
from deniable.storage.sqlite import SqliteStore

WEB = sorted(Path(deniable.web.__file__).parent.glob("*.py"))
LIVE = {"find", "counts", "counts_in", "columns", "total", "recount", "scan", "rejected"}  # of a store
READERS = {"stored_reports", "origin_in", "has_others"}
# Health looks for a report that is not there; metrics hand numbers on to be shown in steps.
MAY = {("health.py", "find"), ("metrics.py", "rejected")}


@pytest.mark.parametrize("path", WEB, ids=lambda path: path.stem)
def test_no_address_reads_reports_that_are_not_shown(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr in LIVE and "store" in ast.unparse(node.value).split("."):
            assert (path.name, node.attr) in MAY, ast.unparse(node)
        if isinstance(node, ast.Call):
            given = [ast.unparse(one) for one in (node.func, *node.args)]
            for place, name in enumerate(given):
                if name in READERS:  # called, or handed to a thread with its arguments
                    assert "shown" in given[place + 1].lower(), ast.unparse(node)


def test_what_is_shown_has_no_way_to_what_came_since(tmp_path):
    store = SqliteStore(tmp_path / "reports.sqlite")
    assert {name for name in dir(Shown(store)) if not name.startswith("_")} == {
        *("columns", "counts", "counts_in", "designs", "find", "saved", "tokens", "total", "when_seen")
    }
    store.close()


def test_numbers_move_by_twenty_and_a_tenth_and_show_the_step_before(tmp_path):
    store, seen = SqliteStore(tmp_path / "reports.sqlite"), []
    for number in range(1000):
        shown = stepped(store, "rejected", {"malformed": number, "busy": 1})
        assert stepped(store, "rejected", {"malformed": number, "busy": 1}) == shown  # another worker
        if shown not in seen:
            seen.append(shown)
    totals = [sum(each.values()) for each in seen]
    assert totals[:4] == [0, 20, 40, 60]
    moves = [after - before for before, after in pairwise(totals)]
    assert min(moves) == FEWEST_TOGETHER
    assert moves[-1] > totals[-2] // 10 - 1  # few steps are kept, however many there are
    # The end shows what there is when somebody looks first, and no less than a step more.
    end = stepped(store, "rejected", {"malformed": 999, "busy": 1}, "end")
    assert sum(end.values()) - totals[-1] >= FEWEST_TOGETHER
    assert stepped(store, "rejected", {"malformed": 1005, "busy": 1}, "end") == end
    store.close()
