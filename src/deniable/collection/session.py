"""Session: what goes on beside the reports to a plan while a server runs: nothing, but of an extension."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.designs.extension import extension_of

if TYPE_CHECKING:
    from deniable.device.protocol.messages import Report
    from deniable.device.verified_design import VerifiedDesign
    from deniable.storage.store import Store


class Session:
    """Of a plan: all amendments, which differ in their words alone, have one. May be called from any thread."""

    by_block = True  # whether the block that a report names decides alone if it is admitted

    def join(self, name: str, number: int) -> None:
        """Take a design of the plan, by its name and its number in the store, before any report to it is taken."""

    def is_known(self, report: Report) -> bool:  # noqa: ARG002 - there is nothing to ask
        """Whether nobody has to be asked if a report is admitted. Never waits."""
        return True

    def admits(self, report: Report) -> str | None:
        """The code of what is wrong with a report, beside its own answers; None: nothing. May wait for the store."""
        return None if report.block is None else "unknown-block"

    def close(self) -> None:
        """Keep what is not in the store yet."""


def session_of(store: Store, verified: VerifiedDesign) -> Session:
    """What goes on for the kind of a plan."""
    made = extension_of(verified.message.plan.kind).session(store, verified)
    return made if isinstance(made, Session) else Session()
