"""Reports and tables in object storage: written, read, counted and disguised there, as files are here."""

from __future__ import annotations

import logging
import shutil
import uuid

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyarrow import fs

import deniable as dn
from deniable.cli.app import app
from deniable.core.randomness import Seeded
from deniable.engines import one_disguise as once
from deniable.engines import randomize_job as job
from deniable.engines.stored_reports import StoredReports, open_reports
from deniable.errors import InputError, PrivacyError
from deniable.files.object_storage import Object, _meaning

DOMAIN = dn.Domain({"smokes": ["no", "yes"], "town": range(20)})
DESIGN = dn.Independent(DOMAIN, channels={"smokes": dn.KRR(2, 1.0), "town": dn.Unary(20, 1.0)})


@pytest.fixture(scope="module")
def server():
    """An object store on loopback."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").disabled = True
    made = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    made.start()
    host, port = made.get_host_and_port()
    yield f"http://{host}:{port}"
    made.stop()


@pytest.fixture
def bucket(server, monkeypatch):
    """An empty bucket of it, and the environment in which it is found."""
    settings = {
        "AWS_ENDPOINT_URL": server,
        "AWS_ACCESS_KEY_ID": "somebody",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    name = f"b{uuid.uuid4().hex}"
    fs.S3FileSystem(endpoint_override=server, region="us-east-1", allow_bucket_creation=True).create_dir(name)
    return f"s3://{name}"


def people(n=3000):
    rng = np.random.default_rng(1)
    towns, region = rng.integers(0, 20, n), rng.choice(["north", "süd"], n)
    return pa.table({"smokes": rng.choice(["no", "yes"], n), "town": towns, "region": region})


def made():
    return DESIGN.randomize(people(), keep=["region"], source=Seeded(1))


def same(found, expected):
    assert found.n == expected.n
    for names in (["smokes"], ["town"], ["smokes", "town"]):
        assert np.array_equal(found.tabulate(names)[0].counts, expected.tabulate(names)[0].counts)
    groups = [(value, part.n) for value, part in found.groups("region")]
    assert groups == [(value, part.n) for value, part in expected.groups("region")]


@pytest.mark.parametrize("name", ["r.parquet", "r.csv", "r.sav", "r.dta"])
def test_reports_are_written_and_read_back(bucket, name):
    reports = made()
    address = f"{bucket}/some folder/{name}".replace(" ", "-")
    assert str(reports.write(address)) == address
    found = dn.read_reports(address)
    assert found.design == DESIGN
    same(found, reports)
    opened = open_reports(address)
    assert isinstance(opened, StoredReports) == name.endswith("parquet")
    same(opened, reports)


def test_a_folder_of_parts_is_counted(bucket, tmp_path):
    reports = made()
    table = pq.read_table(reports.write(tmp_path / "r.parquet")).replace_schema_metadata(None)
    for part in range(3):
        pq.write_table(table.slice(part * 1000, 1000), tmp_path / "part.parquet")
        Object(f"{bucket}/folder/part-{part}.parquet").put(tmp_path / "part.parquet")
    Object(f"{bucket}/folder/_design.json").write_bytes(reports.header.json())
    same(open_reports(f"{bucket}/folder"), reports)
    same(dn.read_reports(f"{bucket}/folder"), reports)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_table_is_disguised_from_bucket_to_bucket(bucket, ending, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    local = tmp_path / f"people.{ending}"
    people().to_pandas().to_csv(local, index=False) if ending == "csv" else pq.write_table(people(), local)
    table, target = f"{bucket}/people.{ending}", f"{bucket}/out/reports.parquet"
    Object(table).put(local)
    local.unlink()
    assert job.randomize_table(table, target, DESIGN, ["region"]) == 3000
    found = dn.read_reports(target)
    assert found.design == DESIGN
    assert found.public["region"].to_list() == people()["region"].to_pylist()
    assert not list(tmp_path.iterdir())
    with pytest.raises(PrivacyError, match="already there"):
        job.randomize_table(table, target, DESIGN, ["region"])


def test_an_interrupted_upload_leaves_nothing_and_sends_the_same_disguise_again(bucket, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(people(), tmp_path / "people.parquet")
    target = f"{bucket}/reports.parquet"

    def interrupted(file, out, _size):
        out.write(file.read(100))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copyfileobj", interrupted)
        with pytest.raises(KeyboardInterrupt):
            job.randomize_table(tmp_path / "people.parquet", target, DESIGN)
    assert not Object(target).exists()
    (kept,) = tmp_path.glob("*.unfinished/whole.parquet")
    disguise = kept.read_bytes()
    job.randomize_table(tmp_path / "people.parquet", target, DESIGN)
    assert Object(target).read_bytes() == disguise
    assert not list(tmp_path.glob("*.unfinished"))


@pytest.mark.parametrize("removed", range(4))
def test_interrupted_at_any_file_that_it_clears_up_it_knows_what_it_sent(bucket, tmp_path, monkeypatch, removed):
    monkeypatch.chdir(tmp_path)
    pq.write_table(people(), tmp_path / "people.parquet")
    target, clear, unlink, gone = f"{bucket}/reports.parquet", once._clear, once.Path.unlink, []

    def stop(path):
        if len(gone) == removed:
            raise KeyboardInterrupt
        gone.append(path)
        unlink(path)

    def interrupted(folder, **options):
        if not options:
            patch.setattr(once.Path, "unlink", stop)
        clear(folder, **options)

    with monkeypatch.context() as patch:
        patch.setattr(once, "_clear", interrupted)
        with pytest.raises(KeyboardInterrupt):
            job.randomize_table(tmp_path / "people.parquet", target, DESIGN)
    assert len(list(tmp_path.glob("*.unfinished/*"))) == 4 - removed
    disguise = Object(target).read_bytes()
    monkeypatch.setattr(job.Disguise, "__call__", lambda *_args: pytest.fail("disguised a second time"))
    assert job.randomize_table(tmp_path / "people.parquet", target, DESIGN) == 3000
    assert Object(target).read_bytes() == disguise
    assert not list(tmp_path.glob("*.unfinished"))


def test_the_same_job_of_another_folder_is_not_taken_for_our_own(bucket, tmp_path, monkeypatch):
    pq.write_table(people(), tmp_path / "people.parquet")
    target = f"{bucket}/reports.parquet"
    for name in ("here", "there"):
        (tmp_path / name).mkdir()

    def stop(*_args):
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path / "here")
    with monkeypatch.context() as patch:
        patch.setattr(job, "_assemble", stop)
        with pytest.raises(KeyboardInterrupt):
            job.randomize_table(tmp_path / "people.parquet", target, DESIGN)
    monkeypatch.chdir(tmp_path / "there")
    with pytest.raises(PrivacyError, match="is unfinished; run again as it was begun"):
        job.randomize_table(tmp_path / "people.parquet", target, DESIGN)
    assert job.randomize_table(tmp_path / "people.parquet", target, DESIGN, again=True) == 3000
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(PrivacyError, match="has not made it"):
        job.randomize_table(tmp_path / "people.parquet", target, DESIGN)


def test_an_interrupted_upload_leaves_what_was_there(bucket, tmp_path, monkeypatch):
    place, local = Object(f"{bucket}/r.csv"), tmp_path / "r.csv"
    place.write_bytes(b"before")
    local.write_bytes(b"after" * 100)

    def interrupted(file, out, _size):
        out.write(file.read(100))
        raise KeyboardInterrupt

    for copy in (interrupted, lambda _file, out, _size: out.write(b"short")):
        with monkeypatch.context() as patch:
            patch.setattr(shutil, "copyfileobj", copy)
            with pytest.raises((KeyboardInterrupt, InputError), match=r"^$|the store holds 5 of 500 bytes"):
                place.put(local)
        assert place.read_bytes() == b"before"
        assert [str(one) for one in Object(bucket).parts("")] == [str(place)]
        assert len(place._store.get_file_info(fs.FileSelector(bucket.removeprefix("s3://")))) == 1
    monkeypatch.setattr("deniable.files.object_storage.MOST_COPIED", 100)  # sent under its own name
    place.put(local)
    assert place.read_bytes() == b"after" * 100


def test_reports_are_never_written_over_others(bucket, tmp_path):
    other = dn.Independent(DOMAIN, epsilon=3.0).randomize(people(), keep=["region"], source=Seeded(2))
    for place in (f"{bucket}/r.csv", tmp_path / "r.csv", f"{bucket}/r.parquet", tmp_path / "r.parquet"):
        made().write(place)
        made().write(place)  # the same again
        with pytest.raises(PrivacyError, match=r"already there, with other content, and nothing is written over"):
            other.write(place)
        same(dn.read_reports(place), made())


@pytest.mark.parametrize("ending", ["csv", "parquet", "sav", "dta"])
def test_a_file_that_is_none_of_ours_stays_as_it_is(bucket, tmp_path, ending):
    local, there = tmp_path / f"r.{ending}", Object(f"{bucket}/r.{ending}")
    for place in (local, there):
        place.write_bytes(b"my own")
        with pytest.raises(PrivacyError, match="already there"):
            made().write(place)
        assert place.read_bytes() == b"my own"
    assert list(tmp_path.iterdir()) == [local]
    assert [str(one) for one in Object(bucket).parts("")] == [str(there)]


def test_a_target_that_another_run_made_is_not_taken_for_our_own(bucket, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(people(), tmp_path / "people.parquet")
    target = f"{bucket}/reports.parquet"

    def late(*_arguments):
        other = dn.Independent(DOMAIN, epsilon=3.0).randomize(people(), source=Seeded(2))
        other.write(target)
        return assemble(*_arguments)

    assemble = job._assemble
    with monkeypatch.context() as patch:
        patch.setattr(job, "_assemble", late)
        with pytest.raises(PrivacyError, match=r"has not made it\. Move it away"):
            job.randomize_table(tmp_path / "people.parquet", target, DESIGN)
    with pytest.raises(PrivacyError, match=r"has not made it\. Move it away"):
        job.randomize_table(tmp_path / "people.parquet", target, DESIGN)
    Object(target).remove()
    monkeypatch.setattr(job.Disguise, "__call__", lambda *_args: pytest.fail("disguised a second time"))
    assert job.randomize_table(tmp_path / "people.parquet", target, DESIGN) == 3000


def test_a_table_that_changes_while_it_is_disguised_is_refused(bucket, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = Object(f"{bucket}/people.parquet")
    pq.write_table(people(), tmp_path / "people.parquet")
    table.put(tmp_path / "people.parquet")
    make = job._in_pieces

    def changed(*arguments):
        done = make(*arguments)
        pq.write_table(people(2999), tmp_path / "people.parquet")
        table.put(tmp_path / "people.parquet")
        return done

    monkeypatch.setattr(job, "_in_pieces", changed)
    with pytest.raises(PrivacyError, match="as it was before it changed"):
        job.randomize_table(str(table), f"{bucket}/reports.parquet", DESIGN)
    assert not Object(f"{bucket}/reports.parquet").exists()


def test_an_address_holds_no_credentials(bucket):
    for address in ("s3://me:hidden@bucket/r.csv", "s3://hidden@bucket/r.csv", "abfs://:hidden@account/r.csv"):
        with pytest.raises(InputError, match="must not hold credentials") as refused:
            made().write(address)
        assert "hidden" not in f"{refused.value} {refused.value.details}"
    with pytest.raises(InputError, match="has a #"):
        made().write(f"{bucket}/r.csv#old.csv")
    odd = f"{bucket}/a b%20c+d.csv"
    made().write(odd)
    assert dn.read_reports(odd).n == 3000


def test_by_the_command_line(bucket, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(people().drop(["town"]), tmp_path / "people.parquet")
    (tmp_path / "domain.toml").write_text('smokes = ["no", "yes"]')

    def run(*arguments, code=0):
        done = CliRunner().invoke(app, list(arguments), prog_name="deniable")
        assert done.exit_code == code, done.output
        return done.output

    randomize = ("randomize", "people.parquet", "--domain", "domain.toml", "--epsilon", "2", "--keep", "region")
    assert "3000 reports" in run(*randomize, "-o", f"{bucket}/r.parquet")
    assert "3000 reports" in run("estimate", f"{bucket}/r.parquet", "--by", "region")
    run("export", f"{bucket}/r.parquet", "-o", f"{bucket}/r.csv")
    run("export", f"{bucket}/r.csv", "-o", f"{bucket}/design.json")
    run("export", f"{bucket}/r.parquet", "-o", f"{bucket}/labelled.csv", "--labelled")
    assert Object(f"{bucket}/labelled.csv").read_bytes().startswith(b'"smokes"')
    run("synthesize", f"{bucket}/r.parquet", "-n", "100", "-o", f"{bucket}/made.csv")
    assert Object(f"{bucket}/made.csv").read_bytes().count(b"\n") == 101
    assert "already there" in run("synthesize", f"{bucket}/r.parquet", "-o", f"{bucket}/made.csv", code=3)
    for file in ("r.parquet", "r.csv", "design.json"):
        told = run("audit", f"{bucket}/{file}", "--runs", "5000", "--confidence", "0.9999999")
        assert "cannot tell" in told or "not contradicted" in told  # by so few runs
    assert sorted(path.name for path in tmp_path.iterdir()) == ["domain.toml", "people.parquet"]
    assert dn.read_reports(f"{bucket}/r.csv").n == 3000
    assert open_reports(f"{bucket}/r.parquet", f"{bucket}/design.json").n == 3000


def test_refusals_say_what_to_do(bucket):
    with pytest.raises(InputError, match="there is no"):
        dn.read_reports(f"{bucket}/nothing.parquet")
    with pytest.raises(InputError, match="there is no bucket 'nobodys'"):
        made().write("s3://nobodys/r.parquet")
    with pytest.raises(InputError, match="leave the engine out"):
        open_reports(str(made().write(f"{bucket}/r.parquet")), engine="duckdb")
    assert "AWS_ACCESS_KEY_ID" in _meaning(
        "AWS Error ACCESS_DENIED during HeadObject operation: No response body.", "b"
    )
    assert "cannot be reached" in _meaning("AWS Error NETWORK_CONNECTION during HeadObject operation: curlCode: 7", "b")
    assert _meaning("something else", "b") == "something else"
