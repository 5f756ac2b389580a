"""Keys known in memory: every one is found, whichever array it is in, and those that begin alike beside it."""

from __future__ import annotations

import hashlib

import pytest

from deniable.storage import unsealed_reports as known
from deniable.storage.unsealed_reports import Known


@pytest.mark.parametrize("latest", [1, 7, 64])
def test_every_key_is_found_in_its_row_and_no_other_is(monkeypatch, latest):
    monkeypatch.setattr(known, "LATEST", latest)
    found = Known()
    keys, others = ([hashlib.md5(f"{kind}{n}".encode()).digest() for n in range(1000)] for kind in "ab")  # noqa: S324
    for start in range(0, 1000, 90):
        found.add((key, start + place) for place, key in enumerate(keys[start : start + 90], 1))
        assert len(found) == min(start + 90, 1000)
        assert sorted(found.rows(keys)) == list(range(1, len(found) + 1))
    assert [found.rows([key]) for key in keys[::50]] == [[row] for row in range(1, 1001, 50)]
    assert found.rows(others) == []
    assert found.rows([]) == []
    assert len(found._sorted) <= 11  # each at least twice as long as the next


@pytest.mark.parametrize("latest", [2, 100])
def test_keys_that_begin_alike_are_told_apart_by_their_rows(monkeypatch, latest):
    monkeypatch.setattr(known, "LATEST", latest)
    found, keys = Known(), [b"the same" + bytes([number] * 8) for number in range(6)]
    found.add((key, row) for row, key in enumerate(keys))
    for row, key in enumerate(keys):
        assert row in found.rows([key])
    assert set(found.rows(keys)) == set(range(6))
