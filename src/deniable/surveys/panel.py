"""`[panel]`: the same people are asked again, and devices go on from the disguises that they keep."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import msgspec

from deniable.channels.krr import KRR
from deniable.designs.registry import DESIGNS
from deniable.designs.request import ChannelOptions
from deniable.device.panel import MOST_COUNTED, MOST_FOUND, counted, found_again, in_hundred, singled_out
from deniable.device.protocol.messages import Panel, Plan
from deniable.errors import DesignError, SurveyError
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from deniable.designs.design import Design
    from deniable.designs.request import Options
    from deniable.surveys.items import Item
    from deniable.surveys.schema import SurveyEntry

_LEVELS = ("krr", "unary", "subset", "least_variance", "optimal")  # channels that have a second level, or can be one


def panel_of(entry: SurveyEntry, names: Sequence[str], kind: str, options: Options) -> Panel | None:
    """The panel that a file declares, if what it says of it can be kept."""
    panel = entry.panel
    if panel is None:
        return None
    if entry.admission != "invited":
        raise SurveyError(
            f"panel: a panel's reports are made of one disguise, so that some of them can be connected; under "
            f'admission = "{entry.admission}" nobody is to connect anything. Say admission = "invited", or drop '
            f"[panel]: answers are then drawn and charged anew each time",
            path="panel",
        )
    if not DESIGNS[kind].is_repeatable:
        raise SurveyError(
            f'panel: design.kind = "{kind}" makes channels of its own, which have no second level, so no '
            f'disguise can be kept. Use another kind of design, such as "independent", or drop [panel]',
            path="panel",
        )
    if isinstance(options, ChannelOptions) and options.channel not in _LEVELS:
        raise SurveyError(
            f'panel: what is repeated needs a second level, and channel = "{options.channel}" has none. Use '
            f'"krr", "unary", "subset" or "least_variance", or drop [panel]',
            path="panel",
        )
    try:
        KRR(2, panel.again)
    except DesignError as error:
        raise SurveyError(f"panel.again: {error.message}", path="panel.again") from error
    strangers = [name for name in panel.repeats if name not in names]
    if strangers or len(set(panel.repeats)) != len(panel.repeats):
        raise SurveyError(
            f"panel.repeats: names questions, each once; there are {listed(names)}, found {listed(panel.repeats)}",
            path="panel.repeats",
        )
    return Panel(panel.name, panel.people, tuple(name for name in names if name in panel.repeats))


def share_found(panel: Panel, design: Design, public: Sequence[Item]) -> Fraction:
    """The share of a panel's people that is found again, as devices compute it; refused where it is too large."""
    for question in design.questions:
        inside = [name for name in question.attributes if name in panel.repeats]
        others = [name for name in question.attributes if name not in panel.repeats]
        if inside and others:
            raise SurveyError(
                f"panel.repeats: {listed(inside)} would be asked together with {listed(others)}, which is drawn anew "
                f"each time, so that nothing could be kept. Name both or neither, list tables that hold only one or "
                f'the other, or use design.kind = "independent"',
                path="panel.repeats",
            )
    plan = msgspec.convert(design.plan(), Plan)
    sizes = [len(item.options) for item in public]
    share = found_again(plan, design.weights, sizes, panel.people)
    if share > MOST_FOUND:
        fewest = ceil(singled_out(plan, design.weights, sizes) / MOST_FOUND)
        way = "a smaller again, fewer questions to a respondent, or fewer combinations of public attributes"
        takes = f"{fewest} people; or {way}" if fewest <= MOST_COUNTED else way
        larger = f" (a larger panel counts as {MOST_COUNTED})" if panel.people > MOST_COUNTED else ""
        raise SurveyError(
            f"panel: of {counted(panel.people)} people{larger} up to {in_hundred(share)} in 100 could be found again "
            f"by what they send; at most {in_hundred(MOST_FOUND)} may. It takes {takes}",
            path="panel",
        )
    return share
