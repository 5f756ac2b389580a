"""Channels from plain data: the inverse of `Channel.to_dict`. Unknown kinds and fields are refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from deniable.channels.bitmask import Bitmask
from deniable.channels.blockwise import Blockwise
from deniable.channels.dense import Dense
from deniable.channels.hadamard import HadamardResponse
from deniable.channels.hashing import LocalHashing
from deniable.channels.kronecker import Kronecker
from deniable.channels.krr import KRR
from deniable.channels.mixture import Mixture
from deniable.channels.subset import SubsetSelection
from deniable.channels.two_level import TwoLevel
from deniable.channels.unary import Unary
from deniable.errors import DeniableError, DesignError
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Callable

    from deniable.channels.base import Channel


def _krr(k: int, other: int, bits: int) -> Channel:
    return KRR(k, other=other, bits=bits)


def _mixture(keep: int, fakes: list[int], bits: int) -> Channel:
    return Mixture.from_weights(keep, fakes, bits)


def _share(text: str) -> Fraction:
    """Read "n/d" as `to_dict` writes it; an exponent or a thousand digits would be an attack on whoever reads it."""
    if not re.fullmatch(r"\d{1,400}(/\d{1,400})?", str(text)):
        raise ValueError(f"{str(text)[:40]!r} is not a fraction of whole numbers")
    return Fraction(text)


def _stated_mixture(shares: list[str]) -> Channel:
    keep, *noise = [_share(share) for share in shares]
    if keep == 1:  # nothing is ever faked, so any T says the same
        return Mixture(keep, [Fraction(1, len(noise))] * len(noise))
    return Mixture(keep, [share / (1 - keep) for share in noise])


def _dense(name: str, columns: list[list[int]], bits: int, *, partial: bool = False) -> Channel:
    channel = Dense.from_weights([list(row) for row in zip(*columns, strict=True)], bits, name=name, partial=partial)
    if partial is not False and not channel.is_partial:
        raise ValueError("'partial' is said of channels that cannot be inverted only")
    return channel


def _stated_dense(name: str, columns: list[list[str]]) -> Channel:
    return Dense([[_share(share) for share in row] for row in zip(*columns, strict=True)], name=name)


def _hadamard(k: int, other: int, bits: int) -> Channel:
    return HadamardResponse(k, other=other, bits=bits)


def _unary(k: int, own: int, other: int, bits: int) -> Channel:
    return Unary(k, own=own, other=other, bits=bits)


def _subset(k: int, d: int, own: int, bits: int) -> Channel:
    return SubsetSelection(k, d=d, own=own, bits=bits)


def _hashing(k: int, value: dict[str, Any]) -> Channel:
    return LocalHashing(k, value=_coin(value))


def _two_level(first: dict[str, Any], again: dict[str, Any]) -> Channel:
    kept = channel_from_dict(first)
    if not isinstance(kept, Unary | SubsetSelection):
        raise TypeError(f"only sets are kept and sent again, not reports of {kept.name}")
    return TwoLevel(kept, _coin(again))


def _coin(data: dict[str, Any]) -> KRR:
    channel = channel_from_dict(data)
    if not isinstance(channel, KRR):
        raise TypeError(f"a part of it must be k-RR, not {channel.name}")
    return channel


def _bitmask(k: int, bit: dict[str, Any]) -> Channel:
    return Bitmask(k, _coin(bit))


def _blockwise(keep: list[int], fakes: list[list[int]], respondents: list[int], bits: int) -> Channel:
    return Blockwise(keep, fakes, respondents, bits)


def _kronecker(channels: list[dict[str, Any]]) -> Channel:
    return Kronecker([channel_from_dict(part) for part in channels])


_READERS: dict[tuple[str, bool], Callable[..., Channel]] = {
    ("krr", True): _krr,
    ("mixture", True): _mixture,
    ("mixture", False): _stated_mixture,
    ("dense", True): _dense,
    ("dense", False): _stated_dense,
    ("kronecker", False): _kronecker,
    ("bitmask", False): _bitmask,
    ("blockwise", True): _blockwise,
    ("hadamard", True): _hadamard,
    ("unary", True): _unary,
    ("subset", True): _subset,
    ("hashing", False): _hashing,
    ("two_level", False): _two_level,
}


def channel_from_dict(data: Mapping[str, Any]) -> Channel:
    """Make the channel that `to_dict` wrote.

    >>> channel_from_dict(KRR(4, epsilon=1.0).to_dict()) == KRR(4, epsilon=1.0)
    True
    """
    if not isinstance(data, Mapping):
        raise DesignError(f"a channel is read from a table of fields, not from {data!r}")
    fields = dict(data)
    kind = fields.pop("kind", None)
    known = sorted({k for k, _ in _READERS})
    if kind not in known:
        raise DesignError(f"unknown kind of channel {kind!r}; known are {listed(known)}", kind=kind)
    read = _READERS.get((kind, "bits" in fields))
    if read is None:
        needs = "no" if "bits" in fields else "a"
        raise DesignError(f"a channel of kind {kind!r} cannot be read: it takes {needs} field 'bits'", kind=kind)
    try:
        return read(**fields)
    except DeniableError:
        raise
    except (TypeError, ValueError, ZeroDivisionError) as error:
        raise DesignError(f"a channel of kind {kind!r} cannot be read: {error}", kind=kind) from error
