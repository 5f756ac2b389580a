"""Means, totals and groups where some prefer not to say: of those who answer, or of everybody."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable.device.protocol.answer_encoding import SKIPPED
from deniable.errors import InputError

# Of 12 parts: a number beside a refusal, in groups of which one is not told either.
DOMAIN = dn.Domain({"g": ["f", "m", SKIPPED], "b": ["0", "10", SKIPPED]})
SHARES = np.array([[3, 1, 1], [1, 2, 1], [1, 1, 1]]) / 12
COUNTS = 1e6 * dn.KRR(9, 3.0).apply(SHARES.ravel())  # as expected: without any chance
FOUND = dn.estimate(dn.Observation(DOMAIN, dn.KRR(9, 3.0), COUNTS), ["g", "b"])


@pytest.mark.parametrize("missing", ["drop", "model"])
def test_a_mean_is_that_of_those_who_answer(missing):
    found = dn.mean(FOUND, "b", missing=missing)
    assert found.value == pytest.approx(10 * 4 / 9, abs=1e-6)
    told = {"drop": "Nothing is assumed", "model": "missing at random"}
    assert told[missing] in str(found.summary())


def test_a_total_is_of_those_who_answer_or_of_everybody():
    dropped, modelled = (dn.total(FOUND, "b", size=1200, missing=missing) for missing in ("drop", "model"))
    assert dropped.value == pytest.approx(1200 * 10 * 4 / 12, abs=1e-3)
    assert modelled.value == pytest.approx(1200 * 10 * 4 / 9, abs=1e-3)
    mean = dn.mean(FOUND, "b", missing="model")
    assert modelled.std_error == pytest.approx(1200 * mean.std_error)
    assert list(modelled.interval()) == pytest.approx([1200 * end for end in mean.interval()])


def test_groups_are_those_who_say_theirs_or_have_one_of_their_own():
    dropped, modelled = (dn.means_by(FOUND, "b", "g", missing=missing) for missing in ("drop", "model"))
    assert dropped.rows == {"g": ("f", "m")}
    assert modelled.rows == {"g": ("f", "m", SKIPPED)}
    assert modelled.values == pytest.approx([10 / 4, 20 / 3, 5], abs=1e-5)
    assert dropped.values == pytest.approx(modelled.values[:2])
    assert "are in no group" in str(dropped.summary())
    assert "group of their own" in str(modelled.summary())
    apart = dn.mean_difference(FOUND, "b", "g", groups=("f", "m"))
    assert apart.value == pytest.approx(20 / 3 - 10 / 4, abs=1e-5)
    assert "are in no group" in str(apart.summary())


def test_every_number_says_of_whom_it_is():
    labels = [*map(str, range(5)), SKIPPED]
    design = dn.Joint({"b": labels, "g": ["f", "m"]}, 4.0)
    table = dn.Table(design.domain, np.full((6, 2), 1 / 12))
    reports = design.simulate(table, 60_000, source=dn.Seeded(1))
    whole = dn.estimate(reports, ["b"])
    for source in (reports, whole):
        found = [ask(source, attribute="b") for ask in (dn.mean, dn.median, dn.cdf, dn.density)]
        found += [dn.quantile(source, [0.25, 0.75], "b"), dn.total(source, "b", size=10)]
        for each in found:
            assert f"'{SKIPPED}' of b takes no part: an estimated 1" in str(each.summary())
    assert dn.cdf(whole).values == pytest.approx([0.2, 0.4, 0.6, 0.8], abs=0.02)  # of those who answer; error 0.002
    by = dn.means_by(reports, "b", "g")
    assert "takes no part" in str(by.summary())


def test_another_word_is_refused():
    for function, given in ((dn.mean, {}), (dn.total, {"size": 3}), (dn.means_by, {"by": "g"})):
        with pytest.raises(InputError, match='missing is "drop" or "model"'):
            function(FOUND, "b", missing="none", **given)
