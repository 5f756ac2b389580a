"""Exchange: what a device settles with the collector before it answers, where a channel alone does not disguise.

A kind of channel names the file of this folder that holds its exchange: blocks of fakes are published (`fake_blocks`),
two devices agree on a coin (`partner`). All others are disguised in no context but their own channel.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deniable.device.channels.channel_kind import Kind
    from deniable.device.protocol.collector_connection import Line
    from deniable.device.random_draws import Draw
    from deniable.device.verified_design import VerifiedDesign


class Context:
    """What the answers of one report are disguised in; here: nothing that they share."""

    block: str | None = None  # what the report names, so that its reader knows the context
    kept: bytes | None = None  # and what the device keeps of it

    def settle(self) -> float | None:
        """Take the next step with others, after the ballot was paid for: in how many seconds another; None: settled."""
        return None

    def answer(self, question: int, channel: Kind, cell: int, draw: Draw) -> int:  # noqa: ARG002 - all are alike here
        """The report of a truth to one of the design's questions."""
        return channel.disguise(cell, draw)


class Exchange:
    """How a device comes to a context; here: there is nothing to come to."""

    accept = ""  # what a caller says who agrees to a weaker promise
    waits = False  # whether respondents wait for each other

    def weakens(self, design: VerifiedDesign) -> str | None:  # noqa: ARG002 - nothing does
        """Why this design promises less than one whose reports share nothing, in a sentence; None where it does not."""
        return None

    def before(self, line: Line, design: VerifiedDesign) -> Context:  # noqa: ARG002 - nothing is asked
        """Ask for the context of a report, and check it, before anything is drawn or charged."""
        return Context()


def exchange_of(design: VerifiedDesign) -> Exchange:
    """What the channels of a design ask for."""
    homes = {question.channel.exchange for question in design.questions if question.channel.exchange}
    found = Exchange()
    for home in homes:  # none, or one: `verify` has looked
        found = import_module(f"{__package__}.{home}").EXCHANGE
    return found
