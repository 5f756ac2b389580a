"""Reports that tell only some sums of the shares: every analysis refuses the others, and says what to do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.errors import DeniableError, EstimationError, NotCoveredError, NotIdentifiedError

ANALYSES = {
    "a table": (lambda r: dn.estimate(r, ["age"]), NotCoveredError, "made for"),
    "a pair": (lambda r: dn.estimate(r, ["age", "sex"], "inversion"), NotCoveredError, "made for"),
    "a mean": (lambda r: dn.mean(r, "age"), EstimationError, "made for"),
    "a distribution function": (lambda r: dn.cdf(r, "age"), EstimationError, "made for"),
    "a density": (lambda r: dn.density(r, "age"), EstimationError, "made for"),
    "means by group": (lambda r: dn.means_by(r, "age", by="sex"), EstimationError, "made for"),
    "a fit": (lambda r: dn.goodness_of_fit(r, "age", [1 / 6] * 6), NotCoveredError, "made for"),
    "independence": (lambda r: dn.independence(r, ["age", "sex"]), NotCoveredError, "made for"),
    "independence given a third": (
        lambda r: dn.conditional_independence(r, "age", "sex", given="town"),
        NotCoveredError,
        "made for",
    ),
    "a regression": (lambda r: dn.logit("sex ~ age", r), NotIdentifiedError, "cannot be told apart"),
    "moments": (lambda r: dn.linear("age ~ sex", r), NotCoveredError, "made for"),
    "a correlation": (lambda r: dn.correlate(r, "age", "sex"), DeniableError, "."),
    "records": (lambda r: dn.synthesize(r, 10), NotCoveredError, "made for"),
}


@pytest.fixture(scope="module")
def reports():
    domain = {"age": list(range(6)), "sex": ["f", "m"], "town": ["a", "b"]}
    design = dn.Independent(domain, 3.0, channel=dn.MadeFor("ranges(age; 0..2)"))
    assert [question.channel.sums for question in design.questions] == [1, 1, 1]
    rng = np.random.default_rng(4)
    people = {name: rng.choice(values, 300) for name, values in domain.items()}
    return design.randomize(pd.DataFrame(people), source=dn.Seeded(4))


@pytest.mark.parametrize("name", ANALYSES)
def test_what_the_channel_does_not_tell_is_refused(reports, name):
    analyse, error, told = ANALYSES[name]
    with pytest.raises(error, match=told):
        analyse(reports)


def test_what_it_tells_is_told(reports):
    assert dn.estimate(reports, ["sex", "town"]).values.sum() == pytest.approx(1)
    assert len(dn.synthesize(reports, 10, attributes=["sex", "town"])) == 10
    assert "Left out: 2 pairs" in str(dn.all_pairs(reports))
