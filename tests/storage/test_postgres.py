"""PostgreSQL keeps the store's contract, and what is special about it."""

from __future__ import annotations

import http.client
import importlib.util
import json
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import psycopg
import pytest
from click.testing import CliRunner
from psycopg.conninfo import conninfo_to_dict

from deniable.cli.app import app
from deniable.device.protocol.admission_token import report_id
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.messages import FEWEST_TOGETHER, Report
from deniable.errors import InputError, StoreError, StoreFullError
from deniable.storage import postgres_statements
from deniable.storage.open_store import open_store
from deniable.storage.postgres import ENOUGH, SEGMENT, PostgresStore
from deniable.storage.postgres_connection import patiently
from deniable.storage.postgres_schema import ALONE, FORMAT
from deniable.storage.sqlite import SqliteStore
from deniable.storage.store import Row, key_of
from deniable.web.serve import Service, background
from waiting import until

_SPEC = importlib.util.spec_from_file_location("store_contract", Path(__file__).parent / "store_contract.py")
contract = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(contract)
row = contract.row


@pytest.fixture
def opens(database):
    return lambda: PostgresStore(database)


@pytest.fixture
def ask(database):
    """Read the tables as an intruder would."""
    with psycopg.connect(database, autocommit=True) as db:
        db.execute("SET search_path = deniable")
        yield lambda query: db.execute(query).fetchall()


class TestPostgres(contract.StoreContract):
    pass


def fill(store, n, at_once=100):
    """Reports whose ids count upwards; the cell says when each came."""
    store.register("a" * 64, b"body")
    store.salt = bytes(range(32))
    rows = [Row(key_of(store.salt, f"{when:064x}"), 1, f"[null,{when},[0],[]]") for when in range(n)]
    for start in range(0, n, at_once):
        store.add(rows[start : start + at_once])


def correlation(cells):
    """How much the order of rows tells about the order in which they came."""
    came = [int(cell.split(",")[1]) for (cell,) in cells]
    return abs(np.corrcoef(np.argsort(np.argsort(came)), np.arange(len(came)))[0, 1])


def test_reports_are_sealed_in_segments_that_hide_their_order(store, ask):
    fill(store, 4 * SEGMENT)
    segments = ask("SELECT xmin::text, count(*) FROM reports GROUP BY xmin")
    assert all(size >= FEWEST_TOGETHER for _, size in segments)
    assert sum(size for _, size in segments) > 2 * SEGMENT
    for transaction, size in segments:
        # As the rows lie on disk, whatever wrote them.
        cells = ask(f"SELECT cell FROM reports WHERE xmin::text = '{transaction}' ORDER BY ctid")  # noqa: S608 - a number
        assert correlation(cells) < 4 / size**0.5
    assert store.counts(1) == store.recount(1)
    assert len(store.counts(1)) == 4 * SEGMENT


def test_compacting_leaves_no_trace_of_the_order(store, ask):
    n = 4 * SEGMENT + 300
    fill(store, n)
    before = store.counts(1)
    store.compact()
    for table in ("reports", "counts"):
        assert len(ask(f"SELECT DISTINCT xmin::text FROM {table}")) == 1  # noqa: S608 - two names of ours
    assert correlation(ask("SELECT cell FROM reports ORDER BY ctid")) < 4 / n**0.5
    # Counts lie in the order of their cells, and that is the order of coming here only because of what the cells say.
    assert [cell for (cell,) in ask("SELECT cell FROM counts ORDER BY ctid")] == sorted(before)
    assert ask("SELECT count(*) FROM arrived") == [(0,)]
    assert store.counts(1) == store.recount(1) == before


