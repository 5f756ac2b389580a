"""A question: what is answered together, and how the answer is disguised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.frozen import Frozen

if TYPE_CHECKING:
    from deniable.channels.base import Channel


@dataclass(frozen=True)
class Question(Frozen):
    """A set of attributes answered together, and the channel their joint answer goes through."""

    attributes: tuple[str, ...]
    channel: Channel

    @property
    def name(self) -> str:
        """The attributes, joined."""
        return "*".join(self.attributes)
