"""From `[design]` to a design: one small builder a kind, so that a new kind of design is one more entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.channels.choice import best_channel
from deniable.designs.base import Design, Question
from deniable.designs.blocks import Blocks
from deniable.designs.clusters import Clusters
from deniable.designs.independent import Independent
from deniable.designs.joint import Joint
from deniable.designs.paired import Paired
from deniable.designs.sampled import Sampled
from deniable.designs.views import Views
from deniable.errors import DesignError, SurveyError, UnknownAttributeError
from deniable.privacy.epsilon import exp_below

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.domain import Domain
    from deniable.surveys.schema import DesignEntry


def one_of_the_tables(domain: Domain, epsilon: float, tables: Sequence[Sequence[str]]) -> Design:
    """Ask each respondent for one of the wanted tables, drawn by their device, with the whole budget.

    This is the default because it is the best: splitting a budget over several questions loses several times as much as
    asking each of fewer people. A question that no table holds is asked alone.
    """
    wanted = [tuple(table) for table in tables]
    held = {name for table in wanted for name in table}
    wanted += [(name,) for name in domain if name not in held]
    questions = [Question(table, best_channel(domain.project(table).cells, epsilon)) for table in wanted]
    return Design(domain, questions, [[index] for index in range(len(questions))])


def _tables(domain: Domain, epsilon: float, _entry: DesignEntry, tables: Sequence[Sequence[str]]) -> Design:
    return one_of_the_tables(domain, epsilon, tables)


def _independent(domain: Domain, epsilon: float, _entry: DesignEntry, _tables: Sequence[Sequence[str]]) -> Design:
    return Independent(domain, epsilon)


def _joint(domain: Domain, epsilon: float, _entry: DesignEntry, _tables: Sequence[Sequence[str]]) -> Design:
    return Joint(domain, epsilon)


def _sampled(domain: Domain, epsilon: float, _entry: DesignEntry, _tables: Sequence[Sequence[str]]) -> Design:
    return Sampled(domain, epsilon)


def _clusters(domain: Domain, epsilon: float, entry: DesignEntry, _tables: Sequence[Sequence[str]]) -> Design:
    if entry.clusters is None:
        raise SurveyError(
            "design.clusters: a clusters design needs the list of clusters, each a list of questions",
            path="design.clusters",
        )
    return Clusters(domain, entry.clusters, epsilon)


def _views(domain: Domain, epsilon: float, entry: DesignEntry, _tables: Sequence[Sequence[str]]) -> Design:
    return Views(domain, 2 if entry.k is None else entry.k, epsilon, answer=entry.answer or "one")


def _blocks(domain: Domain, epsilon: float, entry: DesignEntry, _tables: Sequence[Sequence[str]]) -> Design:
    return Blocks(
        domain,
        2 if entry.k is None else entry.k,
        epsilon,
        answer=entry.answer or "one",
        phi=0.5 if entry.phi is None else entry.phi,
        block_size=250 if entry.block_size is None else entry.block_size,
    )


def _paired(domain: Domain, epsilon: float, entry: DesignEntry, _tables: Sequence[Sequence[str]]) -> Design:
    if entry.accept is None:
        raise SurveyError(
            "design.accept: pairing respondents is weaker than its claimed epsilon: the partner, or whoever matched "
            'the two, learns more. Epsilon here is what they learn. Say accept = "a partner who knows the coin"',
            path="design.accept",
        )
    if entry.p is None or entry.rho is None:
        raise SurveyError("design.p: a paired design needs p and rho", path="design.p")
    design = Paired(domain, entry.p, entry.rho)
    if design.is_corner:
        raise SurveyError(
            f"design.rho: at rho = -q/p = {entry.rho:g} whoever knows the coin knows half of the answers for certain; "
            f"choose a rho nearer to 0",
            path="design.rho",
        )
    if design.ratio > exp_below(epsilon):
        raise SurveyError(
            f"design.p: who knows the coins learns epsilon {design.epsilon:.4g}, more than the {epsilon:g} promised; "
            f"choose a smaller p, or a rho nearer to 0",
            path="design.p",
        )
    return design


BUILDERS = {
    "tables": _tables,
    "independent": _independent,
    "joint": _joint,
    "sampled": _sampled,
    "clusters": _clusters,
    "views": _views,
    "blocks": _blocks,
    "paired": _paired,
}
# The keys of [design], beside kind, that a kind takes.
_KEYS = {
    "clusters": {"clusters"},
    "views": {"k", "answer"},
    "blocks": {"k", "answer", "phi", "block_size"},
    "paired": {"p", "rho", "accept"},
}


def build(domain: Domain, epsilon: float, entry: DesignEntry, tables: Sequence[Sequence[str]]) -> Design:
    """Make the design, and say which key is at fault where there is none."""
    if entry.kind not in BUILDERS:
        raise SurveyError(
            f"design.kind: there is no design {entry.kind!r}; there are {sorted(BUILDERS)}", path="design.kind"
        )
    for key in ("k", "answer", "clusters", "phi", "block_size", "p", "rho", "accept"):
        if getattr(entry, key) is not None and key not in _KEYS.get(entry.kind, set()):
            raise SurveyError(f"design.{key}: a {entry.kind} design takes no {key}", path=f"design.{key}")
    for index, table in enumerate(tables):
        try:
            domain.project(table)
        except (UnknownAttributeError, DesignError) as error:
            raise SurveyError(f"tables[{index}]: {error.message}", path=f"tables[{index}]") from error
    try:
        design = BUILDERS[entry.kind](domain, epsilon, entry, tables)
    except SurveyError:
        raise
    except DesignError as error:
        path = "epsilon" if "requested" in error.details or "epsilon" in error.details else "design"
        raise SurveyError(f"{path}: {error.message}", path=path) from error
    for index, table in enumerate(tables):
        if not design.covers(table):
            raise SurveyError(
                f"tables[{index}]: under a {entry.kind} design no respondent is asked {' and '.join(table)} together, "
                f'so this table cannot be recovered. Use design.kind = "tables", or drop the table',
                path=f"tables[{index}]",
            )
    return design
