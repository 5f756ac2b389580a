"""A store, opened, opened again, and opened a second time beside itself: of the kind that a module's `opens` says."""

from __future__ import annotations

from contextlib import ExitStack, closing

import pytest


@pytest.fixture
def store(opens):
    with closing(opens()) as made:
        yield made


@pytest.fixture
def reopen(opens):
    with ExitStack() as stack:

        def again(store):
            store.close()
            return stack.enter_context(closing(opens()))

        yield again


@pytest.fixture
def beside(store, opens):
    with closing(opens()) as made:
        yield made
