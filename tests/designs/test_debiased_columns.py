"""Debiased columns: their means are unbiased estimates, in this program and in others."""

from __future__ import annotations

import subprocess
from fractions import Fraction
from functools import cache
from itertools import product

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dn
from chequered import black
from deniable.core.labels import UNKNOWN, Labels
from deniable.core.provenance import PEOPLE
from deniable.designs.reports.debiased_columns import scores
from deniable.device.fake_limits import BITS
from deniable.device.protocol.answer_encoding import NOT_ASKED
from deniable.errors import InputError
from deniable.extensions.blocks.block_reports import BlockReports
from every_design import answered, every_design
from exams import answered as exam_answers

DOMAIN = dn.Domain({"a": ["n", "y"], "b": ["x", "y", NOT_ASKED], "c": ["n", "y"]})
ASKED = Labels(show_if={"b": {"region": ("north",)}})  # b is put to people of the north
LABELS = {"of everybody": UNKNOWN, "among those asked": ASKED}
N = 900
MADE = every_design(DOMAIN, N, block_size=300)


def people(n=N):
    """Whoever lives in the south has no answer to b."""
    rng = np.random.default_rng(1)
    columns = {name: rng.choice(v.categories[:2], n) for name, v in DOMAIN.items()}
    region = rng.choice(["north", "south"], n)
    columns["b"] = np.where(region == "north", columns["b"], NOT_ASKED)
    return pa.table({name: column.tolist() for name, column in (*columns.items(), ("region", region))})


@cache
def reports_to(name, keep=("region",), labels=UNKNOWN):
    design = MADE[name]
    made = design.randomize(answered(people(), design), keep=list(keep), source=dn.Seeded(2))
    return made.with_labels(labels)


def tables_of(design):
    known = [name for name in DOMAIN if name in design.domain]
    return [*([name] for name in known), ["a", "c"], *([["b", "a"], known] if "b" in known else [])]


ONE_BY_ONE = [name for name, design in MADE.items() if design.one_by_one]


LISTED = [
    name for name in ONE_BY_ONE if all(q.channel.every_report(4096) is not None for q in MADE[name].questions)
]  # of the others, hashes, means are compared with estimates below


def test_nearly_every_design_is_enumerated():
    assert set(ONE_BY_ONE) - set(LISTED) == {"hashing"}


BLOCKS = [name for name in MADE if name.startswith("blocks")]


@pytest.mark.filterwarnings("ignore::deniable.errors.SmallCellWarning")  # a row is a report that can come
@pytest.mark.parametrize(("name", "whom"), black([*LISTED, *BLOCKS], LABELS))
def test_the_expectation_of_a_score_is_whether_the_truth_is_its_cell(name, whom):
    """Exactly: every report that can come, weighted by its probability, for every truth about what is wanted.

    Of whoever was asked, "does not apply" is no truth about what is wanted; of blocks, with the last block's fakes.
    """
    design, labels = MADE[name], LABELS[whom]
    for names in tables_of(design):
        rows, chance = [], []
        for ballot, indices in enumerate(design.ballots):
            told = design.told(ballot, names)
            if told is None:
                continue
            channels = [_channel(name, i) for i in indices]
            every = [channel.every_report(4096) for channel in channels]
            for codes in product(*(each.tolist() for each in every)):
                alike = [channel.likelihood(np.array([code]))[0] for channel, code in zip(channels, codes, strict=True)]
                rows.append((ballot, [*codes, *[0] * (design.width - len(codes))]))
                chance.append((ballot, indices, alike))
        if not rows:
            continue
        made = scores(_reports(name, rows).with_labels(labels), [names])
        if not made:
            assert not design.covers(names)
            continue
        # Attributes that are not wanted are spread in a way of their own for each cell.
        rng = np.random.default_rng(3)
        for cell in made:
            assert NOT_ASKED not in dict(cell.cell).values() or not labels.show_if
            for truth in product(*(range(2 if labels.show_if else len(design.domain[n])) for n in names)):
                fixed = dict(zip(names, truth, strict=True))
                others = {n: rng.dirichlet(np.ones(len(v))) for n, v in design.domain.items()}
                weights = np.array([_chance(design, part, fixed, others) for part in chance])
                speaking = np.isfinite(cell.values)
                expected = (weights * np.where(speaking, cell.values, 0)).sum() / weights[speaking].sum()
                is_it = all(design.domain[n].categories[fixed[n]] == category for n, category in cell.cell)
                assert expected == pytest.approx(float(is_it), abs=1e-8), (names, cell.name)


def _published(name):
    """The last block whose fakes were published for some reports."""
    return reports_to(name).published[-1]


def _channel(name, index):
    """What a question's answers go through."""
    channel = MADE[name].questions[index].channel
    if name not in BLOCKS:
        return channel
    block = _published(name)
    whole = Fraction(sum(block.fakes[index]))
    return dn.Mixture(1 - whole / 2**BITS, [each / whole for each in block.fakes[index]])


def _reports(name, rows):
    """Reports of people of the north, of these ballots and codes."""
    design = MADE[name]
    ballots = np.array([ballot for ballot, _ in rows], dtype=np.uint8)
    answers = np.array([codes for _, codes in rows], dtype=design.answer_dtype).reshape(len(rows), design.width)
    north = nw.from_native(pa.table({"region": ["north"] * len(rows)}), eager_only=True)
    if name not in BLOCKS:
        return dn.Reports.of_codes(design, ballots, answers, north)
    published = reports_to(name).published
    last = np.full(len(rows), len(published) - 1)
    return BlockReports.of_blocks(design, ballots, answers, last, published, public=north)


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


@pytest.mark.parametrize(("name", "whom"), black(MADE, LABELS))
def test_means_are_those_of_inversion_where_a_table_is_asked_in_one_way(name, whom):
    """And elsewhere within five of their own errors of the efficient estimate; the seed is fixed."""
    labels = LABELS[whom]
    reports = reports_to(name, labels=labels)
    north = reports.public["region"].to_numpy() == "north"
    for names in tables_of(reports.design):
        made = scores(reports, [names])
        if not made:
            continue
        means = np.array([np.nanmean(score.values) for score in made])
        if labels.show_if and "b" in names:
            assert not np.isfinite(np.stack([score.values for score in made])[:, ~north]).any()
            assert all(score.label.endswith("among those asked") for score in made)
        found = dn.estimate(reports, names, "inversion")
        asked = [ballot for ballot in range(len(reports.design.ballots)) if reports.design.told(ballot, names)]
        told = {(t.domain, t.channel) for b in asked if (t := reports.told(b, names))}
        if len(told) == 1:
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
    assert sampled.debiased(["a", "b"]).column_names == ["dn_origin", "region"]
    assert sampled.debiased("a", ["a", "b"]).column_names == ["dn_share_a_n", "dn_share_a_y", "dn_origin", "region"]
    middle = dn.Patterns(4, [[1, 2], [3]], low=[9000, 4000], high=[24000, 11000], bits=16)
    some = dn.Design(dn.Domain({"x": ["a", "b", "c", "d"]}), [dn.Question(("x",), middle)], [[0]])
    made = some.randomize({"x": list("abcd") * 50}, source=dn.Seeded(1))
    names = made.with_origin(PEOPLE).debiased().column_names
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