def test_cells_that_hardly_repeat_are_not_counted_but_read(store, beside, ask):
    fill(store, ENOUGH + SEGMENT // 2)
    assert ask("SELECT design, is_counted FROM totals") == [(1, False)]
    assert ask("SELECT count(*) FROM counts") == [(0,)]
    assert ask("SELECT count(*) FROM reports")[0][0] >= ENOUGH
    # What came before they were given up, what came after, and what has just come: each once, whoever asks.
    n = ENOUGH + 2 * SEGMENT + 70
    fill(store, n)
    expected = {f"[null,{when},[0],[]]": 1 for when in range(n)}
    for one in (store, beside):
        assert one.counts(1) == one.recount(1) == expected
        assert (one.total(1), sum(one.counts_in(1, "b" * 64).values())) == (n, 0)
        listed = [cell for column in one.columns(1) for cell in json.loads(f"[{column.cells}]")]
        numbers = [int(number) for column in one.columns(1) for number in column.reports.split(",")]
        assert (sorted(cell[1] for cell in listed), sum(numbers)) == (list(range(n)), n)
    store.compact()
    assert len(ask("SELECT DISTINCT xmin::text FROM reports")) == 1
    assert correlation(ask("SELECT cell FROM reports ORDER BY ctid")) < 4 / n**0.5
    assert (store.counts(1), ask("SELECT count(*) FROM counts")) == (expected, [(0,)])


@pytest.mark.parametrize("cell", ['["{block}",0,[{i}],[]]', "[null,0,[{some}],[]]"], ids=["blocks", "alike"])
def test_cells_that_repeat_and_those_of_blocks_are_counted(store, ask, cell):
    store.register("a" * 64, b"body")
    rows = [
        Row(key_of(store.salt, f"{i:064x}"), 1, cell.format(block="b" * 64, i=i, some=i % 9000))
        for i in range(ENOUGH + 2 * SEGMENT)
    ]
    for start in range(0, len(rows), SEGMENT):
        store.add(rows[start : start + SEGMENT])
    assert ask("SELECT design, is_counted FROM totals") == [(1, True)]
    assert ask("SELECT count(*) > 8000 FROM counts") == [(True,)]
    assert store.counts(1) == store.recount(1)
    assert store.total(1) == len(rows) == sum(store.counts(1).values())
    assert sum(store.counts_in(1, "b" * 64).values()) == (len(rows) if "block" in cell else 0)


def test_a_backup_is_a_store_that_tells_no_order(store, database, ask, tmp_path):
    store.register("ab" * 32, b"{}")
    rows = [Row(key_of(store.salt, f"{i:064x}"), 1, f"[0,[{i % 7}],[]]") for i in range(SEGMENT + 50)]
    store.add(rows[:SEGMENT])
    store.add(rows[SEGMENT:])
    store.add_token(b"digest", "analyst")
    store.add_token(b"digest", "admitted")
    store.save("name", b"value")
    store.add_rejected({"closed": 3})
    target = tmp_path / "copy.sqlite"
    copied = CliRunner().invoke(app, ["backup", database, str(target)])
    assert copied.exit_code == 0, copied.output
    with closing(sqlite3.connect(target)) as db:
        assert [tuple(found) for found in db.execute("SELECT * FROM reports NOT INDEXED")] == sorted(rows)
    with closing(SqliteStore(target)) as same:
        assert same.salt == store.salt
        assert same.designs() == store.designs()
        assert same.counts(1) == same.recount(1) == store.counts(1)
        assert (same.total(1), same.rejected()) == (len(rows), {"closed": 3})
        assert same.has_token(b"digest", "admitted")
        assert not same.has_token(b"digest", "analyst")  # nobody gets in with a copy
        assert same.saved("name") == b"value"
    assert "there already" in CliRunner().invoke(app, ["backup", database, str(target)]).output


@pytest.mark.usefixtures("store")
def test_cells_are_in_the_order_of_their_bytes_whatever_language_the_database_speaks(ask):
    found = ask(
        "SELECT table_name, collation_name FROM information_schema.columns "
        "WHERE table_schema = 'deniable' AND column_name = 'cell' ORDER BY table_name"
    )
    assert dict(found) == {
        "arrived": "C",
        "counts": "C",
        "held": "C",
        "reports": None,
    }  # reports are never looked for by cell


def test_no_column_holds_a_time_or_an_address(store, ask):
    types = ask("SELECT DISTINCT data_type FROM information_schema.columns WHERE table_schema = 'deniable'")
    assert {kind for (kind,) in types} == {"bytea", "integer", "bigint", "text", "boolean"}


def test_no_file_of_the_database_holds_who_sent_a_report(database, cluster, survey_text, tmp_path):
    path = tmp_path / "survey.toml"
    path.write_text(survey_text.replace("epsilon = 1.0", 'epsilon = 1.0\nadmission = "invited"'), encoding="utf-8")
    service = Service.open(path, tmp_path, database)
    invitation = service.collector.entrance.invite(1)[0]
    with background(service) as url:
        report = Report(
            version=2,
            id=report_id(invitation),
            design=service.collector.design_id,
            ballot=0,
            answers=(3,),
            public=(1,),
        )
        connection = http.client.HTTPConnection(urlsplit(url).netloc, source_address=("127.0.91.17", 0))
        connection.request("POST", "/v1/reports", encode(report), {"User-Agent": "Sentinel/91.17"})
        assert connection.getresponse().status == 204
        connection.close()
    cluster.run("CHECKPOINT")
    files = [path.read_bytes() for path in cluster.folder.rglob("*") if path.is_file()]
    held = b"".join(files)
    assert b"[null,0,[3],[1]]" in held
    for sentinel in (b"127.0.91.17", b"Sentinel", invitation.encode(), bytes.fromhex(report.id), report.id.encode()):
        assert sentinel not in held


def test_two_workers_that_store_the_same_reports_store_them_once(store, database):
    other = PostgresStore(database)
    store.register("a" * 64, b"body")
    rng = np.random.default_rng(3)
    batches = [[row(store, int(name)) for name in rng.permutation(2500)[:400]] for _ in range(24)]
    stored, lock = [], threading.Lock()

    def work(one, some):
        for batch in some:
            outcomes = one.add(batch)
            with lock:
                stored.extend(key.key for key, fate in zip(batch, outcomes, strict=True) if fate is contract.STORED)

    threads = [threading.Thread(target=work, args=(one, batches)) for one in (store, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    other.close()
    expected = {key.key for batch in batches for key in batch}
    assert sorted(stored) == sorted(expected)  # each said to be new to one of the two
    assert store.counts(1) == store.recount(1) == {"[null,0,[1],[]]": len(expected)}


@pytest.mark.parametrize("are_alike", [True, False])
def test_readers_see_every_report_once_while_segments_are_sealed(store, are_alike):
    store.register("a" * 64, b"body")
    stop, wrong = threading.Event(), []

    def read():
        before = 0
        while not stop.is_set():
            now = sum(store.counts(1).values())
            if now < before or now % 250:
                wrong.append((before, now))
            before = now

    reader = threading.Thread(target=read)
    reader.start()
    for start in range(0, 12 * SEGMENT, 250):
        rows = [row(store, name) for name in range(start, start + 250)]
        if not are_alike:  # then counts are given up meanwhile
            rows = [Row(one.key, one.design, f"[null,{start + i},[0],[]]") for i, one in enumerate(rows)]
        store.add(rows)
    stop.set()
    reader.join()
    assert not wrong


def test_a_backup_that_holds_the_tables_does_not_stop_reports(store, database, monkeypatch):
    monkeypatch.setattr("deniable.storage.postgres._LOCK_TIMEOUT", "50ms")
    store.register("a" * 64, b"body")
    with psycopg.connect(database) as backup:
        backup.execute("LOCK TABLE deniable.reports, deniable.arrived IN SHARE UPDATE EXCLUSIVE MODE")
        backup.execute("LOCK TABLE deniable.counts IN SHARE ROW EXCLUSIVE MODE")
        for start in range(0, 3 * SEGMENT, 500):
            fates = store.add([row(store, name) for name in range(start, start + 500)])
            assert set(fates) == {contract.STORED}
    assert sum(store.counts(1).values()) == 3 * SEGMENT


def test_a_lost_connection_is_made_anew(store, cluster):
    store.register("a" * 64, b"body")
    store.add([row(store, 1)])
    cluster.crash()
    assert sum(store.counts(1).values()) == 1
    with pytest.raises(StoreError, match="the store failed"):
        store.add([row(store, 2)])
    assert store.add([row(store, 1), row(store, 2)]) == [contract.SAME, contract.STORED]


def test_no_statement_and_no_lock_is_waited_for_for_ever(store):
    for name, most in (("statement_timeout", "30s"), ("lock_timeout", "10s"), ("tcp_user_timeout", "0")):
        # Of the last one the server has its own; ours is in the connection's options.
        assert store._read("SELECT current_setting(%s)", name) == [(most,)]
    options = store._reader._db.info.get_parameters()
    assert (options["connect_timeout"], options["tcp_user_timeout"]) == ("5", "25000")


def timeouts(store):
    return [store._writer.run(f"SHOW {name}", ()) for name in ("statement_timeout", "lock_timeout")]


def test_compacting_waits_for_long_and_nothing_after_it_does(store):
    before, seen = timeouts(store), []
    store.compact()
    assert timeouts(store) == before == [[("30s",)], [("10s",)]]

    def interrupt():
        with store._writer.use() as db, patiently(db):
            seen.append(db.execute("SHOW statement_timeout").fetchone())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupt()
    assert seen == [("0",)]
    assert timeouts(store) == before


def test_a_report_is_stored_once_whatever_the_database_s_isolation(cluster):
    with cluster.database() as url:
        name = conninfo_to_dict(url)["dbname"]
        cluster.run(f"ALTER DATABASE {name} SET default_transaction_isolation = 'repeatable read'")
        store, other = PostgresStore(url), PostgresStore(url)
        store.register("a" * 64, b"body")
        store._unsealed = 0
        store.add([row(store, 1)])
        found = []
        with psycopg.connect(url) as db:  # seals while the other one waits for its lock
            db.execute("SET search_path = deniable")
            db.execute(ALONE)
            adding = threading.Thread(target=lambda: found.extend(other.add([row(store, 1)])))
            adding.start()
            until(lambda: cluster.run("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"))
            db.execute(postgres_statements.SEAL)
        adding.join()
        assert found == [contract.SAME]
        assert store.total(1) == 1
        store.compact()
        assert store.counts(1) == store.recount(1)
        store.close()
        other.close()


def test_a_lock_that_somebody_else_holds_is_given_up(store, database, monkeypatch):
    store.register("a" * 64, b"body")
    store._writer.run("SET lock_timeout = '50ms'", ())
    with psycopg.connect(database) as other:
        other.execute("LOCK TABLE deniable.arrived IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(StoreError, match="lock timeout"):
            store.add([row(store, 1)])
    assert store.add([row(store, 1)]) == [contract.STORED]


@pytest.mark.parametrize("code", ["disk_full", "io_error"])
def test_a_full_disk_is_told_as_such(store, monkeypatch, code):
    store.register("a" * 64, b"body")
    told = "could not write to file: No space left on device"
    sql = f"DO $$ BEGIN RAISE EXCEPTION '{told}' USING ERRCODE = '{code}'; END $$"
    with monkeypatch.context() as patch:
        patch.setattr("deniable.storage.postgres._TOGETHER", sql)
        with pytest.raises(StoreFullError, match="no space"):
            store.add([row(store, 1)])
    assert store.add([row(store, 1)]) == [contract.STORED]


@pytest.mark.parametrize(("version", "told"), [(FORMAT + 1, "pip install --upgrade"), (FORMAT - 1, "use the program")])
def test_a_store_of_another_format_is_refused_and_left_as_it_is(version, told, database):
    with psycopg.connect(database, autocommit=True) as db:
        db.execute("CREATE SCHEMA deniable")
        db.execute("CREATE TABLE deniable.store (version integer NOT NULL, salt bytea NOT NULL)")
        db.execute("INSERT INTO deniable.store VALUES (%s, '')", (version,))
        with pytest.raises(InputError, match=f"is a store of format {version}, and .* reads format {FORMAT}; .*{told}"):
            PostgresStore(database)
        tables = db.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'deniable'").fetchall()
        assert tables == [("store",)]
        assert db.execute("SELECT version FROM deniable.store").fetchall() == [(version,)]


def test_a_database_that_keeps_times_or_forgets_is_refused(store, database, monkeypatch):
    for setting in ("'off', 'off'", "'on', 'on'"):
        monkeypatch.setattr("deniable.storage.postgres_schema._SETTINGS", f"SELECT {setting}")
        with pytest.raises(InputError, match=r"fsync|time of every transaction"):
            PostgresStore(database)


def test_addresses(tmp_path, database):
    open_store(tmp_path).close()
    open_store(tmp_path, database).close()
    assert [path.name for path in tmp_path.iterdir()] == ["reports.sqlite"]
    with pytest.raises(InputError, match="begins with postgresql"):
        open_store(tmp_path, "mysql://host")
    with pytest.raises(InputError, match="cannot be used") as caught:
        open_store(tmp_path, "postgresql://me:secret@127.0.0.1:1/survey")
    assert "secret" not in str(caught.value)
    with pytest.raises(InputError, match="not the address"):
        open_store(tmp_path, "postgresql://me@[")


def test_few_reports_are_sealed_when_time_is_up(store, ask, monkeypatch):
    monkeypatch.setattr("deniable.storage.postgres.PATIENCE", 0.02)
    fill(store, 7)
    store.tend()
    until(lambda: ask("SELECT count(*) FROM arrived") == [(0,)])
    assert ask("SELECT count(*) FROM reports") == [(7,)]
    assert len(store.counts(1)) == 7
