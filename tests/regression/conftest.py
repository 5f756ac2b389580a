import numpy as np
import pandas as pd
import pytest

import deniable as dn


def disguise(truth, channel, seed):
    return channel.randomize(np.asarray(truth), source=dn.Seeded(seed))


@pytest.fixture(scope="session")
def survey():
    """3000 respondents: two predictors, a yes-or-no truth, a three-way truth, a number that depends on the first."""
    rng = np.random.default_rng(5)
    n = 3000
    age, sex = rng.normal(size=n), rng.choice(["f", "m"], size=n)
    eta = -0.8 + 0.9 * age + 0.5 * (sex == "m")
    truth = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int)
    power = np.exp(np.stack([np.zeros(n), 0.4 + 0.7 * age, -0.5 - 0.6 * age], axis=1))
    three = (rng.random(n)[:, None] > np.cumsum(power / power.sum(axis=1, keepdims=True), axis=1)).sum(axis=1)
    return pd.DataFrame(
        {
            "age": age,
            "sex": sex,
            "truth": truth,
            "three": three,
            "y": 1.5 * truth - 0.5 * age + rng.normal(size=n),
            "village": rng.integers(0, 60, n),
            "weight": rng.uniform(0.5, 2.0, n),
            "group": rng.choice(["a", "b", "direct"], size=n),
        }
    )
