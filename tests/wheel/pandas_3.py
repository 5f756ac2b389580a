"""What people with pandas 3 do: run by a test, in an environment that has it. Text there has a type of its own."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import deniable as dn
from deniable.datasets import fair

warnings.simplefilter("error")
assert pd.__version__.startswith("3."), pd.__version__
rng = np.random.default_rng(5)
people = pd.DataFrame({"evaded": ["no"] * 1700 + ["yes"] * 300, "work": ["employed", "own business"] * 1000})
assert str(people.dtypes["evaded"]) == "str"
people["region"] = pd.Categorical(rng.choice(["north", "south"], len(people)))
people["weight"] = rng.uniform(0.5, 1.5, len(people))
domain = dn.Domain({"evaded": ["no", "yes"], "work": ["employed", "own business"]})


def refusal(frame):
    """What is said of a frame that is refused."""
    try:
        domain.encode(frame)
    except dn.DeniableError as error:
        return str(error)
    return "nothing"


# A gap is found and counted, whatever stands in it.
for gap in (None, np.nan, pd.NA):
    assert "'evaded' has 1 missing" in refusal(pd.DataFrame({"evaded": ["no", gap], "work": ["employed"] * 2}))

design = dn.Joint(domain, epsilon=1.5)
reports = design.randomize(people, keep=["region"], source=dn.Seeded(7))
shown = reports.to_frame()
assert isinstance(shown, pd.DataFrame), type(shown)
share = dn.estimate(reports, "evaded")
assert dn.estimate(dn.Reports(shown, design), "evaded").values.tolist() == share.values.tolist()
assert sorted(dn.estimate(reports, "evaded", by="region")) == ["north", "south"]
assert isinstance(share.to_frame(), pd.DataFrame)

for ending in ("parquet", "csv", "sav", "dta"):
    file = Path(f"reports.{ending}")
    reports.write(file)
    assert dn.estimate(dn.read_reports(file), "evaded").values.tolist() == share.values.tolist(), ending

device = dn.Warner(0.8)
people["report"] = device.randomize((people["evaded"] == "yes").to_numpy(), source=dn.Seeded(8))
answers = dn.prevalence(people["report"], device, weights=people["weight"], strata=people["region"])
fit = dn.logit("report ~ work + C(region)", people, channel=device)
assert len(fit.predict(people.head(3))) == 3
assert len(fair()[0]) == 6366
assert str(answers)
assert str(fit)
