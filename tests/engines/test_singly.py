"""Reports that are sets are weighed alike wherever they lie: in memory, in a file."""

import numpy as np
import pyarrow as pa
import pytest

import deniable as dn
from deniable.designs.reports import set_reports as sets

N, CELLS = 600, 4
ANALYSES = {
    "a share": lambda reports: dn.estimate(reports, "x"),
    "a table": lambda reports: dn.estimate(reports, ["x", "y"]),
    "maximum likelihood": lambda reports: dn.estimate(reports, ["x", "y"], "mle"),
    "inversion": lambda reports: dn.estimate(reports, ["x", "y"], "inversion"),
    "V": lambda reports: dn.cramers_v(dn.estimate(reports, ["x", "y"])),
    "a mean": lambda reports: dn.mean(reports, "x"),
    "independence": lambda reports: dn.independence(reports, "x", "y", replicates=19, source=dn.Seeded(2)),
    "regression": lambda reports: dn.logit("y ~ z", reports),
    "linear regression": lambda reports: dn.linear("x ~ z", reports),
}


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    x = np.minimum(rng.geometric(0.4, N) - 1, CELLS - 1)
    return pa.table({"x": x, "y": rng.choice(["no", "yes"], N), "z": rng.integers(0, 3, N)})


def numbers(found):
    if hasattr(found, "pvalue") and hasattr(found, "statistic"):
        return [found.statistic, found.pvalue]
    if hasattr(found, "params"):
        return [*found.params, *found.std_error]
    if hasattr(found, "values"):
        return [*np.ravel(found.values), *np.ravel(found.std_error), *np.ravel(found.interval().low)]
    return [found.value, found.std_error, *map(float, found.interval())]


@pytest.mark.parametrize("limit", [N, N - 1])
@pytest.mark.parametrize("channel", ["hashing", "unary"])
def test_the_same_reports_give_the_same_numbers_wherever_they_lie(people, tmp_path, monkeypatch, channel, limit):
    """At the limit they are weighed one by one, above it by what they hold; no analysis is lost by that."""
    monkeypatch.setattr(sets, "MOST_SINGLY", limit)
    monkeypatch.setattr(sets, "FEW_KINDS", 1)
    design = dn.Joint({"x": list(range(CELLS)), "y": ["no", "yes"]}, 4.0, channel=channel)
    reports = design.randomize(people, keep=["z"], source=dn.Seeded(1))
    reports.write(tmp_path / "reports.parquet")
    places = [reports, *(dn.open_reports(tmp_path / "reports.parquet", engine=e) for e in ("bincount", "duckdb"))]
    for name, analysis in ANALYSES.items():
        usual, *others = (numbers(analysis(place)) for place in places)
        for other in others:
            assert other == pytest.approx(usual, rel=1e-9, abs=1e-12), name


def test_inverted_sets_say_that_they_need_not_sum_to_one(people):
    design = dn.Joint({"x": list(range(CELLS)), "y": ["no", "yes"]}, 1.0, channel="hashing")
    reports = design.randomize(people.select(["x", "y"]), source=dn.Seeded(1))
    found = dn.estimate(reports, ["x", "y"], "inversion")
    assert abs(found.values.sum() - 1) > 0.01
    assert f"The unbiased cells sum to {found.values.sum():.1%}: reports are sets" in str(found)
    assert dn.estimate(reports, ["x", "y"]).values.sum() == pytest.approx(1)
    plain = dn.Joint(design.domain, 1.0).randomize(people.select(["x", "y"]), source=dn.Seeded(1))
    assert "sum to" not in str(dn.estimate(plain, ["x", "y"], "inversion"))
