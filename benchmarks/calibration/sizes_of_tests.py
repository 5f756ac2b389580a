"""How often tests reject what is true: every kind of test and of design, where noise is hardest on them.

Each simulated survey has its own fit, its own null table and its own replicates, as in the test itself (39 of them
rather than 999: the level is 2 / 40 exactly, and most surveys are settled after a few).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.calibration.report_section import Section
from deniable import KRR, Domain, HadamardResponse, Joint, Observation, Seeded, SubsetSelection, Table, Unary, Views
from deniable.inference.hypothesis_tests.likelihood_ratio import (
    LikelihoodRatio,
    Part,
    independence_ratio,
    interaction_ratio,
)
from deniable.likelihood.evidence import Evidence, of_counts
from deniable.likelihood.gather import gather
from deniable.likelihood.hypothesis_models import GivenMargin, Saturated
from deniable.likelihood.quasi_likelihood import countable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from deniable.channels.channel import Channel
    from deniable.likelihood.stacked_evidence import Stack

    Array = NDArray[np.float64]

TESTED = 2000  # surveys a cell, each with its own replicates
REPLICATES, LIMIT = 39, 2  # rejected is what fewer than 2 of 39 replicates reach: level .05
SIZE = (0.04, 0.06)  # where a size must lie
NOISY = (0.02, 0.06)  # where noise exceeds the margins
NOISE = 2.0  # standard errors of a margin that the smallest of them must have for noise not to exceed it

EVEN5, RARE5 = np.full(5, 0.2), np.array([0.6, 0.25, 0.1, 0.04, 0.01])
UNEVEN5 = np.array([0.35, 0.25, 0.2, 0.12, 0.08])
EVEN8 = np.full(8, 0.125)
THREE, FOUR = np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.3, 0.2, 0.1])


@dataclass(frozen=True, eq=False)
class Case:
    """A true hypothesis, simulated: what it is called, the test, and the true table of every part of H0."""

    what: str
    epsilon: float
    n: int
    ratio: LikelihoodRatio
    truth: Sequence[Array]
    noisy: bool = False

    @property
    def bounds(self) -> tuple[float, float]:
        """Where the size must lie."""
        return NOISY if self.noisy else SIZE

    def rejected(self, surveys: int, rng: np.random.Generator) -> int:
        """How many of some simulated surveys are rejected."""
        parts = zip(self.ratio.h0, self.truth, strict=True)
        y = np.concatenate([part.evidence.again(pi[..., None], rng, surveys) for part, pi in parts])
        return int(self.ratio.rejects(y, rng, most=REPLICATES, limit=LIMIT).sum())


def noise_exceeds(evidence: Evidence | Stack, truth: Array) -> bool:
    """Whether the smallest share of some attribute is within two standard errors of zero."""
    parts = [evidence] if isinstance(evidence, Evidence) else list(evidence.parts)
    for part in parts:
        table = truth if isinstance(evidence, Evidence) else truth[0]
        covariance = np.linalg.pinv(part.information(np.maximum(table, 1e-9)), hermitian=True)
        for axis, size in enumerate(table.shape):
            others = tuple(i for i in range(table.ndim) if i != axis)
            margin = table.sum(axis=others)
            for k in range(size):
                w = np.zeros(table.shape)
                w[(slice(None),) * axis + (k,)] = 1.0
                w = (w - margin[k]).ravel()
                if margin[k] < NOISE * np.sqrt(max(float(w @ covariance @ w), 0.0)):
                    return True
    return False


def _pair(what: str, channel: Channel, pi: Array, n: int, epsilon: float) -> Case:
    domain = Domain({"a": range(pi.shape[0]), "b": range(pi.shape[1])})
    counts = n * channel.apply(pi.reshape(channel.input_shape))
    seen = countable(of_counts([Observation(domain, channel, counts)]))
    return Case(what, epsilon, n, independence_ratio(seen, "a", "b"), [pi], noise_exceeds(seen, pi))


def independence_cases() -> Iterator[Case]:
    """Independence of two attributes."""
    names = {"even 5x5": (EVEN5, EVEN5), "rare 5x5": (RARE5, RARE5), "uneven 5x5": (UNEVEN5, UNEVEN5)}
    for name, (a, b) in names.items():
        for epsilon, n in ((1.0, 200), (1.0, 2000), (3.0, 200), (1.0, 20_000), (0.5, 2000), (3.0, 2000)):
            yield _pair(f"{name}, k-RR", KRR(25, epsilon), np.outer(a, b), n, epsilon)
        yield _pair(f"{name}, subsets", SubsetSelection(25, 1.0), np.outer(a, b), 2000, 1.0)
        yield _pair(f"{name}, unary", Unary(25, 1.0), np.outer(a, b), 5000, 1.0)
        yield _pair(f"{name}, Hadamard", HadamardResponse(25, 2.0), np.outer(a, b), 2000, 2.0)
    yield _pair("even 5 by rare 5, k-RR", KRR(25, 1.0), np.outer(EVEN5, RARE5), 2000, 1.0)
    yield _pair("even 8x8, k-RR", KRR(64, 1.0), np.outer(EVEN8, EVEN8), 2000, 1.0)
    yield _pair("even 8x8, k-RR", KRR(64, 3.0), np.outer(EVEN8, EVEN8), 2000, 3.0)


def design_cases() -> Iterator[Case]:
    """A pair out of more attributes, conditional independence, one attribute of several."""
    domain = Domain({"a": range(3), "b": range(4), "c": range(2)})
    truth = np.einsum("i,j,k->ijk", THREE, FOUR, [0.6, 0.4])
    table = Table(domain, truth)
    for epsilon, n in ((1.0, 4000), (3.0, 2000)):
        views = Views(domain, 2, epsilon).simulate(table, n, source=Seeded(1))
        pair = countable(gather(views, ["a", "b"]))
        yield Case("pair out of views", epsilon, n, independence_ratio(pair, "a", "b"), [truth.sum(axis=2)])
        three = countable(gather(views, ["a", "b", "c"]))
        ratio, _ = interaction_ratio(three, "a", "b")
        yield Case("conditional, from pairs of views", epsilon, n, ratio, [truth])
        joint = countable(gather(Joint(domain, epsilon).simulate(table, n, source=Seeded(1)), ["a", "b", "c"]))
        noisy = noise_exceeds(joint, truth)
        yield Case("conditional, k-RR", epsilon, n, independence_ratio(joint, "a", "b", ["c"]), [truth], noisy)
    for epsilon, n in ((2.0, 1000), (3.0, 4000)):
        hadamard = Joint(domain, epsilon, channel="hadamard").simulate(table, n, source=Seeded(1))
        alone = countable(gather(hadamard, ["b"]))
        whole = np.einsum("ijk->jik", truth) if alone.domain.names == ("b", "a", "c") else truth
        margin = GivenMargin((0,), FOUR[:, None])
        ratio = LikelihoodRatio([Part(alone, margin)], [Part(alone, Saturated())])
        yield Case("goodness of fit of one of three, Hadamard", epsilon, n, ratio, [whole])


def homogeneity_cases() -> Iterator[Case]:
    """Two groups of respondents that answered through different channels."""
    for name, pi in {"even 5": EVEN5, "rare 5": RARE5}.items():
        for n in (300, 3000):
            domain = Domain({"a": range(5)})
            parts = [
                of_counts([Observation(domain, KRR(5, epsilon), n * KRR(5, epsilon).apply(pi))])
                for epsilon in (1.0, 0.5)
            ]
            pooled = Evidence(domain, domain, tuple(group for part in parts for group in part.groups), 0)
            ratio = LikelihoodRatio([Part(pooled, Saturated())], [Part(part, Saturated()) for part in parts])
            yield Case(f"homogeneity, {name}", 1.0, 2 * n, ratio, [pi], noise_exceeds(pooled, pi))


def cases() -> Iterator[Case]:
    """All of them."""
    yield from independence_cases()
    yield from design_cases()
    yield from homogeneity_cases()


def hard_cases(count: int, seed: int) -> Section:
    """Sizes where noise is hardest on tests, through every kind of design."""
    surveys, known = min(count, TESTED), list(cases())
    section = Section(
        "Size where margins are noisy, and through every kind of design",
        f"Share of {surveys} simulated surveys in which a true hypothesis is rejected at level 0.05; each survey "
        f"has {REPLICATES} replicates of its own. Where noise exceeds the margins (some share is within two standard "
        f"errors of zero) a size may fall to {NOISY[0]:g}.",
        ("hypothesis", "epsilon", "n", "size", "required", "met"),
        [],
    )
    source = Seeded(seed + 6)
    for case in known:
        hits = case.rejected(surveys, source.stream().generator())
        section.judge([case.what, f"{case.epsilon:g}", case.n], hits, surveys, case.bounds)
    return section
