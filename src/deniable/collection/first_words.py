"""Freezing the words: the first report that is stored says under which words a plan is answered, for good.

Designs of one plan are counted together, so their words must be those that people read, or a declared correction of
them. Before anybody has answered, words may change at will; a report may then still be under way that was made under
those before, or another server may show others from the same store. So which words came first is kept in the store, by
whoever stores the first report, in one step that only one of several can win. A report made under other words, which no
correction connects with these, is turned away for good.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from deniable.device.verified_design import VerifiedDesign
    from deniable.storage.store import Readable, Store


def first_mark(plan: str) -> str:
    """What the store keeps the first answered design of a plan under."""
    return f"first {plan}"


def first_of(store: Readable, plan: str) -> str | None:
    """The first design of a plan that a report was stored of, if there is one."""
    found = store.saved(first_mark(plan))
    return None if found is None else found.decode()


def connected(first: str, designs: Mapping[str, str | None]) -> frozenset[str]:
    """The designs that declared corrections connect with the first one, in either direction.

    Args:
        first: a design's id.
        designs: the designs of its plan, each with the one that it replaces.

    >>> sorted(connected("a", {"a": None, "b": "a", "c": "b", "other": None}))
    ['a', 'b', 'c']
    """
    found, more = {first}, True
    while more:
        near = {name for name, before in designs.items() if before in found}
        near |= {before for name, before in designs.items() if name in found and before is not None}
        more = bool(near - found)
        found |= near
    return frozenset(found)


class FirstWords:
    """Whether reports to a design may be counted, as one worker knows it.

    Args:
        store: keeps which design of a plan was answered first.
        designs: those that reports are taken for.
        served: the one that is shown now.
    """

    def __init__(self, store: Store, designs: Iterable[VerifiedDesign], served: str) -> None:
        self._store, self._served = store, served
        self._plan: dict[str, str] = {}
        self._plans: dict[str, dict[str, str | None]] = {}
        for design in designs:
            self._plan[design.id] = design.plan_id
            self._plans.setdefault(design.plan_id, {})[design.id] = design.message.replaces
        firsts = ((plan, first_of(store, plan)) for plan in self._plans)
        self._known = {plan: connected(first, self._plans[plan]) for plan, first in firsts if first is not None}

    def is_known(self, design: str) -> bool:
        """Whether nobody has to be asked about a design."""
        return self._plan[design] in self._known

    def counts(self, design: str) -> bool:
        """Whether reports to a design may be counted, as the first one decides. May wait for the store."""
        plan = self._plan[design]
        if plan not in self._known:
            first = first_of(self._store, plan)
            if first is None:
                # Not answered yet: a report under words that are not shown any more comes too late.
                shown = self._plan[self._served] == plan
                if shown and design not in connected(self._served, self._plans[plan]):
                    return False
                first = self._store.save(first_mark(plan), design.encode()).decode()
            self._known[plan] = connected(first, self._plans[plan])
        return design in self._known[plan]
