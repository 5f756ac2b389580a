"""Part of a channel: the truths that some respondents may have, where others are known not to be theirs.

Whoever was asked has an answer, so "does not apply" is nobody's truth. With K the truths that are left,

    Pr(report | truth) is as it was:   P without the columns that are not in K.

All reports still come, by chance. Such a channel is analysed and never run: nobody knows before who is who.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from deniable.channels.explicit_matrix import Explicit
from deniable.channels.read_channel import channel_from_dict
from deniable.errors import DesignError, ProbabilityError
from deniable.frozen import fix, readonly

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    import numpy as np
    from numpy.typing import NDArray

    from deniable.channels.channel import Channel


def checked(channel: Channel, truths: Sequence[int]) -> tuple[int, ...]:
    """The places of some truths of a channel, in their order."""
    kept = tuple(int(truth) for truth in truths)
    if list(kept) != sorted(set(kept)) or len(kept) < 2 or not 0 <= kept[0] <= kept[-1] < channel.inputs:
        raise ProbabilityError(
            f"part of {channel.name} has two or more of its truths 0 .. {channel.inputs - 1}, in order; got {kept}"
        )
    return kept


def never_run(channel: Channel) -> DesignError:
    """What to say to whoever would run part of a channel."""
    return DesignError(f"part of {channel.name} is analysed and never run: run the whole, which is its .whole")


@dataclass(frozen=True, eq=False, repr=False, init=False)
class SomeTruths(Explicit):
    """Some of the columns of a channel whose reports are counted one by one.

    >>> from deniable.channels.krr import KRR
    >>> part = SomeTruths(KRR(3, epsilon=1.0), [0, 1])
    >>> part.inputs, part.outputs, part.solve(part.apply([0.3, 0.7])).round(12).tolist()
    (2, 3, [0.3, 0.7])
    """

    kind = "some_truths"
    is_answer = False

    whole: Channel
    truths: tuple[int, ...]

    def __init__(self, whole: Channel, truths: Sequence[int]) -> None:
        """Take a channel and the places of the truths that are left."""
        fix(self, whole=whole, truths=checked(whole, truths))

    @property
    def inputs(self) -> int:  # type: ignore[override]
        """The truths that are left."""
        return len(self.truths)

    @property
    def outputs(self) -> int:  # type: ignore[override]
        """All reports."""
        return self.whole.outputs

    @property
    def name(self) -> str:  # type: ignore[override]
        """That of the whole."""
        return self.whole.name

    @property
    def ratio(self) -> Fraction | float:
        """What the whole promises: nobody is promised less for having been asked."""
        return self.whole.ratio

    @cached_property
    def _p(self) -> NDArray[np.float64]:
        return readonly(self.whole.matrix()[:, list(self.truths)])

    @cached_property
    def _q(self) -> NDArray[np.float64]:
        own = self.whole.inverse_of_some(self.truths)
        return readonly(self._left_inverse() if own is None else own)

    def executed(self) -> Channel:
        """Refused: see `never_run`."""
        raise never_run(self.whole)

    def weights(self) -> NDArray[np.int64]:
        """Refused likewise."""
        raise never_run(self.whole)

    @classmethod
    def from_parts(cls, whole: Mapping[str, Any], truths: Sequence[int]) -> SomeTruths:
        """Read what `to_dict` wrote."""
        return cls(channel_from_dict(whole), truths)

    def to_dict(self) -> dict[str, object]:
        """{"kind": "some_truths", ...} with the whole channel and the truths that are left."""
        return {"kind": "some_truths", "whole": self.whole.to_dict(), "truths": list(self.truths)}
