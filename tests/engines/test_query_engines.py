"""One suite for every engine: identical counts, identical refusals. The one in memory is the reference."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dn
import on_spark
from benchmarks.speed import engines as five
from chequered import black
from deniable.channels.sets.two_level import TwoLevel
from deniable.core.randomness import Seeded
from deniable.engines import query_engines as engines
from deniable.engines.arrow_batches import HELD
from deniable.engines.stored_reports import StoredReports, open_reports
from deniable.errors import DesignError, InputError, MissingColumnError, PrivacyError, UnknownAttributeError

DOMAIN = dn.Domain({"sex": ["F", "M"], "children": [0, 1, 2], "smokes": ["no", "yes"], "age": list("abcdefghi")})
DESIGNS = {
    "independent": dn.Independent(DOMAIN, 4.0),
    "joint": dn.Joint(DOMAIN, 2.0),
    "clusters": dn.Clusters(DOMAIN, [["sex", "age"], ["children"], ["smokes"]], 4.0),
    "sampled": dn.Sampled(DOMAIN, 2.0),
    "views": dn.Views(DOMAIN, 2, 2.0),
    "views_all": dn.Views(DOMAIN, 2, 2.0, answer="all"),
    # Reports that are sets: digits, digits sent again, hashes; and with several ballots.
    "sets": dn.Independent(
        DOMAIN,
        channels={
            "sex": dn.KRR(2, 1.0),
            "children": TwoLevel(dn.Unary(3, 2.0), dn.KRR(2, 1.0)),
            "smokes": dn.Unary(2, 1.0),
            "age": dn.LocalHashing(9, 1.0),
        },
    ),
    "views_sets": dn.Views(DOMAIN, 2, 2.0, channel="subset"),
    "sampled_hashes": dn.Sampled(DOMAIN, 2.0, channel="hashing"),
}
TABLES = [["sex"], ["age"], ["sex", "children"], ["age", "smokes"], ["sex", "children", "smokes"]]
ROWS = int(os.environ.get("DENIABLE_ROWS", "2000"))
MANY = int(os.environ.get("DENIABLE_MANY", "100000"))
# Starting Spark takes longer than all other engines together, and each of its answers a second: categories, sets and
# hashes of one file here, every design with `make engines`.
ON_SPARK = DESIGNS if ROWS > 2000 else []
TABLES_ON_SPARK = (None, *TABLES)


def people(n=ROWS):
    rng = np.random.default_rng(1)
    columns = {name: rng.choice(np.array(v.categories), n) for name, v in DOMAIN.items()}
    return pd.DataFrame({**columns, "region": rng.choice(["north", "süd"], n)})


@pytest.fixture(scope="module")
def made():
    frame = people()
    return {name: d.randomize(frame, keep=["region"], source=Seeded(1)) for name, d in DESIGNS.items()}


def uploaded(reports):
    """As other systems store it: whole numbers with a sign."""
    table = pa.Table.from_pandas(reports.to_frame(), preserve_index=False).replace_schema_metadata(None)
    signed = {pa.uint64(): pa.int64(), pa.int64(): pa.int64()}
    wider = [signed.get(f.type, pa.int32()) if pa.types.is_integer(f.type) else f.type for f in table.schema]
    return table.cast(pa.schema(list(zip(table.column_names, wider, strict=True))))


def as_bincount(_request, reports, _name, folder):
    return open_reports(reports.write(folder / "r.parquet"))


def as_sparse(request, reports, name, folder):
    request.getfixturevalue("monkeypatch").setattr(engines, "_MOST_CELLS", 1)
    return as_bincount(request, reports, name, folder)


def as_duckdb(_request, reports, _name, folder):
    return open_reports(reports.write(folder / "r.parquet"), engine="duckdb")


def as_duckdb_table(_request, reports, _name, _folder):
    import ibis

    return open_reports(ibis.duckdb.connect().create_table("reports", uploaded(reports)), reports.design)


def as_postgres(request, reports, name, _folder):
    connection = request.getfixturevalue("postgres")
    return open_reports(connection.create_table(f"reports_{name}", uploaded(reports), overwrite=True), reports.design)


def as_folder(_request, reports, _name, folder):
    target = folder / "r.parquet"
    target.mkdir()
    table = uploaded(reports)
    size = ROWS // 3 + 1
    for part in range(3):
        pq.write_table(table.slice(part * size, size), target / f"part-{part}.parquet")
    (target / "_design.json").write_bytes(reports.header.json())
    return open_reports(target)


ENGINES = [as_bincount, as_sparse, as_duckdb, as_duckdb_table, as_postgres, as_folder]


def check(stored, reports, tables=(None, *TABLES)):
    """The whole contract."""
    assert isinstance(stored, StoredReports)
    assert stored.n == len(stored) == reports.n
    assert stored.design == reports.design
    for names in tables:
        found, expected = stored.tabulate(names), reports.tabulate(names)
        assert len(found) == len(expected) > 0
        for one, other in zip(found, expected, strict=True):
            assert np.array_equal(one.counts, other.counts)
            assert one.domain == other.domain
            assert one.channel == other.channel
            assert one.population == other.population
    for (value, part), (expected_value, expected_part) in zip(
        stored.groups("region"), reports.groups("region"), strict=True
    ):
        assert (value, part.n) == (expected_value, expected_part.n)
        assert np.array_equal(part.tabulate(["age"])[0].counts, expected_part.tabulate(["age"])[0].counts)
    with pytest.raises(UnknownAttributeError, match="no public column 'planet'"):
        next(stored.groups("planet"))
    assert np.array_equal(dn.estimate(stored, ["sex"]).values, dn.estimate(reports, ["sex"]).values)


@pytest.mark.parametrize(("engine", "name"), black(ENGINES, DESIGNS))
def test_every_engine_counts_the_same(engine, name, made, request, tmp_path):
    check(engine(request, made[name], name, tmp_path), made[name])


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A file of reports: categories, sets and hashes; and what NumPy counts of them as they stream by."""
    path = tmp_path_factory.mktemp("many") / "reports.parquet"
    five.write_reports(path, MANY)
    with five.numpy(path) as running:
        return path, {names: five.counts(running.engine, names) for names in five.TABLES}


