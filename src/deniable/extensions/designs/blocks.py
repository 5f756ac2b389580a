"""Blocks: views whose fakes are learned block by block (RRBA, Imran & Meo 2024).

Respondents come in blocks. Each keeps the truth with probability p, else reports a fake drawn from T, the distribution
published for their block; from a block's reports the next T is learned, so that fakes come to look like the population.

Two modes. "ldp" keeps the respondent's total epsilon in every block: T has a floor, p follows from it (see
`fake_limits`). It is never better than k-RR at the same epsilon: with a floor, part of the answers is simply thrown
away. "deniability" is the published protocol: its p, no floor, and the claim epsilon = ln(1 / (1 - p)), which holds
only for a report that every fake would have been. What a report really reveals is 1 + p / ((1 - p) T[v]), without bound
as T[v] goes to zero; this mode says both numbers wherever it is printed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from msgspec import Meta

from deniable.channels.integer_weights import stated
from deniable.core.data_frames import as_frame, is_count
from deniable.core.domain import Domain
from deniable.core.randomness import SECURE, Source, check_source, drawn_by
from deniable.core.table import as_population
from deniable.designs.ballots import even_share
from deniable.designs.design import Design, domain_of
from deniable.designs.kinds.views import Answer, Answered, Size, views
from deniable.designs.question import Question
from deniable.designs.request import Options
from deniable.device.epsilon import compose, epsilon_of
from deniable.device.fake_limits import BITS, Limits
from deniable.device.privacy_statement import Statement
from deniable.device.protocol.messages import FEWEST_TOGETHER
from deniable.errors import DesignError, InputError, NotCoveredError
from deniable.extensions.blocks.aggregator import Aggregator, Update
from deniable.extensions.blocks.block_reports import BlockReports
from deniable.extensions.blocks.fake_distribution import first_mixture
from deniable.files.reserved_columns import public_columns
from deniable.frozen import Frozen, fix, readonly
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.core.data_frames import People
    from deniable.core.domain import Category
    from deniable.core.table import Table
    from deniable.designs.request import Request

Mode = Literal["ldp", "deniability"]
Accepted = Literal["deniability instead of differential privacy"]
ACCEPT: Accepted = "deniability instead of differential privacy"


class BlocksOptions(Options, kw_only=True, frozen=True):
    """Which combinations are asked, and how blocks and their fakes are made."""

    k: Size = 2
    answer: Answered = "one"
    phi: Annotated[float | None, Meta(description="The share of fakes that stay even; a half by default.")] = None
    block_size: Annotated[int, Meta(ge=1, description="Respondents a block, in their order.")] = 250
    mode: Annotated[
        Mode, Meta(description='"deniability" is the published protocol, of which epsilon bounds what may be told.')
    ] = "ldp"
    keep: Annotated[float | None, Meta(description="The probability of the truth, for deniability alone.")] = None
    accept: Annotated[Accepted | None, Meta(description="What deniability asks of respondents, in so many words.")] = (
        None
    )


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Blocks(Design):
    """Views in blocks.

    Args:
        domain: the attributes.
        k: how many attributes a question combines.
        epsilon: the respondent's total. In "deniability" mode without `keep`: what the paper would claim,
            p = 1 - e^-epsilon.
        answer: "one" random combination a respondent (default), or "all" of a random view, as published.
        phi: the share of fakes that stay even over the cells ("ldp" only).
        block_size: respondents a block; 1 is the paper's version 1.
        mode: "ldp" (default) or "deniability".
        keep: the paper's p ("deniability" only; in "ldp" it follows from epsilon and phi).
        most_told: the true epsilon that no block may exceed ("deniability" only): fakes then have a floor, and the
            design can be served. Without it they have none, as published.

    >>> design = Blocks({name: [0, 1] for name in "AREOST"}, k=2, epsilon=1.0)
    >>> len(design.questions), 0.999 < design.epsilon <= 1.0
    (15, True)
    >>> paper = Blocks(design.domain, mode="deniability", keep=0.5, answer="all")
    >>> round(paper.claimed_epsilon, 4), paper.epsilon, round(paper.limits[0].keep / 2**32, 4)
    (2.0794, inf, 0.5)
    """

    kind = "blocks"
    is_shuffled = False
    one_by_one = False
    is_repeatable = False
    Options = BlocksOptions

    k: int
    answer: Answer
    mode: Mode
    block_size: int
    requested: float  # the epsilon asked for
    phi: Fraction
    keep: Fraction | None
    most_told: float | None
    limits: tuple[Limits, ...]

    def __init__(
        self,
        domain: Domain | Mapping[str, Iterable[Category]],
        k: int = 2,
        epsilon: float = 1.0,
        *,
        answer: Answer = "one",
        phi: float | Fraction = 0.5,
        block_size: int = 250,
        mode: Mode = "ldp",
        keep: float | Fraction | None = None,
        most_told: float | None = None,
    ) -> None:
        """Fix the questions and, for each, the most that any block may keep and the least that each fake must get."""
        known = domain if isinstance(domain, Domain) else Domain(domain)
        if answer not in ("one", "all"):
            raise DesignError(f'answer must be "one" or "all", not {answer!r}')
        if mode not in ("ldp", "deniability"):
            raise DesignError(f'mode must be "ldp" or "deniability", not {mode!r}')
        if mode == "ldp" and keep is not None:
            raise DesignError(
                'in mode "ldp" keep follows from epsilon and phi; a keep of your own is mode="deniability"'
            )
        if mode == "ldp" and most_told is not None:
            raise DesignError('in mode "ldp" epsilon is what is told; most_told= belongs to mode="deniability"')
        if not is_count(block_size):
            raise DesignError(
                f"a block has at least 1 respondent, and a whole number of them, not {block_size!r}",
                block_size=block_size,
            )
        even = stated(phi, "phi")
        kept = None if mode == "ldp" else stated(1 - math.exp(-epsilon) if keep is None else keep, "keep")
        questions: list[Question] = []
        limits: list[Limits] = []
        ballots: list[list[int]] = []
        for view in views(known.names, k):
            told = epsilon if most_told is None else most_told
            budget = even_share(told, 1 if answer == "one" else len(view))
            first = len(questions)
            for combination in view:
                cells = known.project(combination).cells
                if kept is None:
                    limit = Limits.of(cells, budget, even)
                elif most_told is None:
                    limit = Limits.unfloored(cells, kept)
                else:
                    limit = Limits.kept(cells, kept, budget)
                limits.append(limit)
                questions.append(Question(combination, first_mixture(limit)))
            indices = list(range(first, len(questions)))
            ballots += [[index] for index in indices] if answer == "one" else [indices]
        fix(self, k=k, answer=answer, mode=mode, block_size=int(block_size), requested=float(epsilon))
        fix(self, phi=even, keep=kept, most_told=most_told, limits=limits)
        super().__init__(known, questions, ballots)

    def _given(self) -> dict[str, Any]:
        return {
            "domain": self.domain,
            "k": self.k,
            "epsilon": self.requested,
            "answer": self.answer,
            "phi": self.phi,
            "block_size": self.block_size,
            "mode": self.mode,
            "keep": self.keep,
            "most_told": self.most_told,
        }

    __reduce__ = Frozen.__reduce__  # through this constructor: the limits are more than the questions

    # -- privacy -----------------------------------------------------------------------------------------------

    def ballot_ratio(self, ballot: int) -> Fraction | float:
        """What any accepted block can make this ballot reveal: the product of 1 + K / F; infinite without a floor."""
        return compose(
            1 + Fraction(self.limits[index].keep, self.limits[index].floor) if self.limits[index].floor else math.inf
            for index in self.ballots[ballot]
        )

    @property
    def claimed_epsilon(self) -> float:
        """What the paper claims for a respondent's whole view: ln(1 / (1 - p)), once for every combination answered.

        In mode "ldp" nothing is claimed but the true epsilon.
        """
        if self.keep is None:
            return self.epsilon
        # The design's integers, not the stated p: what is said is said about what is run.
        return self.width * epsilon_of(self.limits[0].claim)

    def _statement(self) -> Statement:
        """Say in words what is asked, and what any block that a respondent accepts can tell about them."""
        base = super()._statement()
        blocks = f"Fakes are learned block by block, {self.block_size} respondent(s) each; every respondent is in one."
        if self.mode == "ldp":
            held = "Any published block that keeps the floor keeps this bound; devices refuse others."
            return Statement(self.ratio, (*base.notes, blocks, held))
        return Statement(self.ratio, (*base.notes, blocks, self.both_numbers(self.ratio)))

    def both_numbers(self, ratio: Fraction | float) -> str:
        """The claimed and the true epsilon in one sentence."""
        true = "infinite" if isinstance(ratio, float) else f"{epsilon_of(ratio):.4f}"
        return (
            f"Claimed epsilon (the paper's ln(1/(1-p)), over {self.width} answer(s)): {self.claimed_epsilon:.4f}. True "
            f"epsilon: {true}. The claim is deniability, not differential privacy."
        )

    # -- running it --------------------------------------------------------------------------------------------

    @cached_property
    def asked(self) -> NDArray[np.int64]:
        """Which question stands at which place of a ballot; -1 where a ballot has fewer."""
        table = np.full((len(self.ballots), self.width), -1, dtype=np.int64)
        for row, ballot in zip(table, self.ballots, strict=True):
            row[: len(ballot)] = ballot
        return readonly(table)

    def randomize(
        self,
        frame: People,
        keep: Sequence[str] = (),
        *,
        source: Source = SECURE,
        update: Update = "pooled",
        progress: Callable[[int, int], None] | None = None,
        seed: None = None,
    ) -> BlockReports:
        """Run the whole protocol on a data frame: rows in order, block after block; drawn anew at every call.

        Args:
            frame: a row a respondent.
            keep: public columns that ride along in clear.
            source: for simulations; leave it alone otherwise.
            update: how the next block's fakes follow from the reports, see `Aggregator`.
            progress: called after every block with the respondents done and all of them.
            seed: answered with what to write instead.
        """
        check_source(source, seed)
        frame = as_frame(frame, self.domain.names)
        public = public_columns(frame, keep, self)
        return self.run(self.domain.encode(frame), source=source, update=update, progress=progress, public=public)

    def run(
        self,
        codes: NDArray[np.integer],
        *,
        source: Source = SECURE,
        update: Update = "pooled",
        progress: Callable[[int, int], None] | None = None,
        public: Any = None,
    ) -> BlockReports:
        """Run the protocol on a matrix of codes; see `randomize`."""
        n, stream = len(codes), source.stream()
        ballots = stream.below(len(self.ballots), n)
        draws = stream.words(n * self.width, BITS).reshape(n, self.width)
        truth = np.zeros((n, self.width), dtype=self.answer_dtype)
        for ballot, indices in enumerate(self.ballots):
            rows = np.flatnonzero(ballots == ballot)
            for place, index in enumerate(indices):
                truth[rows, place] = self.joint_codes(codes, self.questions[index], rows)
        answers = np.zeros_like(truth)
        aggregator = Aggregator(self, update)
        for start in range(0, n, self.block_size):
            if start:
                aggregator.close()
                aggregator.publish()
            stop = min(start + self.block_size, n)
            asked = self.asked[ballots[start:stop]]
            # One draw: below keep it is the truth, else the stretch it falls into is the fake.
            stretch = (draws[start:stop, :, None] >= aggregator.ends[asked]).sum(axis=2)
            answers[start:stop] = np.where(asked < 0, 0, np.where(stretch == 0, truth[start:stop], stretch - 1))
            aggregator.collect(ballots[start:stop], answers[start:stop])
            if progress is not None:
                progress(stop, n)
        blocks = np.arange(n) // self.block_size
        small = ballots.astype(np.min_scalar_type(len(self.ballots) - 1))
        made = BlockReports.of_blocks(self, small, answers, blocks, aggregator.published, public=public)
        return made.with_origin(drawn_by(source, made.n))

    def randomize_codes(
        self, codes: NDArray[np.integer], *, source: Source = SECURE
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Disguise a matrix of codes; returns ballots and answers alone (`run` also says in which block)."""
        reports = self.run(codes, source=source)
        return reports.ballots, reports.answers

    def simulate(  # type: ignore[override]
        self, table: Table, n: int, *, source: Source = SECURE, update: Update = "pooled"
    ) -> BlockReports:
        """Draw n independent respondents from `table` and run the protocol on them.

        Blocks depend on each other, so respondents are drawn one by one and not as counts.
        """
        check_source(source)
        if n < 1:
            raise InputError(f"n must be at least 1, not {n}", n=n)
        share = as_population(table, self.domain).project(self.domain.names)
        cells = source.stream().generator().choice(share.values.size, size=n, p=share.values.ravel())
        codes = np.stack(np.unravel_index(cells, share.shape), axis=1)
        return self.run(codes, source=source, update=update)

    def question_of(self, attributes: Sequence[str]) -> int:
        """The question that asks exactly these attributes."""
        wanted = set(self.domain.project(attributes))
        for index, question in enumerate(self.questions):
            if set(question.attributes) == wanted:
                return index
        raise NotCoveredError(f"no question asks exactly {listed(attributes)}", attributes=tuple(attributes))

    # -- identity ----------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, object]:
        """The design as plain data, with the limits that every block must keep."""
        data = super().to_dict()
        data["questions"] = [
            {"attributes": list(q.attributes), "bits": BITS, "most_kept": x.keep, "least_fake": x.floor}
            for q, x in zip(self.questions, self.limits, strict=True)
        ]
        floored = {} if self.most_told is None else {"most_told": self.most_told}
        return (
            data
            | floored
            | {
                "k": self.k,
                "epsilon": self.requested,
                "answer": self.answer,
                "phi": str(self.phi),
                "block_size": self.block_size,
                "mode": self.mode,
                "keep": None if self.keep is None else str(self.keep),
            }
        )

    def plan(self) -> dict[str, object]:
        """Every question with the limits that its blocks must keep."""
        if not all(limits.floor for limits in self.limits):
            raise DesignError(
                "blocks without a floor keep no epsilon, and are not served: say most_told=, the true epsilon",
                mode=self.mode,
            )
        questions = [
            {
                "attributes": list(question.attributes),
                "channel": {
                    "kind": "adaptive",
                    "cells": limits.cells,
                    "most_kept": limits.keep,
                    "least_fake": limits.floor,
                    "bits": BITS,
                },
            }
            for question, limits in zip(self.questions, self.limits, strict=True)
        ]
        data = self.to_dict()
        return {**{key: data[key] for key in ("format", "kind", "domain", "ballots")}, "questions": questions}

    @property
    def claims_deniability(self) -> bool:
        """Whether less is claimed than the true number."""
        return self.mode == "deniability"

    def served_in_blocks(self) -> int:
        """How many respondents a block takes."""
        return self.block_size

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Blocks:
        """Make the design that `to_dict` wrote; limits that do not follow from its parameters are refused.

        What a collector announces is read too.
        """
        from deniable.extensions.blocks.announced_blocks import MessageBlocks

        if "plan" in data:
            return MessageBlocks(data)
        try:
            made = cls(
                domain_of(data),
                data["k"],
                data["epsilon"],
                answer=data["answer"],
                phi=Fraction(data["phi"]),
                block_size=data["block_size"],
                mode=data["mode"],
                keep=None if data["keep"] is None else Fraction(data["keep"]),
                most_told=data.get("most_told"),
            )
        except (KeyError, TypeError) as error:
            raise DesignError(f"this is not a design in blocks: {error!r}") from None
        if made.to_dict() != dict(data):
            raise DesignError("this design in blocks says something else than its own parameters give; it is refused")
        return made

    def __repr__(self) -> str:
        claim = "" if self.mode == "ldp" else f" (claimed {self.claimed_epsilon:.4g}; deniability, not privacy)"
        return super().__repr__()[:-1] + f"{claim}, blocks of {self.block_size}>"

    @classmethod
    def make(cls, request: Request, options: BlocksOptions) -> Blocks:
        """Ask views in blocks; in mode "deniability" epsilon is the true one, and what is claimed must be accepted."""
        if request.is_served and options.block_size < FEWEST_TOGETHER:
            raise DesignError(
                f"{options.block_size} reports a block; at least {FEWEST_TOGETHER} are needed. Every report names "
                f"its block, and the fakes of the next follow from it: in fewer, a single report could be read off",
                option="block_size",
            )
        _check(options)
        return cls(
            request.domain,
            options.k,
            request.epsilon,
            answer=options.answer,
            phi=0.5 if options.phi is None else options.phi,
            block_size=options.block_size,
            mode=options.mode,
            keep=options.keep,
            most_told=request.epsilon if options.mode == "deniability" else None,
        )


def _check(options: BlocksOptions) -> None:
    if options.mode == "ldp":
        for name in ("keep", "accept"):
            if getattr(options, name) is not None:
                raise DesignError('goes with mode = "deniability" alone', option=name)
    elif options.accept != ACCEPT:
        claims = 'mode = "deniability" claims ln(1 / (1 - keep)) for an answer; its reports may tell all of the epsilon'
        told = f'{claims}. Respondents are shown both, and must agree. Say accept = "{ACCEPT}"'
        raise DesignError(told, option="accept")
    elif options.keep is None or options.phi is not None:
        raise DesignError('mode = "deniability" needs keep (how often the truth is kept) and no phi', option="keep")
