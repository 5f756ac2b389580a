"""From `[design]` to a design: one small builder a kind, so that a new kind of design is one more entry."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from deniable.channels.choice import best_channel, kept_channel
from deniable.channels.krr import KRR
from deniable.designs.base import Design, Question
from deniable.designs.blocks.design import Blocks
from deniable.designs.clusters import Clusters
from deniable.designs.independent import Independent
from deniable.designs.joint import Joint
from deniable.designs.optimal import Optimal, loss_of
from deniable.designs.paired.design import Paired
from deniable.designs.sampled import Sampled
from deniable.designs.views import Views
from deniable.device.epsilon import exp_below
from deniable.errors import DesignError, NotCoveredError, SurveyError, UnknownAttributeError
from deniable.optimal.made_for import MadeFor
from deniable.optimal.wanted import Wanted

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from deniable.channels.base import Channel
    from deniable.channels.choice import Choice
    from deniable.domain import Domain
    from deniable.surveys.schema import DesignEntry

AGAIN = 2.0  # epsilon of a bit of a kept set each time it is sent, unless the file says otherwise


@dataclass(frozen=True)
class Channels:
    """Makes the channel of each question: `choice`, with a second level for sets that are sent again."""

    choice: Choice
    again: KRR
    static: Collection[str]
    wanted: tuple[Wanted, ...] = ()

    def __call__(self, question: Domain, epsilon: float) -> Channel:
        """The channel of a question with so much epsilon."""
        if self.choice == "optimal":
            made = MadeFor(self.wanted or [question.names])(question, epsilon)
            if made.kind == "patterns":  # whose reports are categories, which may be sent again
                return made
            return replace(self, choice="least_variance")(question, epsilon)
        if all(name in self.static for name in question):
            return kept_channel(question.cells, epsilon, self.choice, self.again)
        return best_channel(question.cells, epsilon, self.choice)


@dataclass(frozen=True)
class Wish:
    """What a survey file asks for."""

    domain: Domain
    epsilon: float
    entry: DesignEntry
    tables: Sequence[Sequence[str]]
    channels: Channels
    wanted: tuple[Wanted, ...]  # the tables too; and the shares of what is asked and not spoken of


def one_of_the_tables(wish: Wish) -> Design:
    """Ask each respondent for one of the wanted tables, drawn by their device, with the whole budget.

    This is the default because it is the best: splitting a budget over several questions loses several times as much as
    asking each of fewer people. A question that no table holds is asked alone.
    """
    wanted = list(dict.fromkeys(one.attributes for one in wish.wanted))
    questions = [Question(table, wish.channels(wish.domain.project(table), wish.epsilon)) for table in wanted]
    return Design(wish.domain, questions, [[index] for index in range(len(questions))])


def _optimal(wish: Wish) -> Design:
    """Ask what tells the wanted numbers with the fewest respondents; sets by default, as they tell most of tables."""
    channels = wish.channels if wish.entry.channel is not None else replace(wish.channels, choice="least_variance")
    return Optimal(wish.domain, wish.wanted, wish.epsilon, channel=channels)


def _independent(wish: Wish) -> Design:
    return Independent(wish.domain, wish.epsilon, channel=wish.channels)


def _joint(wish: Wish) -> Design:
    return Joint(wish.domain, wish.epsilon, channel=wish.channels)


def _sampled(wish: Wish) -> Design:
    return Sampled(wish.domain, wish.epsilon, channel=wish.channels)


def _clusters(wish: Wish) -> Design:
    if wish.entry.clusters is None:
        raise SurveyError(
            "design.clusters: a clusters design needs the list of clusters, each a list of questions",
            path="design.clusters",
        )
    return Clusters(wish.domain, wish.entry.clusters, wish.epsilon, channel=wish.channels)


def _views(wish: Wish) -> Design:
    k, answer = wish.entry.k, wish.entry.answer
    return Views(wish.domain, 2 if k is None else k, wish.epsilon, answer=answer or "one", channel=wish.channels)


def _blocks(wish: Wish) -> Design:
    entry = wish.entry
    return Blocks(
        wish.domain,
        2 if entry.k is None else entry.k,
        wish.epsilon,
        answer=entry.answer or "one",
        phi=0.5 if entry.phi is None else entry.phi,
        block_size=250 if entry.block_size is None else entry.block_size,
    )


def _paired(wish: Wish) -> Design:
    entry, epsilon = wish.entry, wish.epsilon
    if entry.accept is None:
        raise SurveyError(
            "design.accept: pairing respondents is weaker than its claimed epsilon: the partner, or whoever matched "
            'the two, learns more. Epsilon here is what they learn. Say accept = "a partner who knows the coin"',
            path="design.accept",
        )
    if entry.p is None or entry.rho is None:
        raise SurveyError("design.p: a paired design needs p and rho", path="design.p")
    design = Paired(wish.domain, entry.p, entry.rho)
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
    "tables": one_of_the_tables,
    "independent": _independent,
    "joint": _joint,
    "sampled": _sampled,
    "clusters": _clusters,
    "views": _views,
    "optimal": _optimal,
    "blocks": _blocks,
    "paired": _paired,
}
# The keys of [design], beside kind, that a kind takes.
_SETS = {"channel", "again"}
_KEYS = {
    "tables": _SETS,
    "independent": _SETS,
    "joint": _SETS,
    "sampled": _SETS,
    "clusters": {"clusters", *_SETS},
    "views": {"k", "answer", *_SETS},
    "optimal": _SETS,
    "blocks": {"k", "answer", "phi", "block_size"},
    "paired": {"p", "rho", "accept"},
}

# Which key a detail of an error speaks of.
_AT_FAULT = {"channel": "design.channel", "requested": "epsilon", "epsilon": "epsilon"}


def build(
    domain: Domain,
    epsilon: float,
    entry: DesignEntry,
    tables: Sequence[Sequence[str]],
    static: Collection[str] = (),
    *,
    wanted: tuple[Wanted, ...] = (),
) -> Design:
    """Make the design, and say which key is at fault where there is none."""
    if entry.kind not in BUILDERS:
        raise SurveyError(
            f"design.kind: there is no design {entry.kind!r}; there are {sorted(BUILDERS)}", path="design.kind"
        )
    for key in ("channel", "again", "k", "answer", "clusters", "phi", "block_size", "p", "rho", "accept"):
        if getattr(entry, key) is not None and key not in _KEYS[entry.kind]:
            raise SurveyError(f"design.{key}: a {entry.kind} design takes no {key}", path=f"design.{key}")
    for index, table in enumerate(tables):
        try:
            domain.project(table)
        except (UnknownAttributeError, DesignError) as error:
            raise SurveyError(f"tables[{index}]: {error.message}", path=f"tables[{index}]") from error
    items = (*(Wanted.table(*table) for table in tables), *wanted)
    spoken = {name for one in items for name in one.attributes}
    every = (*items, *(Wanted.shares(name) for name in domain if name not in spoken))
    channels = Channels(entry.channel or "krr", _coin(entry), static, every)
    try:
        design = BUILDERS[entry.kind](Wish(domain, epsilon, entry, tables, channels, every))
    except SurveyError:
        raise
    except DesignError as error:
        path = next((key for detail, key in _AT_FAULT.items() if detail in error.details), "design")
        raise SurveyError(f"{path}: {error.message}", path=path) from error
    for index, table in enumerate(tables):
        if not design.covers(table):
            raise SurveyError(
                f"tables[{index}]: under a {entry.kind} design no respondent is asked {' and '.join(table)} together, "
                f'so this table cannot be recovered. Use design.kind = "tables", or drop the table',
                path=f"tables[{index}]",
            )
    _check_told(design, wanted, entry.kind)
    return design


def _check_told(design: Design, wanted: Sequence[Wanted], kind: str) -> None:
    """Refuse a design whose reports would not tell what the file says is wanted."""
    for index, one in enumerate(wanted):
        try:
            loss_of(design, [one])
        except NotCoveredError:
            raise SurveyError(
                f'wanted[{index}]: no report of a {kind} design tells {one}. Use design.kind = "optimal", or drop it',
                path=f"wanted[{index}]",
            ) from None


def _coin(entry: DesignEntry) -> KRR:
    """What every bit of a kept set goes through each time it is sent."""
    sets = ("unary", "subset", "least_variance", *([None] if entry.kind == "optimal" else []))
    if entry.again is not None and entry.channel not in sets:
        raise SurveyError(
            'design.again: only sets have a second level. Say channel = "subset", "unary" or "least_variance", or drop '
            "this key",
            path="design.again",
        )
    try:
        return KRR(2, AGAIN if entry.again is None else entry.again)
    except DesignError as error:
        raise SurveyError(f"design.again: {error.message}", path="design.again") from error
