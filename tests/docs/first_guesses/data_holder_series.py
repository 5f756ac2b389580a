"""One column of a frame, as it is, and the disguised column back."""

import pandas as pd

import deniable as dn

column = pd.Series(["a", "b", "b", "c"] * 50, name="group")
reports = dn.Joint({"group": ["a", "b", "c"]}, 3.0).randomize(column)
assert set(reports.labelled()["group"].to_pylist()) <= {"a", "b", "c"}
