"""A design in blocks as a collector announces it: a message that says more than the design, named by all of its bytes.

Devices verify that message, blocks name its hash, and files of what was collected hold it byte for byte. So this design
is written as the message, and read from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from deniable.designs.design import Design, domain_of
from deniable.designs.question import Question
from deniable.device.epsilon import compose, epsilon_of
from deniable.device.fake_limits import BITS, Limits
from deniable.device.privacy_statement import Statement, both_numbers
from deniable.errors import DesignError
from deniable.extensions.blocks.fake_distribution import first_mixture
from deniable.extensions.designs.blocks import Blocks
from deniable.frozen import fix

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

_UNBOUNDED = 1 << 62


@dataclass(frozen=True, eq=False, repr=False, init=False)
class MessageBlocks(Blocks):
    """Questions with the limits that every block must keep; how large blocks are is the collector's business."""

    _message: bytes
    _is_deniability: bool

    def __init__(self, message: Mapping[str, Any]) -> None:
        """Read the message's plan; every channel in it must be adaptive."""
        plan = message["plan"]
        domain = domain_of(plan)
        questions, limits = [], []
        for asked in plan["questions"]:
            channel, cells = asked["channel"], domain.project(asked["attributes"]).cells
            if (channel["kind"], channel["bits"], channel["cells"]) != ("adaptive", BITS, cells):
                raise DesignError(f"a design in blocks has adaptive channels of {BITS} bits, not {channel}")
            limits.append(Limits(cells, channel["most_kept"], channel["least_fake"]))
            questions.append(Question(tuple(asked["attributes"]), first_mixture(limits[-1])))
        Design.__init__(self, domain, questions, plan["ballots"])
        fix(
            self,
            limits=limits,
            mode="ldp",
            keep=None,
            most_told=None,
            requested=float(message["epsilon"]),
            block_size=_UNBOUNDED,
        )
        fix(self, _message=msgspec.json.encode(message), _is_deniability=message["deniability"])

    def _given(self) -> dict[str, Any]:
        return {"message": self.to_dict()}

    @property
    def title(self) -> str:
        """What it is for whoever asked for blocks; that it was read from a message is no concern of theirs."""
        return f"{Blocks.__name__} design"

    @property
    def claimed_epsilon(self) -> float:
        """What the published protocol claims for a whole report, where it is the one that was served."""
        return epsilon_of(self._claim) if self._is_deniability else self.epsilon

    @property
    def claims_deniability(self) -> bool:
        """As the message says."""
        return self._is_deniability

    @property
    def _claim(self) -> Fraction | float:
        return max(compose(self.limits[index].claim for index in ballot) for ballot in self.ballots)

    def _statement(self) -> Statement:
        """Say in words what is asked, and what any block that a respondent accepts can tell about them."""
        notes = (
            "Fakes are learned block by block; every respondent is in one.",
            "Any published block that keeps the floor keeps this bound; devices refuse others.",
        )
        both = (both_numbers(self._claim, self.ratio),) if self._is_deniability else ()
        return Statement(self.ratio, (*Design._statement(self).notes, *notes, *both))

    def to_dict(self) -> dict[str, object]:
        """The message."""
        return msgspec.json.decode(self._message, type=dict[str, object])

    def __repr__(self) -> str:
        return Design.__repr__(self)