def check_many(running, expected, tables=five.TABLES):
    """Identical counts; and those of a group are what is left of the others'."""
    assert running.engine.rows({}) == MANY
    for names in tables:
        assert np.array_equal(five.counts(running.engine, names), expected[names]), names


def test_what_streams_by_is_counted_as_it_is_in_memory(many):
    path, expected = many
    if MANY <= 100_000:
        reports = dn.read_reports(path)
        for names in five.TABLES:
            assert np.array_equal(reports.tabulate(names)[0].counts, expected[names])
    stored = open_reports(path)
    parts = [part.tabulate(["hash"])[0].counts for _, part in stored.groups("region")]
    assert np.array_equal(np.sum(parts, axis=0), expected["hash",])


def test_many_reports_on_duckdb(many):
    path, expected = many
    with five.duckdb(path) as running:
        check_many(running, expected)
        # Its own SQL counts hashes as well; NumPy is only faster.
        running.engine.name = "another"
        check_many(running, expected, [("hash",)] if MANY <= 100_000 else [])


def test_many_reports_on_postgresql(many, database):
    import ibis

    path, expected = many
    five.copy_into(database, path)
    connection = ibis.connect(database)
    check_many(five.Running(engines.IbisEngine(connection.table("reports")), list), expected)
    connection.disconnect()


def test_many_reports_on_clickhouse(many):
    path, expected = many
    with five.clickhouse(path) as running:
        check_many(running, expected)


