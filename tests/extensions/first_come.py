"""First come: a survey that takes so many reports and no more. A published system that nobody has published.

The test of extensions that are one file writes this one into a copy of the package.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse
from starlette.routing import Route

from deniable.collection.session import Session
from deniable.designs.extension import Extension
from deniable.designs.kinds.independent import Independent
from deniable.designs.reports.reports import Reports
from deniable.likelihood.covariance_operator import Dispersion

if TYPE_CHECKING:
    from deniable.files.header import Header

MOST = 30


@dataclass(frozen=True, eq=False, repr=False, init=False)
class FirstCome(Independent):
    """Every attribute, of whoever comes first."""

    kind = "first_come"


@dataclass(frozen=True, eq=False, repr=False, init=False)
class EarlyReports(Reports):
    """What the first have said, and how many came too late."""

    late: int

    @property
    def header(self) -> Header:
        """With their number."""
        return replace(super().header, more={"late": str(self.late)})


@dataclass(frozen=True, eq=False)
class Early(Dispersion):
    """The covariance as it is, with a word about those who came late."""

    late: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """How many they are."""
        return (f"{self.late} people came too late",)


class Door(Session):
    """Shut as soon as enough have come."""

    by_block = False

    def __init__(self, store):
        """Begin without designs."""
        self.store, self.numbers = store, []

    def join(self, _name, number):
        """Count the reports to one more design."""
        self.numbers.append(number)

    def is_known(self, _report):
        """The store is asked each time."""
        return False

    def admits(self, report):
        """As long as there is room."""
        if sum(map(self.store.total, self.numbers)) < MOST:
            return super().admits(report)
        self.store.save(f"late {late(self.store)}", b"")
        return "closed"


def late(store) -> int:
    """How many were turned away at the door."""
    number = 0
    while store.saved(f"late {number}") is not None:
        number += 1
    return number


class Doors(Extension):
    """The extension itself."""

    kinds = ("first_come",)
    fields = ("late",)
    named = "for whoever comes first"

    def session(self, store, _verified):
        """A door."""
        return Door(store)

    def routes(self, collector):
        """How many are outside."""
        return [Route("/v1/late", lambda _request: JSONResponse(late(collector.store)))]

    def design_of(self, verified):
        """The design by its own name."""
        plain = super().design_of(verified)
        return FirstCome.of_questions(plain.domain, plain.questions, plain.ballots)

    def collected(self, stored):
        """With the number of those who came late."""
        plain, came = super().collected(stored), late(stored.store)
        return EarlyReports.of_codes(plain.design, plain.ballots, plain.answers, plain.public, "pyarrow", late=came)

    def read(self, frame, design, header):
        """The same out of a file."""
        reports = Reports(frame, design)
        came = int(header.more["late"])
        return EarlyReports.of_codes(design, reports.ballots, reports.answers, reports.public, "pyarrow", late=came)

    def covariance(self, operator, sources):
        """With a note."""
        return Early(operator.samples, operator.domain, operator.population, max(source.late for source in sources))

    def sentences(self, _design, number, _language):
        """What was special."""
        return [f"Only the first {MOST} reports were taken, each truth with chance {number(0.5)} or more."]
