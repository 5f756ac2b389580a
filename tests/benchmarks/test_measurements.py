"""Each measurement runs on small sizes and says what it must. How fast it is depends on the machine."""

import re
import time
from pathlib import Path

import numpy as np
import pytest

import benchmarks
from benchmarks import benchmark
from benchmarks.__main__ import found as all_found
from benchmarks.benchmark import Claim, Measurement, peak_memory, side_by_side
from benchmarks.speed import em, encoding, joint, randomize, sets
from deniable.channels.krr import KRR
from deniable.core.domain import Domain
from deniable.errors import MissingExtraError


def test_every_measurement_can_be_found_and_run_by_name():
    found = all_found()
    assert set(found) >= {"em", "encoding", "ingest", "joint", "dashboard", "randomize", "calibrate", "accuracy"}
    assert all(callable(module.main) for module in found.values())


def test_what_is_no_measurement_is_part_of_one():
    files = [path for path in Path(benchmarks.__file__).parent.rglob("*.py") if not path.stem.startswith("__")]
    parts = {path.stem for path in files} - set(all_found())
    texts = "".join(path.read_text(encoding="utf-8") for path in files)
    assert {part for part in parts if not re.search(rf"\.{part} import|import .*\b{part}\b", texts)} == set()


def test_a_claim_is_kept_on_its_side_of_the_bound():
    assert Claim("speed", 11.0, 10).met
    assert not Claim("speed", 9.0, 10).met
    assert Claim("memory", 9.0, 10, "MB", at_most=True).met
    assert not Claim("memory", 11.0, 10, "MB", at_most=True).met


def test_an_outcome_prints_requirements_beside_measurements(capsys):
    kept = Measurement("title", {"by": ["a"], "rate": [1.0]}, [Claim("speed", 11.0, 10)], ["a remark"])
    missed = Measurement("title", {"by": ["a"], "rate": [1.0]}, [Claim("speed", 11.0, 10), Claim("more", 9.0, 10)])
    assert kept.show() == 0
    printed = capsys.readouterr().out
    for text in ("title", ">= 10 x", "11 x", "yes", "a remark"):
        assert text in printed
    assert missed.show() == 1
    assert "NO" in capsys.readouterr().out


