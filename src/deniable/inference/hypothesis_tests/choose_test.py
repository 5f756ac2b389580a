"""Which test of association holds for which reports, and what is refused because none does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deniable.errors import InputError, InvalidTestError, NotCoveredError, TooFewReportsError
from deniable.inference.hypothesis_tests.central_noise import COMPARATORS
from deniable.likelihood.gather import gather, refuse_correlated
from deniable.likelihood.report_likelihoods import Counted
from deniable.text import counted, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.estimation.report_sources import Collected
    from deniable.likelihood.evidence import Evidence

REFUSED = {
    "pearson_reconstructed": (
        "Pearson's test on reconstructed counts takes them for counts of people, but their noise is many times larger: "
        "at a nominal 5% it rejects 60 to 100% of true hypotheses"
    ),
    "pearson_raw": (
        "Pearson's test on jointly disguised counts tests the reports, which are dependent although the truths are "
        "not: the channel of a pair mixes all its cells, and with enough reports the test always rejects"
    ),
}
TESTS = ("auto", "lrt", "pearson", "wald", "two_step")


def chosen_test(method: str, evidence: Evidence) -> str:
    """Settle "auto", and refuse what does not exist."""
    if method not in TESTS:
        raise InputError(f"there is no test {method!r}; choose from {listed([*TESTS, *COMPARATORS])}", method=method)
    if method != "auto":
        return method
    said = evidence.groups[0].said.channel
    return "pearson" if own_channels(evidence) and said.inputs == said.outputs else "lrt"


def refuse_to_test_pairs(reports: Any) -> None:
    """Refuse reports of respondents with correlated coins: their counts are not multinomial."""
    refuse_correlated(
        reports if isinstance(reports, list | tuple) else [reports],
        InvalidTestError,
        "counts of their reports are not multinomial and no test here holds. Estimates and their errors stay right: "
        "compare intervals, or use Independent",
    )


def about(reports: Collected, names: Sequence[str]) -> Evidence:
    """What reports say about some attributes, in an order that does not depend on who asks."""
    refuse_to_test_pairs(reports)
    if len(set(names)) < len(names):
        raise InputError(f"name different attributes, not {listed(names)}")
    return gather(reports, _in_order(reports, names))


def _in_order(reports: Collected, names: Sequence[str]) -> list[str]:
    """The order in which the first of the reports were asked: question and table then have the same cells."""
    first = reports[0] if isinstance(reports, list | tuple) and reports else reports
    domain = getattr(getattr(first, "design", first), "domain", None)
    asked = [] if domain is None else list(domain)
    return sorted(names, key=lambda name: (asked.index(name) if name in asked else len(asked), name))


def covering(reports: Collected, names: Sequence[str]) -> Evidence:
    """The same, if it tells their joint table."""
    evidence = about(reports, names)
    if not evidence.tells:
        raise _not_told(evidence, names) if _asked_together(evidence) else _not_asked(names)
    whole = [group for group in evidence.groups if set(evidence.asked) <= set(group.said.part)]
    n = round(sum(group.said.n for group in whole or evidence.groups))
    if n < 2:
        raise TooFewReportsError(f"{counted(n, 'report')} about {listed(names)}: too few to test")
    return evidence


def _not_asked(names: Sequence[str]) -> NotCoveredError:
    return NotCoveredError(
        f"nobody was asked about {listed(names)} together (a Sampled design never does), so whether they go together "
        f"was not observed. Use a design that asks them together: Independent, Joint, or Views with k={len(names)}",
        attributes=tuple(names),
    )


def _asked_together(evidence: Evidence) -> bool:
    return any(set(evidence.asked) <= set(group.said.part) for group in evidence.groups)


def _not_told(evidence: Evidence, names: Sequence[str]) -> NotCoveredError:
    kinds = {group.said.channel.name for group in evidence.groups if set(names) <= set(group.said.part)}
    return NotCoveredError(
        f"{listed(names)} were asked together, but through channels ({', '.join(sorted(kinds))}) that were made for "
        f"something else: they tell other sums of the shares, which leave the table of {listed(names)} open. Name this "
        f"table among what is wanted when the design is made, or use Independent, Joint, or Views with k={len(names)}",
        attributes=tuple(names),
        asked=True,
    )


def own_channels(evidence: Evidence) -> bool:
    """Whether both attributes have a channel of their own, the same for all respondents, and reports are no sets."""
    said = evidence.groups[0].said
    return (
        len(evidence.groups) == 1
        and set(said.part) == set(evidence.asked)
        and isinstance(said, Counted)
        and said.codes is None
        and len(said.channel.factors) == 2
    )
