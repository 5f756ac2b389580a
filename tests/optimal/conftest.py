"""Problems that no test was tuned to, and channels that nobody optimised."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def cases():
    """Held-back wanted numbers, epsilons and skewed truths: a function of a seed, how many, and the most answers."""

    def made(seed, count, most):
        rng = np.random.default_rng(seed)
        for _ in range(count):
            t = int(rng.integers(2, most + 1))
            wanted = rng.normal(size=(rng.integers(1, t + 2), t))
            truth = None if rng.random() < 0.3 else rng.dirichlet(np.full(t, 0.6))
            yield wanted, float(rng.uniform(0.1, 4)), truth

    return made


@pytest.fixture
def random_channel():
    """Any epsilon-LDP channel: random patterns with their complements, then, half of the time, reports merged."""

    def made(rng, t, epsilon):
        large = rng.random((rng.integers(2, 3 * t), t)) < rng.uniform(0.1, 0.9)
        rows = np.where(np.concatenate([large, ~large]), np.exp(epsilon), 1.0)
        rows *= np.tile(rng.dirichlet(np.full(len(large), 0.5)), 2)[:, None] / (1 + np.exp(epsilon))
        if rng.random() < 0.5:
            return rows
        return rng.dirichlet(np.full(len(rows), 0.1), len(rows)).T @ rows

    return made
