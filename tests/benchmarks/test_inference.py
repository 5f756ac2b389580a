import pytest
from scipy.stats import binom

from benchmarks.benchmark import Claim, Measurement
from benchmarks.calibration import clustered_functions, few_clusters, regression_coverage
from benchmarks.speed import inference
from chequered import one_of, times
from deniable.core.randomness import Seeded


def test_the_benchmark_runs_with_few_replicates():
    outcome = inference.measure(replicates=19, repeats=1, attributes=4, n=400)
    assert [claim.what for claim in outcome.claims] == list(inference.LIMITS)
    assert outcome.rows["answer"][6] > 10_000
    assert "exact sample size" in str(outcome)


def test_the_command_returns_its_verdict(monkeypatch, capsys):
    for measured, verdict in ((0.1, 0), (2.0, 1)):
        outcome = Measurement("t", {"a": [1]}, [Claim("c", measured, 1.0, "s", at_most=True)])
        monkeypatch.setattr(inference, "measure", lambda outcome=outcome: outcome)
        assert inference.main() == verdict
    assert "t" in capsys.readouterr().out


def test_simulated_models_have_the_stated_coefficients():
    source = Seeded(5)
    rng = source.stream().generator()
    for make in (regression_coverage.outcome, regression_coverage.predictor, regression_coverage.together):
        fit = make(times(20_000, 6_000), rng, source)
        assert fit.interval(0.9999).contains(regression_coverage.SLOPES).all()


def test_coverage_is_counted_for_every_coefficient(monkeypatch):
    monkeypatch.setattr(regression_coverage, "_CASES", {"RR logit": (500,), "RR predictor in a linear model": (300,)})
    rows = list(regression_coverage.regressions(3, seed=1))
    assert len(rows) == 6
    assert all(0 <= hits <= 3 for *_, hits in rows)
    outcome = regression_coverage.measure(count=2)
    assert "slope of z" in str(outcome)
    assert [claim.required for claim in outcome.claims] == list(regression_coverage.COVERED)
    monkeypatch.setattr(regression_coverage, "measure", lambda: outcome)
    assert regression_coverage.main() == (0 if outcome.met else 1)


@pytest.mark.parametrize(
    ("design", "drawn"),
    one_of(
        2,
        [
            ("Views of two, epsilon 3", clustered_functions.WEIGHTED),
            ("hashes, epsilon 3", "8 unequal"),
            ("Sampled, epsilon 3", "4 in 2 strata"),
        ],
    ),
)
def test_every_function_of_clusters_and_weights_is_covered(design, drawn):
    surveys, seen = 12, set()
    for _, _, what, hits, (low, high) in clustered_functions.clustered(surveys, 1, [design], [drawn]):
        seen.add(what)
        # Of 12 surveys, each of some 60 numbers in these three tests beyond these with a chance below 1e-8.
        assert binom.ppf(1e-8, surveys, low) <= min(hits), what
        assert max(hits) <= binom.isf(1e-8, surveys, high), what
    told = {*clustered_functions.OF_ONE, "goodness of fit"}
    of_two = {*clustered_functions.OF_TWO, "independence", "slopes of logit"}
    assert seen == (told if "Sampled" in design else told | of_two)


def test_few_clusters_are_covered_through_a_channel_made_for_other_numbers():
    design, surveys = "made for a mean and a pair, epsilon 3", 30
    for _, clusters, what, hits, (low, high) in few_clusters.few_clusters(surveys, 1, [design]):
        # Of 30 surveys, each of some 20 shares beyond these with a chance below 1e-7 if the bounds hold.
        least, most = binom.ppf(5e-8, surveys, low), binom.isf(5e-8, surveys, high)
        assert least <= min(hits), (clusters, what)
        assert max(hits) <= most, (clusters, what)
