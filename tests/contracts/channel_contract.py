"""What every channel owes: subclass a contract, supply `channel` (and, where there is a formula, `dense`).

::

    class TestMyChannel(SingleDrawContract):
        @pytest.fixture(scope="class", params=[...])
        def channel(self, request): ...

        @pytest.fixture(scope="class")
        def dense(self, channel): ...  # P by a formula of the test's own; channel.matrix() by default

`ChannelContract` asks for the algebra, the privacy and the plain data; `RunnableContract` adds the sampler as a black
box; `SingleDrawContract` adds the sampler draw by draw; `UnrunnableContract` is for devices with a zero.
"""

from __future__ import annotations

import json
import math
from decimal import Context, Decimal
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from deniable.channels.channel import CHUNK
from deniable.channels.kronecker import Kronecker
from deniable.channels.read_channel import channel_from_dict
from deniable.core.randomness import SECURE, Seeded
from deniable.device.channels import kind_from_dict
from deniable.errors import DesignError, InputError, NotExecutableError

# Variances are compared at this many standard errors of the Monte Carlo: 3e-12 a cell, below 1e-7 over all cells.
SIGMAS = 7
# A chi-square below this p-value is drawn once more; two in a row are a fault. At most 10^5 columns are tested, so a
# sound sampler fails with probability below 10^5 x (1e-7)^2 = 1e-9, which leaves room for sparse cells' heavier tails.
SUSPICIOUS = 1e-7


