"""Waiting for what must happen. How long it takes says nothing: it may be a slow machine with much else to do."""

from __future__ import annotations

import math
import time

PATIENCE = 300.0  # seconds, after which a test hangs rather than waits


def until(happens, told="it never happened"):
    """Ask again and again; return what was answered as soon as it is something."""
    deadline = time.monotonic() + PATIENCE
    while not (found := happens()):
        if time.monotonic() > deadline:
            raise TimeoutError(told() if callable(told) else told)
        time.sleep(0.01)
    return found


def later(chain):
    """A second passes for a chain of blocks: it looks which block is open, and publishes the next if that is full."""
    chain._read = -math.inf
    return chain.current()
