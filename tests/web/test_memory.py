"""A server gives large pieces of memory back as soon as they are freed."""

import ctypes
import subprocess
import sys

import pytest

from deniable.web.api import app as memory

# Frees one large piece, as sealing does, and then sees how much of a smaller one that was freed is still held.
SCRIPT = """
import sys
from pathlib import Path
import numpy as np
from deniable.web.api.app import return_what_is_free

def held():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4

if sys.argv[1] == "yes":
    assert return_what_is_free()
np.ones(24 << 20, np.uint8)
pieces = [np.ones(1 << 20, np.uint8) for _ in range(40)]
before = held()
del pieces[:-1]  # the last is in use, and lies behind the others
print(before - held())
"""


def kib_returned(told):
    done = subprocess.run([sys.executable, "-c", SCRIPT, told], check=True, capture_output=True, text=True)
    return int(done.stdout)


@pytest.mark.skipif(not memory.return_what_is_free(), reason="this C library has no such habit")
def test_what_was_freed_is_given_back_although_larger_pieces_were_freed_before():
    assert kib_returned("no") < 10 * 1024  # else there is nothing to tell it
    assert kib_returned("yes") > 35 * 1024


@pytest.mark.parametrize("error", [AttributeError, OSError, TypeError])
def test_a_library_that_cannot_be_told_is_left_alone(monkeypatch, error):
    def missing(_):
        raise error

    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert memory.return_what_is_free() is False
