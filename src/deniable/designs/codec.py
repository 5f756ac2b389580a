"""Designs from plain data: the inverse of `Design.to_dict`. What does not come out the same is refused.

A design that was written down must mean the same when it is read: what is rebuilt is turned into plain data once more
and compared with what was read, so a field that this program does not know, or a number that does not follow from the
others, cannot slip through.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Any

import msgspec

from deniable.channels.codec import channel_from_dict
from deniable.channels.dense import Dense
from deniable.channels.paired import Coins
from deniable.designs.base import FORMAT, Design, Question
from deniable.designs.blocks.design import Blocks
from deniable.designs.blocks.message import MESSAGES, MessageBlocks
from deniable.designs.clusters import Clusters
from deniable.designs.header import unaltered
from deniable.designs.independent import Independent
from deniable.designs.joint import Joint
from deniable.designs.paired.design import Paired
from deniable.designs.paired.items import PairedItems
from deniable.designs.sampled import Sampled
from deniable.designs.views import Views
from deniable.domain import Domain
from deniable.errors import DeniableError, DesignError
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Callable

    Fields = Mapping[str, Any]


def design_from_dict(data: Mapping[str, Any]) -> Design:
    """Make the design that `to_dict` wrote.

    >>> design = Joint({"smokes": ["no", "yes"]}, epsilon=1.0)
    >>> design_from_dict(design.to_dict()) == design
    True
    """
    if not isinstance(data, Mapping):
        raise DesignError(f"a design is read from a table of fields, not from {type(data).__name__}")
    announced = "plan" in data  # by a collector
    version, kind = (data.get("version"), Blocks.kind) if announced else (data.get("format"), data.get("kind"))
    if type(version) is not int or version < 1:
        raise DesignError(f"this is not a design: its format must be a number from 1 upwards, not {version!r}")
    if version > (MESSAGES if announced else FORMAT):
        raise DesignError(
            f"this design has format {version}; this program knows formats up to {FORMAT}. It was written by a newer "
            f"deniable: upgrade with pip install --upgrade deniable",
            format=version,
        )
    if not isinstance(kind, str) or kind not in _READERS:
        raise DesignError(f"unknown kind of design {kind!r}; known are {listed(sorted(_READERS))}", kind=kind)
    try:
        made = MessageBlocks(data) if announced else _READERS[kind](data)
    except DeniableError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise DesignError(f"a design of kind {kind!r} cannot be read from this: {error!r}", kind=kind) from None
    again = made.to_dict()
    strangers = [name for name in data if name not in again]
    if strangers:
        raise DesignError(f"a design of kind {kind!r} has no fields {listed(strangers)}", kind=kind, fields=strangers)
    # As bytes: a list and a tuple, or two orders of the same fields, are the same design.
    if msgspec.json.encode(again, order="deterministic") != msgspec.json.encode(dict(data), order="deterministic"):
        raise DesignError(
            f"this design of kind {kind!r} contradicts itself: its numbers do not follow from each other", kind=kind
        )
    return made


def design_from_bytes(data: bytes | str, expected: str | None = None) -> Design:
    """Make a design of its canonical bytes; with `expected`, only if that is their SHA-256.

    >>> design = Joint({"smokes": ["no", "yes"]}, epsilon=1.0)
    >>> design_from_bytes(design.canonical(), design.id) == design
    True
    """
    raw = data.encode() if isinstance(data, str) else data
    if expected is not None:
        unaltered(raw, expected)
    try:
        fields = msgspec.json.decode(raw)
    except msgspec.DecodeError as error:
        raise DesignError(f"this is not a design: {error}") from None
    return design_from_dict(fields)


# -- one reader a kind -------------------------------------------------------------------------------------------------


def _domain(data: Fields) -> Domain:
    return Domain({variable["name"]: variable["categories"] for variable in data["domain"]})


def _plain(kind: type[Design]) -> Callable[[Fields], Design]:
    """Read designs that are questions and ballots, and nothing else."""

    def read(data: Fields) -> Design:
        questions = [Question(tuple(q["attributes"]), channel_from_dict(q["channel"])) for q in data["questions"]]
        return kind.of_questions(_domain(data), questions, data["ballots"])

    return read


def _paired(data: Fields) -> Design:
    coins = {name: Coins(**numbers) for name, numbers in data["coins"].items()}
    return Paired(_domain(data), coins=coins, respondents=data["respondents"], colluders=data["colluders"])


def _paired_items(data: Fields) -> Design:
    """The coins out of the channel's integers: P(11) = T^2 - D^2 and P(00) = (W - T)^2 - D^2, of W = 2^16 draws."""
    channel = channel_from_dict(data["questions"][0]["channel"])
    assert isinstance(channel, Dense)
    weights, whole = channel.weights(), 1 << 16
    both, neither = int(weights[0, 0]), int(weights[3, 0])
    truthful = ((both - neither) // whole + whole) // 2
    coins = Coins(truthful, isqrt(truthful**2 - both), 16)
    return PairedItems(_domain(data), Fraction(coins.p), coins.rho)


_READERS: dict[str, Callable[[Fields], Design]] = {
    **{kind.kind: _plain(kind) for kind in (Design, Independent, Joint, Clusters, Sampled, Views)},
    Blocks.kind: Blocks.from_dict,
    Paired.kind: _paired,
    PairedItems.kind: _paired_items,
}
