"""Counts of one question, with the channel that they came through, as an observation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.domain import Domain
from deniable.core.input_coercion import has_labels
from deniable.designs.observation import Observation
from deniable.errors import InputError

if TYPE_CHECKING:
    from deniable.channels.channel import Channel

ANSWER = "answer"  # what the attribute is called where only counts are known


def counted(counts: Any, channel: Channel) -> Observation:
    """How often each report to one question came."""
    categories = getattr(channel, "categories", None) or tuple(range(channel.inputs))
    domain = Domain({ANSWER: categories})
    if has_labels(counts, categories) or hasattr(counts, "columns"):
        return Observation(domain, channel, counts)
    numbers = np.asarray(counts)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iuf" or len(numbers) != channel.outputs:
        raise InputError(
            f"with a channel go counts, how often each of its {channel.outputs} reports came, such as "
            f"estimate({[10] * min(channel.outputs, 4)}, channel); single answers go to prevalence(answers, channel)"
        )
    if (numbers < 0).any() or (numbers != np.round(numbers)).any():
        raise InputError(f"counts are whole numbers and not negative, not {numbers.tolist()}")
    return Observation(domain, channel, numbers.astype(np.int64).reshape(channel.output_shape))
