import sys

import pytest

from benchmarks.speed import regression


def test_the_benchmark_runs_on_a_small_frame():
    outcome = regression.measure(rows=5000, predictors=3, repeats=1)
    assert outcome.claims[0].measured > 0
    assert "RR logit / ordinary logit" in str(outcome)
    _, ours, tuned = outcome.rows["std error of a slope"]
    assert ours == pytest.approx(tuned, rel=1e-4)  # the same maximum of the same likelihood
    assert all(error < 6 for error in outcome.rows["largest |error| / std error"])


def test_the_command_returns_its_verdict(monkeypatch, capsys):
    monkeypatch.setattr(regression, "measure", lambda *_rows, **_repeats: outcome)
    outcome = regression.Measurement("t", {"a": [1]}, [regression.Claim("c", 1.0, regression.LIMIT, at_most=True)])
    assert regression.main() == 0
    assert "t" in capsys.readouterr().out
    outcome = regression.Measurement("t", {"a": [1]}, [regression.Claim("c", 9.0, regression.LIMIT, at_most=True)])
    assert regression.main() == 1


def test_it_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "statsmodels.formula.api", None)
    with pytest.raises(ImportError, match="bench"):
        regression.measure(rows=10)
