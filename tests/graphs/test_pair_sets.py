import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InputError
from deniable.graphs.pair_sets import MOST_NODES, PairSet, check_size, endpoints, number, pairs_of, places


def both_forms(n, numbers):
    listed = PairSet(n, np.array(sorted(numbers), dtype=np.int64))
    return listed, PairSet(n, np.packbits(listed.flags(), bitorder="little"))


@given(st.data())
def test_bits_and_list_are_the_same_set(data):
    n = data.draw(st.integers(2, 20))
    members = data.draw(st.sets(st.integers(0, pairs_of(n) - 1)))
    listed, packed = both_forms(n, members)
    assert packed.packed
    assert not listed.packed
    assert listed == packed
    assert len(listed) == len(packed) == len(members)
    assert listed.degrees.tolist() == packed.degrees.tolist()
    assert np.concatenate([[], *packed.numbers()]).tolist() == sorted(members)
    assert packed.flags().tolist() == listed.flags().tolist()


def test_degrees_of_many_rows_do_not_overflow_a_byte():
    listed, packed = both_forms(600, range(pairs_of(600)))
    assert packed.degrees.tolist() == listed.degrees.tolist() == [599] * 600


@pytest.mark.parametrize("n", [2, 3, 1000, MOST_NODES])
def test_numbers_and_endpoints_are_inverse_at_the_ends_of_rows(n):
    rows = np.arange(n - 1, dtype=np.int64)
    for j in (rows + 1, np.full(n - 1, n - 1)):
        numbers = number(rows, j, n)
        i_again, j_again = endpoints(numbers, n)
        assert np.array_equal(i_again, rows)
        assert np.array_equal(j_again, j)
    assert number(np.array([n - 2]), np.array([n - 1]), n)[0] == pairs_of(n) - 1


def test_places_of_ones():
    bits = np.array([0, 1, 0, 0, 0, 0, 0, 0, *[0] * 8, 1, 0, 0, 0, 0, 0, 0, 1], dtype=np.uint8)
    assert places(np.packbits(bits, bitorder="little")).tolist() == np.flatnonzero(bits).tolist()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.zeros(2, dtype=np.uint8), "2 bytes are not one bit for each of 3 pairs"),
        (np.array([0b1000], dtype=np.uint8), "zeros behind"),
        (np.array([0.5]), "not float64"),
        (np.array([0, 3]), "ascend within 0 .. 2"),
        (np.array([-1, 1]), "ascend"),
        (np.array([1, 1]), "ascend"),
    ],
)
def test_what_is_no_set_of_pairs_is_refused(data, message):
    with pytest.raises(InputError, match=message):
        PairSet(3, data)


@pytest.mark.parametrize(("n", "message"), [(1, "no pair"), (0, "no pair"), (10**6, "62.5 GB even at one bit")])
def test_graphs_without_pairs_or_with_too_many_are_refused(n, message):
    with pytest.raises(InputError, match=message):
        check_size(n)


def test_sets_are_compared_by_content():
    listed, packed = both_forms(4, {1, 2})
    assert listed != both_forms(4, {1})[1]
    assert listed != both_forms(5, {1, 2})[0]
    assert packed != {1, 2}
