"""A device whose state cannot be written: our own error, nothing charged, and charged once when it can be again."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from test_client import Served

from deniable.device.client import Client
from deniable.device.device_state import State
from deniable.errors import StoreError

FULL = """
import resource, signal, sys
from test_client import Served
from deniable.device.client import Client
from deniable.errors import StoreError

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
client = Client("http://localhost/", state=sys.argv[1], transport=Served())
for most in (0, 512, 5000):  # bytes that a file may have: none, a part of what is noted down first, the half of it
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
    try:
        client.draw()
    except StoreError as error:
        assert "Nothing was charged" in error.message, error
    else:
        raise SystemExit(f"drawn within {most} bytes")
    assert client.remaining == 5.0
    assert not client._state._db.in_transaction
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
first, left = client.draw(), client.remaining
assert client.draw() == first and client.remaining == left < 5.0
"""


def test_a_full_disk_charges_nothing_and_afterwards_once(tmp_path):
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-B", "-c", FULL, str(tmp_path / "device")],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_what_may_only_be_read_charges_nothing_and_afterwards_once(tmp_path):
    client = Client("http://localhost/", state=tmp_path / "device", transport=Served())
    client._state._db.execute("PRAGMA query_only = ON")
    for _ in range(2):
        with pytest.raises(StoreError, match=r"readonly database\. Nothing was charged"):
            client.draw()
        assert client.remaining == 5.0
    client._state._db.execute("PRAGMA query_only = OFF")
    first, left = client.draw(), client.remaining
    assert client.draw() == first
    assert client.remaining == left < 5.0


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_where_no_state_can_be_made_it_is_said(number, tmp_path, monkeypatch):
    def refuse(*_arguments):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(StoreError, match=f"no state of a device can be kept in .*device: {os.strerror(number)}"):
        State(tmp_path / "device")


def test_a_folder_is_no_state(tmp_path):
    with pytest.raises(StoreError, match="cannot be opened"):
        State(tmp_path)
