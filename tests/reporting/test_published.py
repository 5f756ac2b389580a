"""The second privacy number of a report: for the smallest group that is shown."""

from __future__ import annotations

import pandas as pd

import deniable as dn
from deniable.reporting.data_quality import fewest_published


def test_it_is_for_the_smallest_group_that_is_shown():
    people = pd.DataFrame({"a": [0, 1] * 600, "region": ["north"] * 1000 + ["south"] * 200})
    reports = dn.Joint({"a": [0, 1]}, 1.0).randomize(people, keep=["region"], source=dn.Seeded(1))
    assert fewest_published(reports) == 1200
    assert fewest_published(reports, ["region"]) == 200
    paired = dn.Paired({"a": [0, 1]}, p=0.7, rho=-0.2).randomize(people[["a"]], source=dn.Seeded(1))
    assert fewest_published(paired) is None
