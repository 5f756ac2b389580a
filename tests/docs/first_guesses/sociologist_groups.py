"""A survey's reports, by faculty, in the survey's words, and as a table for the paper."""

import deniable as dn
from exams import TOGETHER, answered

reports = answered(TOGETHER)
table = dn.estimate(reports, "cheated", by="faculty")
print(table)
assert "Have you cheated in an exam?" in table.to_latex()
assert dn.homogeneity(reports, "cheated", by="faculty").pvalue < 1
