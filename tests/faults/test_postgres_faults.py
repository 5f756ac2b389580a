"""Several workers on one PostgreSQL: kill them, kill it, post to all at once; what was acknowledged is there, once."""

from __future__ import annotations

import http.client
import importlib.util
import random
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from deniable.collection.acceptor import decode_cell
from deniable.collection.messages import Report, encode
from deniable.collection.storage.postgres import PostgresStore

_SPEC = importlib.util.spec_from_file_location("kill", Path(__file__).parent / "test_kill.py")
kill = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(kill)


class Workers:
    """Two servers of one survey on one database; a request goes to either."""

    def __init__(self, folder, database):
        self.all = []
        for name in ("one", "two"):
            (folder / name).mkdir()
            self.all.append(kill.Server(folder / name, "--database", database))
        self.rng = random.Random(4)  # noqa: S311 - repeats, hides nothing

    @property
    def design(self):
        return self.all[0].design

    def ask(self, *arguments, **options):
        return self.rng.choice(self.all).ask(*arguments, **options)


@contextmanager
def under_load(workers):
    """Senders that post to both workers until the block ends, each report with a number of its own."""
    for worker in workers.all:
        worker.start()
    stop = threading.Event()
    senders = [kill.Sender(workers, number, stop) for number in range(kill.SENDERS)]
    for sender in senders:
        sender.start()
    try:
        yield senders
        time.sleep(0.5)
    finally:
        for worker in workers.all:
            worker.kill()
        stop.set()
        for sender in senders:
            sender.join(30)


def assert_nothing_is_lost_or_twice(database, senders):
    store = PostgresStore(database)
    try:
        counts = store.counts(1)
        assert counts == store.recount(1)
        assert sum(counts.values()) == len(list(store.scan(1)))
    finally:
        store.close()
    found = {first * 1000 + second for _, _, (first, second), _ in map(decode_cell, counts)}
    sent = set().union(*(sender.sent for sender in senders))
    acknowledged = set().union(*(sender.acknowledged for sender in senders))
    assert not [fault for sender in senders for fault in sender.faults]
    assert set(counts.values()) == {1}
    assert acknowledged <= found <= sent
    assert len(acknowledged) > 100


@pytest.mark.slow
def test_workers_that_are_killed_under_load_lose_nothing(tmp_path, database):
    moments = random.Random(21)  # noqa: S311 - repeats, hides nothing
    workers = Workers(tmp_path, database)
    with under_load(workers) as senders:
        for number in range(4):
            time.sleep(moments.uniform(0.2, 0.8))
            workers.all[number % 2].kill()
            workers.all[number % 2].start()
    assert_nothing_is_lost_or_twice(database, senders)


@pytest.mark.slow
def test_a_database_that_crashes_under_load_loses_nothing(tmp_path, cluster, database):
    moments = random.Random(22)  # noqa: S311 - repeats, hides nothing
    workers = Workers(tmp_path, database)
    with under_load(workers) as senders:
        for _ in range(3):
            time.sleep(moments.uniform(0.3, 0.8))
            cluster.crash()
        before = sum(len(sender.acknowledged) for sender in senders)
        time.sleep(1.5)
        # The same processes store reports again.
        assert sum(len(sender.acknowledged) for sender in senders) > before
    assert_nothing_is_lost_or_twice(database, senders)


@pytest.mark.slow
def test_many_identical_posts_to_two_workers_give_one_row(tmp_path, database):
    workers = Workers(tmp_path, database)
    for worker in workers.all:
        worker.start()
    try:
        body = encode(Report(version=1, id="cd" * 32, design=workers.design, ballot=0, answers=(1, 2)))
        together, answers = threading.Barrier(64), []

        def post(port):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            together.wait()
            connection.request("POST", "/v1/reports", body)
            answers.append(connection.getresponse().status)
            connection.close()

        threads = [threading.Thread(target=post, args=(workers.all[n % 2].port,)) for n in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        for worker in workers.all:
            worker.kill()
    assert answers == [204] * 64
    store = PostgresStore(database)
    assert store.counts(1) == store.recount(1) == {"[null,0,[1,2],[]]": 1}
    store.close()
