"""The accuracy bench on its cheap rows: the printed factors of k-RR and sets, and every claim but the simulated one."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.accuracy import accuracy, rivals, same_people
from deniable.optimal.optimal_channel import optimal_channel


def test_the_cheap_rows_are_as_printed():
    found = accuracy.measure(small=("cdf 7", "mean, shares"), large=(), mixes=("survey",), epsilons=(1.0,), surveys=2)
    assert found.rows["k-RR"] == pytest.approx([1.53, 1.69], abs=0.006)
    assert found.rows["sets"] == pytest.approx([1.31, 1.69], abs=0.006)
    assert found.rows["bound"] == ["certified", "certified"]
    # Two surveys say nothing about the last, and how long a channel takes (the third) is no matter of a test.
    assert all(claim.met for claim in [*found.claims[:2], *found.claims[3:-1]])
    assert len(found.claims) == 7


def test_simulated_errors_are_the_loss():
    # 400 surveys; a sum of squares varies at most like one of them, so by sqrt(2 / 400) = 7%, and five of these
    # deviations are passed with probability below 1e-6.
    rows = accuracy.wanted_rows("cdf 7")
    channel = accuracy.optimal_channel(rows, 2.0)
    assert accuracy.errors(channel, rows, 2000, 400, seed=5) == pytest.approx(channel.loss, rel=0.36)


def test_all_that_is_wanted_has_rows():
    assert {name: accuracy.wanted_rows(name).shape for name in (*accuracy.SMALL, *accuracy.LARGE)} == {
        "cdf 7": (6, 7),
        "cdf 11": (10, 11),
        "pairs of 3": (12, 8),
        "mean, shares": (6, 5),
        "mean of 11": (1, 11),
        "associations": (12, 8),
        "cdf 64": (63, 64),
        "cdf 128": (127, 128),
    }
    assert np.isfinite(accuracy.wanted_rows("associations")).all()


def test_the_same_people_err_as_the_closed_forms_say():
    # 400 surveys, a squared error each that varies at most like a chi-square with one degree: sqrt(2 / 400) = 7%, and
    # five of these are passed with probability below 1e-6.
    t, epsilon = 11, 1.0
    errors = same_people.measure(epsilon, np.full(t, 1 / t), 400, seed=2)
    cdf = np.tril(np.ones((t, t)))[:-1]
    best = optimal_channel(cdf, epsilon)
    wave = best.problem.loss(rivals.square_wave(t, epsilon))
    assert errors["ours: optimal for the cdf"][0] == pytest.approx(best.loss, rel=0.36)
    assert errors["square wave, unbiased"][0] == pytest.approx(wave, rel=0.36)
    assert errors["Duchi"][1] == pytest.approx(rivals.duchi(t, epsilon) / (t - 1) ** 2, rel=0.36)
    assert errors["piecewise"][1] == pytest.approx(rivals.piecewise(t, epsilon) / (t - 1) ** 2, rel=0.36)
    # Smoothing is right where the truth is even, and nowhere near where most give one answer.
    spiked = same_people.measure(epsilon, same_people.populations()["one spike"], 20, seed=2)
    assert errors["square wave, EMS"][0] < errors["square wave, unbiased"][0]
    assert spiked["square wave, EMS"][0] > 5 * spiked["square wave, unbiased"][0]


def test_the_page_is_written_between_its_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n\n{accuracy.START}\nold\n{accuracy.END}\n\nafter\n")
    accuracy.write(page, "closed", "simulated")
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("\n\nafter\n")
    assert "old" not in text
    assert text.index("closed") < text.index("simulated")
