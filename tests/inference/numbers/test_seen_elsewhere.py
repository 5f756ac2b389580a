"""A wanted number that no estimator tells is not left out in silence: where to look stands in its place."""

import deniable as dn
from deniable.core.labels import Labels
from deniable.inference.numbers.aim_estimates import told_aims

DOMAIN = {"a": ["no", "yes"], "b": ["no", "yes"]}


def test_what_has_no_number_of_its_own_says_where_it_is_seen():
    reports = dn.Joint(DOMAIN, 2.0).randomize({"a": ["no", "yes"] * 100, "b": ["no", "no", "yes", "yes"] * 50})
    found = told_aims(reports.with_labels(Labels(aims=("a", "association(a, b)", "difference(a by b)", "mean(a)"))))
    assert found.numbers is not None
    told = {row.cell[0]: row.reason for row in found.numbers.rows}
    assert (
        told["association(a, b)"] == "no single number: see the test of association and the table of these attributes"
    )
    assert told["difference(a by b)"] == "no single number: see what is told of each group"
    assert told["mean(a)"] == ""
    assert "a" not in told  # a table
    assert all(row.is_refused == (row.cell[0] != "mean(a)") for row in found.numbers.rows)
