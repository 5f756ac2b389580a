"""Design: which respondent is asked what, through which channel.

Every design is two lists. **Questions**: a set of attributes and the channel its joint answer goes through.
**Ballots**: sets of questions; each respondent's own device draws one ballot, all equally likely or by whole-number
weights, whatever the respondent's values are. A report is the ballot and the disguised answers to its questions; which
ballot it was is public.

From these two lists follows everything else: what a respondent spends (the dearest ballot, exactly), which joint
tables can be recovered (the attributes that some ballot asks together), and what is counted.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import msgspec
import numpy as np

from deniable.channels.read_channel import channel_from_dict
from deniable.core.data_frames import as_frame
from deniable.core.domain import Domain
from deniable.core.input_coercion import row_labels
from deniable.core.randomness import SECURE, Source, check_source, drawn_by
from deniable.core.results import backend_of
from deniable.core.table import Table, as_population
from deniable.designs.ballots import ALL, asked_in_words, drawn_ballots, lowest_terms, rows_of
from deniable.designs.marginal_channel import Telling, Told
from deniable.designs.question import Question
from deniable.designs.reports.reports import Reports
from deniable.designs.reports.tallies import Tallies, drawn_tallies
from deniable.designs.request import Options as NoOptions
from deniable.device.epsilon import compose, epsilon_of, exp_below
from deniable.device.privacy_statement import Statement, told_in_part
from deniable.errors import DesignError, InputError
from deniable.files.reserved_columns import public_columns
from deniable.frozen import Frozen, again, fix, readonly
from deniable.privacy.shuffle import Amplified, amplified
from deniable.text import counted, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from deniable.core.data_frames import People
    from deniable.core.domain import Category
    from deniable.designs.observation import Observation
    from deniable.designs.request import Proposal, Request

FORMAT = 2  # the version of a design's canonical form; one whose ballots are equally likely is written as version 1
MOST_REPORTS = 1 << 53  # numbers that JSON, SPSS and Stata all hold exactly
_AUDITED_RECORDS = 32


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Design(Frozen):
    """Questions, and the ballots drawn from them."""

    kind = "design"
    correlated = ""  # how reports of different people hang together, after "it"; nothing: they are independent
    is_shuffled = True  # whether reports stay the same in whatever order they came
    one_by_one = True  # whether every respondent can be disguised without looking at the others
    is_chosen = False  # whether its questions were chosen for what is wanted, and may be those of another design
    is_served = True  # whether respondents' own devices can answer it
    is_repeatable = True  # whether its questions may go through channels with a second level, as a panel's do
    Options: ClassVar[type[NoOptions]] = NoOptions  # what it takes beside a request: a plain one nothing

    domain: Domain
    questions: tuple[Question, ...]
    ballots: tuple[tuple[int, ...], ...]
    weights: tuple[int, ...] | None  # how often each ballot is drawn; None: all alike

    def __init__(
        self,
        domain: Domain | Mapping[str, Iterable[Category]],
        questions: Sequence[Question],
        ballots: Sequence[Sequence[int]],
        weights: Sequence[int] | None = None,
    ) -> None:
        """Check that every question fits the domain and every ballot asks an attribute at most once.

        `weights` are whole numbers, one a ballot: how often each is drawn. They are brought to their lowest terms.
        """
        known = domain if isinstance(domain, Domain) else Domain(domain)
        fix(
            self,
            domain=known,
            questions=[one.asked_of(known) for one in questions],
            ballots=[tuple(ballot) for ballot in ballots],
            weights=lowest_terms(weights, len(ballots)),
        )
        for question in self.questions:
            part = self.domain.project(question.attributes)
            if question.channel.inputs != part.cells:
                raise DesignError(
                    f"question {question.name!r} has {part.cells} possible answers but its channel "
                    f"{question.channel.name} has {question.channel.inputs} truths",
                    question=question.name,
                )
            if question.channel.reports > MOST_REPORTS:
                raise DesignError(
                    f"a report to question {question.name!r} through {question.channel.name} does not fit one number. "
                    f"Use BlockDesign, LocalHashing or HadamardResponse for so many possible answers",
                    question=question.name,
                )
        for ballot in self.ballots:
            asked = [name for index in ballot for name in self.questions[index].attributes]
            if len(set(asked)) != len(asked):
                raise DesignError(
                    f"a ballot asks {listed(asked)}: an attribute asked twice would be disguised twice, and the two "
                    f"disguises together say more than either"
                )
        if not self.ballots or not all(self.ballots):
            raise DesignError("a design needs at least one ballot, and every ballot at least one question")

    @classmethod
    def of_questions(
        cls,
        domain: Domain,
        questions: Sequence[Question],
        ballots: Sequence[Sequence[int]],
        weights: Sequence[int] | None = None,
    ) -> Self:
        """Make a design of this kind of the questions and ballots it comes down to."""
        made = cls.__new__(cls)
        Design.__init__(made, domain, questions, ballots, weights)
        return made

    @classmethod
    def make(cls, request: Request, options: Any) -> Design:  # noqa: ARG003 - what the kinds have
        """Make what a survey file, a command or a plan asks for; an error about an option names it as `option`."""
        raise DesignError(f"a design of kind {cls.kind!r} is made of its questions and ballots, and not of options")

    @classmethod
    def propose(cls, request: Request) -> Iterable[Proposal]:  # noqa: ARG003 - what the kinds have
        """What a plan compares with other designs; of proposals with the same label, the first that can be made."""
        return ()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Design:
        """Make the design that `to_dict` wrote: questions and ballots, and nothing else."""
        questions = [Question(tuple(q["attributes"]), channel_from_dict(q["channel"])) for q in data["questions"]]
        return cls.of_questions(domain_of(data), questions, data["ballots"], data.get("weights"))

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        names = ("domain", "questions", "ballots", "weights")
        return again(type(self).of_questions, **{name: getattr(self, name) for name in names})

    # -- privacy ------------------------------------------------------------------------------------------------

    def ballot_ratio(self, ballot: int) -> Fraction | float:
        """What a respondent who drew this ballot spends: the product of its questions' ratios, exactly."""
        return compose(self.questions[index].channel.ratio for index in self.ballots[ballot])

    @cached_property
    def ratio(self) -> Fraction | float:
        """The dearest ballot's ratio. The ballot is independent of the values, so drawing it costs nothing."""
        return max(self.ballot_ratio(ballot) for ballot in range(len(self.ballots)))

    @cached_property
    def epsilon(self) -> float:
        """The respondent's total: ln(ratio), rounded up."""
        return epsilon_of(self.ratio)

    def keeps(self, epsilon: float) -> bool:
        """Tell whether it spends no more than epsilon."""
        return self.ratio <= exp_below(epsilon)

    def describe(self, *, published: int | None = None, delta: float | None = None) -> Statement:
        """Say in words what a respondent is asked and what the whole report can tell about them.

        With `published`, the fewest respondents of any group whose counts are published, a second number is said beside
        the first: what readers of those counts, who do not see the reports one by one, can learn (see `amplified`).
        """
        stated = self._statement()
        if published is None:
            return stated
        return Statement(stated.ratio, (*stated.notes, str(self.amplified(published, delta=delta))))

    def amplified(self, n: int, *, delta: float | None = None) -> Amplified:
        """What readers of published counts of n respondents or more can learn of one of them.

        n is the smallest group of all that were published together: of the common refinement of all groupings, without
        those who tell others what they sent, and ballot by ballot if readers may know who got which. The counts must be
        unweighted.
        """
        if not self.is_shuffled:
            raise InputError(
                f"{self.title}: reports depend on others', or on when they came, so counts do not hide them as "
                f"shuffling does; there is no second number for it"
            )
        alone = len(self.ballots) == 1 and len(self.ballots[0]) == 1
        clones = self.questions[self.ballots[0][0]].channel.clones() if alone else ()
        return amplified(self.ratio, n, delta=delta, clones=clones)

    def planning_notes(self, gain: Sequence[float]) -> list[str]:  # noqa: ARG002 - of no use where none is gained
        """What a reader of a plan must know of this kind of design, with the gain in variance of each table."""
        return []

    def added_variance(self, name: str, shares: NDArray[np.float64], n: int) -> NDArray[np.float64]:  # noqa: ARG002
        """What is added to the variance of an attribute's shares where reports depend on each other: here nothing."""
        return np.zeros_like(shares)

    def _statement(self) -> Statement:
        asked = (
            f"{self.title} over {', '.join(self.domain)}. {asked_in_words(self.questions, self.ballots, self.weights)}"
        )
        partly = (one for one in self.questions if one.channel.is_partial)
        in_part = (told_in_part(one.name, one.channel.inputs, one.channel.sums) for one in partly)
        public = "Columns declared public travel in clear and are outside this statement."
        return Statement(self.ratio, (asked, *in_part, public))

    @property
    def title(self) -> str:
        """What a design of this kind is called."""
        return "Design" if type(self) is Design else f"{type(self).__name__} design"

    # -- running it ---------------------------------------------------------------------------------------------

    @cached_property
    def chances(self) -> NDArray[np.float64]:
        """The probability of each ballot. It is independent of the answers, so no estimate needs to know it."""
        weights = np.ones(len(self.ballots)) if self.weights is None else np.array(self.weights, dtype=np.float64)
        return readonly(weights / weights.sum())

    def draw_ballots(self, n: int, source: Source) -> NDArray[Any]:
        """Draw a ballot for each of n respondents, exactly: by an even number below the sum of the weights."""
        return drawn_ballots(self.weights, len(self.ballots), n, source)

    def randomize(
        self, frame: People, keep: Sequence[str] = (), *, source: Source = SECURE, seed: None = None
    ) -> Reports:
        """Disguise a data frame, a row a respondent. Columns named in `keep` are public and ride along in clear.

        The frame may also be columns by name, or a list of people, each a dictionary; for one attribute, a list.
        `source` is for simulations; leave it alone otherwise. A `seed` is answered with what to write instead.

        Every call draws anew, and nobody counts the calls: two disguises of the same people tell what both tell
        together, so publish one. `deniable.engines.randomize_job.randomize_table` disguises a file, and sees to that.
        """
        check_source(source, seed)
        index = row_labels(frame)
        frame = as_frame(frame, self.domain.names)
        public = public_columns(frame, keep, self)
        drawn, answers = self.randomize_codes(self.domain.encode(frame), source=source)
        made = Reports.of_codes(self, readonly(drawn), readonly(answers), public, backend_of(frame), index=index)
        return made.with_origin(drawn_by(source, made.n))

    def randomize_codes(
        self, codes: NDArray[np.integer], *, source: Source = SECURE
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Disguise a matrix of codes; returns the ballots drawn and the answers, one column a place on the ballot."""
        n = len(codes)
        drawn = self.draw_ballots(n, source)
        answers = np.zeros((n, self.width), dtype=self.answer_dtype, order="F")
        for rows, indices in zip(rows_of(drawn, len(self.ballots)), self.ballots, strict=True):
            if not isinstance(rows, slice) and not len(rows):
                continue  # a device asks one respondent, who drew one ballot of many
            for place, index in enumerate(indices):
                truth = self.joint_codes(codes, self.questions[index], rows)
                answers[rows, place] = self.questions[index].channel.randomize(truth, source=source)
        return drawn, answers

    def joint_codes(
        self, codes: NDArray[np.integer], question: Question, rows: slice | NDArray[np.intp] = ALL
    ) -> NDArray[np.integer]:
        """Number the cell of each row's answer to a question: attributes as the digits of one number.

        Of many attributes only the question's are looked at, in the rows that were asked.
        """
        axes = self.domain.axes(question.attributes)
        if len(axes) == 1:
            return codes[rows, axes[0]]
        shape = self.domain.project(question.attributes).shape
        joint = codes[rows, axes[0]].astype(np.min_scalar_type(question.channel.inputs - 1))
        for axis, size in zip(axes[1:], shape[1:], strict=True):
            joint *= joint.dtype.type(size)
            joint += codes[rows, axis].astype(joint.dtype, copy=False)
        return joint

    @property
    def width(self) -> int:
        """The most questions a ballot has."""
        return max(len(ballot) for ballot in self.ballots)

    @property
    def answer_dtype(self) -> np.dtype[Any]:
        """The smallest type that holds any answer."""
        return np.min_scalar_type(max(question.channel.reports for question in self.questions) - 1)

    # -- what can be learned -------------------------------------------------------------------------------------

    def told(self, ballot: int, attributes: Sequence[str]) -> Told | None:
        """What a ballot tells about the given attributes, or None if it tells nothing."""
        return self._telling.about(ballot, attributes)

    def asking(self, attributes: Iterable[str]) -> list[int]:
        """The ballots that ask any of some attributes, in order."""
        return self._telling.asking(attributes)

    @cached_property
    def _telling(self) -> Telling:
        return Telling(self.domain, self.questions, self.ballots)

    def tabulate(self, reports: Reports | Tallies, attributes: Sequence[str] | None = None) -> list[Observation]:
        """Count reports into observations; see `Reports.tabulate`."""
        if reports.design != self:
            raise DesignError("these reports were made by another design")
        return reports.tabulate(attributes)

    def covers(self, attributes: Sequence[str]) -> bool:
        """Tell whether some ballot asks all of these attributes, so that their joint table can be recovered."""
        names = self.domain.project(attributes).names
        return any(
            set(names) <= {a for index in ballot for a in self.questions[index].attributes}
            and self._tells_table(number, names)
            for number, ballot in enumerate(self.ballots)
        )

    def _tells_table(self, ballot: int, names: Sequence[str]) -> bool:
        """Whether a ballot that asks some attributes also tells their table: some channels tell only some sums."""
        told = self.told(ballot, names)
        assert told is not None
        if not told.channel.is_partial:
            return True
        wanted = self.domain.project(names)
        spread = [Table(wanted, cell).expand(told.domain) for cell in np.eye(wanted.cells)]
        return all(told.channel.tells(np.broadcast_to(each, told.domain.shape)) for each in spread)

    def simulate(self, table: Table, n: int, *, source: Source = SECURE) -> Tallies:
        """Draw what n respondents, independent draws from `table`, would report: counts only, by multinomials.

        A billion respondents cost what a thousand do. Sets come as how often each possible one did, where these can be
        listed; products of attributes with more possible sets than that are drawn person by person.

        The table may cover only some of the attributes; what is drawn is then what the reports say about those.
        """
        check_source(source)
        if n < 1:
            raise InputError(f"n must be at least 1, not {n}", n=n)
        return drawn_tallies(self, as_population(table, self.domain), n, source)

    # -- identity -------------------------------------------------------------------------------------------------

    def plan(self) -> dict[str, object]:
        """What devices are served of the design: every question with the integers that its answers go through.

        The ballots' weights stand beside it in what is served.
        """
        return {name: part for name, part in self.to_dict().items() if name != "weights"} | {"format": 1}

    def served_in_blocks(self) -> int | None:
        """How many respondents a block takes, where fakes are published block by block."""
        return None

    @property
    def claims_deniability(self) -> bool:
        """Whether less is claimed than the true number: devices show both, and ask to agree."""
        return False

    def to_dict(self) -> dict[str, object]:
        """The design as plain data: enough for a stranger to check its epsilon and to answer it."""
        return {
            "format": 1 if self.weights is None else FORMAT,
            "kind": self.kind,
            "domain": [{"name": v.name, "categories": list(v.categories)} for v in self.domain.values()],
            "questions": [
                {"attributes": list(question.attributes), "channel": question.channel.to_dict()}
                for question in self.questions
            ],
            "ballots": [list(ballot) for ballot in self.ballots],
            **({} if self.weights is None else {"weights": list(self.weights)}),
        }

    def canonical(self) -> bytes:
        """The design as bytes, always the same for the same design."""
        return msgspec.json.encode(self.to_dict(), order="deterministic")

    @cached_property
    def id(self) -> str:
        """SHA-256 of the canonical bytes."""
        return hashlib.sha256(self.canonical()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Design) and self.canonical() == other.canonical()

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return (
            f"<{self.title.removesuffix(' design')} over {', '.join(self.domain)}: "
            f"{counted(len(self.questions), 'question')}, {counted(len(self.ballots), 'ballot')}, "
            f"epsilon {self.epsilon:.6g} a respondent>"
        )

    def audit_cases(self) -> tuple[int, Callable[[NDArray[np.integer]], NDArray[np.integer]]]:
        """For `deniable.audit`: some records that differ in every attribute, and a way to run them."""
        most = max(self.domain.shape)
        records = np.array([[case % size for size in self.domain.shape] for case in range(min(most, _AUDITED_RECORDS))])

        def run(cases: NDArray[np.integer]) -> NDArray[np.integer]:
            ballots, answers = self.randomize_codes(records[cases])
            return np.column_stack([ballots, answers])

        return len(records), run


def domain_of(data: Mapping[str, Any]) -> Domain:
    """The domain that `Design.to_dict` wrote."""
    return Domain({variable["name"]: variable["categories"] for variable in data["domain"]})
