"""An item is computed once, and again when something it depends on has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

import deniable
from deniable.core.randomness import Seeded
from deniable.errors import InputError
from reproduction import runner
from reproduction.item import Item, Reproduced, Run
from reproduction.registry import find
from reproduction.rrba import views


@pytest.fixture
def counted():
    """A quick item that counts how often it is computed."""
    calls = []

    def compute(run):
        calls.append(run.trials)
        out = Reproduced()
        out.line("a draw", run.rng.random(), error=0.3)
        out.line("three", 3.0, 4.0, tolerance=0.5, note="not four")
        out.line("four", 4.0, 4.0, note="kept only where numbers differ")
        return out

    item = Item(views.__name__, where="nowhere", claim="Nothing.", compute=compute, trials=7, smoke=2)
    return item, calls


def test_nothing_is_computed_twice(counted, tmp_path):
    item, calls = counted
    first, again = (runner.execute(item, tmp_path) for _ in range(2))
    assert (first.skipped, again.skipped) == (False, True)
    assert first.record == again.record
    assert calls == [7]


def test_seed_size_and_wish_compute_it_again(counted, tmp_path):
    item, calls = counted
    runner.execute(item, tmp_path)
    runner.execute(item, tmp_path, seed=2)
    runner.execute(item, tmp_path, seed=2, smoke=True)
    runner.execute(item, tmp_path, seed=2, smoke=True, fresh=True)
    assert calls == [7, 7, 2, 2]


def test_a_changed_file_computes_it_again(counted, tmp_path, monkeypatch):
    item, calls = counted
    runner.execute(item, tmp_path)
    other = tmp_path / "other.py"
    other.write_text("changed = True")
    monkeypatch.setattr(runner, "reached", lambda file: {file, other})
    runner.execute(item, tmp_path)
    assert len(calls) == 2


def test_what_an_item_depends_on():
    def names(item):
        package, beside = Path(deniable.__file__).parent, Path(runner.__file__).parents[1]
        reached = runner.reached(item.file)
        return {path.relative_to(package if path.is_relative_to(package) else beside).as_posix() for path in reached}

    (pairs,) = find("jrr", "privacy-theorem")
    beside = {"reproduction/jrr/privacy_theorem.py", "reproduction/item.py"}
    assert beside | {"extensions/paired/pairing.py", "core/randomness.py"} <= names(pairs)
    assert not any(name.startswith(("inference/", "graphs/", "cli/")) for name in names(pairs))
    (graphs,) = find("wang", "figure-5")
    assert {"graphs/__init__.py", "graphs/degrees_and_triangles.py", "reproduction/wang/network.py"} <= names(graphs)


def test_an_interrupted_item_is_computed_again(counted, tmp_path):
    item, calls = counted
    done = runner.execute(item, tmp_path)
    (tmp_path / item.paper / f"{item.name}.json").unlink()
    assert runner.execute(item, tmp_path).record.lines == done.record.lines  # the same seed, the same draws
    assert len(calls) == 2


def test_notes_stay_only_where_numbers_differ(counted, tmp_path):
    record = runner.execute(counted[0], tmp_path).record
    assert [line.note for line in record.lines] == ["", "not four", ""]


def test_progress_is_told():
    told = []
    run = Run(1, Seeded(1), progress=lambda done, of: told.append((done, of)))
    assert list(run.track("ab")) == ["a", "b"]
    assert told == [(0, 2), (1, 2), (2, 2)]
    assert run.some([1, 2, 3]) == [1, 2, 3]
    assert Run(1, Seeded(1), smoke=True).some([1, 2, 3]) == [1, 2]


def test_unknown_names_are_refused():
    with pytest.raises(InputError, match="there is no paper 'rrbr'; choose from all, rrba"):
        find("rrbr")
    with pytest.raises(InputError, match="rrba has no item 'table-9'; it has views"):
        find("rrba", "table-9")
