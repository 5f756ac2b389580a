"""How users write, which a checker must accept, and what it must know about the results. It also runs as it stands."""

from __future__ import annotations

from typing import Any, assert_type

import pyarrow as pa
from matplotlib.axes import Axes

import deniable
import deniable as dn
from deniable import Estimate, estimate
from deniable.core.results import Frame

assert_type(deniable.__version__, str)

domain = dn.Domain({"smokes": ["no", "yes"], "sleep": ["badly", "well"]})
channel = dn.KRR(4, epsilon=1.0)
assert_type(channel.epsilon, float)

people = pa.table(
    {"smokes": ["no", "yes"] * 200, "sleep": ["well", "well", "badly"] * 133 + ["well"], "region": ["n", "s"] * 200}
)
design = dn.Joint(domain, epsilon=2.0)
plain = dn.Joint({"smokes": ["no", "yes"]}, channel=dn.Warner(0.8))
apart = dn.Independent(domain, epsilon={"smokes": 0.5, "sleep": 0.5})
views = dn.Views(domain, k=1, epsilon=1.0, answer="one")
reports = design.randomize(people, keep=["region"], source=dn.Seeded(1))
assert_type(reports, dn.Reports)
assert_type(reports.to_frame(), Frame)

# An estimate, or with `by` one for each group.
found = dn.estimate(reports, ["smokes", "sleep"])
assert_type(found, dn.Estimate)
assert_type(estimate(reports, "smokes", method="inversion", by=None), Estimate)
assert_type(dn.estimate(reports, ["smokes"], by="region"), dn.Grouped)
assert_type(dn.estimate(reports, ["smokes"], "mle", "region"), dn.Grouped)
assert_type(found.interval(0.95), dn.Interval)
assert_type(found.table, dn.Table)
assert_type(found.plot(), Axes)
low, high = found.interval()
share = float(low.min())

frame = found.to_frame()
assert_type(frame, Frame)
rows, names, column = len(frame), frame.columns, frame["smokes"]
again = design.randomize(dn.synthesize(reports, 50))  # a frame that came out goes in

answers, groups = [0, 1] * 50, ["a"] * 40 + ["b"] * 60
assert_type(dn.prevalence(answers, dn.Warner(0.8)), dn.Prevalence)
assert_type(dn.prevalence(answers, dn.Warner(0.8), by=groups), dn.Prevalences)
assert_type(dn.prevalence(answers, dn.Warner(0.8), by=groups).difference("a", "b").plot(), Axes)

assert_type(dn.independence(reports, "smokes", "sleep"), dn.TestResult)
assert_type(dn.entropy(found), dn.Measure)
assert_type(dn.plan(domain, epsilon=1.0, tables=[["smokes", "sleep"]], n=1000), dn.Forecast)
assert_type(dn.sample_size(dn.Warner(0.8), prevalence=0.1).plot(), Axes)
assert_type(dn.floor(domain, ["smokes", ["smokes", "sleep"], dn.Wanted.mean("sleep")], 1.0), dn.Floor)
assert_type(dn.optimal_channel([[0, 1, 2]], epsilon=1.0).bound, float)
assert_type(dn.optimal_mix(domain, [["smokes", "sleep"]], 1.0), dn.Mix)
assert_type(dn.graphs.Graph([(0, 1), (1, 2)]).degrees().sum(), Any)

fit = dn.logit("smokes ~ 1", reports.labelled(), channel=dn.Warner(0.8, categories=("no", "yes")))
assert_type(fit.predict(), Frame)
slopes = fit.params.to_numpy()

try:
    dn.Joint(domain)
except dn.DeniableError as error:
    assert_type(error.message, str)