def test_tasks_take_turns():
    order = []
    best = side_by_side({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, repeats=3)
    assert order == ["a", "b"] * 3
    assert set(best) == {"a", "b"}


def test_waiting_is_not_counted_as_work(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(benchmark, "process_time", lambda: clock[0])

    def work():
        time.sleep(0.01)
        clock[0] += 2.0

    assert side_by_side({"work": work}, repeats=3) == {"work": 2.0}


def test_peak_memory_counts_what_was_held_at_once():
    peak = peak_memory(lambda: [np.zeros(1 << 20, dtype=np.uint8) for _ in range(3)])
    assert 3 << 20 <= peak < 4 << 20


def test_sets_measures_every_channel_and_step():
    found = sets.measure(2000, repeats=1, rivals=False)
    assert sorted(zip(found.rows["channel"], found.rows["step"], strict=True)) == sorted(
        (name, step) for name in ("unary", "subset", "hashing", "hadamard") for step in ("disguise", "count")
    )
    assert all(float(rate) > 0 for rate in found.rows["million/CPU-s"])


def test_randomize_measures_every_contender():
    found = randomize.measure(5000, repeats=1, rivals=False)
    assert list(found.rows["k"]) == [4] * 5 + [64] * 5
    others = ["keystream alone", "plain NumPy", "NumPy in 8 bits", "NumPy, our trick"]
    assert list(found.rows["by"][:5]) == ["deniable", *others]
    assert [claim.what for claim in found.claims] == [
        "k=4: rate over plain NumPy",
        "k=4: memory beyond input and output",
        "k=64: rate over plain NumPy",
        "k=64: memory beyond input and output",
    ]
    assert [claim.required for claim in found.claims] == [10, 16, 5, 16]
    assert all(claim.met for claim in found.claims if claim.at_most)


@pytest.mark.parametrize("rival", [randomize.plain_numpy, randomize.narrow_numpy, randomize.same_trick])
@pytest.mark.parametrize("k", [2, 4, 64])
def test_what_it_is_compared_with_does_the_same_thing(rival, k):
    n = 200_000
    for truth in (0, k - 1):
        reports = rival(np.full(n, truth, dtype=np.uint8), k, np.random.default_rng(3))
        shares = np.bincount(reports, minlength=k) / n
        expected = KRR(k, epsilon=1.0).matrix()[:, truth]
        assert np.abs(shares - expected).max() < 6 * np.sqrt(0.25 / n)


def test_randomize_disguises_in_little_memory():
    codes = np.zeros(3_000_000, dtype=np.uint8)
    for k in (4, 64, 200):
        assert peak_memory(lambda k=k: KRR(k, epsilon=1.0).randomize(codes)) - len(codes) < 4 << 20


def test_joint_measures_inverse_variances_and_the_explicit_matrix():
    found = joint.measure(((3,) * 3, (2, 3)), (2,) * 4, repeats=1)
    assert list(found.rows["table"]) == ["3^3"] * 2 + ["2 x 3"] * 2 + ["2^4"] * 4
    assert [claim.required for claim in found.claims] == [6, 6, 1000, 1000]


def test_joint_needs_few_tables_of_memory():
    channel, reports = joint.product((2,) * 16)
    for task in (channel.solve, channel.solve_squared, channel.apply):
        assert peak_memory(lambda task=task: task(reports)) < 6 * reports.nbytes


def test_both_ways_to_a_joint_table_agree():
    channel, reports = joint.product((2, 3, 4, 2))
    solved = np.linalg.solve(joint.explicit_matrix(channel), reports.ravel()).reshape(reports.shape)
    np.testing.assert_allclose(channel.solve(reports), solved, atol=1e-12)


def test_em_measures_both_designs_both_ways():
    codes = np.random.default_rng(1).integers(0, [3, 2], size=(2000, 2))
    domain = Domain({"a": range(3), "b": range(2)})
    found = em.measure(codes, domain, "made", gap=1e-2)
    assert list(found.rows["design"]) == ["one tuple"] * 2 + ["each attribute"] * 2
    assert all(evaluations >= 1 for evaluations in found.rows["evaluations"])
    assert found.rows["by"][0] == "closed form"
    assert found.rows["evaluations"][1] > 1  # plain EM begins at the even table, and climbs
    assert [claim.required for claim in found.claims] == [50, 50]


def test_em_has_records_without_the_data(monkeypatch):
    def absent():
        raise MissingExtraError("not installed")

    monkeypatch.setattr(em, "adult", absent)
    codes, domain, title = em.records()
    assert codes.shape == (32_561, 2)
    assert domain.shape == (16, 15)
    assert "made" in title
    assert (codes.max(axis=0) < domain.shape).all()


def test_plain_em_is_stopped_and_its_ratio_called_a_lower_bound(monkeypatch):
    monkeypatch.setattr(em, "FEWER", 1)
    # Almost all reports of one category: plain EM creeps towards the corner.
    codes = np.zeros((5000, 2), dtype=np.int64)
    domain = Domain({"a": range(4), "b": range(3)})
    found = em.measure(codes, domain, "made", gap=1e-6)
    stopped = [by for by in found.rows["by"] if "stopped" in by]
    assert len(stopped) == sum("lower bound" in claim.what for claim in found.claims) > 0


def test_encoding_names_what_it_measures_and_every_way_gives_the_same_codes():
    found = encoding.measure(2000)
    assert [claim.what for claim in found.claims] == [
        "disguise a frame / read it",
        "encode texts / dictionaries",
        "whole rows / needed columns",
        "codes of 64 bits / of 8",
    ]
    domain, table = encoding.people(500, 3)
    assert (domain.encode(table) == domain.encode(encoding.written_out(table))).all()
