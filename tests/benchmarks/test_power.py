"""The power bench: Wald's test as the library has it, the recovered associations, the page."""

import numpy as np
import pytest

import deniable as dn
from benchmarks.calibration import power, simulated_surveys
from deniable.core.randomness import Seeded
from deniable.designs.observation import Observation
from deniable.estimation.estimator import estimate
from deniable.inference.hypothesis_tests.pearson_and_wald import wald_statistics


@pytest.mark.parametrize("name", ["2x2", "3x4", "sparse 3x4"])
def test_many_wald_tests_at_once_are_the_library_s(name):
    from scipy.stats import chi2

    moved = simulated_surveys.associated(name)
    channel = dn.KRR(moved.size, epsilon=1.0)
    found = simulated_surveys.surveys(channel, moved, 10_000, 40, Seeded(1).stream().generator())
    rejected = []
    for i in range(40):
        one = Observation(["a", "b"], channel, found.counts[..., i].reshape(moved.shape))
        w1, w0, df = wald_statistics(estimate(one, ["a", "b"], method="inversion").dispersion)
        rejected.append(min(w1, w0) > chi2.isf(0.05, df))
    assert simulated_surveys.wald_rejects(found).tolist() == rejected


@pytest.mark.parametrize("case", power.CASES, ids=lambda case: f"{case.table}, {case.n}")
def test_one_association_gives_wald_its_stated_power_in_every_column(case):
    moved = simulated_surveys.associated(case.table)
    assert np.allclose(moved.sum(axis=0), simulated_surveys.TABLES[case.table].sum(axis=0))
    found = power.asymptotic(dn.KRR(moved.size, epsilon=1.0), moved, case.n)
    assert found == pytest.approx(case.wald, abs=0.015)  # rounding, and the errors of a simulation


def test_without_association_the_power_is_the_level():
    null = simulated_surveys.TABLES["3x4"]
    assert power.asymptotic(dn.KRR(12, epsilon=1.0), null, 10_000) == pytest.approx(0.05)


def test_the_table_goes_between_its_marks(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{power.START}\nold\n{power.END}\nafter\n")
    power.main(["--replicates", "200", "--write", str(page)])
    text = page.read_text()
    assert text.startswith("before")
    assert text.endswith("after\n")
    assert "old" not in text
    assert text.count("| sparse 3x4 |") == 2
    assert "Power beside the best test elsewhere" in capsys.readouterr().out


def test_a_level_gives_its_size():
    rng = np.random.default_rng(1)
    observed, reference = rng.chisquare(6, 4000), 0.9 * rng.chisquare(6, 4000)
    level = power._level(observed, reference, 0.061)
    assert (observed > np.quantile(reference, 1 - level)).mean() == pytest.approx(0.061, abs=1e-3)
