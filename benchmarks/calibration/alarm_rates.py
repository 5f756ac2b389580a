"""How often honest respondents are said not to follow the instructions, and how often those who do not are found.

Where nobody is in a category, chance alone leaves it with few reports: so it is in these surveys. Those who do not
follow the instructions say no whatever their device tells them.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.calibration.report_section import Section
from deniable import KRR, Domain, Independent, Joint, Observation, Optimal, Sampled, Seeded, Table, Views, Warner
from deniable.estimation.notes.fewer_than_chance import ALARM, fewer_than_chance

if TYPE_CHECKING:
    from deniable import Design
    from deniable.channels.channel import Channel

SURVEYS = 2000
SIZES = (50, 240, 1000, 10_000)
SHARE = 0.02  # who would have to say yes, where power is looked at
_FOUR = Domain({f"x{i}": ["no", "yes"] for i in range(4)})
_EIGHT = Domain({f"x{i}": ["no", "yes"] for i in range(8)})
_TEN = Domain({"x": range(10)})
DESIGNS: dict[str, Design] = {
    "Sampled, 8 yes/no, epsilon 3": Sampled(_EIGHT, 3.0),
    "Sampled, 4 yes/no, epsilon 3": Sampled(_FOUR, 3.0),
    "Joint, 10 categories, epsilon 3": Joint(_TEN, 3.0),
    "Independent, 4 yes/no, epsilon 4": Independent(_FOUR, 4.0),
    "Views, 4 yes/no, epsilon 2": Views(_FOUR, 2, 2.0),
    "Views, Hadamard, 4 yes/no, epsilon 2": Views(_FOUR, 2, 2.0, channel="hadamard"),
    "Joint, subsets of 16, epsilon 1": Joint(_FOUR, 1.0, channel="subset"),
    "Joint, unary of 16, epsilon 3": Joint(_FOUR, 3.0, channel="unary"),
    "Optimal, 4 yes/no, epsilon 2": Optimal(_FOUR, [[name] for name in _FOUR], 2.0),
}
DEVICES: dict[str, Channel] = {"Warner(0.8)": Warner(0.8), "KRR(2), epsilon 1": KRR(2, epsilon=1.0)}
FOLLOW_NOT = (0.2, 0.4)


def accusing(design: Design, n: int, surveys: int, seed: int) -> int:
    """How many surveys of honest respondents raise an alarm, all shares and pairs looked at together."""
    truth, names = (
        Table(design.domain, np.eye(1, design.domain.cells).reshape(design.domain.shape)),
        list(design.domain),
    )
    tables = [[name] for name in names] + [list(pair) for pair in combinations(names, 2) if design.covers(pair)]
    domains = [design.domain.project(table) for table in tables]
    cells = sum(domain.cells for domain in domains)
    found = 0
    for survey in range(surveys):
        sent = design.simulate(truth, n, source=Seeded(seed * surveys + survey))
        least = min(fewer_than_chance(sent.tabulate(list(domain)), domain).min() for domain in domains)
        found += bool(least * cells < ALARM)
    return found


def power(channel: Channel, share: float, n: int, follow_not: float) -> float:
    """The chance of an alarm of one yes/no question if some say no whatever happens, exactly."""
    from scipy.stats import binom

    domain = Domain({"x": range(2)})
    yes = np.arange(n + 1)
    alarms = [
        fewer_than_chance([Observation(domain, channel, [n - count, count])], domain).min() * 2 < ALARM for count in yes
    ]
    honest = float(channel.apply([1 - share, share])[1])
    return float(binom.pmf(yes, n, (1 - follow_not) * honest)[np.array(alarms)].sum())


def alarms(count: int, seed: int) -> Section:
    """False alarms of every kind of design, and power."""
    surveys = min(count, SURVEYS)
    section = Section(
        "False alarms, and alarms",
        f"Share of {surveys} surveys of honest respondents in which fewer reports of some category came than chance "
        f"alone explains, all shares and pairs looked at together: at most {ALARM:g}. Nobody is in any category "
        f"but the first. Then the exact chance of an alarm where some say no whatever their device tells them, and "
        f"{SHARE:.0%} of the others have a yes to tell.",
        ("asked", "n", "alarms", "required", "met"),
        [],
    )
    for place, (name, design) in enumerate(DESIGNS.items()):
        for n in SIZES:
            section.judge([name, n], accusing(design, n, surveys, seed + 10 * place), surveys, (0.0, ALARM))
    for name, device in DEVICES.items():
        for follow_not in FOLLOW_NOT:
            for n in SIZES:
                section.add([f"{name}, {follow_not:.0%} say no anyway", n], power(device, SHARE, n, follow_not))
    return section
