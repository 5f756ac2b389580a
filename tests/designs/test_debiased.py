"""Debiased columns: their means are unbiased estimates, in this program and in others."""

from __future__ import annotations

import subprocess
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable.designs.debiased import scores
from deniable.errors import InputError
from every_design import answered, every_design
from exams import answered as exam_answers

DOMAIN = dn.Domain({"a": ["n", "y"], "b": ["x", "y", "z"], "c": ["n", "y"]})
N = 900
MADE = every_design(DOMAIN, N, block_size=300)


def people(n=N):
    rng = np.random.default_rng(1)
    columns = {name: rng.choice(v.categories, n).tolist() for name, v in DOMAIN.items()}
    return pa.table({**columns, "region": rng.choice(["north", "south"], n).tolist()})


def reports_to(name, keep=("region",)):
    design = MADE[name]
    return design.randomize(answered(people(), design), keep=list(keep), source=dn.Seeded(2))


def tables_of(design):
    known = [name for name in DOMAIN if name in design.domain]
    return [*([name] for name in known), ["a", "c"], *([["b", "a"], known] if "b" in known else [])]


ONE_BY_ONE = [name for name, design in MADE.items() if design.one_by_one]


LISTED = [
    name for name in ONE_BY_ONE if all(q.channel.every_report(4096) is not None for q in MADE[name].questions)
]  # of the others, hashes, means are compared with estimates below


def test_nearly_every_design_is_enumerated():
    assert set(ONE_BY_ONE) - set(LISTED) == {"hashing"}


@pytest.mark.parametrize("name", LISTED)
def test_the_expectation_of_a_score_is_whether_the_truth_is_its_cell(name):
    """Exactly: every report that can come, weighted by its probability, for every truth about what is wanted."""
    design = MADE[name]
    for names in tables_of(design):
        rows, chance = [], []
        for ballot, indices in enumerate(design.ballots):
            told = design.told(ballot, names)
            if told is None:
                continue
            every = [design.questions[i].channel.every_report(4096) for i in indices]
            for codes in product(*(each.tolist() for each in every)):
                alike = [
                    design.questions[i].channel.likelihood(np.array([code]))[0]
                    for i, code in zip(indices, codes, strict=True)
                ]
                rows.append((ballot, [*codes, *[0] * (design.width - len(codes))]))
                chance.append((ballot, indices, alike))
        if not rows:
            continue
        held = dn.Reports.of_codes(
            design,
            np.array([ballot for ballot, _ in rows], dtype=np.uint8),
            np.array([codes for _, codes in rows], dtype=design.answer_dtype).reshape(len(rows), design.width),
        )
        made = scores(held, [names])
        if not made:
            assert not design.covers(names)
            continue
        # Attributes that are not wanted are spread in a way of their own for each cell.
        rng = np.random.default_rng(3)
        for cell in made:
            for truth in product(*(range(len(design.domain[n])) for n in names)):
                fixed = dict(zip(names, truth, strict=True))
                others = {n: rng.dirichlet(np.ones(len(v))) for n, v in design.domain.items()}
                weights = np.array([_chance(design, part, fixed, others) for part in chance])
                speaking = np.isfinite(cell.values)
                expected = (weights * np.where(speaking, cell.values, 0)).sum() / weights[speaking].sum()
                is_it = all(design.domain[n].categories[fixed[n]] == category for n, category in cell.cell)
                assert expected == pytest.approx(float(is_it), abs=1e-8), (names, cell.name)


def _chance(design, part, fixed, others):
    """Pr(ballot) Pr(report | somebody of these answers): attributes that are not fixed are drawn, each by itself."""
    ballot, indices, alike = part
    total = design.chances[ballot]
    for index, likelihood in zip(indices, alike, strict=True):
        axes = [
            np.eye(len(design.domain[n]))[fixed[n]] if n in fixed else others[n]
            for n in design.questions[index].attributes
        ]
        cells = axes[0]
        for axis in axes[1:]:
            cells = np.multiply.outer(cells, axis)
        total *= float(likelihood @ cells.ravel())
    return total


@pytest.mark.parametrize("name", MADE)
def test_means_are_those_of_inversion_where_the_same_reports_are_used(name):
    """And elsewhere within five of their own errors of the efficient estimate; the seed is fixed."""
    reports = reports_to(name)
    for names in tables_of(reports.design):
        made = scores(reports, [names])
        if not made:
            continue
        means = np.array([np.nanmean(score.values) for score in made])
        found = dn.estimate(reports, names, "inversion")
        asked = [ballot for ballot in range(len(reports.design.ballots)) if reports.design.told(ballot, names)]
        told = {(t.domain, t.channel) for b in asked if (t := reports.design.told(b, names))}
        if len(told) == 1 and "blocks" not in name:
            np.testing.assert_allclose(means, found.unbiased.values.ravel(), atol=1e-9)
        errors = np.array([np.nanstd(score.values) / np.sqrt(np.isfinite(score.values).sum()) for score in made])
        assert (np.abs(means - dn.estimate(reports, names).efficient.values.ravel()) < 5 * errors + 1e-9).all()


@pytest.mark.parametrize("name", ["blocks", "blocks, all of 4"])
def test_scores_are_unbiased_in_every_block(name):
    """Fakes differ between blocks, and who answers in which is not drawn: each must be right by itself."""
    design = MADE[name]
    everybody = dn.Table.count(answered(people(30_000), design), design.domain)
    reports = design.simulate(everybody, 30_000, source=dn.Seeded(5))
    truth = everybody.project("b").normalize().values
    made = scores(reports, [["b"]])
    for part in np.array_split(np.arange(30_000), 4):
        for score, share in zip(made, truth, strict=True):
            values = score.values[part][np.isfinite(score.values[part])]
            # Five errors and a half: 4e-8 each, of 12.
            assert abs(values.mean() - share) < 5.5 * values.std() / np.sqrt(len(values))


