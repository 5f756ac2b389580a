"""The README's picture, drawn anew: python -m deniable.reporting.picture docs/images/estimates.svg.

Two thousand simulated people, asked in disguise whether they have evaded tax, and how they work. The same simulation is
the README's example, so that the picture shows the numbers printed there.
"""

from __future__ import annotations

import sys
from pathlib import Path

from deniable.core.domain import Domain
from deniable.core.randomness import Seeded
from deniable.core.results import frame_of
from deniable.core.table import Table
from deniable.designs.kinds.joint import Joint
from deniable.estimation.estimator import estimate
from deniable.reporting.charts import chart

PEOPLE = {
    "evaded": ["no"] * 1700 + ["yes"] * 300,
    "work": ["employed"] * 1500 + ["own business"] * 200 + ["employed"] * 140 + ["own business"] * 160,
}
DOMAIN = Domain({"evaded": ["no", "yes"], "work": ["employed", "own business"]})
EPSILON = 1.5
SEED = 7


def picture() -> str:
    """Draw the simulation as an SVG file's text."""
    people = frame_of(PEOPLE)
    reports = Joint(DOMAIN, epsilon=EPSILON).randomize(people, source=Seeded(SEED))
    drawn = chart(estimate(reports, DOMAIN.names), truth=Table.count(people, DOMAIN), name="estimates")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{drawn}'


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture(), encoding="utf-8")
