"""Simulated reports: which of a store's reports were made up by a simulation, so that nobody takes them for people.

A crowd says of its reports that they are simulated, and the store keeps their keys among its hashes before it keeps the
reports. Whoever can send a report can say so of their own and of nobody else's: the key is a hash of an id that only
its sender knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.core.provenance import Origin
from deniable.surveys.survey import is_pilot

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from deniable.storage.store import Readable, Store

_PURPOSE = "simulated"


def mark(store: Store, keys: Sequence[bytes]) -> None:
    """Keep that the reports under these keys are simulated, whether they are there yet or not. Waits for the store."""
    store.add_tokens(keys, _PURPOSE)


def simulated(store: Readable, designs: Collection[int]) -> int:
    """How many of the reports to these designs, by their numbers, are simulated."""
    return sum(row.design in designs for row in store.find(store.tokens(_PURPOSE)).values())


def has_others(store: Readable) -> bool:
    """Whether a store holds any report, to any of its designs, that is not simulated."""
    numbers = [number for number, _ in store.designs().values()]
    made_up = simulated(store, numbers)  # first: what comes meanwhile is then another's
    return sum(map(store.total, numbers)) > made_up


def origin_in(store: Readable, designs: Collection[int], survey: str) -> Origin:
    """Where the reports to these designs come from, which are of a survey of this name."""
    made_up = simulated(store, designs)  # first: what comes meanwhile is then another's
    return Origin(made_up, sum(map(store.total, designs)), pilot=is_pilot(survey))
