"""Paired: like `Independent`, with coins correlated between two respondents (JRR, Zheng et al. 2025)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from msgspec import Meta

from deniable.channels.bitmask import Bitmask
from deniable.channels.krr import KRR
from deniable.core.data_frames import as_frame
from deniable.core.domain import Category, Domain
from deniable.core.randomness import SECURE, Source, check_source, drawn_by
from deniable.core.results import backend_of
from deniable.core.summary import number
from deniable.core.table import as_population
from deniable.designs.ballots import even_share
from deniable.designs.ballots import shares as split
from deniable.designs.design import Design, domain_of
from deniable.designs.observation import Observation
from deniable.designs.question import Question
from deniable.designs.request import Options, Proposal
from deniable.device.privacy_statement import Statement
from deniable.errors import DesignError, InputError, NotCoveredError
from deniable.extensions.paired.optimal_coins import PairedOptimum, paired_optimum
from deniable.extensions.paired.pair_privacy import PairedPrivacy
from deniable.extensions.paired.paired_reports import PairedReports, PairedTallies
from deniable.extensions.paired.pairing import Coins, completed, deal, pair_up
from deniable.files.reserved_columns import public_columns
from deniable.frozen import Frozen, fix, readonly
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    from deniable.core.data_frames import People
    from deniable.core.table import Table
    from deniable.designs.marginal_channel import Told
    from deniable.designs.request import Request

ACCEPT = "a partner who knows the coin"


class PairedOptions(Options, kw_only=True, frozen=True):
    """The coins."""

    p: Annotated[float, Meta(description="The probability of the truth, above 1/2.")]
    rho: Annotated[float, Meta(description="How partners depend on each other, from -(1 - p) / p to 0.")]
    respondents: Annotated[
        int | None, Meta(description="How many will be paired: the published theorem's numbers depend on it.")
    ] = None
    accept: Annotated[
        Literal["a partner who knows the coin"] | None,
        Meta(description="Whom pairing is weak against, in so many words: without them no respondent is asked."),
    ] = None


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Paired(Design):
    """Ask every attribute of every respondent, with coins shared by pairs of respondents drawn at random.

    A yes-or-no attribute has one coin, one of k > 2 categories a coin for each category (`Bitmask`). A pair meets once
    and shares one bit a coin. Whoever has no partner (an odd one out), or one who never answers, is plain RR(p): their
    report alone has the same distribution, and only completed pairs count in the error.

    **This is not epsilon-LDP** unless rho = 0. `epsilon` is the worst number, against whoever knows the shared coin;
    `claimed_epsilon` is the published theorem's; `privacy` and `describe()` have all of them.

    `correlated` says so: reports of one design are not independent of each other. Multinomial tests (Pearson,
    likelihood ratio, bootstrap) and joint tables assume that they are, and must refuse designs with this mark; one-way
    tables have their own errors (`pair_variance`).

    >>> design = Paired({"smokes": ["no", "yes"]}, p=0.75, rho=-0.2, respondents=1000)
    >>> design.claimed_epsilon, design.epsilon  # the theorem's, and the true one
    (1.0986, 2.8181)
    >>> design.is_ldp
    False
    """

    kind = "paired"
    one_by_one = False
    is_shuffled = False
    correlated = "pairs respondents whose coins are correlated"
    is_repeatable = False
    Options = PairedOptions

    coins: Mapping[str, Coins]
    respondents: int | None
    colluders: int

    def __init__(
        self,
        domain: Domain | Mapping[str, Iterable[Category]],
        p: float | Fraction | None = None,
        rho: float | Fraction | None = None,
        *,
        coins: Mapping[str, Coins] | None = None,
        respondents: int | None = None,
        colluders: int = 0,
    ) -> None:
        """Take p and rho for every coin, or each attribute's coins; `Paired.best` finds them for a claimed epsilon.

        Args:
            domain: the attributes.
            p: the probability of the truth, above 1/2.
            rho: the correlation within a pair, from -q / p to 0.
            coins: for each attribute, instead of p and rho.
            respondents: how many will be paired; the theorem's numbers need it.
            colluders: how many of them are taken to pool what they know.
        """
        known = domain if isinstance(domain, Domain) else Domain(domain)
        if coins is None:
            if p is None or rho is None:
                raise DesignError("give p= and rho=, or coins= for each attribute, or use Paired.best(domain, epsilon)")
            coins = dict.fromkeys(known, Coins.of(p, rho))
        elif p is not None or rho is not None or set(coins) != set(known):
            raise DesignError(f"coins must name each of {sorted(known)} once, without p= and rho=", coins=sorted(coins))
        fix(self, coins={name: coins[name] for name in known}, respondents=respondents, colluders=colluders)
        channels = {
            name: coin.channel if len(known[name]) == 2 else Bitmask(len(known[name]), coin.channel)
            for name, coin in self.coins.items()
        }
        super().__init__(known, [Question((name,), channels[name]) for name in known], [range(len(known))])
        _ = self.privacy  # refuses impossible numbers of respondents and colluders

    def _given(self) -> dict[str, Any]:
        return {
            "domain": self.domain,
            "coins": self.coins,
            "respondents": self.respondents,
            "colluders": self.colluders,
        }

    __reduce__ = Frozen.__reduce__  # through this constructor: the coins are more than the questions

    @classmethod
    def best(
        cls,
        domain: Domain | Mapping[str, Iterable[Category]],
        epsilon: float | Mapping[str, float],
        respondents: int,
        *,
        colluders: int = 0,
        expected: Mapping[str, float | Sequence[float]] | None = None,
        coin: float = inf,
    ) -> Paired:
        """The coins of least variance at a *claimed* epsilon: the corner rho = -q / p, or none (rho = 0).

        With a bound on what whoever knows the shared coins may learn, the correlation goes as far as the bound allows.
        A collector serves only such designs: at the corner, somebody could be certain.

        Args:
            domain: the attributes.
            epsilon: the respondent's total, shared evenly among the attributes, or one for each.
            respondents: how many will be paired.
            colluders: how many of them are taken to pool what they know.
            expected: for an attribute, the expected share of its second category, or of all of them. Without it the
                first category is taken to be everybody's, which is where pairing gains most.
            coin: the most that whoever knows the shared coins may learn, over all attributes together, as an epsilon.

        >>> design = Paired.best({"smokes": ["no", "yes"]}, 1.0, 10_000, colluders=500, expected={"smokes": 0.02})
        >>> design.coins["smokes"]
        Coins(p=0.716902, rho=-0.39489, 32 bits)
        """
        known = domain if isinstance(domain, Domain) else Domain(domain)
        guesses = dict(expected or {})
        strangers = [name for name in guesses if name not in known]
        if strangers:
            raise InputError(f"expected= names {listed(strangers)}, not among the attributes {listed(known)}")
        budget = split(epsilon, known.names)
        found: dict[str, PairedOptimum] = {}
        for name in known:
            k = len(known[name])
            guess = guesses.get(name, 0.0 if k == 2 else [1.0] + [0.0] * (k - 1))
            given = len(guess) if isinstance(guess, Sequence) else 2
            if given != k:
                raise InputError(f"attribute {name!r} has {k} categories; expected= gives {given} shares for it")
            share = coin * (1 - 1e-6) * budget[name] / sum(budget.values())  # rounding to integers must not exceed it
            found[name] = paired_optimum(budget[name], respondents, colluders, guess, coin=share)
        coins = {name: optimum.coins for name, optimum in found.items()}
        return cls(known, coins=coins, respondents=respondents, colluders=colluders)

    # -- privacy ------------------------------------------------------------------------------------------------------

    @cached_property
    def privacy(self) -> PairedPrivacy:
        """Every number, with who it holds against."""
        each = [
            (self.coins[name].p, self.coins[name].d)
            for name, variable in self.domain.items()
            for _ in range(1 if len(variable) == 2 else 2)  # two truths of more categories differ in two bits
        ]
        return PairedPrivacy(tuple(each), self.respondents, self.colluders)

    def ballot_ratio(self, ballot: int) -> Fraction | float:  # noqa: ARG002 - there is one ballot
        """The product of (p + d) / (q - d) over the coins: against whoever knows the shared coins."""
        return self.privacy.ratio

    @property
    def claimed_epsilon(self) -> float:
        """The theorem's epsilon: an average over pairings that nobody knows."""
        return self.privacy.claimed_epsilon

    @property
    def is_ldp(self) -> bool:
        """Whether the claimed epsilon is a true one: only at rho = 0."""
        return self.privacy.is_ldp

    @property
    def is_corner(self) -> bool:
        """Whether some coin is at rho = -q / p, where `epsilon` is infinite; a collector refuses to serve that."""
        return any(coin.is_corner for coin in self.coins.values())

    def _statement(self) -> Statement:
        """Say in words what is asked, and every number of the privacy statement."""
        return Statement(self.ratio, (*super()._statement().notes, *self.privacy.lines()))

    # -- planning it --------------------------------------------------------------------------------------------------

    def planning_notes(self, gain: Sequence[float]) -> list[str]:
        """What pairing would gain, and what has to be said beside it."""
        if all(coin.rho == 0 for coin in self.coins.values()):
            return ["Pairing respondents (JRR) would gain nothing at this true epsilon: the best correlation is none."]
        least, most = float(np.nanmin(gain)), float(np.nanmax(gain))
        times = f"{least:.2f}" if most - least < 5e-3 else f"{least:.2f} to {most:.2f}"
        told = (
            f"Pairing respondents (JRR) would have {times} times the variance of the same coins unpaired, but it is "
            f"not epsilon-LDP: {self.claimed_epsilon:.4g} is what its theorem claims on average over hidden pairings, "
            f"and against whoever knows the shared coin epsilon is {number(self.epsilon)}. It is listed last, "
            f"and never recommended."
        )
        return [told]

    def added_variance(self, name: str, shares: NDArray[np.float64], n: int) -> NDArray[np.float64]:
        """What pairing adds to the variance of each category's share: zero or less.

        Each report alone is randomized response, so the errors of unpaired coins change by one term. With
        c = pq / (p - q)^2, K pairs among n respondents and x the share of a category (`pair_variance`):

            Var = Var without pairing + 2 c rho (K / n^2) (1 - 2x)^2,       rho <= 0.
        """
        coins = self.coins[name]
        p, rho = float(coins.p), float(coins.rho)
        c = p * (1 - p) / (2 * p - 1) ** 2
        return 2 * c * rho * (n // 2) / n**2 * (1 - 2 * shares) ** 2

    # -- running it ---------------------------------------------------------------------------------------------------

    def randomize(
        self,
        frame: People,
        keep: Sequence[str] = (),
        *,
        answered: ArrayLike | None = None,
        source: Source = SECURE,
        seed: None = None,
    ) -> PairedReports:
        """Pair the rows of a data frame at random and disguise them, a row a respondent; drawn anew at every call.

        Args:
            frame: a row for everybody who was paired.
            keep: public columns that ride along in clear.
            answered: True for each row whose report arrived; everybody's by default. The others leave no report, and
                their partners' reports remain as good as any.
            source: for simulations; leave it alone otherwise.
            seed: answered with what to write instead.
        """
        check_source(source, seed)
        frame = as_frame(frame, self.domain.names)
        public = public_columns(frame, keep, self)
        codes = self.domain.encode(frame)
        arrived = np.ones(len(codes), dtype=bool) if answered is None else np.asarray(answered, dtype=bool)
        if arrived.shape != (len(codes),):
            raise InputError(f"answered= needs one truth value for each of {len(codes)} rows, not {arrived.shape}")
        partner = pair_up(len(codes), source.stream())
        answers = self._answers(codes, partner, source)[arrived]
        rows = np.flatnonzero(arrived)
        kept = None if public is None else public[rows.tolist()]
        pairs = completed(partner, arrived)
        made = PairedReports.of_pairs(self, readonly(answers), pairs, kept, backend_of(frame))
        return made.with_origin(drawn_by(source, made.n))

    def randomize_codes(
        self, codes: NDArray[np.integer], *, source: Source = SECURE
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Pair the rows of a matrix of codes at random and disguise them."""
        partner = pair_up(len(codes), source.stream())
        return np.zeros(len(codes), dtype=np.uint8), self._answers(codes, partner, source)

    def _answers(self, codes: NDArray[np.integer], partner: NDArray[np.int64], source: Source) -> NDArray[Any]:
        answers = np.zeros((len(codes), self.width), dtype=self.answer_dtype, order="F")
        for place, name in enumerate(self.domain):
            answers[:, place] = self._disguised(name, codes[:, place], partner, source)
        return answers

    def _disguised(
        self, name: str, codes: NDArray[np.integer], partner: NDArray[np.int64], source: Source
    ) -> NDArray[Any]:
        coins, channel, stream = self.coins[name], self.questions[self.domain.axes([name])[0]].channel, source.stream()
        if not isinstance(channel, Bitmask):
            return coins.disguise(codes == 1, deal(partner, stream), stream)
        bits = [coins.disguise(codes == v, deal(partner, stream), stream) for v in range(channel.inputs)]
        return channel.pack(bits)

    # -- what can be learned ------------------------------------------------------------------------------------------

    def covers(self, attributes: Sequence[str]) -> bool:
        """One attribute at a time: the errors of joint tables would depend on who was paired with whom."""
        return len(self.domain.project(attributes)) == 1

    def told(self, ballot: int, attributes: Sequence[str]) -> Told | None:
        """What the reports tell about one attribute."""
        if len(attributes) > 1:
            raise NotCoveredError(
                f"paired reports tell about one attribute at a time, not about {listed(attributes)} together: members "
                f"of a pair are not independent, so joint tables and their tests have no honest errors. Ask for one "
                f"attribute, or use the design Independent",
                attributes=tuple(attributes),
            )
        return super().told(ballot, attributes)

    def simulate(self, table: Table, n: int, *, source: Source = SECURE) -> PairedTallies:
        """Draw what n respondents, independent draws from `table`, would report, everybody paired."""
        check_source(source)
        if n < 1:
            raise InputError(f"n must be at least 1, not {n}", n=n)
        share = as_population(table, self.domain)
        drawn = source.stream().generator().multinomial(n, share.values.ravel())
        codes = np.stack(np.unravel_index(np.repeat(np.arange(drawn.size), drawn), share.shape), axis=1)
        partner = pair_up(n, source.stream())
        observations = []
        for axis, name in enumerate(share.attributes):
            told = self.told(0, [name])
            assert told is not None
            answers = self._disguised(name, codes[:, axis], partner, source)
            counts = np.bincount(answers.astype(np.int64), minlength=told.channel.outputs)
            observations.append(Observation(told.domain, told.channel, counts, population=n))
        return PairedTallies(self, share.attributes, tuple(observations), n, pairs=n // 2)

    # -- identity -----------------------------------------------------------------------------------------------------

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Paired:
        """Make the design that `to_dict` wrote."""
        coins = {name: Coins(**numbers) for name, numbers in data["coins"].items()}
        return cls(domain_of(data), coins=coins, respondents=data["respondents"], colluders=data["colluders"])

    def plan(self) -> dict[str, object]:
        """Every question with its coins."""
        wide = [name for name, variable in self.domain.items() if len(variable) > 2]
        if wide:
            raise DesignError(
                f"paired questions are served with two categories each; {wide} have more", attributes=wide
            )
        questions = [
            {"attributes": [name], "channel": {"kind": "paired", **coins.to_dict()}}
            for name, coins in self.coins.items()
        ]
        data = self.to_dict()
        return {**{key: data[key] for key in ("format", "kind", "domain", "ballots")}, "questions": questions}

    def to_dict(self) -> dict[str, object]:
        """The design as plain data, coins and the assumed numbers of respondents and colluders included."""
        return {
            **super().to_dict(),
            "coins": {name: coin.to_dict() for name, coin in self.coins.items()},
            "respondents": self.respondents,
            "colluders": self.colluders,
        }

    def __repr__(self) -> str:
        return (
            f"<Paired over {', '.join(self.domain)}: {', '.join(map(repr, self.coins.values()))}, epsilon "
            f"{self.epsilon:.6g} against who knows the coin>"
        )

    @classmethod
    def make(cls, request: Request, options: PairedOptions) -> Paired:
        """Pair everybody by coins that keep epsilon against whoever knows them; served only where that is accepted."""
        if request.is_served and options.accept != ACCEPT:
            raise DesignError(
                "pairing respondents is weaker than its claimed epsilon: the partner, or whoever matched the two, "
                f'learns more. Epsilon here is what they learn. Say accept = "{ACCEPT}"',
                option="accept",
            )
        design = cls(request.domain, options.p, options.rho, respondents=options.respondents)
        if design.is_corner:
            raise DesignError(
                f"at rho = -q/p = {options.rho:g} whoever knows the coin knows half of the answers for certain; choose "
                f"a rho nearer to 0",
                option="rho",
            )
        if not design.keeps(request.epsilon):
            raise DesignError(
                f"whoever knows the coins of a pair learns epsilon {design.epsilon:.4g}, more than the "
                f"{request.epsilon:g} that are promised: choose a smaller p, or a rho nearer to 0",
                option="p",
                epsilon=design.epsilon,
            )
        return design

    @classmethod
    def propose(cls, request: Request) -> Iterable[Proposal]:
        """Propose the coins of least variance at the true epsilon, where shares of yes-or-no attributes are wanted.

        Pairs are served with two categories an attribute: a design with more could be made, and nobody asked by it.

        As for every proposal the epsilon is the true one: what whoever knows the shared coin may learn. The published
        theorem's, an average over pairings, is smaller, and at the same theorem's epsilon pairing has the smaller
        variance; at the same true one it never has. Let P / Q be the odds that epsilon allows; coins with shift
        d = sqrt(-rho p q) then have p = P - d, and for a share f the variance pq + rho pq (1 - 2f)^2 =
        pq - d^2 (1 - 2f)^2 over (p - q)^2. With R = P - Q this is at best (f = 0) (PQ + dR - 2 d^2) / (R - 2d)^2,
        whose logarithm has a derivative of the sign of

            (R - 4d)(R - 2d) + 4 (PQ + dR - 2 d^2) = R^2 + 4 PQ - 2 dR = 1 - 2 dR > 0,      0 <= d < R / 2.

        So the best correlation is none, whatever the shares, which is what the plan then says.
        """
        is_told = any(one.is_table and len(one.attributes) == 1 for one in request.aims)
        if not is_told or any(len(variable) > 2 for variable in request.domain.values()):
            return
        odds = KRR(2, even_share(request.epsilon, len(request.domain))).ratio
        yield Proposal(cls.kind, PairedOptions(p=float(odds / (1 + odds)), rho=0.0, respondents=request.n))
