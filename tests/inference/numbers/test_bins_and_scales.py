"""Bins are matched by their names and scales by their numbers; what has no score takes no part, and is counted."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable.core.domain import Variable
from deniable.errors import InputError
from deniable.inference.numbers.ordered_attribute import ordered

SHARES = [0.1, 0.2, 0.3, 0.25, 0.15]
SCALE = [1, 2, 3, 4, 5]
STEPS = [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
BINS = ["< 10", "10 to < 20", "20 to < 40", "40 to < 80", ">= 80"]
ENDS = [0, 10, 20, 40, 80, 100]
WORDS = ["under 10", "10 to 19", "20 to 39", "40 to 79", "80 and older"]
TELLING = [(SCALE, STEPS), ([str(step) for step in SCALE], STEPS), (BINS, ENDS), ([float(s) for s in SCALE], STEPS)]


def asked(categories, order, *aside, share=0.0):
    """An estimate of the same people, whose categories are listed in some order, with others behind."""
    shares = np.array([(1 - share) * SHARES[place] for place in order] + [share] * len(aside))
    channel = dn.KRR(len(shares), 3.0)
    listed = [categories[place] for place in order] + list(aside)
    counts = 10_000 * channel.apply(shares)
    return dn.estimate(dn.Observation(dn.Domain({"x": listed}), channel, counts), "x")


FUNCTIONS = {
    "mean": lambda *a, **k: [dn.mean(*a, **k).value, *dn.mean(*a, **k).interval()],
    "total": lambda *a, **k: dn.total(*a, size=50, **k).value,
    "median": lambda *a, **k: [dn.median(*a, **k).value, *dn.median(*a, **k).interval()],
    "quantile": lambda *a, **k: dn.quantile(*a, [0.1, 0.9], **k).values,
    "cdf": lambda *a, **k: dn.cdf(*a, **k).values,
    "density": lambda *a, **k: dn.density(*a, **k).heights,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(("categories", "edges"), TELLING)
@pytest.mark.parametrize("order", [[4, 3, 2, 1, 0], [2, 0, 4, 1, 3]])
def test_categories_in_any_order_say_the_same(name, categories, edges, order):
    function = FUNCTIONS[name]
    rising, other = asked(categories, range(5)), asked(categories, order)
    expected = function(rising, edges=edges)
    np.testing.assert_allclose(function(other, edges=edges), expected, rtol=1e-6)
    np.testing.assert_allclose(
        function(other, edges=edges[::-1]), expected, rtol=1e-6
    )  # nor does the edges' order count
    if name in ("mean", "cdf", "total") and categories is not BINS:  # by themselves they count as what they are
        np.testing.assert_allclose(function(other), function(rising), rtol=1e-6)


def test_a_mean_of_descending_bins_is_that_of_the_people():
    middles = (np.array(ENDS[:-1]) + ENDS[1:]) / 2
    for order in (range(5), range(4, -1, -1)):
        assert dn.mean(asked(BINS, order), edges=ENDS).value == pytest.approx(middles @ SHARES, abs=1e-6)
        assert dn.mean(asked(WORDS, order), edges=ENDS[:: 1 if order[0] == 0 else -1]).value == pytest.approx(
            middles @ SHARES, abs=1e-6
        )


@pytest.mark.parametrize(
    ("categories", "edges"),
    [
        (BINS, [0, 10, 20, 50, 80, 100]),  # another edge than the names have
        (BINS, [0, 5, 20, 40, 80, 100]),
        (SCALE, [0, 1.5, 2.5, 2.8, 4.5, 5.5]),  # 3 does not lie between 2.5 and 2.8
        (WORDS, ENDS[::-1]),  # the words rise, the edges fall
        (WORDS[::-1], ENDS),
        (["low", "b", "c", "d", "high"], [0, 1, 1, 2, 3, 4]),
        (["low", "b", "c", "d", "high"], [0, 1, 2, 3]),
    ],
)
def test_edges_that_contradict_the_categories_are_refused(categories, edges):
    with pytest.raises(InputError, match="edges"):
        dn.mean(asked(categories, range(5)), edges=edges)


def test_words_alone_are_taken_in_the_order_of_the_edges():
    words = ["low", "lower middle", "middle", "upper middle", "high"]
    up = dn.mean(asked(words, range(5)), edges=STEPS).value
    assert up == pytest.approx(SHARES @ np.array(SCALE), abs=1e-6)
    assert dn.mean(asked(words, range(4, -1, -1)), edges=STEPS[::-1]).value == pytest.approx(up, abs=1e-6)


def test_codes_are_no_sizes():
    found = dn.estimate(dn.Observation("x", dn.KRR(3, 2.0), [300, 500, 200]), "x")
    assert ordered(found.table.domain["x"], edges=[18, 30, 65, 100]).places.tolist() == [0, 1, 2]
    with pytest.raises(InputError, match="edges"):
        ordered(Variable("x", (2, 1, 0)), edges=[18, 30, 65, 100])


# -- who takes no part -------------------------------------------------------------------------------------------------

REFUSED = ("prefer not to say", "does not apply")
TOLD = "take no part: an estimated 20.0% of 10000 reports, about 2000"


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(("categories", "edges"), TELLING)
def test_whoever_gives_no_number_takes_no_part(name, categories, edges):
    if not isinstance(categories[0], str):
        return  # categories are all of one type
    function = FUNCTIONS[name]
    alone, both = asked(categories, range(5)), asked(categories, range(5), *REFUSED, share=0.1)
    both = dn.estimate(  # the same people, and a fifth beside them
        dn.Observation(
            both.table.domain, (c := dn.KRR(7, 3.0)), 10_000 * c.apply([*(0.8 * np.array(SHARES)), 0.1, 0.1])
        ),
        "x",
    )
    share = 0.8 if name == "total" else 1.0
    first = np.ravel(function(alone, edges=edges))
    second = np.ravel(function(both, edges=edges))
    tolerance = 0.02 if name == "density" else 1e-6  # how much is smoothed depends on how much is known
    take = 1 if name in ("mean", "median") else len(first)  # their intervals are wider
    np.testing.assert_allclose(second[:take], share * first[:take], rtol=tolerance)


def test_the_output_says_how_many_take_no_part():
    channel = dn.KRR(7, 3.0)
    domain = dn.Domain({"x": [*BINS, *REFUSED]})
    found = dn.estimate(
        dn.Observation(domain, channel, 10_000 * channel.apply([*(0.8 * np.array(SHARES)), 0.1, 0.1])), "x"
    )
    for made in (dn.mean(found, edges=ENDS), dn.median(found), dn.total(found, size=9, edges=ENDS)):
        assert any(TOLD in note for note in made.warnings)
    for made in (dn.cdf(found), dn.density(found, edges=ENDS)):
        assert TOLD in str(made)


def test_nor_in_a_group_or_a_difference_of_groups():
    domain = dn.Domain({"x": ["1", "2", "3", "prefer not to say"], "sex": ["F", "M"]})
    table = np.array([[0.1, 0.2], [0.2, 0.1], [0.1, 0.1], [0.15, 0.05]])
    channel = dn.KRR(8, 6.0)
    found = dn.estimate(dn.Observation(domain, channel, 10_000 * channel.apply(table.ravel())), ["x", "sex"])
    means = dn.means_by(found, "x", "sex")
    expected = [table[:3, g] @ [1, 2, 3] / table[:3, g].sum() for g in (0, 1)]
    np.testing.assert_allclose(means.values, expected, atol=1e-6)
    # 5500 of 10000 are F, of whom 15 of 55 refused.
    assert any("an estimated 27.3% of 5500 in sex F, about 1500" in note for note in means.measures[0].warnings)
    gap = dn.mean_difference(found, "x", "sex", groups=("F", "M"))
    assert gap.value == pytest.approx(expected[1] - expected[0], abs=1e-6)
    assert any("an estimated 20.0% of 10000 reports" in note for note in gap.warnings)


@pytest.mark.parametrize(
    "scores", [None, [[1, 2, 3, None], [1, 2, 3, None]], [{"1": 1, "2": 2, "3": 3, "prefer not to say": None}, None]]
)
@pytest.mark.parametrize("method", ["delta", "bootstrap"])
def test_a_correlation_is_of_those_who_give_both(scores, method):
    three = np.array([[0.2, 0.05, 0.03], [0.04, 0.2, 0.05], [0.03, 0.05, 0.15]])
    four = np.zeros((4, 4))
    four[:3, :3], four[3, :], four[:3, 3] = three, 0.05, 0.0
    four[3, 3] = 0.2 - 0.15
    four /= four.sum()
    steps = ["1", "2", "3", "prefer not to say"]
    channel = dn.KRR(16, 8.0)
    found = dn.estimate(
        dn.Observation(dn.Domain({"a": steps, "b": steps}), channel, 50_000 * channel.apply(four.ravel())), ["a", "b"]
    )
    small = three / three.sum()
    u = np.arange(3)
    rows, columns = small.sum(axis=1), small.sum(axis=0)
    top = u @ small @ u - (rows @ u) * (columns @ u)
    r = top / np.sqrt((rows @ u**2 - (rows @ u) ** 2) * (columns @ u**2 - (columns @ u) ** 2))
    made = dn.correlation(found, scores, method=method, source=dn.Seeded(1), replicates=99)
    assert made.value == pytest.approx(r, abs=1e-6)
    low, high = made.interval()
    assert low < r < high < low + 0.1
    assert any("'prefer not to say' of a takes no part" in note for note in made.warnings)


def test_by_default_only_what_a_survey_adds_itself_stands_aside():
    """And what is no bin among bins. Another word among numbers may have a size: whoever asks says it."""
    assert ordered(Variable("x", ("1", "2", "prefer not to say"))).aside == ["prefer not to say"]
    assert ordered(Variable("x", (*BINS[:0], "< 10", ">= 10", "does not apply"))).aside == ["does not apply"]
    assert ordered(Variable("x", ("no", "prefer not to say"))).aside == []
    assert ordered(Variable("x", ("no idea", ">= 10", "< 10")), edges=[0, 10, 20]).aside == ["no idea"]
    with pytest.raises(InputError, match="give scores="):
        ordered(Variable("x", ("1", "2", "no idea"))).sizes()
