"""The first report that is stored says under which words a plan is answered; what was made under others is refused."""

from __future__ import annotations

import asyncio
from contextlib import closing

import pytest

from deniable.collection.collector import Collector
from deniable.collection.first_words import connected, first_mark
from deniable.collection.load_reports import stored_reports
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.messages import Report
from deniable.device.protocol.problem_details import FINAL
from deniable.errors import InputError
from deniable.storage.open_store import open_store
from deniable.storage.sqlite import SqliteStore
from deniable.surveys.survey import parse_survey

LABELS = ("Yes", "No")


def survey(yes="Yes", no="No", *, asked="Have you taken drugs?", name="mood", epsilon=2.0):
    return parse_survey(f"""
format = 1
name = "{name}"
title = "A survey"
epsilon = {epsilon}
design = {{ kind = "independent" }}
[[questions]]
name = "drug"
text = "{asked}"
choices = [{{ value = "yes", text = "{yes}" }}, {{ value = "no", text = "{no}" }}]
""")


SWAPPED = survey("No", "Yes")


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    """What opens the same store again and again, as several programs would; what is open is closed at the end."""
    database = request.getfixturevalue("database") if request.param == "postgres" else None
    opened = []

    def start(of, **options):
        store = open_store(tmp_path, database)
        try:
            opened.append(Collector(of, store, **options))
        except InputError:
            store.close()
            raise
        return opened[-1]

    def end(made):
        opened.remove(made)
        made.close()

    start.is_shared, start.end = database is not None, end
    yield start
    for each in opened:
        each.close()


def sent(made, *designs, first=0):
    """What becomes of reports to these designs, one after the other; or in a list, of a batch."""

    def report(number, design):
        identity = f"{first + number:064x}"
        return Report(version=2, id=identity, design=design, ballot=0, answers=(0,))

    async def run():
        made.writer.start()
        try:
            found = []
            for number, design in enumerate(designs):
                if isinstance(design, list):
                    some = [report(1000 + at, one) for at, one in enumerate(design)]
                    receipt = await made.receive(encode(some))
                    found.append({each.index: each.problem.code for each in receipt.failures})
                else:
                    told = await made.receive(encode(report(number, design)))
                    found.append(None if told is None else told.code)
            return found
        finally:
            await made.writer.stop()

    return asyncio.run(run())


def counted(made):
    return {name: made.store.total(number) for name, (number, _) in made.store.designs().items() if number}


def test_a_report_under_way_comes_too_late_once_other_words_are_shown(place):
    before = place(survey())
    name = before.design_id
    place.end(before)
    made = place(SWAPPED)
    assert sent(made, name, made.design_id, name, [name, made.design_id]) == [
        "reworded",
        None,
        "reworded",
        {0: "reworded"},
    ]
    assert counted(made) == {name: 0, made.design_id: 2}
    assert made.turned_away().get("reworded", 0) in (0, 3)  # it is shown in steps
    place.end(made)
    again = place(SWAPPED)
    assert again.design_id == made.design_id
    assert sent(again, name, first=50) == ["reworded"]
    place.end(again)
    with pytest.raises(InputError, match="--correct"):
        place(survey())


def test_the_words_that_were_answered_first_stay(place):
    """Nothing tells a store's other programs of words before a report comes; then all of them know."""
    one = place(survey())
    if place.is_shared:
        other = place(SWAPPED)
        assert sent(one, one.design_id) == [None]
        assert sent(other, other.design_id, one.design_id, other.design_id, first=10) == ["reworded", None, "reworded"]
        assert counted(one) == {one.design_id: 2, other.design_id: 0}
    else:
        assert sent(one, one.design_id) == [None]
    place.end(one)
    with pytest.raises(InputError, match="people have answered"):
        place(SWAPPED)
    corrected = place(survey(asked="Have you ever taken drugs?"), correct="clearer")
    assert sent(corrected, one.design_id, corrected.design_id, first=20) == [None, None]
    assert stored_reports(corrected.store, corrected.design_id).n == 3 + place.is_shared
    assert [len(each.changes) for each in corrected.corrections] == [1]


def test_whoever_is_second_is_refused_at_the_door_of_a_folder(tmp_path):
    one = Collector(survey(), SqliteStore(tmp_path / "reports.sqlite"))
    same = Collector(survey(), SqliteStore(tmp_path / "reports.sqlite"))
    another = Collector(survey(name="other"), SqliteStore(tmp_path / "reports.sqlite"))
    dearer = Collector(survey("No", "Yes", epsilon=1.0), SqliteStore(tmp_path / "reports.sqlite"))
    with closing(SqliteStore(tmp_path / "reports.sqlite")) as store, pytest.raises(InputError, match="other words"):
        Collector(SWAPPED, store)
    one.close()
    with closing(SqliteStore(tmp_path / "reports.sqlite")) as store, pytest.raises(InputError, match="Stop that one"):
        Collector(SWAPPED, store)
    same.close()
    turned = Collector(SWAPPED, SqliteStore(tmp_path / "reports.sqlite"))
    assert turned.design_id not in (one.design_id, dearer.design_id)
    for each in (another, dearer, turned):
        each.close()


def test_two_at_once_agree_on_the_first(tmp_path):
    """Where the system has no locks, what is in the store decides alone."""
    first = Collector(survey(), SqliteStore(tmp_path / "reports.sqlite"))
    name, plan = first.design_id, first.plan_id
    first.close()
    second = Collector(SWAPPED, SqliteStore(tmp_path / "reports.sqlite"))
    with closing(SqliteStore(tmp_path / "reports.sqlite")) as beside:
        beside.save(first_mark(plan), name.encode())  # another program was quicker, by a moment
    assert sent(second, second.design_id, name) == ["reworded", None]
    second.close()


def test_words_that_are_connected():
    chain = {"a": None, "b": "a", "c": "b", "x": None, "y": "x"}
    for first in "abc":
        assert connected(first, chain) == {"a", "b", "c"}
    assert connected("y", chain) == {"x", "y"}
    assert connected("gone", chain) == {"gone"}
    assert "reworded" in FINAL