def test_spark(spark, spark_logs, made, many, tmp_path):
    """Counting and disguising on Spark, in one test: starting it takes longer than all of this."""
    from deniable.engines.spark import randomize

    path, expected = many
    with five.spark(path, spark) as running:
        check_many(running, expected, five.TABLES[:3])
    for name in ON_SPARK:
        reports = made[name]
        check(open_reports(spark.createDataFrame(uploaded(reports)), reports.design), reports, TABLES_ON_SPARK)
    design, frame = DESIGNS["views"], spark.createDataFrame(pa.Table.from_pandas(people(), preserve_index=False))
    target = str(tmp_path / "reports[1]")  # which is a pattern where Spark reads, and a name where it writes
    lazy = randomize(frame, design, target, keep=["region"], notes=["A note."])
    stored = open_reports(target)
    assert stored.design == design
    assert stored.notes == (HELD, "A note.")
    assert lazy.count() == stored.n == len(people())
    # Counted again and again, the disguise is the one that was written.
    counts = [open_reports(lazy, design).tabulate(["age"])[0].counts for _ in range(2)]
    assert np.array_equal(*counts)
    assert np.array_equal(counts[0], stored.tabulate(["age"])[0].counts)
    truth = dn.Table.count(people(), DOMAIN).project("age").normalize().values
    found = dn.estimate(stored, "age")
    assert (np.abs(found.unbiased.values - truth) < 6 * found.std_error).all()
    with pytest.raises(PrivacyError, match="a second time"):
        randomize(frame, design, target)
    with pytest.raises(MissingColumnError):
        randomize(frame.drop("sex"), design, str(tmp_path / "other"))
    on_spark.check(spark, tmp_path, spark_logs)


NAMES = [
    *("wave[1].parquet", "w*.parquet", "w?.parquet", "**.parquet", "k=5/r.parquet", "a**b/[x]/{r}.parquet"),
    *(
        "it's.parquet",
        'a "q" b.parquet',
        "a b;--.parquet",
        "[!a].parquet",
        "a\\b.parquet",
        "~r.parquet",
        "%20#$H.parquet",
    ),
]


@pytest.mark.parametrize("engine", ["bincount", "duckdb"])
@pytest.mark.parametrize("name", NAMES)
def test_a_path_means_itself(name, engine, made, tmp_path):
    """Beside it lie other files, which it would stand for if it were a pattern; a folder's name is no column."""
    for other in ("wave1.parquet", "wx.parquet", "a.parquet", "axb/x/r.parquet"):
        made["views_sets"].write(tmp_path / other)
    made["views"].write(tmp_path / name)
    stored = open_reports(tmp_path / name, engine=engine)
    assert (stored.n, stored.public_names) == (ROWS, ("region",))
    assert np.array_equal(stored.tabulate(["sex"])[0].counts, made["views"].tabulate(["sex"])[0].counts)
    assert np.array_equal(dn.read_reports(tmp_path / name).answers, made["views"].answers)


