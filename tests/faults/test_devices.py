"""Real devices under every kind of admission, and a server that is killed under them.

What a device was told is stored is there, once; what it was not told is there once or not at all. Replies are lost and
requests repeated on the way, as networks do.
"""

from __future__ import annotations

import logging
import os
import random
import threading
import time
from contextlib import closing

import pytest

from chequered import one_of
from deniable.collection.load_reports import stored_reports
from deniable.device.client import Client
from deniable.device.protocol.http_transport import Http
from deniable.errors import UnreachableError
from deniable.storage.open_store import open_store
from deniable.storage.store import key_of
from small_survey import INDEPENDENT, small_survey
from waiting import until

DEVICES = 3
LOG = logging.getLogger(__name__)  # which `make faults` shows
KINDS = {
    "blind": ("blind", INDEPENDENT),
    "open": ("open", INDEPENDENT),
    "blocks": ("open", '{ kind = "blocks", k = 2, block_size = 20 }'),
    "invited": ("invited", INDEPENDENT),
}


class Flaky(Http):
    """A network that loses some replies, and repeats some requests."""

    def __init__(self, url, rng):
        super().__init__(url)
        self._rng = rng

    def request(self, method, path, body=None, *, most):
        fate = self._rng.random()
        if method == "POST" and fate < 0.2:
            super().request(method, path, body, most=most)
            if fate < 0.1:
                raise UnreachableError("the reply was lost", url="")
        return super().request(method, path, body, most=most)


class Device(threading.Thread):
    """One respondent after the other, each with a device of their own, until told to stop."""

    def __init__(self, url, number, invitations, stop):
        super().__init__()
        self.rng = random.Random(number)  # noqa: S311 - repeats, hides nothing
        self.url, self.invitations, self.stop = url, invitations, stop
        self.made, self.acknowledged, self.faults = set(), set(), []

    def run(self):
        while not self.stop.is_set():
            self.respond()

    def respond(self):
        invitation = self.invitations.pop() if self.invitations else None
        with closing(Client(self.url, transport=Flaky(self.url, self.rng), invitation=invitation)) as client:
            report = self.insist(lambda: client.answer({"a": "yes", "b": "no"}, send=False).report)
            if report is None:
                return
            self.made.add(report.id)
            if self.insist(client.send) is not None:
                self.acknowledged.add(report.id)

    def insist(self, step):
        """Try until it works; None if the test ended first."""
        while not self.stop.is_set():
            try:
                return step()
            except UnreachableError:
                time.sleep(0.02)
            except Exception as error:  # noqa: BLE001 - whatever it is, a killed server is no reason for it
                self.faults.append(error)
                return None
        return None


def told(devices):
    return sum(len(device.acknowledged) for device in devices)


def go_on(devices, reports):
    """Wait until devices were told that so many more reports are stored, or one met what it should not."""
    before = told(devices)
    until(lambda: told(devices) >= before + reports or any(device.faults for device in devices))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS if "DENIABLE_KILLS" in os.environ else one_of(2, KINDS))
def test_no_device_is_told_what_is_not_so(collectors, times, kind):
    admission, design = KINDS[kind]
    (server,) = collectors(1, survey=small_survey(design, admission)).servers
    moments, stop = random.Random(24), threading.Event()  # noqa: S311 - repeats, hides nothing
    # More than can be used in the time.
    codes = [] if admission == "open" else server.invitations(DEVICES * (1000 + 500 * times.kills))
    devices = [Device(server.url, number, codes[number::DEVICES], stop) for number in range(DEVICES)]
    server.start()
    try:
        for device in devices:
            device.start()
        for _ in range(times.kills):
            go_on(devices, moments.randint(1, 20))
            server.kill()
            server.start()
        # Whatever was waiting gets through.
        for device in devices:
            go_on([device], 5)
    finally:
        stop.set()
        for device in devices:
            device.join()
        server.kill()
    made, acknowledged = (set().union(*(getattr(one, what) for one in devices)) for what in ("made", "acknowledged"))
    assert not [fault for device in devices for fault in device.faults]
    LOG.info("%s: %d kills, %d made, %d acknowledged", kind, times.kills, len(made), len(acknowledged))
    with closing(open_store(server.data)) as store:
        keys = {key_of(store.salt, name): name for name in made}
        found = {keys[key] for key in store.find(list(keys))}
        ((design_id, (number, _)),) = store.designs().items()
        counts = store.counts(number)
        assert counts == store.recount(number)
        assert acknowledged <= found
        assert sum(counts.values()) == store.total(number) == len(found)
        assert stored_reports(store, design_id).n == len(found)  # and in blocks: each in one that was published
