"""Where RRBA's stopping rule stops: by hand, from reports, and what it says while blocks arrive."""

import numpy as np
import pytest

import deniable as dn
from deniable.errors import InputError, TooFewReportsError
from deniable.extensions.blocks.convergence import stopping_rule, widths

DOMAIN = dn.Domain({"a": ["no", "yes"], "b": ["no", "yes"]})
PI = dn.Table(DOMAIN, [[0.4, 0.3], [0.2, 0.1]])


def paper(n, seed, **options):
    design = dn.Blocks(DOMAIN, mode="deniability", keep=0.5, block_size=250, **options)
    return design.simulate(PI, n, source=dn.Seeded(seed))


def test_the_stopping_rule_by_hand():
    # Half of 100: 2 z sqrt(.25 / 100) = .196.
    estimates = np.array([[0.5, 0.5], [0.8, 0.2], [0.7, 0.3], [0.72, 0.28], [0.1, 0.9], [0.12, 0.88]])
    delta = widths(estimates, 100, 0.05)
    assert delta[0, 0] == pytest.approx(0.196, abs=1e-3)
    first, lasting, stopped = stopping_rule(estimates, delta)
    assert first.tolist() == [2, 2]
    assert lasting.tolist() == [5, 5]
    assert stopped == 2
    first, _, stopped = stopping_rule(estimates, delta / 0.5)
    assert first.tolist() == [1, 1]  # .3 < .392
    assert stopped == 1
    far = np.array([[0.0, 1.0], [1.0, 0.0]])
    first, lasting, stopped = stopping_rule(far, widths(far, 1000, 0.05))
    assert first.tolist() == lasting.tolist() == [-1, -1]
    assert stopped == -1


def test_of_reports_it_is_the_rule_of_their_full_blocks():
    reports = paper(2100, 4)  # eight full blocks and 100 respondents of the ninth
    found = dn.convergence(reports, ["a", "b"])
    assert found.blocks == 8
    assert repr(found) == f"<Convergence of a x b: {found.said[0].lower()}{found.said[1:-1]}>"
    apart = np.abs(np.diff(found.estimates, axis=0))
    where = np.flatnonzero((apart < found.delta).all(axis=1))
    assert found.stopped == where[0] + 1
    rows = found.estimates[found.stopped - 1 : found.stopped + 1]
    np.testing.assert_allclose(found.table.values.ravel(), rows.mean(axis=0))
    assert f"Settled after {found.stopped + 1} of 8 blocks." in str(found)
    frame = found.to_frame()
    assert frame.num_rows == 8 * 4
    assert set(frame.column_names) == {"block", "a", "b", "estimate", "delta"}
    literal = dn.convergence(reports, ["a", "b"], corrected=False)
    np.testing.assert_allclose(literal.delta, found.delta / 2, rtol=1e-4)
    axes = found.plot()
    assert (axes.get_xlabel(), len(axes.get_legend().get_texts())) == ("block", 4)


def test_delta_without_p_stops_hardly_ever_for_good():
    reports = paper(50_000, 3)
    literal, corrected = (dn.convergence(reports, ["a", "b"], corrected=c) for c in (False, True))
    # 199 pairs of neighbours: |difference| has sd sqrt(2) sigma / p = 2.83 sigma, delta* is 3.92 sigma or 7.84.
    assert ((literal.lasting == -1) | (literal.lasting > 100)).all()
    assert (corrected.lasting >= 0).any()


def test_where_nothing_settles_it_says_so():
    found = dn.convergence(paper(500, 1), ["b", "a"], alpha=0.999)
    assert found.stopped == -1
    assert found.said == "Not settled: no two of 2 blocks in a row agree in all cells."
    np.testing.assert_allclose(found.table.values.ravel(), found.estimates.mean(axis=0))


def test_what_cannot_be_looked_at_is_refused():
    with pytest.raises(TooFewReportsError, match="1 full block is there"):
        dn.convergence(paper(300, 1), ["a", "b"])
    with pytest.raises(InputError, match="not made in blocks"):
        dn.convergence(dn.Joint(DOMAIN, 1.0).simulate(PI, 100), ["a", "b"])
    with pytest.raises(InputError, match="alpha lies between 0 and 1"):
        dn.convergence(paper(500, 1), ["a", "b"], alpha=5)