def test_what_a_design_does_not_tell_has_no_column():
    sampled = reports_to("sampled")
    assert sampled.debiased(["a", "b"]).column_names == ["region"]
    assert sampled.debiased("a", ["a", "b"]).column_names == ["dn_share_a_n", "dn_share_a_y", "region"]
    middle = dn.Patterns(4, [[1, 2], [3]], low=[9000, 4000], high=[24000, 11000], bits=16)
    some = dn.Design(dn.Domain({"x": ["a", "b", "c", "d"]}), [dn.Question(("x",), middle)], [[0]])
    made = some.randomize({"x": list("abcd") * 50}, source=dn.Seeded(1))
    names = made.debiased().column_names
    told = [c for c, row in zip("abcd", np.eye(4), strict=True) if middle.tells(row)]
    assert names == [f"dn_share_x_{c}" for c in told]
    wide = dn.Joint({"x": range(40), "y": range(40)}, 2.0).randomize({"x": [1] * 20, "y": [2] * 20})
    with pytest.raises(InputError, match="name fewer attributes"):
        wide.debiased(["x", "y"])


@pytest.mark.parametrize("library", [pa.table, pd.DataFrame, pl.DataFrame])
def test_who_was_not_asked_is_in_no_mean_of_any_library(library):
    design = MADE["sampled"]
    reports = design.randomize(library(people().to_pydict()), keep=["region"], source=dn.Seeded(2))
    frame = reports.debiased()
    assert isinstance(frame, type(library({"x": [1]})))
    known = (
        pa.Table.from_pandas(frame)
        if library is pd.DataFrame
        else frame.to_arrow()
        if library is pl.DataFrame
        else frame
    )
    asked = int((reports.ballots == 0).sum())
    assert known["dn_share_a_y"].null_count == N - asked
    found = dn.estimate(reports, "a", "inversion", by="region")
    for region, one in found.items():
        rows = known.filter(pa.compute.equal(known["region"], region))
        assert pa.compute.mean(rows["dn_share_a_y"]).as_py() == pytest.approx(one.unbiased.values[1], abs=1e-9)


# -- in files ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["parquet", "csv", "sav", "dta"])
@pytest.mark.parametrize("name", ["views", "blocks", "paired", "hashing"])
def test_files_that_hold_scores_are_read_as_reports(name, suffix, tmp_path):
    reports = reports_to(name)
    path = reports.write(tmp_path / f"r.{suffix}", debiased=["a", ["a", "c"]])
    back = dn.read_reports(path)
    assert np.array_equal(back.answers, reports.answers)
    assert back.public_names == ("region",)
    if suffix == "parquet" and reports.design.one_by_one:
        stored = dn.open_reports(path)
        assert stored.public_names == ("region",)
        assert pa.table(stored.debiased("a")).equals(pa.table(reports.debiased("a")))
        assert b"do not clip" in pq.read_schema(path).metadata[b"deniable.scores"]
    elif suffix != "parquet":
        assert "do not clip" in (tmp_path / f"r.{suffix}.design.json").read_text(encoding="utf-8")


def test_r_duckdb_and_spss_find_our_numbers(tmp_path):
    import duckdb

    reports = exam_answers()
    found = dn.estimate(reports, "cheated", "inversion", by="faculty")
    whole = dn.estimate(reports, "cheated", "inversion").unbiased.values[1]
    for suffix in ("csv", "sav", "parquet"):
        reports.write(tmp_path / f"r.{suffix}", debiased=["cheated", "stress"])
    program = """
      r <- read.csv("r.csv")
      cat(format(mean(r$dn_share_cheated_yes, na.rm = TRUE), digits = 17), "\\n")
      cat(format(tapply(r$dn_share_cheated_yes, r$faculty, mean, na.rm = TRUE), digits = 17), "\\n")
      w <- ifelse(r$faculty == "arts", 3, 1); k <- !is.na(r$dn_share_cheated_yes)
      cat(format(weighted.mean(r$dn_share_cheated_yes[k], w[k]), digits = 17), "\\n")
    """
    ran = subprocess.run(
        ["Rscript", "--vanilla", "-e", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    first, groups, weighted = ran.stdout.splitlines()
    assert float(first) == pytest.approx(whole, abs=1e-9)
    arts, law = (found[name].unbiased.values[1] for name in ("arts", "law"))
    assert [float(each) for each in groups.split()] == pytest.approx([arts, law], abs=1e-9)
    asked = {name: found[name].n for name in ("arts", "law")}
    expected = (3 * asked["arts"] * arts + asked["law"] * law) / (3 * asked["arts"] + asked["law"])
    assert float(weighted) == pytest.approx(expected, abs=1e-9)
    sql = f"SELECT avg(dn_share_cheated_yes) FROM '{tmp_path}/r.parquet'"  # noqa: S608 - a folder of our own
    assert duckdb.sql(sql).fetchall()[0][0] == pytest.approx(whole, abs=1e-9)
    (tmp_path / "c.sps").write_text("GET FILE='r.sav'.\nDISPLAY DICTIONARY.\nDESCRIPTIVES dn_share_cheated_yes.\n")
    spss = subprocess.run(
        ["pspp", "-O", "format=csv", "c.sps"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "[its mean is the share of] Have you cheated in an exam? = Yes" in spss.stdout
    line = next(
        line
        for line in spss.stdout.splitlines()
        if line.startswith("[its mean") and "Nominal" not in line and "Scale" not in line
    )
    assert f"{whole:.2f}".lstrip("0") in line
