"""A value never changes: not by assignment, not through its arrays nor those it was made of, nor by being copied.

A class under `Frozen` is given a maker here (results have theirs in `test_results`) and inherits every check. The last
tests find those that were forgotten, and what is public but neither frozen nor stated to go on.
"""

from __future__ import annotations

import copy
import inspect
import pickle
import pkgutil
import warnings
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, fields, is_dataclass
from functools import cache, cached_property, partial
from importlib import import_module

import msgspec
import narwhals as nw
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from test_results import RESULTS, reports, uncovered

import deniable as dn
from deniable.aims.aim import AIMS
from deniable.aims.assumed_truth import Guess
from deniable.aims.contrasts import Contrasts
from deniable.channels.bitmask import Bitmask
from deniable.channels.channel import Channel
from deniable.channels.sets.some_sets import SomeSets
from deniable.channels.some_truths import SomeTruths
from deniable.cli.new import example_text
from deniable.collection.survey_messages import design_body, form_body
from deniable.core.labels import Changed, Correction, Labels
from deniable.core.provenance import Origin
from deniable.datasets import Network
from deniable.designs.reports.asked_only import Among
from deniable.designs.reports.debiased_columns import scores
from deniable.designs.reports.set_reports import Sets
from deniable.device.protocol import canonical_json as wire
from deniable.device.protocol import messages
from deniable.device.protocol.fake_blocks import Block
from deniable.device.verify import verify
from deniable.engines.stored_reports import StoredReports
from deniable.errors import DeniableError, SmallCellWarning
from deniable.estimation.joint_tables.reconcile_marginals import reconcile
from deniable.estimation.notes.refused import Refused
from deniable.estimation.several_sources import Agreement
from deniable.extensions.blocks.announced_blocks import MessageBlocks
from deniable.extensions.blocks.served_blocks import ServedBlocks
from deniable.extensions.channels.blockwise import Blockwise
from deniable.files.object_storage import Object
from deniable.frozen import Frozen, fix
from deniable.graphs.laplace_comparators import Released
from deniable.inference.corrected_words import BeforeAfter
from deniable.inference.measures.association_measures import phi_squared
from deniable.inference.measures.information_interval import LikelyInformation
from deniable.inference.measures.inverted_intervals import Inverted
from deniable.inference.numbers.aim_estimates import told_aims
from deniable.inference.prevalence import prevalence
from deniable.likelihood.gather import gather
from deniable.likelihood.quasi_likelihood import quasi_of
from deniable.likelihood.stacked_evidence import Stack
from deniable.optimal.hamming_scheme import Hamming
from deniable.optimal.hypercontractive_floor import HypercontractiveCertificate
from deniable.regression.likelihood.posterior import listen
from deniable.reporting.methods_section import facts_of_survey
from deniable.reporting.scripts.write_script import script_tables
from deniable.surveys.survey import parse_survey
from small_survey import BLOCKS, small_survey

DOMAIN = {"a": ["no", "yes"], "b": ["x", "y", "z"], "c": ["u", "v"]}
YES_NO = {"a": ["no", "yes"], "b": ["no", "yes"]}
BIT = dn.KRR(2, epsilon=1.0)
GOES_ON = {"Client", "Ledger", "Seeded"}  # public, and stated to be no values


