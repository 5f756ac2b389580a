"""Provenance: whether reports come from people, a simulation or a pilot; whatever shows a number of them says it.

Reports of a simulation, and those that come while a survey is tried out, look like any others; what is estimated from
them is no result. So reports know it, files and stores keep it, and every table, chart, page, script and export takes
its words from here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from deniable.core.untrusted_files import clipped, parse_json
from deniable.errors import InputError
from deniable.frozen import Frozen

_PILOT = "Pilot: "  # how the title of a survey begins that is tried out, in every language


@dataclass(frozen=True)
class Origin(Frozen):
    """Where reports come from.

    Attributes:
        simulated: how many of the reports a simulation has made up, or drawn from a seed.
        reports: of how many; those of a group know only what is known of all.
        seeded: whether disguises were drawn from a seed.
        pilot: whether they came while the survey was tried out.

    >>> made_up = Origin(simulated=100, reports=100)
    >>> made_up.stamp, made_up.said
    ('Simulated', 'all 100 reports are simulated: they say nothing about people')
    >>> made_up.titled("Exams"), made_up.kind
    ('Simulated: Exams', 'simulated ')
    >>> (made_up + Origin(reports=901)).said
    '100 of the 1,001 reports are simulated: what is estimated from them is no result'
    >>> Origin(reports=20, pilot=True).titled("Pilot: Exams")
    'Pilot: Exams'
    """

    simulated: int = 0
    reports: int = 0
    seeded: bool = False
    pilot: bool = False

    def __bool__(self) -> bool:
        """Whether there is anything to say."""
        return self.simulated > 0 or self.pilot

    def __add__(self, other: Origin) -> Origin:
        """Of both together."""
        return Origin(
            self.simulated + other.simulated,
            self.reports + other.reports,
            self.seeded or other.seeded,
            self.pilot or other.pilot,
        )

    @property
    def stamp(self) -> str:
        """A word or two for a corner; nothing where people answered a survey."""
        parts = [("Simulated" if self._wholly else "Simulated in part")] if self.simulated else []
        return ", ".join(([_PILOT[:-2]] if self.pilot else []) + parts).capitalize()

    @property
    def kind(self) -> str:
        """The same before the word "reports", with a space behind it."""
        parts = ([] if self._wholly else ["partly"]) + ["simulated"] if self.simulated else []
        return "".join(f"{word} " for word in [*parts, *(["pilot"] if self.pilot else [])])

    @property
    def said(self) -> str:
        """The same as a sentence without a full stop."""
        told = []
        if self.pilot:
            told.append("these reports are a pilot's, in which the survey is tried out: they never count")
        if self.simulated:
            some = f"all {self.reports:,}" if self._wholly else f"{self.simulated:,} of the {self.reports:,}"
            if self.seeded:
                told.append(f"{some} reports were drawn from a seed, as in a simulation: they are no result")
            else:
                so = "they say nothing about people" if self._wholly else "what is estimated from them is no result"
                told.append(f"{some} reports are simulated: {so}")
        return "; ".join(told)

    def share(self, n: int) -> Origin:
        """What is known of so many of them.

        >>> Origin(simulated=100, reports=1000).share(50)
        Origin(simulated=5, reports=50, seeded=False, pilot=False)
        """
        some = n if self._wholly else round(n * self.simulated / max(self.reports, 1))
        return replace(self, simulated=some if self.simulated else 0, reports=n) if self else self

    @property
    def column(self) -> str:
        """The same in a column of a table that may leave without its header, as `from_column` reads it.

        >>> drawn = Origin(3, 5, seeded=True, pilot=True)
        >>> drawn.column, Origin.from_column(drawn.column, 5) == drawn
        ('Pilot, simulated in part: 3 of 5, from a seed', True)
        """
        some = f": {self.simulated} of {self.reports}" if self.simulated and not self._wholly else ""
        return self.stamp + some + (", from a seed" if self.simulated and self.seeded else "")

    @classmethod
    def from_column(cls, text: str, n: int) -> Origin:
        """Read what `column` wrote of n reports."""
        found = re.fullmatch(r"(Pilot)?(?:, )?([Ss]imulated(?: in part: (\d+) of (\d+))?(, from a seed)?)?", text)
        if found is None:
            raise InputError(f"{clipped(repr(text))} in dn_origin does not say where reports come from; leave it out")
        pilot, simulated, some, of, seeded = found.groups()
        known = int(some) if some else n if simulated else 0
        return cls(known, int(of or n), seeded is not None, pilot is not None)

    @property
    def note(self) -> tuple[str, ...]:
        """The same among other sentences; none where there is nothing to say."""
        return (f"{self.said[:1].upper()}{self.said[1:]}.",) if self else ()

    def titled(self, title: str) -> str:
        """A title with the stamp before it. That of a survey which is tried out has the word already."""
        return f"{self.stamp}: {title.removeprefix(_PILOT) if self.pilot else title}" if self else title

    @property
    def told(self) -> dict[str, Any]:
        """For programs."""
        return {"stamp": self.stamp, "simulated": self.simulated, "seeded": self.seeded, "pilot": self.pilot}

    @property
    def _wholly(self) -> bool:
        return self.simulated == self.reports

    def json(self) -> str:
        """For the header of a file of reports."""
        kept = _Kept(self.simulated, self.reports, self.seeded, self.pilot)
        return msgspec.json.encode(kept).decode()

    @classmethod
    def from_json(cls, text: str, where: str) -> Origin:
        """Out of the header of a file; `where` names it in a refusal."""
        try:
            kept = parse_json(text, "it", _Kept)
        except InputError as error:
            raise InputError(
                f"{where}: where its reports come from cannot be read: {error.message}", file=where
            ) from None
        return cls(kept.simulated, kept.of, kept.seeded, kept.pilot)


class _Kept(msgspec.Struct, forbid_unknown_fields=True):
    simulated: int
    of: int
    seeded: bool
    pilot: bool


PEOPLE = Origin()
"""Nothing is to be said: people answered a survey, or somebody disguised what they had answered."""
