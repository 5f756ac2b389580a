"""What a statistic is compared with: draws under the hypothesis, from a stream that the data themselves determine.

The same reports give the same p-value on every machine and however they were read: the draws come from a generator
seeded with a hash of the counts. Whoever wants others gives a source of their own.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.randomness import Seeded
from deniable.errors import InputError
from deniable.likelihood.report_likelihoods import Listed, Moments

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from deniable.core.domain import Domain
    from deniable.core.randomness import Source
    from deniable.designs.observation import Observation
    from deniable.likelihood.evidence import Evidence
    from deniable.likelihood.stacked_evidence import Stack


def generator_of(data: Iterable[Evidence | Stack | Observation], source: Source | None) -> np.random.Generator:
    """The generator of a source; without one, that of the data.

    Neither the order of groups of reports nor how they were collected changes it.
    """
    return (source or data_source(data)).stream().generator()


def data_source(data: Iterable[Evidence | Stack | Observation]) -> Source:
    """The source that the data determine."""
    return Seeded(seed_of(data))


def seed_of(data: Iterable[Evidence | Stack | Observation]) -> int:
    """A number that the counts determine, and the attributes they are about."""
    digests = sorted(digest for one in data for digest in _digests(one))
    return int.from_bytes(hashlib.sha256(b"".join(digests)).digest(), "big")


def _digests(one: Evidence | Stack | Observation) -> list[bytes]:
    found = []
    for said in [group.said for group in one.groups] if hasattr(one, "groups") else [one]:
        told = said.source if isinstance(said, Moments) else said
        domain: Domain = told.domain if hasattr(told, "domain") else told.part
        codes = np.ascontiguousarray(told.codes).tobytes() if isinstance(told, Listed) else b""
        counts = np.ascontiguousarray(told.counts, dtype="<f8").tobytes()
        words = repr([(v.name, v.categories) for v in domain.values()] + [told.channel.name]).encode()
        found.append(hashlib.sha256(b"\0".join([words, codes, counts])).digest())
    return found


def checked(replicates: int) -> int:
    """The number of replicates, at least one."""
    if replicates < 1:
        raise InputError(f"the bootstrap needs at least 1 replicate, not {replicates}")
    return replicates


def p_value(observed: float, simulated: NDArray[np.float64]) -> float:
    """(1 + how many simulated statistics reach the observed one) / (1 + replicates)."""
    return float((1 + (simulated >= observed).sum()) / (1 + len(simulated)))
