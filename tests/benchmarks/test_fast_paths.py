"""The quick ways must be the slow ways: a product against its matrix, k-RR's arithmetic against its intervals."""

import numpy as np
import pytest

from deniable.channels import channel as base
from deniable.channels import kronecker
from deniable.channels.dense import Dense
from deniable.channels.kronecker import Kronecker
from deniable.channels.krr import KRR
from deniable.channels.mixture import Mixture
from deniable.channels.survey_devices import Kuk, Warner
from deniable.core.randomness import Seeded
from deniable.errors import InputError

PRODUCTS = {
    "one": [KRR(5, epsilon=1.0)],
    "binary": [Warner(0.8)] * 7,
    "mixed": [KRR(3, epsilon=1.0), Warner(0.7), Mixture(0.5, [0.25, 0.75]), Dense([[0.8, 0.3], [0.2, 0.7]])],
    "more reports than truths": [Kuk(0.7, 0.2, repetitions=3), KRR(2, epsilon=0.5), Kuk(0.6, 0.3, repetitions=2)],
    "a large one amid small ones": [Warner(0.8), Warner(0.7), KRR(20, epsilon=2.0), Warner(0.9), KRR(3, epsilon=1.0)],
    "large ones at the ends": [KRR(17, epsilon=1.0), Warner(0.75), Mixture(0.4, [1 / 18] * 18)],
}


@pytest.fixture(params=PRODUCTS.values(), ids=PRODUCTS.keys())
def product(request):
    return Kronecker(request.param)


def dense_inverse(product):
    whole = np.ones((1, 1))
    for channel in product.channels:
        whole = np.kron(whole, channel.solve(np.eye(channel.outputs)))
    return whole


@pytest.mark.parametrize("block", [1, 4, 16, 64])
@pytest.mark.parametrize("batch", [(), (1,), (3,), (2, 2)])
def test_a_product_acts_like_its_matrix(product, block, batch, monkeypatch):
    monkeypatch.setattr(kronecker, "BLOCK", block)
    rng = np.random.default_rng(0)
    truth, report = (rng.random(shape + batch) for shape in (product.input_shape, product.output_shape))
    p, q = product.matrix(), dense_inverse(product)
    for act, matrix, x, shape in (
        (product.apply, p, truth, product.output_shape),
        (product.adjoint, p.T, report, product.input_shape),
        (product.solve, q, report, product.input_shape),
        (product.solve_adjoint, q.T, truth, product.output_shape),
        (product.solve_squared, q**2, report, product.input_shape),
    ):
        expected = (matrix @ x.reshape(matrix.shape[1], -1)).reshape(shape + batch)
        np.testing.assert_allclose(act(x), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_a_product_leaves_its_argument_alone(product):
    x = np.random.default_rng(0).random(product.output_shape)
    before = x.copy()
    product.solve(x)
    product.solve_squared(x)
    np.testing.assert_array_equal(x, before)


def test_solving_undoes_applying_on_a_large_table():
    product = Kronecker([KRR(2, epsilon=1.0)] * 16)
    pi = np.random.default_rng(0).random(product.input_shape)
    pi /= pi.sum()
    np.testing.assert_allclose(product.solve(product.apply(pi)), pi, atol=1e-12)


# 127 and 128 lie on either side of the widest k whose sums fit a byte; 300 needs two bytes; epsilon 7 has quotients
# above a byte; (3, 16 bits) with other > keep lies more often than not.
CHANNELS = [
    KRR(2, epsilon=1.0),
    KRR(2, epsilon=7.0),
    KRR(127, other=500, bits=16),
    KRR(128, other=300, bits=16),
    KRR(256, other=250, bits=16),
    KRR(300, other=200, bits=16),
    KRR(3, other=32000, bits=16),
    KRR(40_000, other=1, bits=16),
]


@pytest.mark.parametrize("channel", CHANNELS, ids=lambda channel: f"k={channel.inputs},b={channel.other}")
@pytest.mark.parametrize("dtype", [np.int64, np.uint16])
def test_every_draw_of_16_bits_leads_where_the_intervals_say(channel, dtype):
    assert channel.bits == 16
    draws = np.arange(1 << 16, dtype=np.uint16)
    for truth in (0, 1, channel.inputs - 1):
        expected = np.empty(1 << 16, dtype=np.int64)
        for first, end, report in channel.intervals(truth):
            expected[first:end] = report
        reports = channel.outcome(np.full(1 << 16, truth, dtype=dtype), draws)
        np.testing.assert_array_equal(reports, expected)


@pytest.mark.parametrize("count", [0, 1, base.CHUNK - 1, base.CHUNK, base.CHUNK + 1])
def test_chunks_meet_without_a_seam(count):
    channel = KRR(64, epsilon=1.0)
    codes = np.arange(count) % 64
    reports = channel.randomize(codes, source=Seeded(1))
    assert reports.shape == (count,)
    if count:
        draws = Seeded(1).stream().words(count, channel.bits)
        np.testing.assert_array_equal(reports, channel.outcome(codes, draws))


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint8, np.uint64])
def test_strange_codes_are_refused_in_any_type(dtype):
    codes = np.zeros(base.CHUNK + 5, dtype=dtype)
    codes[-1] = 4
    with pytest.raises(InputError, match=r"1 codes lie outside 0 \.\. 3"):
        KRR(4, epsilon=1.0).randomize(codes)
    if np.issubdtype(dtype, np.signedinteger):
        codes[-1] = -1
        with pytest.raises(InputError, match="1 codes lie outside"):
            KRR(4, epsilon=1.0).randomize(codes)


def test_truth_values_are_codes():
    assert set(np.unique(KRR(2, epsilon=1.0).randomize(np.array([True, False] * 50)))) <= {0, 1}
