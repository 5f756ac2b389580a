"""Several workers on one PostgreSQL: kill them, kill it, post to all at once; what was acknowledged is there, once."""

from __future__ import annotations

import json
import random

import pytest

from deniable.collection.bearer_tokens import ANALYST, new_token
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.messages import Report
from deniable.storage.postgres import PostgresStore
from waiting import until


@pytest.mark.slow
def test_nothing_is_lost_whoever_is_killed(collectors, cluster, database, times, assert_nothing_is_lost_or_twice):
    moments = random.Random(23)  # noqa: S311 - repeats, hides nothing
    service = collectors(2, "--database", database)

    def kill_worker():
        server = moments.choice(service.servers)
        server.kill()
        server.start()

    def crash():
        before = {sender: sender.statuses[503] for sender in senders}
        cluster.crash(lambda: until(lambda: all(sender.statuses[503] > before[sender] for sender in senders)))

    with service.under_load() as senders:
        for turn in range(times.database_kills):
            service.go_on(moments.randint(1, 100))
            [cluster.kill_backend, kill_worker, crash][turn % 3]()
            service.go_on(20)  # after a crash, the same processes store reports again
    assert_nothing_is_lost_or_twice(PostgresStore(database), senders)


@pytest.mark.slow
def test_two_workers_give_one_row_of_identical_posts_and_one_sum_of_what_they_turned_away(collectors, database):
    service = collectors(2, "--database", database)
    with service.running():
        body = encode(Report(version=2, id="cd" * 32, design=service.design, ballot=0, answers=(1, 2)))
        assert service.post_together(body, 64) == [204] * 64
        store = PostgresStore(database)
        assert store.counts(1) == store.recount(1) == {"[null,0,[1,2],[]]": 1}
        token = new_token(store, ANALYST)
        for turn in range(7):
            assert service.servers[turn % 2].ask("POST", "/v1/reports", b"{}")[0] == 400

        def shown(server):
            found = server.ask("GET", "/v1/results", headers={"Authorization": f"Bearer {token}"})
            return json.loads(found[1])["rejected"]

        until(lambda: store.rejected() == {"malformed": 7})  # each writes its own once a second
        assert [shown(server) for server in service.servers] == [{}, {}]
        for _ in range(2):
            store.add_rejected({"malformed": 20})  # a step each; the one before the last is shown, the same to all
            found = [shown(server) for server in service.servers]
        assert found == [{"malformed": 27}] * 2
        store.close()
