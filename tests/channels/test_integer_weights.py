"""Stated probabilities and the integers run in their place; matrices and weights that are none."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.channels.dense import Dense
from deniable.channels.integer_weights import round_column, stated
from deniable.channels.kronecker import Kronecker
from deniable.channels.krr import KRR
from deniable.channels.mixture import Mixture
from deniable.channels.read_channel import channel_from_dict
from deniable.errors import DesignError, InputError, PrecisionError, ProbabilityError, SingularChannelError

shares = st.lists(st.integers(1, 10**9), min_size=2, max_size=40).map(
    lambda parts: [Fraction(part, sum(parts)) for part in parts]
)


@given(shares, st.sampled_from([16, 32]))
def test_rounding_keeps_the_sum_and_moves_no_share_by_a_draw(column, bits):
    draw = Fraction(1, 2**bits)
    try:
        rounded = round_column(column, bits, "a channel")
    except PrecisionError:
        assert min(column) < draw  # nothing that fits a draw is refused
        return
    assert sum(rounded) == 2**bits
    assert min(rounded) >= 1
    assert all(abs(weight * draw - share) < draw for weight, share in zip(rounded, column, strict=True))


@given(st.floats(0, 1))
def test_a_decimal_is_read_as_it_is_written(value):
    assert stated(value, "p") == Fraction(repr(value))
    assert float(stated(value, "p")) == value


def test_too_many_rare_reports_for_the_draws():
    with pytest.raises(PrecisionError, match=r"70000 reports, some rarer than 2\^-16"):
        round_column([Fraction(1, 70000)] * 70000, 16, "a channel")


@pytest.mark.parametrize(
    ("matrix", "error", "told"),
    [
        ([[0.8, 0.2], [0.3, 0.7]], ProbabilityError, "column 0 .* sums to 1.1, not to 1.* transpose"),
        ([[1.5, 0.5], [-0.5, 0.5]], ProbabilityError, "must lie between 0 and 1, not 1.5"),
        ([[0.5, 0.5], [0.5]], ProbabilityError, r"not an array of shape \(2,\)"),
        (np.empty((2, 0)), ProbabilityError, r"not an array of shape \(2, 0\)"),
        ([[1.0], [0.0]], ProbabilityError, "1 truth; a question needs at least two"),
        ([[0.5, 0.3, 0.2], [0.5, 0.7, 0.8]], SingularChannelError, "3 truths but only 2 reports"),
        ([[0.5, 0.5], [0.5, 0.5]], SingularChannelError, "condition number"),
    ],
)
def test_a_matrix_that_is_no_channel_is_refused(matrix, error, told):
    with pytest.raises(error, match=told):
        Dense(matrix)


@pytest.mark.parametrize(
    ("weights", "bits", "told"),
    [
        ([[40000, 1], [25536, 65534]], 16, r"column 1 sum to 65535, not to 2\^16"),
        ([[0.5, 0.5], [0.5, 0.5]], 16, "matrix of integers"),
        ([[65537, 1], [-1, 65535]], 16, "between 0 and 2.16 = 65536; found -1 .. 65537"),
        ([[128, 1], [128, 255]], 8, "16- or 32-bit draws, not 8"),
        (np.empty((0, 0), dtype=int), 16, "matrix of integers"),
    ],
)
def test_weights_that_are_none_are_refused(weights, bits, told):
    with pytest.raises(ProbabilityError, match=told):
        Dense.from_weights(weights, bits)


def test_weights_that_wrap_around_to_the_right_sum_are_refused():
    # Summed in 64 bits each column gives 2^32; run, this "epsilon of 1e-9" would have told the truth every time.
    quarter, whole = 2**62, 2**32
    columns = [[quarter + whole, quarter, quarter, quarter], [quarter, quarter, quarter + whole, quarter]]
    with pytest.raises(ProbabilityError, match="found 4611686018427387904"):
        channel_from_dict({"kind": "dense", "name": "trap", "columns": columns, "bits": 32})


@pytest.mark.parametrize(
    ("make", "error", "told"),
    [
        (lambda: Mixture(0.5, [0.5, 0.6]), ProbabilityError, "sum to 1.1, not to 1"),
        (lambda: Mixture(0.5, [1.0]), ProbabilityError, "at least 2 categories, not 1"),
        (lambda: Mixture(0, [0.5, 0.5]), SingularChannelError, "never kept"),
        (lambda: Mixture.from_weights(1, [1, 1], 16), ProbabilityError, r"sum to 2\^16 = 65536 .* sum to 3"),
        (lambda: Mixture.from_weights(32768, [32768], 16), ProbabilityError, "at least 2 categories, not 1"),
        (lambda: Mixture.from_weights(32768.0, [16384, 16384], 16), ProbabilityError, "whole number, not 32768.0"),
        (lambda: Kronecker([]), DesignError, "at least one channel"),
    ],
)
def test_a_channel_that_cannot_be_is_refused(make, error, told):
    with pytest.raises(error, match=told):
        make()


def test_a_mixture_that_never_fakes_is_an_open_question():
    open_question = Mixture(1, [0.5, 0.5])
    assert open_question.epsilon == float("inf")
    assert open_question.fakes.tolist() == [0.5, 0.5]
    assert channel_from_dict(open_question.to_dict()) == open_question


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"kind": "krr", "k": 4, "other": 3}, "it takes a field 'bits'"),
        ({"kind": "kronecker", "channels": [], "bits": 16}, "it takes no field 'bits'"),
        ({"kind": ["krr"]}, "unknown kind"),
        ([1], "a table of fields"),
        ({"kind": "kronecker", "channels": ["krr"]}, "a table of fields"),
        ({"kind": "dense", "name": "x", "columns": [["abc", "1"], ["0", "1"]]}, "cannot be read: .*abc"),
        ({"kind": "dense", "name": "x", "columns": [["1/2", "1/2"], ["1"]]}, "cannot be read"),
        ({"kind": "mixture", "shares": []}, "cannot be read"),
        ({"kind": "mixture", "keep": "32768", "fakes": [16384, 16384], "bits": 16}, "whole number, not '32768'"),
        ({"kind": "krr", "k": 4, "other": 3.0, "bits": 16}, "whole number, not 3.0"),
    ],
)
def test_plain_data_that_is_no_channel_is_refused(data, told):
    with pytest.raises(DesignError, match=told):
        channel_from_dict(data)


def test_a_product_has_no_single_weights_and_takes_a_column_an_attribute():
    product = Kronecker([KRR(2, 1.0), KRR(3, 1.0)])
    with pytest.raises(DesignError, match="attribute by attribute"):
        product.weights()
    with pytest.raises(InputError, match=r"2 columns, got shape \(3,\)"):
        product.randomize([0, 1, 0])


def test_a_matrix_too_large_to_look_at_is_refused():
    huge = Kronecker([KRR(2, 1.0)] * 13)
    with pytest.raises(InputError, match=r"8192 x 8192 entries; use apply\(\) and solve\(\)"):
        huge.matrix()
    table = np.full((2,) * 13, 2.0**-13)
    np.testing.assert_allclose(huge.solve(huge.apply(table)), table, rtol=1e-9)
