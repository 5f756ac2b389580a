"""Pairs (JRR): two respondents, or two items of one person, with correlated coins. What common rooms ask of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec

from deniable.core.domain import Domain
from deniable.designs.extension import Extension
from deniable.errors import InputError, tried

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from starlette.routing import BaseRoute

    from deniable.collection.collector import Collector
    from deniable.collection.load_reports import Stored
    from deniable.designs.design import Design
    from deniable.designs.reports.reports import Reports
    from deniable.device.verified_design import VerifiedDesign
    from deniable.extensions.designs.paired import Paired
    from deniable.extensions.designs.paired_items import PairedItems
    from deniable.extensions.paired.match_partners import Matching
    from deniable.files.header import Header
    from deniable.likelihood.covariance_operator import Dispersion
    from deniable.storage.store import Store


class Pairs(Extension):
    """Respondents are matched while a server runs; of who met whom nothing is kept but how many pairs there were."""

    kinds = ("paired",)
    fields = ("pairs",)
    sources = ("zheng",)
    named = "in pairs"
    alone = "matches are never written down, so two could not agree on who is whose partner"

    def session(self, store: Store, verified: VerifiedDesign) -> Matching:  # noqa: ARG002 - of every design by its name
        """The numbers of its meetings."""
        from deniable.extensions.paired.match_partners import Matching

        return Matching(store)

    def routes(self, collector: Collector) -> list[BaseRoute]:
        """The address at which devices look for a partner."""
        from deniable.extensions.paired.partner_endpoint import PairApi

        return [*PairApi(collector).routes()]

    def design_of(self, verified: VerifiedDesign) -> Paired:
        """The design with its coins: reports stay marked as paired for the tests that must refuse them."""
        from deniable.extensions.designs.paired import Paired
        from deniable.extensions.paired.pairing import Coins

        domain = Domain({name: attribute.categories for name, attribute in verified.domain.items()})
        coins = {}
        for question in verified.questions:
            fields = msgspec.to_builtins(question.channel)
            coins[question.name] = Coins(fields["truthful"], fields["shift"], fields["bits"])
        return Paired(domain, coins=coins)

    def collected(self, stored: Stored) -> Reports:
        """The reports with the number of pairs that both answered, as far as matching has come to any."""
        from deniable.extensions.paired.match_partners import met_with
        from deniable.extensions.paired.paired_reports import PairedReports

        design = self.design_of(stored.verified)
        reports = stored.reports(design)
        # After the reports: whoever was told since then makes complete pairs fewer, never more.
        met = met_with(stored.store, stored.together, reports.n)
        if not met.pairs:  # nobody is known to have met: larger errors, and a note that says so
            return reports
        return PairedReports.of_pairs(design, reports.answers, met.completed(reports.n), reports.public, "pyarrow")

    def read(self, frame: Any, design: Design, header: Header) -> Reports:
        """With the number of pairs, where the header tells of them."""
        from deniable.extensions.paired.paired_reports import PairedReports

        if "pairs" not in header.more:
            return super().read(frame, design, header)
        pairs = tried(lambda: float(header.more["pairs"]), ValueError)
        if isinstance(pairs, Exception):
            raise InputError("the number of pairs that both answered cannot be read: it is no number")
        return PairedReports(frame, cast("Paired", design), pairs=pairs)

    def covariance(self, operator: Dispersion, sources: Iterable[Any]) -> Dispersion:
        """With the covariance of the two of a pair."""
        from deniable.extensions.paired.pair_variance import with_pairs

        return with_pairs(operator, sources)

    def sentences(self, design: Paired, number: Callable[[float], str], language: str) -> list[str]:
        """That coins were shared, and how far their two sides go together."""
        coins = [_COIN[language].format(name=name, rho=number(float(coin.rho))) for name, coin in design.coins.items()]
        return [_IN_PAIRS[language].format(pairs="; ".join(coins))]


class ItemsInPairs(Extension):
    """Two items of one person: an ordinary design but for its words."""

    kinds = ("paired_items",)
    sources = ("zheng",)

    def sentences(self, design: PairedItems, number: Callable[[float], str], language: str) -> list[str]:
        """That a person's items share coins."""
        return [_ITEMS[language].format(rho=number(float(design.coins.rho)))]


_IN_PAIRS = {
    "en": "Respondents were joined in random pairs whose devices shared a coin, so that their true reports are "
    "negatively correlated (Zheng et al. 2025): {pairs}.",
    "de": "Die Befragten wurden zufällig zu Paaren verbunden, deren Geräte eine Münze teilten, sodass ihre wahren "
    "Meldungen negativ korreliert sind (Zheng et al. 2025): {pairs}.",
}
_COIN = {"en": "{name} with correlation {rho}", "de": "{name} mit Korrelation {rho}"}
_ITEMS = {
    "en": "The items of a respondent were disguised two by two with coins of correlation {rho}, so that their true "
    "reports are negatively correlated (Zheng et al. 2025).",
    "de": "Die Items einer Person wurden je zwei mit Münzen der Korrelation {rho} verschleiert, sodass ihre wahren "
    "Meldungen negativ korreliert sind (Zheng et al. 2025).",
}