class ChannelContract:
    """A column-stochastic map, its inverse, its privacy and its plain form."""

    @pytest.fixture(scope="class")
    @classmethod
    def dense(cls, channel):
        return channel.matrix()

    @pytest.fixture(scope="class")
    @classmethod
    def exact(cls, channel):
        """P in exact numbers, up to one factor for all: an array of integers or Fractions."""
        return channel.weights()

    @pytest.fixture(scope="class")
    @classmethod
    def pi(cls, channel):
        """A skewed distribution of truths."""
        share = np.random.default_rng(1).dirichlet(np.full(channel.inputs, 0.7))
        return share.reshape(channel.input_shape)

    @pytest.fixture(scope="class")
    @classmethod
    def inverse(cls, channel):
        """Q, column by column out of `solve`."""
        return columns(channel.solve, channel.output_shape, channel.inputs)

    # -- the map ------------------------------------------------------------------------------------------------

    def test_it_is_the_map_of_the_formula(self, channel, dense, pi):
        """As a matrix, row by row, applied to one table and to many."""
        assert channel.matrix().shape == (channel.outputs, channel.inputs)
        np.testing.assert_allclose(channel.matrix(), dense, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(channel.matrix().sum(axis=0), 1, rtol=1e-12)
        assert (dense >= 0).all()
        every = channel.every_report(channel.outputs)
        assert len(every) == channel.outputs
        np.testing.assert_allclose(channel.likelihood(every), dense, rtol=1e-12, atol=1e-15)
        assert channel.every_report(channel.outputs - 1) is None
        np.testing.assert_allclose(channel.apply(pi).ravel(), dense @ pi.ravel(), rtol=1e-10, atol=1e-14)
        batch = np.random.default_rng(3).normal(size=(*channel.input_shape, 2, 3))
        reports = channel.apply(batch)
        assert reports.shape == (*channel.output_shape, 2, 3)
        np.testing.assert_allclose(reports[..., 1, 2], channel.apply(batch[..., 1, 2]), atol=1e-12)
        np.testing.assert_allclose(channel.solve(reports), batch, atol=1e-7)
        np.testing.assert_allclose(channel.adjoint(reports)[..., 0, 1], channel.adjoint(reports[..., 0, 1]), atol=1e-12)
        with pytest.raises(InputError, match=r"expected an array over \(.*\) cells, got one of shape \(1,\)"):
            channel.apply(np.ones(1))

    def test_solve_undoes_apply_and_adjoints_pass_the_dot_test(self, channel, pi):
        np.testing.assert_allclose(channel.solve(channel.apply(pi)), pi, atol=1e-9)
        truths, reports = channel.input_shape, channel.output_shape
        for forward, shape, back, other in (
            (channel.apply, truths, channel.adjoint, reports),
            (channel.solve, reports, channel.solve_adjoint, truths),
        ):
            rng = np.random.default_rng(2)
            x, y = rng.normal(size=shape), rng.normal(size=other)
            ahead, behind = forward(x), back(y)
            scale = np.linalg.norm(ahead) * np.linalg.norm(y)
            assert abs((ahead * y).sum() - (x * behind).sum()) <= 1e-11 * scale

    # -- second moments -----------------------------------------------------------------------------------------

    def test_second_moments_are_those_of_the_inverse(self, channel, inverse, pi, dense):
        lam = channel.apply(pi)
        expected = inverse**2 @ lam.ravel()
        np.testing.assert_allclose(channel.solve_squared(lam).ravel(), expected, rtol=1e-8)
        moments = inverse**2 @ dense
        diagonal, sums = channel.spread()
        np.testing.assert_allclose(np.ravel(diagonal), np.diagonal(moments), rtol=1e-8)
        np.testing.assert_allclose(np.ravel(sums), moments.sum(axis=1), rtol=1e-8)
        if (affine := channel.affine()) is not None:
            scale, offset = affine
            lam = channel.apply(pi)
            np.testing.assert_allclose((lam.ravel() - offset) / scale, channel.solve(lam).ravel(), atol=1e-9)

    def test_variance_is_what_repeated_surveys_show(self, channel, pi):
        n, surveys = 1000, 1500
        lam = channel.apply(pi)
        counts = np.random.default_rng(4).multinomial(n, lam.ravel() / lam.sum(), size=surveys)
        shares = (counts.T / n).reshape(*channel.output_shape, surveys)
        squares = (channel.solve(shares) - pi[..., None]) ** 2
        standard_error = squares.std(axis=-1) / math.sqrt(surveys)
        assert (np.abs(squares.mean(axis=-1) - channel.variance(pi, n)) <= SIGMAS * standard_error + 1e-15).all()

    def test_collapse_is_the_sum_over_the_dropped_reports(self, channel, dense):
        shape = factors(channel.inputs)
        axes = [keep for size in range(1, len(shape) + 1) for keep in permutations(range(len(shape)), size)]
        for keep in axes:
            collapsed = channel.collapse(shape, keep)
            if collapsed is None or channel.inputs != channel.outputs:
                continue
            summed = np.einsum(dense.reshape(*shape, -1), [*range(len(shape)), 9], [*keep, 9])
            kept = np.stack(np.unravel_index(range(channel.inputs), shape))[list(keep)]
            truth = np.ravel_multi_index(kept, [shape[axis] for axis in keep])
            # One column of the collapsed channel serves every truth that agrees on the kept attributes.
            expected = summed.reshape(-1, channel.inputs)
            np.testing.assert_allclose(collapsed.matrix()[:, truth], expected, rtol=1e-9, atol=1e-15)

    # -- privacy ------------------------------------------------------------------------------------------------

    def test_ratio_is_the_largest_of_the_exact_rows(self, channel, exact):
        assert channel.ratio == row_ratio(exact)

    def test_epsilon_is_the_logarithm_rounded_up(self, channel):
        if channel.ratio == math.inf:
            assert channel.epsilon == math.inf
            return
        wide = Context(prec=60)
        true = wide.ln(wide.divide(Decimal(channel.ratio.numerator), Decimal(channel.ratio.denominator)))
        assert true <= Decimal(channel.epsilon) <= true + Decimal("1e-12")

    # -- plain data ---------------------------------------------------------------------------------------------

    def test_plain_data_gives_the_same_channel_back_and_what_is_unknown_is_refused(self, channel):
        again = channel_from_dict(json.loads(json.dumps(channel.to_dict())))
        assert again == channel
        assert hash(again) == hash(channel)
        assert again.ratio == channel.ratio
        np.testing.assert_array_equal(again.matrix(), channel.matrix())
        with pytest.raises(DesignError, match="surprise"):
            channel_from_dict({**channel.to_dict(), "surprise": 1})
        with pytest.raises(DesignError, match="unknown kind of channel 'oracle'"):
            channel_from_dict({**channel.to_dict(), "kind": "oracle"})
        with pytest.raises(DesignError):
            channel_from_dict({"kind": channel.to_dict()["kind"]})


class UnrunnableContract(ChannelContract):
    """A device with a zero: fine to analyse when performed by hand, never run."""

    def test_a_zero_makes_epsilon_infinite(self, channel):
        assert channel.ratio == channel.epsilon == math.inf

    def test_running_it_is_refused(self, channel):
        for refused in (channel.executed, channel.weights, lambda: channel.randomize([0, 1])):
            with pytest.raises(NotExecutableError, match=r"epsilon is infinite"):
                refused()


class RunnableContract(ChannelContract):
    """The sampler as a black box."""

    def test_executed_probabilities_are_within_a_draw_of_the_stated_ones(self, channel, dense):
        # Each integer is within one of its share; a mixture's diagonal is the sum of two of them.
        draws = 2 * len(channel.input_shape)
        np.testing.assert_allclose(channel.executed().matrix(), dense, rtol=0, atol=draws * 2**-32)

    @pytest.mark.parametrize("source", [SECURE, Seeded(5)], ids=repr)
    def test_every_report_of_every_truth_comes_as_often_as_it_should(self, channel, source):
        expected = channel.executed().matrix()
        pvalue = chi_square(channel, expected, source)
        if pvalue.min() < SUSPICIOUS:
            pvalue = chi_square(channel, expected, source)
        assert pvalue.min() >= SUSPICIOUS, f"truth {pvalue.argmin()}"

    def test_the_same_seed_gives_the_same_reports(self, channel):
        codes = truths(channel, np.zeros(2000, dtype=int))
        one, two = (channel.randomize(codes, source=Seeded(6)) for _ in range(2))
        np.testing.assert_array_equal(one, two)

    def test_only_codes_of_truths_are_randomized(self, channel):
        for wrong in (-1, max(channel.input_shape), 10**6):
            codes = truths(channel, np.zeros(7, dtype=int))
            codes[3] = wrong
            with pytest.raises(InputError, match=r"1 codes lie outside 0 \.\. \d+, the truths of "):
                channel.randomize(codes)
        for codes in ([0.0, 1.0], ["0", "1"], [None, 0]):
            with pytest.raises(InputError, match="codes must be whole numbers"):
                channel.randomize(truths(channel, np.array(codes), given=True))
        assert channel.randomize(truths(channel, np.zeros(0, dtype=int))).shape[0] == 0


class SingleDrawContract(RunnableContract):
    """The sampler draw by draw: integers, no float, no bias."""

    def test_every_draw_belongs_to_one_report_as_often_as_its_weight_says(self, channel):
        run = channel.executed()
        weights = run.weights()
        assert weights.dtype == np.int64
        assert (weights > 0).all()
        assert (weights.sum(axis=0) == 1 << run.bits).all()
        np.testing.assert_array_equal(run.matrix(), weights / (1 << run.bits))
        run = channel.executed()
        weights = run.weights()
        for truth in some(run.inputs):
            first, end, report = np.array(run.intervals(truth), dtype=np.int64).T
            assert first[0] == 0
            assert end[-1] == 1 << run.bits
            assert (first[1:] == end[:-1]).all()
            assert (first < end).all()
            lengths = np.bincount(report, weights=(end - first).astype(float), minlength=run.outputs)
            assert (lengths == weights[:, truth]).all()
        run = channel.executed()
        weights = run.weights()
        for truth in some(run.inputs):
            if run.bits == 16:
                reports = run.outcome(np.broadcast_to(np.int64(truth), 1 << 16), np.arange(1 << 16))
                assert (np.bincount(reports, minlength=run.outputs) == weights[:, truth]).all()
            else:
                first, end, report = np.array(run.intervals(truth), dtype=np.int64).T
                ends = np.concatenate([first, end - 1])
                assert (run.outcome(np.broadcast_to(truth, len(ends)), ends) == np.tile(report, 2)).all()

    def test_a_device_makes_the_same_of_the_same_integers(self, channel):
        run = channel.executed()
        kind = kind_from_dict(run.to_dict())
        kind.check("question")
        assert (kind.truths, kind.reports, kind.ratio) == (run.inputs, run.reports, run.ratio)
        assert [kind.can_be(code) for code in (-1, 0, run.reports - 1, run.reports)] == [False, True, True, False]
        for truth in {0, run.inputs // 2, run.inputs - 1}:
            for first, end, report in run.intervals(truth):
                for drawn in (first, end - 1):
                    assert kind.disguise(truth, lambda _bits, drawn=drawn: drawn) == report

    def test_randomize_is_outcome_of_the_streams_draws(self, channel):
        run = channel.executed()
        codes = np.arange(CHUNK + 100) % channel.inputs
        draws = Seeded(8).stream().words(len(codes), run.bits)
        np.testing.assert_array_equal(channel.randomize(codes, source=Seeded(8)), run.outcome(codes, draws))

    def test_neither_type_nor_shape_of_codes_matters(self, channel):
        for dtype in ("u1", "i1", "<u2", ">i4", "i8", "u8", "?"):
            most = 2 if dtype == "?" else min(channel.inputs, np.iinfo(dtype).max + 1)
            codes = np.arange(500) % most
            expected = channel.randomize(codes, source=Seeded(9))
            assert (channel.randomize(codes.astype(dtype), source=Seeded(9)) == expected).all(), dtype
        for strange in (-1, 1 << 24):  # which in the other order of bytes is 1
            with pytest.raises(InputError, match=r"^1 codes lie outside"):
                channel.randomize(np.array([0, strange], dtype=">i4"))
        codes = np.zeros((3, 4, 2), dtype=int)
        reports = channel.randomize(codes)
        assert reports.shape == codes.shape
        assert reports.dtype == np.min_scalar_type(channel.outputs - 1)
        assert channel.randomize(0).shape == ()
        # Not contiguous, and left as it was.
        assert channel.randomize(codes[:, ::2, 0]).shape == (3, 2)
        assert not codes.any()


# -- helpers ------------------------------------------------------------------------------------------------------


def some(k):
    """Every truth of up to 300; of more, the first, the last and those where types could wrap around."""
    return range(k) if k <= 300 else [*range(20), *range(120, 136), *range(250, 262), *range(k - 20, k)]


def columns(step, shape, count):
    """A linear step's matrix."""
    cells = math.prod(shape)
    return step(np.eye(cells).reshape(*shape, cells)).reshape(count, cells)


def factors(k):
    """A shape with k cells and up to three axes, as uneven as the prime factors of k allow."""
    shape = []
    for divisor in range(2, k + 1):
        while len(shape) < 2 and k % divisor == 0 and k > divisor:
            shape.append(divisor)
            k //= divisor
    return (*shape, k)


def row_ratio(exact):
    """The largest ratio within a row, in Fractions; a report that never occurs tells nothing."""
    rows = [row for row in exact if max(row) > 0]
    if any(min(row) == 0 for row in rows):
        return math.inf
    return max(Fraction(max(row)) / Fraction(min(row)) for row in (np.asarray(row).tolist() for row in rows))


def truths(channel, numbers, *, given=False):
    """Truths by number as the codes `randomize` takes: tuples for a product of channels."""
    if not isinstance(channel, Kronecker):
        return numbers
    width = len(channel.channels)
    if given or not len(numbers):
        return np.stack([numbers] * width, axis=1)
    return np.stack(np.unravel_index(numbers, channel.input_shape), axis=1)


def chi_square(channel, expected, source):
    """The p-value of each column of reports, from enough of them to expect five in every cell.

    Only where a weight is a few draws of 2^32 that would be too many: such cells are counted as one, or left to the
    test of intervals.
    """
    each = min(max(4000, math.ceil(5 / expected.min())), 3 * 10**6 // channel.inputs)
    number = np.repeat(np.arange(channel.inputs, dtype=np.int32), each)
    reports = channel.randomize(truths(channel, number), source=source)
    if isinstance(channel, Kronecker):
        reports = np.ravel_multi_index(tuple(reports.T), channel.output_shape)
    cell = number * np.int32(channel.outputs) + reports.astype(np.int32)
    counts = np.bincount(cell, minlength=expected.size).reshape(channel.inputs, channel.outputs)
    mean = each * expected.T
    counts, mean = (np.column_stack([np.where(mean < 5, 0, x), (x * (mean < 5)).sum(axis=1)]) for x in (counts, mean))
    statistic = np.divide((counts - mean) ** 2, mean, out=np.zeros_like(mean), where=mean >= 5).sum(axis=1)
    freedom = (mean >= 5).sum(axis=1) - 1
    return np.where(freedom > 0, stats.chi2.sf(statistic, np.maximum(freedom, 1)), 1)
