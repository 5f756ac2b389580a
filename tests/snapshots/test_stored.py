"""How texts are compared: to the letter, numbers as far as they can be relied on."""

from __future__ import annotations

import pytest
from stored import CLIMBED, FORMULA, Stored, normal, rounded, same, sha256, shortened

import deniable as dn


@pytest.mark.parametrize(
    ("text", "digits", "kept"),
    [
        ("0.1234567890123,no", FORMULA, "1.234567890e-01,no"),
        ("0.1234567890123,no", CLIMBED, "1.23457e-01,no"),
        ('{"n": 12, "p": -1e-05}', CLIMBED, '{"n": 12, "p": -1.00000e-05}'),
        ("1e-17 -0.0", CLIMBED, "0.00000e+00 0.00000e+00"),
        ("4.7% of 1,200", CLIMBED, "4.70000e+00% of 1,200"),
        ("version 1.2.3 of a12e5", CLIMBED, "version 1.2.3 of a12e5"),
    ],
)
def test_decimals_are_written_as_far_as_they_can_be_relied_on(text, digits, kept):
    assert rounded(text, digits) == kept


def test_lines_differ_in_a_last_digit_at_most():
    assert same("a,1.23457e-01,3", "a,1.23456e-01,3")
    assert same("9.99999e-02", "1.00000e-01")
    assert same("3e-02", "2e-02")
    assert not same("a,1.23457e-01", "a,1.23455e-01")
    assert not same("a,1.23457e-01", "a,1.2346e-01")
    assert not same("a,1.23457e-01,3", "a,1.23457e-01,4")
    assert not same("1.23457e-01", "1.23457e+01")


def test_versions_and_chance_are_taken_out():
    text = f'| numpy | 2.4.6 |\n| deniable | {dn.__version__} |\ndeniable {dn.__version__}\n{{"gap": 3.2e-08}}'
    assert normal(text) == '| numpy | its version |\n| deniable | its version |\ndeniable VERSION\n{"gap": small}'
    row = "| a and c | 0.25 | 0.0500 | 0.1500 | * | likelihood ratio, bootstrap |"
    assert normal(row) == "| a and c | 2.50000e-01 | p-value by chance | likelihood ratio, bootstrap |"


def test_a_long_text_is_hashed_in_parts():
    lines = [f"line {at}" for at in range(400)]
    one, two = (shortened("\n".join(each)).splitlines() for each in (lines, [*lines[:-1], "another"]))
    assert len(one) == len(two) == 5
    assert [first == second for first, second in zip(one, two, strict=True)] == [False, True, True, True, False]


def kept_in(folder, **kept):
    for name, text in kept.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return Stored(folder, renew=False)


def test_a_difference_is_shown_with_the_way_to_renew(tmp_path, monkeypatch):
    monkeypatch.setattr("stored.HERE", tmp_path)
    stored = kept_in(tmp_path, one="first\nsecond 1.00000e+00\n", two="")
    stored.holds("one", "first\nsecond 1.00001e+00")
    with pytest.raises(pytest.fail.Exception, match=r"one\.txt is not what is stored.*--renew") as told:
        stored.holds("one", "first\nthird\n")
    assert "-second 1.00000e+00\n+third" in str(told.value)
    with pytest.raises(pytest.fail.Exception, match=r"\+new [0-9a-f]{12}\nthe sentence"):
        stored.holds("never", f"new {sha256('the sentence')}")
    with pytest.raises(AssertionError, match=r"made by no test: \{'two'\}"):
        stored.holds_no_more_than(["one"])


def test_renewing_writes_what_differs_and_takes_away_what_is_left(tmp_path):
    before = "first\nsecond 1.00000e+00\n"
    stored = kept_in(tmp_path, one=before, two="")
    stored.renew = True
    stored.holds("one", "first\nsecond 1.00001e+00")
    assert (tmp_path / "one.txt").read_text(encoding="utf-8") == before
    stored.holds("one", "new\nsecond 1.00001e+00")
    assert (tmp_path / "one.txt").read_text(encoding="utf-8") == "new\nsecond 1.00000e+00\n"
    stored.holds_no_more_than(["one"])
    assert [path.name for path in tmp_path.iterdir()] == ["one.txt"]
