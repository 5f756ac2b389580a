"""Lines, verdicts, and when a number has drifted."""

from __future__ import annotations

import pytest

from reproduction.record import Line, Record


def record(*lines, trials=100):
    return Record(lines, ("a remark",), 1, trials, 0.5, "mark")


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        (Line("a", 1.0), "new"),
        (Line("a", 1.04, paper=1.0, tolerance=0.05), "reproduced"),
        (Line("a", 1.06, paper=1.0, tolerance=0.05), "differs"),
        (Line("a", 3.0, says="a is large", holds=True), "reproduced"),
        (Line("a", 3.0, says="a is large", holds=False), "differs"),
    ],
)
def test_verdicts(line, verdict):
    assert line.verdict == verdict


def test_the_verdict_of_a_record():
    yes, no, new = Line("a", 1.0, paper=1.0), Line("b", 2.0, paper=1.0), Line("c", 1.0)
    assert [record(*x).verdict for x in ((yes, new), (no,), (new,), (yes, no))] == [
        "reproduced",
        "differs",
        "new",
        "partly (1 of 2)",
    ]


def test_drift_is_six_standard_errors():
    before = record(Line("a", 1.0, error=0.1))
    assert record(Line("a", 1.8, error=0.1)).drift(before) == []
    assert record(Line("a", 1.9, error=0.1)).drift(before) == ["a: 1.9 (standard error 0.1), before 1"]


def test_slack_is_added():
    before = record(Line("a", 1.0, slack=0.5))
    assert record(Line("a", 1.4)).drift(before) == []
    assert record(Line("a", 1.6)).drift(before)


def test_an_exact_number_may_not_move():
    before = record(Line("a", 1.0))
    assert record(Line("a", 1.0000001)).drift(before) == []
    assert record(Line("a", 1.00001)).drift(before)


def test_a_few_trials_that_agree_by_chance_are_no_drift():
    before = record(Line("a", 1.0, error=0.1), trials=400)
    lucky = Line("a", 2.5, error=0.001)
    assert record(lucky, trials=4).drift(before) == []
    assert record(lucky, trials=400).drift(before)


def test_lines_that_only_one_run_has_are_not_compared():
    assert record(Line("a", 1.0)).drift(record(Line("b", 9.0))) == []


def test_records_are_written_and_read(tmp_path):
    path = tmp_path / "one.json"
    made = record(Line("a", 1.0, paper=2.0, tolerance=0.1, error=0.2, note="why"), Line("b", 2.0, says="b", holds=True))
    made.write(path)
    assert Record.read(path) == made
    path.write_text("{}")
    assert Record.read(path) is None
    assert Record.read(tmp_path / "none.json") is None
