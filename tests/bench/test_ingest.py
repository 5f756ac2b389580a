"""The ingest measurement runs on a small size; how fast it is depends on the machine."""

from __future__ import annotations

import pytest

from deniable.bench.ingest import OFF, OURS, measure


@pytest.mark.slow
def test_the_measurement_runs_and_says_what_it_must():
    found = measure(40, 4, repeats=1, many=1000, kinds=(OURS, OFF))
    assert found.rows["server"] == [OURS, OFF, OURS, OFF]
    assert [claim.required for claim in found.claims] == [0.6, 0.25, 96.0]
    assert all(claim.measured >= 0 for claim in found.claims)
