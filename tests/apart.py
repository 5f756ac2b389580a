"""Reports in blocks counted block by block: a second way to what `BlockReports.tabulate` counts at once."""

from __future__ import annotations

import numpy as np

from deniable.channels.mixture import Mixture
from deniable.designs.observation import Observation
from deniable.device.fake_limits import BITS


def by_block(reports, attributes):
    """One observation for every block in which exactly these attributes were asked, each with its own mixture."""
    design = reports.design
    index = design.question_of(attributes)
    domain = design.domain.project(design.questions[index].attributes)
    (ballot,), (place,) = np.nonzero(design.asked == index)
    found = []
    for number, block in enumerate(reports.published):
        rows = (reports.ballots == ballot) & (reports.blocks == number)
        counts = np.bincount(reports.answers[rows, place], minlength=domain.cells)
        if counts.sum():
            channel = Mixture.from_weights(block.keep[index], block.fakes[index], BITS)
            found.append(Observation(domain, channel, counts, population=reports.n, label=f"block {number}"))
    return found