@cache
def people(domain="DOMAIN", n=60):
    rng = np.random.default_rng(1)
    listed = globals()[domain].items()
    columns = {name: np.array(categories)[rng.integers(0, len(categories), n)] for name, categories in listed}
    return pd.DataFrame({**columns, "region": ["north", "south"] * (n // 2)})


def sent(design, domain="DOMAIN"):
    return design.randomize(people(domain), keep=["region"], source=dn.Seeded(1))


@cache
def compared():
    truth = dn.Table(YES_NO, [[0.4, 0.1], [0.2, 0.3]])
    return dn.compare(truth, [dn.Joint(YES_NO, 2.0)], ["a"], n=50, repeats=2, source=dn.Seeded(1))


@cache
def verified():
    body = design_body(parse_survey(small_survey(BLOCKS, epsilon=2.0)))
    return verify(body, messages.design_id(body))


def used(channel):
    """A channel that has done everything it remembers something of."""
    reports = channel.apply(np.full(channel.input_shape, 1 / channel.inputs))
    if not (isinstance(channel, dn.Dense) and channel.is_partial):
        channel.solve(reports)
    if not isinstance(channel, Blockwise | SomeTruths):
        codes = np.zeros((9, len(channel.channels)) if isinstance(channel, dn.Kronecker) else 9, dtype=np.int64)
        channel.randomize(codes, source=dn.Seeded(1))
    return channel


@cache
def regression():
    return RESULTS["Regression"]()


def _only_pairs():
    """A table that reports determine through a channel that cannot be inverted."""
    domain = dn.Domain({name: ["no", "yes"] for name in "abc"})
    pairs = dn.Optimal(domain, [["a", "b"], ["b", "c"], ["a", "c"]], 1.0)
    made = [q for q in pairs.questions if q.channel.is_partial]
    design = dn.Design(domain, made[:1] or pairs.questions[:1], [[0]])
    table = dn.Table(domain, np.full((2, 2, 2), 1 / 8))
    return dn.estimate(design.simulate(table, 1000, source=dn.Seeded(1)), ["a", "b"])


CHANNELS = {
    "KRR": lambda: dn.KRR(4, epsilon=1.0),
    "Mixture": lambda: dn.Mixture(0.5, [0.25, 0.75]),
    "Mixture of integers": lambda: dn.Mixture(0.5, [0.25, 0.75]).executed(),
    "Mixture, nothing faked": lambda: dn.Mixture.from_weights((1 << 16) - 2, [1, 1], 16),
    "Dense": lambda: dn.Dense([[0.8, 0.3], [0.1, 0.3], [0.1, 0.4]], categories=["no", "yes"]),
    "Dense of integers": lambda: dn.Warner(0.8, categories=["no", "yes"]).executed(),
    "Dense, partial": lambda: dn.Dense.from_weights([[1 << 14] * 3, [3 << 14] * 3], 16, partial=True),
    "Patterns": lambda: dn.Patterns(3, [[0], [1]], [9000, 9000], [20000, 20000], 16),
    "OptimalChannel": lambda: dn.optimal_channel([0, 1, 2], 1.0),
    "Kronecker": lambda: dn.Kronecker([dn.KRR(3, epsilon=1.0), dn.Warner(0.8), dn.KRR(40, epsilon=1.0)]),
    "Unary": lambda: dn.Unary(8, 1.0),
    "SubsetSelection": lambda: dn.SubsetSelection(8, 1.0),
    "LocalHashing": lambda: dn.LocalHashing(20, 1.0),
    "BlockDesign": lambda: dn.BlockDesign(20, 1.0),
    "HadamardResponse": lambda: dn.HadamardResponse(10, 1.0),
    "TwoLevel": lambda: dn.TwoLevel(dn.Unary(8, 1.0), BIT),
    "TwoLevelKRR": lambda: dn.TwoLevelKRR(BIT, BIT),
    "Bitmask": lambda: Bitmask(3, BIT),
    "Blockwise": lambda: Blockwise([8, 8], [[4, 4], [6, 2]], [30, 10], bits=4),
    "SomeTruths": lambda: SomeTruths(dn.KRR(4, epsilon=1.0), [0, 2]),
    "SomeSets": lambda: SomeSets(dn.Unary(8, 1.0), [0, 2]),
}
DESIGNS = {
    "Design": lambda: dn.Design(YES_NO, [dn.Question(("a",), BIT), dn.Question(("b",), BIT)], [[0], [1]]),
    "Independent": lambda: dn.Independent(DOMAIN, 2.0),
    "Joint": lambda: dn.Joint(DOMAIN, 2.0),
    "Clusters": lambda: dn.Clusters(DOMAIN, [["a", "c"], ["b"]], 2.0),
    "Sampled": lambda: dn.Sampled(DOMAIN, 2.0),
    "Tables": lambda: dn.Tables(DOMAIN, [list(DOMAIN)[:2]], 2.0),
    "Optimal": lambda: dn.Optimal(DOMAIN, [["a", "b"], "mean(b) weight 2"], 2.0),
    "Views": lambda: dn.Views(DOMAIN, 2, 2.0),
    "Blocks": lambda: dn.Blocks(DOMAIN, 2, 2.0, block_size=20),
    "Blocks, deniability": lambda: dn.Blocks(DOMAIN, mode="deniability", keep=0.5, answer="all"),
    "MessageBlocks": lambda: MessageBlocks(msgspec.to_builtins(verified().message)),
    "ServedBlocks": lambda: ServedBlocks(verified()),
    "Paired": lambda: dn.Paired(DOMAIN, p=0.75, rho=-0.2, respondents=60),
    "PairedItems": lambda: dn.PairedItems(YES_NO, p=0.75, rho=-0.2),
}


def corrected():
    words = Labels(corrections=(Correction("a misprint", (Changed("question", "a", "", "en", "?", "A?"),)),))
    return dn.corrected_words(dn.Joint(DOMAIN, 1.0).randomize(people(), source=dn.Seeded(1)).with_labels(words))


OTHERS = {
    "Domain": lambda: dn.Domain(DOMAIN),
    "Question": lambda: dn.Question(("a",), BIT),
    "Table": lambda: dn.Table(YES_NO, [[4, 0], [2, 4]], "pandas"),
    "Observation": lambda: dn.Observation(["a"], BIT, [40, 60], population=200, label="first"),
    "Reports": lambda: sent(dn.Views(DOMAIN, 2, 2.0)).with_notes("A note."),
    "Reports of a part": lambda: next(iter(sent(dn.Joint(DOMAIN, 2.0)).groups("region")))[1],
    "PairedReports": lambda: sent(dn.Paired(DOMAIN, p=0.75, rho=-0.2)),
    "BlockReports": lambda: sent(dn.Blocks(DOMAIN, 2, 2.0, block_size=20)),
    "Sets": lambda: Sets(np.array([[1], [3]]), np.array([4, 6])),
    "Tallies": lambda: dn.Joint(YES_NO, 1.0).simulate(dn.Table(YES_NO, np.full(4, 0.25)), 99, source=dn.Seeded(1)),
    "PairedTallies": lambda: dn.Paired(YES_NO, p=0.75, rho=-0.2).simulate(
        dn.Table(YES_NO, np.full(4, 0.25)), 99, source=dn.Seeded(1)
    ),
    "Summary": lambda: RESULTS["Estimate"]().summary(),
    "Survey": lambda: parse_survey(example_text()),
    "Object": lambda: Object("s3://bucket/reports.parquet"),
    "Refused": lambda: Refused(("a", "b"), 24, "24 of 30 answers needed"),
    "Origin": lambda: Origin(3, 5, pilot=True),
    "Labels": lambda: parse_survey(example_text()).labels,
    "Changed": lambda: Changed("question", "a", "", "en", "?", "A?"),
    "Correction": lambda: Correction("a misprint", (Changed("title", "", "", "en", "?", "A?"),)),
    "CorrectedWords": corrected,
    "Corrected": lambda: corrected()[0],
    "BeforeAfter": lambda: BeforeAfter("a", None, "24 of 30 answers needed before"),
    "Facts": lambda: facts_of_survey(parse_survey(example_text())),
    "Score": lambda: scores(reports(), [["sex"]])[0],
    "ScriptTable": lambda: script_tables(reports())[0][0],
    "Item": lambda: parse_survey(example_text()).questions[0],
    "Option": lambda: parse_survey(example_text()).questions[0].options[0],
    "Sample": lambda: dn.estimate(reports(), ["sex"]).dispersion.samples[0],
    "Dispersion": lambda: dn.estimate(reports(), ["sex"]).dispersion,
    "Efficient": lambda: dn.estimate(reports(), ["sex"]).pooled,
    "Functionals": lambda: dn.estimate(reports(), ["sex"]).pooled.along([0.0, 1.0]),
    "Ordered": lambda: dn.cdf(reports(), "sex").read,
    "Known": lambda: dn.cdf(reports(), "sex").known,
    "Told": lambda: dn.cdf(reports(), "sex").told,
    "Among": lambda: Among(np.array([True, False]), ("sex",)),
    "Evidence": lambda: gather(reports(), ["sex"]),
    "Respondents": lambda: gather(reports(), ["sex"]).respondents,
    "Group": lambda: gather(reports(), ["sex"]).groups[0],
    "Counted": lambda: gather(reports(), ["sex"]).groups[0].said,
    "Listed": lambda: gather(sent(dn.Joint(DOMAIN, 1.0, channel="hashing")), ["a"]).groups[0].said,
    "Moments": lambda: gather(dn.Observation("x", dn.Unary(3, 1.0), [5, 4, 3, 10]), "x").groups[0].said,
    "Quasi": lambda: quasi_of(dn.Observation("x", dn.Unary(3, 1.0), [5, 4, 3, 10]), dn.Domain({"x": range(3)})),
    "Stack": lambda: Stack((gather(reports(), ["sex"]), gather(reports(), ["sex"]))),
    "LikelyInformation": lambda: LikelyInformation(dn.estimate(reports(), ["sex", "income"])),
    "Inverted": lambda: Inverted(dn.estimate(reports(), ["sex", "income"]), phi_squared),
    "Replicates": lambda: uncovered().dispersion,
    "PairedDispersion": lambda: dn.estimate(sent(dn.Paired(DOMAIN, p=0.75, rho=-0.2)), "a").dispersion,
    "Averaged": lambda: dn.estimate([reports(), reports()], "sex", combine="average").dispersion,
    "Agreement": lambda: Agreement(3.2, 2, 0.2),
    "Linearized": lambda: prevalence([0, 1] * 30, dn.Warner(0.8), weights=[1.0, 2.0, 3.0] * 20).dispersion,
    "Sampling": lambda: dn.rake(sent(dn.Joint(DOMAIN, 2.0)), {"region": {"north": 1, "south": 2}}),
    "Margins": lambda: dn.rake(sent(dn.Joint(DOMAIN, 2.0)), {"region": {"north": 1, "south": 2}}).margins,
    "Replicated": lambda: (
        dn.replicate_weights(sent(dn.Joint(DOMAIN, 2.0)), np.ones((60, 4)), "brr", weights=np.ones(60)).replicated
    ),
    "Reconciled": lambda: reconcile(dn.Views(DOMAIN, 2, 2.0).tabulate(sent(dn.Views(DOMAIN, 2, 2.0)))),
    "Convergence": lambda: dn.convergence(sent(dn.Blocks(YES_NO, epsilon=2.0, block_size=20), "YES_NO"), ["a", "b"]),
    "Comparison": compared,
    "Compared": lambda: compared().rows[1],
    "ToldAims": lambda: told_aims(sent(dn.Joint(YES_NO, 2.0), "YES_NO"), also=(dn.Wanted.mean("a"),)),
    "Candidate": lambda: dn.plan(YES_NO, 1.0, [["a", "b"]], 5000).candidates[0],
    "Profile": lambda: dn.odds_ratio(dn.estimate(reports(), ["sex", "income"])).ends,
    "Likelihood": lambda: regression().likelihood,
    "Cell": lambda: regression().likelihood.cells[0],
    "Factor": lambda: regression().likelihood.cells[0].factors[0],
    "Design of a formula": lambda: regression().design,
    "Heard": lambda: listen(dn.Joint(DOMAIN, 1.0).randomize(people(), source=dn.Seeded(1)), ["a"], "c"),
    "MadeFor": lambda: dn.MadeFor(["a", "mean(b)"]),
    "OfEvidence": lambda: _only_pairs().dispersion,
    "Wanted": lambda: dn.Wanted.mean("a", scores=[1, 2]),
    **{f"Wanted {kind}": partial(dn.read_wanted, AIMS[kind].example) for kind in AIMS},
    "Certificate": lambda: dn.optimal_channel([0, 1, 2], 1.0).certificate,
    "DelsarteCertificate": lambda: dn.floor(DOMAIN, ["a", "b", "c"], 3.0).certificate,
    "HypercontractiveCertificate": lambda: HypercontractiveCertificate(
        Contrasts(dn.Domain(DOMAIN), (dn.Wanted.table("a", "b"),)), 3.0, 1.5
    ),
    "Piece": lambda: dn.floor(DOMAIN, ["a", "b", "c"], 3.0).certificate.pieces[0],
    "Hamming": lambda: Hamming(dn.Domain(DOMAIN), (("a", "c"), ("b",))),
    "Problem": lambda: dn.optimal_channel([0, 1, 2], 1.0).problem,
    "Guess": lambda: Guess.of(dn.Domain(DOMAIN), [{"a": [1, 2]}, {"a": [3, 1]}]),
    "Population": lambda: Guess.of(dn.Domain(DOMAIN), {"a": [1, 2]}).populations[0],
    "Contrasts": lambda: Contrasts(dn.Domain(DOMAIN), (dn.Wanted.mean("b"), dn.Wanted.table("a", "b"))),
    "NoisyRow": lambda: dn.graphs.randomize_row("ann", ["bob"], ["ann", "bob", "cem"], 1.0, source=dn.Seeded(1)),
    "Graph": lambda: dn.graphs.Graph([("ann", "bob"), ("bob", "cem")]),
    "Graph of an array": lambda: dn.graphs.Graph(np.array([[0, 1], [1, 2]]), nodes=5),
    "PairSet": lambda: dn.graphs.Graph([(0, 1), (1, 2)], nodes=5).pairs,
    "VerifiedDesign": verified,
    "VerifiedQuestion": lambda: verified().questions[0],
    "Released": lambda: Released(np.arange(3.0), 1.0, 1.0, 0.0, "none"),
    "Network": lambda: Network(dn.Domain({"a": [0, 1]}), {"a": ()}, {"a": np.array([0.4, 0.6])}),
}
# A ledger goes on.
FOUND = {name: make for name, make in RESULTS.items() if not name.startswith("Ledger")}


VALUES = {**CHANNELS, **DESIGNS, **OTHERS, **FOUND}


@cache
def made(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallCellWarning)  # sixty people are few
        value = VALUES[name]()
    if isinstance(value, Channel):
        used(value)
    remember(value)
    return value


@pytest.fixture(params=VALUES)
def value(request):
    return made(request.param)


def remember(value):
    """Have everything computed that a value keeps."""
    for name, kept in inspect.getmembers_static(type(value), lambda member: isinstance(member, cached_property)):
        try:
            getattr(value, name)
        except (DeniableError, NotImplementedError):
            assert kept  # a device that is not run has no integers, a regression may have no null model


def arrays(value, seen=None):
    """Every array that can be reached from a value."""
    seen = {} if seen is None else seen
    if id(value) in seen or isinstance(value, str | bytes | type | pd.DataFrame):
        return
    seen[id(value)] = value  # held, so that no other object gets its id
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, csr_array):
        yield from (value.data, value.indices, value.indptr)
    elif isinstance(value, tuple | list):
        for part in value:
            yield from arrays(part, seen)
    elif isinstance(value, partial):
        yield from arrays(value.args, seen)
    elif isinstance(value, Frozen) or (is_dataclass(value) and type(value).__module__.startswith("deniable.")):
        yield from arrays(list(vars(value).values()), seen)
    elif isinstance(value, Mapping):
        yield from arrays(list(value.values()), seen)


def parts(value):
    """What a value is made of; None where it has no parts."""
    if isinstance(value, Frozen):
        return value.__reduce__()[1]
    if isinstance(value, partial):
        return value.func, *value.args
    if inspect.ismethod(value):
        return value.__func__, value.__self__
    if isinstance(value, Mapping):
        return tuple(value), tuple(value.values())
    if is_dataclass(value) and not isinstance(value, type):
        return tuple(getattr(value, field.name) for field in fields(value))
    return value if isinstance(value, tuple | list) else None


def same(one, two):
    """Whether two values are made of the same."""
    if type(one) is not type(two):
        return False
    inside, other = parts(one), parts(two)
    if inside is not None:
        return len(inside) == len(other) and all(map(same, inside, other))
    if isinstance(one, np.ndarray):
        return one.dtype == two.dtype and np.array_equal(one, two, equal_nan=one.dtype.kind == "f")
    if isinstance(one, nw.DataFrame | pd.DataFrame):
        return nw.from_native(one).to_arrow().equals(nw.from_native(two).to_arrow())
    return one == two or str(one) == str(two)  # a NaN, and what other packages made without a notion of equality


def pickled(value):
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own


# -- what nobody can do to a value --------------------------------------------------------------------------------


def test_the_example_that_started_it():
    channel = dn.Unary(8, 1.0)
    epsilon = channel.epsilon
    with pytest.raises(FrozenInstanceError):
        channel.other = 1
    assert channel.epsilon == epsilon
    design = dn.Joint(YES_NO, 1.0)
    with pytest.raises(FrozenInstanceError):
        design.questions = ()
    with pytest.raises(ValueError, match="read-only"):
        dn.Observation(["a"], BIT, [40, 60]).counts[0] = -5


def test_nothing_in_it_is_assigned_deleted_or_written_to(value):
    for name in [*vars(value), "something_new"]:
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, None)
        with pytest.raises(FrozenInstanceError):
            delattr(value, name)
    for array in arrays(value):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    held = {field.name for field in fields(value)} if is_dataclass(value) else set()
    for name in held & set(vars(value)):
        assert not isinstance(getattr(value, name), list | dict | set), name


def writeable(part):
    """The same with arrays, lists and dictionaries that can be written to."""
    if isinstance(part, np.ndarray):
        return part.copy()
    if type(part) is tuple:
        return [writeable(inner) for inner in part]
    return {name: writeable(inner) for name, inner in part.items()} if type(part) is dict else part


def overwrite(part):
    if isinstance(part, np.ndarray) and part.dtype.kind in "iuf":
        part[...] = 77
    elif isinstance(part, list):
        for inner in part:
            overwrite(inner)
        part.clear()
    elif isinstance(part, dict):
        for inner in part.values():
            overwrite(inner)
        part.clear()


def test_what_it_was_made_of_is_the_caller_s_own(value):
    if not isinstance(value, Frozen):
        assert not list(arrays(value))
        return
    make, (constructor, given) = value.__reduce__()
    mine = {name: writeable(part) for name, part in given.items()}
    again = make(constructor, mine)
    assert same(again, value)
    for part in mine.values():
        overwrite(part)
    assert same(again, value)


# -- on its way --------------------------------------------------------------------------------------------------------


def test_a_copy_is_the_same_and_as_frozen(value):
    for send in (copy.copy, copy.deepcopy, pickled):
        copied = send(value)
        remember(copied)
        assert type(copied) is type(value)
        assert same(copied, value)
        for array in arrays(copied):
            assert not array.flags.writeable
        with pytest.raises(FrozenInstanceError):
            copied.something_new = 1
        if isinstance(value, Channel | dn.Design):
            assert copied == value
            assert hash(copied) == hash(value)
            assert copied.ratio == value.ratio


def test_reports_on_disk_are_frozen_too(tmp_path):
    stored = dn.open_reports(
        dn.Joint(DOMAIN, 1.0).randomize(people(), source=dn.Seeded(1)).write(tmp_path / "r.parquet")
    )
    counted = stored.tabulate(["a"])[0].counts
    with pytest.raises(FrozenInstanceError):
        stored.design = None
    for array in [*arrays(stored), stored.answers, stored.ballots]:
        assert not array.flags.writeable
    again = pickled(stored)
    assert np.array_equal(again.tabulate(["a"])[0].counts, counted)


def test_arrow_columns_are_not_copied():
    import pyarrow as pa

    column = pa.array(np.arange(1000)).to_numpy()
    view = np.arange(10)[:]
    view.setflags(write=False)
    value = Frozen()
    fix(value, column=column, view=view)
    assert value.column is column
    assert value.view is not view  # its base can be written to


def test_what_nobody_can_change_is_held_as_it_is():
    words, inside, table = ("a", "b"), (1, (2.0, None)), np.arange(3)
    table.setflags(write=False)
    value = Frozen()
    fix(value, words=words, inside=inside, table=table, listed=[[1], {"x": [2]}])
    assert value.words is words
    assert value.inside == inside
    assert value.table is table
    assert value.listed == ((1,), {"x": (2,)})
    with pytest.raises(TypeError):
        value.listed[1]["x"] = 3


def test_an_array_inside_a_dictionary_or_a_list_is_copied_and_read_only():
    mine = np.arange(3)
    value = Frozen()
    fix(value, named={"x": mine}, listed=[mine])
    mine[:] = 7
    for held in (value.named["x"], value.listed[0]):
        assert held.tolist() == [0, 1, 2]
        assert not held.flags.writeable


# -- messages ------------------------------------------------------------------------------------------------------


def structs():
    def below(kind):
        for one in kind.__subclasses__():
            yield one
            yield from below(one)

    return sorted({*below(messages.Message), Block}, key=lambda kind: kind.__qualname__)


@pytest.mark.parametrize("kind", structs(), ids=lambda kind: kind.__name__)
def test_messages_are_frozen_and_hold_no_list(kind):
    assert kind.__struct_config__.frozen
    for field in msgspec.structs.fields(kind):
        assert "list" not in str(field.type), field.name


def test_a_message_is_not_changed():
    message = verified().message
    with pytest.raises(AttributeError):
        message.plan.questions[0].channel.most_kept = 1
    with pytest.raises(AttributeError):
        del message.epsilon
    assert pickled(message) == copy.deepcopy(message) == message
    assert wire.encode(pickled(message)) == wire.encode(message)


def test_the_words_of_a_form_are_not_changed():
    form = wire.decode(form_body(parse_survey(example_text())), messages.Form, most=messages.MOST_FORM_BYTES)
    body = wire.encode(form)
    mine = {"en": "Mine"}
    item = messages.FormItem("a", mine, (mine,))
    mine["en"] = "Another's"
    assert (item.text, item.choices) == ({"en": "Mine"}, ({"en": "Mine"},))
    held = [form.title, form.texts, *form.texts.values(), item.text, *item.choices]
    held += [words for each in (*form.questions, *form.public) for words in (each.text, *each.choices)]
    for words in held:
        for change in (
            lambda words: words.update(en="Mine"),
            lambda words: words.__setitem__("en", "Mine"),
            lambda words: words.__delitem__("en"),
            lambda words: words.__ior__({"en": "Mine"}),
            lambda words: words.setdefault("fr", "Mine"),
            lambda words: words.pop("en"),
            lambda words: words.popitem(),
            lambda words: words.clear(),
        ):
            with pytest.raises(FrozenInstanceError, match="never change"):
                change(words)
    assert wire.encode(form) == wire.encode(pickled(form)) == wire.encode(copy.deepcopy(form)) == body


# -- nothing was forgotten -----------------------------------------------------------------------------------------


def modules():
    left_out = ("deniable.web", "deniable.cli")
    for module in pkgutil.walk_packages(dn.__path__, "deniable."):
        if not module.name.startswith(left_out) and not module.name.endswith("__main__"):
            yield import_module(module.name)


def classes():
    return {kind for module in modules() for kind in vars(module).values() if inspect.isclass(kind)}


def test_every_frozen_class_has_a_maker():
    concrete = {kind for kind in classes() if issubclass(kind, Frozen) and not inspect.isabstract(kind)}
    assert concrete - {type(made(name)) for name in VALUES} == {Frozen, StoredReports}  # with a test of its own


def test_every_channel_design_and_report_is_frozen_in_full():
    for kind in classes():
        if issubclass(kind, Channel | dn.Design | dn.Reports) and not inspect.isabstract(kind):
            assert "__dataclass_params__" in vars(kind), kind
            assert kind.__dataclass_params__.frozen


def test_every_public_class_is_frozen_or_stated_to_go_on():
    for name in dn.__all__:
        kind = getattr(dn, name)
        if not inspect.isclass(kind) or issubclass(kind, Exception) or name in GOES_ON:
            continue
        assert issubclass(kind, Frozen) or kind.__dataclass_params__.frozen, name


def test_every_dataclass_is_frozen():
    thawed = {kind.__name__ for kind in classes() if is_dataclass(kind) and not kind.__dataclass_params__.frozen}
    assert thawed == {"Draft"}  # a survey that is being read from another program's file
