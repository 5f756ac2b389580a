"""Amendments: designs of one plan that differ in their words alone. A corrected text is a new design, not a new survey.

The words are inside a design's hash, so that nobody can be asked something else under the same name. Whoever corrects a
spelling therefore serves a new design, which names the one that it replaces. What is asked, how it is disguised, who
may answer and where stay the same: that is the plan, and its hash without the words is `plan_id`. Reports to amendments
of one plan are counted together, and a device that answered one of them does not answer another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.collection.form import design_body
from deniable.device.messages import Design, design_id
from deniable.device.verify import verify, verify_stored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.collection.storage.base import Store
    from deniable.surveys.survey import Survey


def current_design(survey: Survey, store: Store, origins: Sequence[str], issuer: str | None) -> bytes:
    """The design to be served: the one that the store holds with these words, or a new one that replaces the last."""
    body = design_body(survey, origins, issuer=issuer)
    wanted = verify(body, design_id(body))
    last = None
    for name, (_, known) in store.designs().items():
        stored = verify_stored(known, name)
        if not isinstance(stored.message, Design) or stored.plan_id != wanted.plan_id:
            continue
        if stored.message.texts == wanted.terms.texts:
            return known
        last = name
    return body if last is None else design_body(survey, origins, issuer=issuer, replaces=last)


def amendments_of(store: Store, name: str) -> dict[str, tuple[int, bytes]]:
    """All designs of a store that share a design's plan, oldest first."""
    designs = store.designs()
    plan = verify_stored(designs[name][1], name).plan_id
    return {each: known for each, known in designs.items() if verify_stored(known[1], each).plan_id == plan}
