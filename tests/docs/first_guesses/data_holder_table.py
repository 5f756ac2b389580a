"""A table with a column that may stay in clear is disguised, written and read again."""

import tempfile

import pandas as pd

import deniable as dn

people = pd.DataFrame({"ill": ["no", "yes"] * 100, "region": ["north", "south"] * 100})
reports = dn.Joint({"ill": ["no", "yes"]}, 2.0).randomize(people, keep=["region"])
with tempfile.TemporaryDirectory() as folder:
    again = dn.read_reports(reports.write(f"{folder}/reports.sav"))
assert len(again) == 200
assert set(dn.estimate(again, "ill", by="region")) == {"north", "south"}