@pytest.mark.parametrize("engine", ["bincount", "duckdb"])
def test_a_folder_of_files_whose_names_are_patterns(engine, made, tmp_path):
    folder = tmp_path / "waves[1]" / "k=5"
    folder.mkdir(parents=True)
    (folder / "_design.json").write_bytes(made["views"].header.json())
    table = uploaded(made["views"])
    for part, name in enumerate(("a[1].parquet", "a1.parquet")):
        pq.write_table(table.slice(part * ROWS // 2, ROWS // 2), folder / name)
    stored = open_reports(folder, engine=engine)
    assert (stored.n, stored.public_names) == (ROWS, ("region",))
    assert np.array_equal(stored.tabulate(["sex"])[0].counts, made["views"].tabulate(["sex"])[0].counts)


def test_duckdb_says_when_it_has_no_way_to_write_a_name(made, tmp_path):
    path = made["views"].write(tmp_path / "a\\[b].parquet")
    with pytest.raises(InputError, match="leave the engine out"):
        open_reports(path, engine="duckdb")
    assert open_reports(path).n == ROWS


def test_one_pass_serves_all_tables(made, tmp_path, monkeypatch):
    stored = as_bincount(None, made["views"], "views", tmp_path)
    counted = []
    original = stored.engine.count
    monkeypatch.setattr(stored.engine, "count", lambda sizes, where: counted.append(sizes) or original(sizes, where))
    for names in TABLES:
        stored.tabulate(names)
    assert counted == [{"dn_ballot": 6, "dn_answer_0": 27}]


def test_rows_are_loaded_when_they_are_asked_for(made, tmp_path):
    stored = as_duckdb(None, made["views"], "views", tmp_path)
    assert np.array_equal(stored.answers, made["views"].answers)
    assert np.array_equal(stored.ballots, made["views"].ballots)
    assert stored.public["region"].to_list() == made["views"].public["region"].to_list()
    assert "loaded" not in vars(as_bincount(None, made["views"], "views", tmp_path))


def test_tests_take_stored_reports_as_they_are(made, tmp_path):
    stored = as_bincount(None, made["independent"], "independent", tmp_path)
    found, expected = (dn.independence(r, "sex", "age") for r in (stored, made["independent"]))
    assert (found.statistic, found.pvalue) == (expected.statistic, expected.pvalue)


def test_designs_that_need_more_than_counts_are_read(tmp_path):
    frame = people(200)
    for design in (dn.Blocks(DOMAIN, 2, 2.0, block_size=50), dn.Paired(DOMAIN, 0.75, -0.2)):
        path = design.randomize(frame, source=Seeded(1)).write(tmp_path / f"{design.kind}.parquet")
        assert not isinstance(open_reports(path), StoredReports)
        with pytest.raises(DesignError, match="more than their counts"):
            StoredReports(engines.ParquetEngine([path]), design)


def corrupt(reports, path, codes):
    table = uploaded(reports).set_column(1, "dn_answer_0", codes)
    header = reports.header
    pq.write_table(table.replace_schema_metadata(header.metadata()), path)
    return path


@pytest.mark.parametrize("engine", ["bincount", "duckdb"])
@pytest.mark.parametrize(
    ("codes", "told"),
    [
        (pa.array([99] * ROWS), "the code 99"),
        (pa.array([-1] * ROWS), "the code -1"),
        (pa.array([None] * ROWS, pa.int32()), "missing values"),
        (pa.array([0.5] * ROWS), "double values"),
        (pa.array([26] * ROWS), "has only"),  # an answer of another ballot's question
    ],
)
def test_codes_that_cannot_be_are_refused(engine, codes, told, made, tmp_path):
    path = corrupt(made["views"], tmp_path / "r.parquet", codes)
    with pytest.raises(InputError, match=told):
        open_reports(path, engine=engine).tabulate(["sex", "children"])


def test_what_cannot_be_opened_is_refused(made, tmp_path):
    import ibis

    reports = made["views"]
    path = reports.write(tmp_path / "r.parquet")
    table = ibis.duckdb.connect().create_table("reports", uploaded(reports))
    with pytest.raises(InputError, match="give design="):
        open_reports(table)
    with pytest.raises(MissingColumnError, match="is missing among"):
        open_reports(table.drop("dn_ballot"), reports.design)
    with pytest.raises(DesignError, match="another design"):
        open_reports(path, DESIGNS["joint"])
    with pytest.raises(InputError, match="not by 'abacus'"):
        open_reports(path, engine="abacus")
    with pytest.raises(InputError, match="not from DataFrame"):
        open_reports(people(), reports.design)
    with pytest.raises(InputError, match="there is no file"):
        open_reports(table, tmp_path / "design.json")
    with pytest.raises(InputError, match=r"_design\.json"):
        open_reports(tmp_path)


def test_the_design_of_a_table_may_come_from_a_file(made, tmp_path):
    import ibis

    reports = made["views"]
    table = ibis.duckdb.connect().create_table("reports", uploaded(reports))
    (tmp_path / "beside.json").write_bytes(reports.header.json())
    (tmp_path / "alone.json").write_bytes(reports.design.canonical())
    for name in ("beside.json", "alone.json"):
        assert open_reports(table, tmp_path / name).design == reports.design


def test_progress_is_told_in_rows_or_in_queries(made, tmp_path):
    reports = made["sets"]
    told = []
    stored = open_reports(reports.write(tmp_path / "r.parquet"), progress=lambda *each: told.append(each))
    stored.tabulate(["age"])
    stored.tabulate(["sex"])
    assert told == [(ROWS, ROWS)] * 2
    import ibis

    told.clear()
    table = ibis.duckdb.connect().create_table("reports", uploaded(made["views_sets"]))
    views = open_reports(table, made["views_sets"].design, progress=lambda *each: told.append(each))
    views.tabulate(["age", "children"])
    assert told
    assert all(1 <= done <= every for done, every in told)
