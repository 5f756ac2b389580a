"""Any channel, column by column: whether its columns are independent is found quickly, and as if by hand."""

from __future__ import annotations

import random

import pytest

from deniable.device.channels import dense
from deniable.device.channels.dense import PRIMES, independent

LARGEST = 2**32


def by_hand(columns, prime):
    """Gauss, entry by entry."""
    left = [[weight % prime for weight in column] for column in columns]
    while left:
        base = left.pop()
        pivot = next((place for place, entry in enumerate(base) if entry), None)
        if pivot is None:
            return False
        for column in left:
            factor = column[pivot] * pow(base[pivot], -1, prime)
            column[:] = [(entry - factor * each) % prime for entry, each in zip(column, base, strict=True)]
    return True


def matrices(columns, rows, seed):
    """As they come, with a column that is the sum of others, with one twice, and with zeros modulo the prime."""
    rng = random.Random(seed)  # noqa: S311 - repeats, hides nothing
    plain = [[rng.randrange(1, LARGEST) for _ in range(rows)] for _ in range(columns)]
    yield plain
    yield [*plain[1:], [sum(row) for row in zip(*plain[1:], strict=True)]]
    yield [*plain[:-1], plain[rng.randrange(columns - 1)]]
    yield [[weight * rng.choice([1, PRIMES[0]]) for weight in column] for column in plain]
    yield [[int(place == number) for place in range(rows)] for number in reversed(range(columns))]


@pytest.mark.parametrize(("columns", "rows"), [(2, 2), (3, 3), (4, 6), (6, 4), (12, 12), (12, 13)])
@pytest.mark.parametrize("prime", PRIMES)
@pytest.mark.parametrize("room", [2047, 3, 1])  # entries are reduced in time, however few products they have room for
def test_columns_are_independent_as_if_found_by_hand(columns, rows, prime, room, monkeypatch):
    monkeypatch.setattr(dense, "_MOST_ADDED", room)
    found = [independent(each, prime) for seed in range(5) for each in matrices(columns, rows, seed)]
    assert found == [by_hand(each, prime) for seed in range(5) for each in matrices(columns, rows, seed)]
    assert columns > rows or {True, False} <= set(found)


def test_an_entry_has_room_for_all_that_is_added_to_it():
    most = max(PRIMES) - 1
    assert most + dense._MOST_ADDED * most**2 <= dense._ENTRY
    # The worst there can be: every entry as large as it gets, every factor too.
    columns = [[most] * number + [1] + [most] * (40 - number) for number in range(40)]
    assert independent(columns, max(PRIMES)) == by_hand(columns, max(PRIMES))


def test_a_large_matrix_is_judged_as_a_small_one_is():
    rng = random.Random(1)  # noqa: S311 - repeats, hides nothing
    columns = [[rng.randrange(1, LARGEST) for _ in range(300)] for _ in range(299)]
    assert independent(columns, PRIMES[0])
    assert not independent([*columns, [sum(row) for row in zip(*columns, strict=True)]], PRIMES[0])
