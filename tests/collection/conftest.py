"""Every connection that a test opens is closed when the test ends, whatever still refers to it."""

from __future__ import annotations

import pytest

from deniable.device.protocol.http_transport import Http


@pytest.fixture(autouse=True)
def _closed_connections(monkeypatch):
    made, make = [], Http.__init__

    def init(self, *arguments, **options):
        make(self, *arguments, **options)
        made.append(self)

    monkeypatch.setattr(Http, "__init__", init)
    yield
    for connection in made:
        connection.close()
