"""Kill the server, fill its disk, lose replies, repeat and reorder: what it acknowledged is there, once."""

from __future__ import annotations

import random
import resource

import pytest

from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.messages import Report
from deniable.storage.sqlite import SqliteStore
from waiting import until


@pytest.mark.slow
def test_what_was_acknowledged_survives_being_killed_and_is_counted_once(
    collectors, times, assert_nothing_is_lost_or_twice
):
    moments = random.Random(20)  # noqa: S311 - repeats, hides nothing
    service = collectors(1)
    (server,) = service.servers
    with service.under_load() as senders:
        for _ in range(1 + times.kills):
            service.go_on(moments.randint(1, 100))
            server.kill()
            server.start()
    assert_nothing_is_lost_or_twice(SqliteStore(server.data / "reports.sqlite"), senders)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux can limit another process")
def test_a_disk_that_is_full_under_load_is_said_and_nothing_is_lost(collectors, assert_nothing_is_lost_or_twice):
    service = collectors(1)
    (server,) = service.servers
    with service.under_load() as senders:
        service.go_on(50)
        # No file of the server's may have more than a page: every write fails, as on a full disk.
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        until(lambda: sum(sender.statuses[507] for sender in senders) >= 10)
        assert [server.ask("GET", path)[0] for path in ("/health", "/health/live")] == [503, 200]
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        service.go_on(50)  # the same process stores reports again
    assert_nothing_is_lost_or_twice(SqliteStore(server.data / "reports.sqlite"), senders)


def test_many_identical_posts_at_once_give_one_row(collectors):
    service = collectors(1)
    with service.running():
        body = encode(Report(version=2, id="cd" * 32, design=service.design, ballot=0, answers=(1, 2)))
        assert service.post_together(body, 64) == [204] * 64
    store = SqliteStore(service.servers[0].data / "reports.sqlite")
    assert store.counts(1) == store.recount(1) == {"[null,0,[1,2],[]]": 1}
    store.close()
