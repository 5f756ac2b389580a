"""Extension: what a published system has done otherwise than all other designs, and the one place where it is found.

Common rooms ask for nobody by name. Each asks the extension of a design for its part; what is said here of it is what
ordinary designs have: every respondent is disguised alone, and a report is a ballot and its answers.

===============================  =======================================================================================
`session`                        while a server runs: what is published or matched, and which reports it admits
`routes`                         and the addresses that devices ask at
`design_of`, `collected`         out of a store: the design to estimate by, and the reports with what belongs to them
`read`, `fields`                 out of a file, and what its header says more
`covariance`                     how reports that are not independent change the errors of an estimate
`sentences`, `of_question`,      how answers were disguised, in words, and whose idea it was
`sources`
===============================  =======================================================================================

An extension is a file or a folder of `deniable.extensions` with a class that says which kinds of design it is for. Who
puts one there has added it: nothing else names it.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from deniable.channels.read_channel import channel_from_dict
from deniable.core.domain import Domain
from deniable.core.registry import EXTENSIONS
from deniable.designs.design import Design
from deniable.designs.question import Question
from deniable.designs.reports.reports import Reports
from deniable.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from deniable.device.verified_design import VerifiedDesign
    from deniable.files.header import Header


class Extension:
    """What is done for ordinary designs. An extension says otherwise where it must."""

    kinds: ClassVar[tuple[str, ...]] = ()  # of the designs that it is for, as files and served plans call them
    fields: ClassVar[tuple[str, ...]] = ()  # what the header of a file may say more
    sources: ClassVar[tuple[str, ...]] = ()  # whose idea it was, by the names in `reporting.citations`
    named: ClassVar[str] = ""  # what a survey is called that is made so, such as "in pairs"
    alone: ClassVar[str] = ""  # why one server alone can serve it; nothing: several can

    # -- while a server runs -------------------------------------------------------------------------------------------

    def session(self, store: Any, verified: VerifiedDesign) -> object:  # noqa: ARG002 - all begin alike
        """What goes on beside the reports to a plan, a `collection.session.Session`; None where nothing does."""
        return None

    def routes(self, collector: Any) -> Sequence[Any]:  # noqa: ARG002 - there are no addresses of its own
        """The addresses that a collector has for it, as Starlette's routes."""
        return ()

    # -- out of a store ------------------------------------------------------------------------------------------------

    def design_of(self, verified: VerifiedDesign) -> Design:
        """The design to estimate by: its questions and ballots."""
        domain = Domain({name: attribute.categories for name, attribute in verified.domain.items()})
        questions = [
            Question(tuple(question.domain), channel_from_dict(msgspec.to_builtins(question.channel)))
            for question in verified.questions
        ]
        return Design(domain, questions, verified.ballots, verified.message.weights)

    def collected(self, stored: Any) -> Reports:
        """The reports to a plan, out of what is stored of it, a `collection.load_reports.Stored`."""
        reports: Reports = stored.reports(self.design_of(stored.verified))
        return reports

    # -- out of a file -------------------------------------------------------------------------------------------------

    def read(self, frame: Any, design: Design, header: Header) -> Reports:
        """A file's rows as reports of its design; every code is checked."""
        for found in header.more:
            raise InputError(
                f"this file tells of {found}, which a {type(design).__name__} design does not have", found=found
            )
        return Reports(frame, design)

    # -- what is made of reports ---------------------------------------------------------------------------------------

    def covariance(self, operator: Any, sources: Iterable[Any]) -> object:  # noqa: ARG002 - reports are independent
        """The covariance of an estimate from these sources, a `likelihood.covariance_operator.Dispersion`."""
        return operator

    # -- in words ------------------------------------------------------------------------------------------------------

    def sentences(self, design: Any, number: Callable[[float], str], language: str) -> list[str]:  # noqa: ARG002 - none
        """What is special in how answers were disguised; `number` writes a probability."""
        return []

    def of_question(self, design: Any, place: int, number: Callable[[float], str], language: str) -> str:  # noqa: ARG002
        """How answers to one question were disguised, where its channel does not say; else nothing."""
        return ""


@cache
def extensions() -> tuple[Extension, ...]:
    """Every extension there is."""
    homes = sorted(each.name for each in pkgutil.iter_modules(import_module(EXTENSIONS).__path__))
    made = [thing for home in homes for thing in vars(import_module(f"{EXTENSIONS}.{home}")).values()]
    found = dict.fromkeys(thing for thing in made if isinstance(thing, type) and issubclass(thing, Extension))
    return tuple(thing() for thing in found if thing.kinds)


def extension_of(kind: str) -> Extension:
    """What is done otherwise for a kind of design; for most, nothing.

    >>> extension_of("joint").named, extension_of("paired").named
    ('', 'in pairs')
    """
    return next((each for each in extensions() if kind in each.kinds), _ORDINARY)


def extensions_of(sources: Iterable[Any]) -> list[Extension]:
    """Those of several reports, tallies or counts, each once."""
    kinds = [source.design.kind for source in sources if hasattr(source, "design")]
    return list(dict.fromkeys(map(extension_of, kinds)))


_ORDINARY = Extension()
