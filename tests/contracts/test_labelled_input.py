"""Every public argument that takes numbers or columns, in every kind of input: the number by name, or our refusal.

The functions and the classes of the door are walked argument by argument. What an argument takes stands below: cells
(numbers for categories), an order (numbers for things without names), rows (one value a respondent), or nothing that
could be labelled. An argument that nobody said this of fails, so that a new function joins by itself.
"""

from __future__ import annotations

import inspect
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deniable as dn
from deniable._public import NAMES
from deniable.errors import DeniableError

N = 240
RNG = np.random.default_rng(8)
LABELS = ("low", "middle", "high")
DOMAIN = dn.Domain({"a": LABELS})
PEOPLE = pd.DataFrame(
    {
        "a": RNG.choice(LABELS, N, p=[0.5, 0.3, 0.2]),
        "yes": RNG.random(N) < 0.4,
        "region": RNG.choice(["north", "south"], N),
        "z": RNG.normal(size=N),
    },
    index=RNG.permutation(np.arange(1000, 1000 + N)),
)
DESIGN = dn.Joint(DOMAIN, 3.0)
REPORTS = DESIGN.randomize(PEOPLE, keep=["region"], source=dn.Seeded(1))
ESTIMATE = dn.estimate(REPORTS, "a")
BOTH = dn.Joint({"a": LABELS, "b": LABELS}, 6.0).randomize(PEOPLE.assign(b=PEOPLE.a), source=dn.Seeded(2))
PAIR = dn.estimate(BOTH, ["a", "b"])
SQUARE = dn.Dense(0.7 * np.eye(3) + 0.1, categories=LABELS)
CODES = pd.Series(SQUARE.randomize(DOMAIN.encode(PEOPLE)[:, 0], source=dn.Seeded(3)), index=PEOPLE.index)
YES = pd.Series(dn.Triangular(0.3).matrix()[1][PEOPLE.yes.astype(int)] > RNG.random(N), index=PEOPLE.index).astype(int)
GROUPS = pd.Series(np.where(np.arange(N) % 2, "one", "two"), index=PEOPLE.index)
TWO = {"one": 0.3, "two": 0.6}
FRAME = PEOPLE.assign(report=YES)
DEVICES = {name: dn.Triangular(share) for name, share in TWO.items()}
FORCED = {"one": (0.1, 0.2), "two": (0.3, 0.1)}
ITEMS = pd.DataFrame({name: (RNG.random(N) < 0.5).astype(int) for name in "xyz"}, index=PEOPLE.index)
THREE = dn.Joint({"a": LABELS, "b": LABELS, "c": [False, True]}, 6.0).randomize(
    PEOPLE.assign(b=PEOPLE.a, c=PEOPLE.yes), source=dn.Seeded(2)
)


def answer(call, given):
    """What is found; nothing where it is refused in our words."""
    try:
        return call(given)
    except DeniableError:
        return None


# -- kinds of input ----------------------------------------------------------------------------------------------------


def kinds_of_cells(known):
    """The same numbers in everything that people have them in."""
    labels, values = list(known), list(known.values())
    series = pd.Series(values, index=labels)
    tidy = {"a": labels[::-1], "number": values[::-1]}
    return {
        "mapping": known,
        "mapping in another order": dict(zip(labels[::-1], values[::-1], strict=True)),
        "series": series,
        "series in another order": series.iloc[::-1],
        "series sorted by value": series.sort_values(),
        "categorical series": pd.Series(values, index=pd.Categorical(labels)),
        "frame": pd.DataFrame(tidy),
        "frame with an index": series.iloc[::-1].to_frame("number"),
        "polars frame": pl.DataFrame(tidy),
        "arrow table": pa.table(tidy),
        "polars": pl.Series(values),
        "arrow": pa.array(values),
        "numbered series": pd.Series(values),
        "array": np.array(values),
        "tuple": tuple(values),
        "list": values,
    }


def wrong_cells(known):
    """Labels that do not fit, and what is no number at all."""
    *labels, last = known
    values = list(known.values())
    return {
        "unknown label": dict(zip([*labels, "perhaps"], values, strict=True)),
        "unknown label of a series": pd.Series(values, index=[*labels, "perhaps"]),
        "labels of another type": dict(enumerate(values)),
        "labels of another type in a series": pd.Series(values, index=np.arange(len(values)) + 0.5),
        "a label twice": pd.Series(values, index=[*labels, labels[0]]),
        "a label missing twice over": pd.Series([*values, 1], index=[*labels, last, None]),
        "too many": [*values, 1.0],
        "texts": ["many"] * len(values),
        "a set": set(values),
        "a frozenset": frozenset(values),
    }


# Numbers for categories: what is found with them.
COUNTS = {"low": 90, "middle": 110, "high": 40}
SHARES = {"low": 0.5, "middle": 0.2, "high": 0.3}
SCORES = {"low": 0.0, "middle": 1.0, "high": 5.0}
BY_GROUP = {"no": 100, "yes": 20}
PAIRED = {"one": [60, 40], "two": [50, 50]}
CELLS = {
    "Table.values": (COUNTS, lambda given: dn.Table(DOMAIN, given).values),
    "Observation.counts": (
        COUNTS,
        lambda given: dn.estimate(dn.Observation(DOMAIN, SQUARE, given), "a", "inversion").unbiased.values,
    ),
    "estimate.reports": (COUNTS, lambda given: dn.estimate(given, SQUARE, "inversion").unbiased.values),
    "goodness_of_fit.expected": (
        SHARES,
        lambda given: dn.goodness_of_fit(REPORTS, "a", given, replicates=9).statistic,
    ),
    "plan.truth": (
        SHARES,
        lambda given: dn.plan(DOMAIN, 1.0, [["a"]], n=500, truth=given).candidates[0].std_error,
    ),
    "floor.truth": (SHARES, lambda given: dn.floor(DOMAIN, [["a"]], 1.0, given).loss),
    "loss_of.truth": (SHARES, lambda given: dn.loss_of(DESIGN, [dn.Wanted.table("a")], given)),
    "Optimal.truth": (SHARES, lambda given: dn.Optimal(DOMAIN, [["a"]], 1.0, truth=given).ratio),
    "sample_cost.prevalence": (SHARES, lambda given: dn.sample_cost(SQUARE, given)),
    "mean.scores": (SCORES, lambda given: dn.mean(ESTIMATE, "a", scores=given).value),
    "means_by.scores": (SCORES, lambda given: dn.means_by(PAIR, "a", "b", scores=given).values),
    "mean_difference.scores": (
        SCORES,
        lambda given: dn.mean_difference(PAIR, "a", "b", groups=("low", "high"), scores=given).value,
    ),
    "total.scores": (SCORES, lambda given: dn.total(ESTIMATE, "a", size=10, scores=given).value),
    "median.scores": (SCORES, lambda given: dn.median(ESTIMATE, "a", scores=given).value),
    "quantile.scores": (SCORES, lambda given: dn.quantile(ESTIMATE, 0.4, "a", scores=given).value),
    "cdf.scores": (SCORES, lambda given: dn.cdf(ESTIMATE, "a", scores=given).values),
    "correlation.scores": (SCORES, lambda given: dn.correlation(PAIR, [given, given]).value),
    "Design.simulate.table": (
        SHARES,
        lambda given: DESIGN.simulate(given, 500, source=dn.Seeded(1)).observations[0].counts,
    ),
}
# Where a guess is wanted, numbers alone do not say whose they are.
NEEDS_A_NAME = ("plan.truth", "floor.truth", "loss_of.truth", "Optimal.truth")
ALWAYS = ("series", "series in another order", "series sorted by value")


@pytest.mark.parametrize("argument", CELLS)
def test_numbers_for_categories_are_matched_by_name(argument):
    known, call = CELLS[argument]
    by_name = np.asarray(call(kinds_of_cells(known)["series"]), dtype=float)
    if argument not in NEEDS_A_NAME:
        assert by_name == pytest.approx(np.asarray(call(list(known.values())), dtype=float))
    for kind, given in kinds_of_cells(known).items():
        try:
            found = np.asarray(call(given), dtype=float)
        except DeniableError:
            assert kind not in ALWAYS, kind
            continue
        assert found == pytest.approx(by_name), kind


@pytest.mark.parametrize("argument", CELLS)
def test_labels_that_do_not_fit_are_refused_in_our_words(argument):
    known, call = CELLS[argument]
    for kind, given in wrong_cells(known).items():
        assert answer(call, given) is None, kind


# -- an order without names --------------------------------------------------------------------------------------------

# Numbers that stand in an order, and what is found with them.
SUM_TO_ONE, LESS = (0.2, 0.7, 0.1), (0.2, 0.3, 0.1)
IN_ORDER = {
    "optimal_channel.wanted": (LESS, lambda given: dn.optimal_channel(given, 1.0).loss),
    "optimal_channel.truth": (SUM_TO_ONE, lambda given: dn.optimal_channel(np.eye(3), 1.0, given).loss),
    "block_size.shares": (SUM_TO_ONE, lambda given: dn.block_size(given, 0.5)),
    "adjusted.pvalues": (LESS, dn.adjusted),
    "Mixture.fakes": (SUM_TO_ONE, lambda given: dn.Mixture(0.5, given).matrix()),
    "ForcedResponse.forced": (LESS, lambda given: dn.ForcedResponse(given).matrix()),
}


@pytest.mark.parametrize("argument", IN_ORDER)
def test_an_order_without_names_takes_no_labels(argument):
    row, call = IN_ORDER[argument]
    labelled, numbered = pd.Series(row, index=LABELS), pd.Series(row)
    sets = set(row), frozenset(row)
    for given in (labelled, labelled.iloc[::-1], dict(labelled), ["a", "b", "c"], labelled.to_frame(), *sets):
        assert answer(call, given) is None, given
    usual = np.asarray(call(list(row)), dtype=float)
    for given in (np.array(row), row, numbered, numbered.iloc[::-1], pl.Series(row)):
        assert np.asarray(call(given), dtype=float) == pytest.approx(usual)


def test_a_matrix_with_labels_is_refused():
    square = pd.DataFrame(SQUARE.matrix(), index=LABELS, columns=LABELS)
    with pytest.raises(DeniableError, match="to_numpy"):
        dn.Dense(square)
    assert dn.Dense(square.to_numpy()) == dn.Dense(SQUARE.matrix())


# -- one value a respondent --------------------------------------------------------------------------------------------

WEIGHTS = pd.Series(RNG.uniform(0.5, 2, N), index=PEOPLE.index)
STRATA = PEOPLE.region
CLUSTERS = pd.Series(np.arange(N) // 4, index=PEOPLE.index).where(STRATA == "north", np.arange(N) // 4 + 1000)
DRAWN = {"weights": WEIGHTS, "strata": STRATA, "clusters": CLUSTERS}


ANCHORS = pd.Series(RNG.random(N) < 0.75, index=PEOPLE.index).astype(int)


def spread(estimate):
    return np.concatenate([np.ravel(estimate.values), np.ravel(estimate.std_error)])


def of_compliance(found):
    return [*found.params.values(), *found.std_error.values()]


def drawn(call):
    """A function that takes weights, strata and clusters, each tried by itself."""
    return {name: (column, lambda given, name=name: call(**{name: given})) for name, column in DRAWN.items()}


def value_of(result):
    return result.statistic


def twice(column):
    """Two columns of replicate weights, in what one came in."""
    if isinstance(column, set):
        return column
    if isinstance(column, pd.Series):
        return pd.concat([column, column], axis=1)
    return np.column_stack([list(column)] * 2) if hasattr(column, "__len__") else column


ROWS = {
    "prevalence": drawn(lambda **more: spread(dn.prevalence(CODES, dn.Dense(SQUARE.matrix()), **more)))
    | {
        "by": (
            STRATA,
            lambda given: np.concatenate(list(map(spread, dn.prevalence(YES, dn.Triangular(0.3), by=given).values()))),
        )
    },
    "estimate": drawn(lambda **more: spread(dn.estimate(REPORTS, "a", **more))),
    "cdf": drawn(lambda **more: spread(dn.cdf(REPORTS, "a", **more))),
    "goodness_of_fit": drawn(lambda **more: value_of(dn.goodness_of_fit(REPORTS, "a", [0.5, 0.3, 0.2], **more))),
    "homogeneity": drawn(lambda **more: value_of(dn.homogeneity(REPORTS, "a", by="region", **more)))
    | {"strata": (CLUSTERS, lambda given: value_of(dn.homogeneity(REPORTS, "a", by="region", clusters=given)))},
    "rake": drawn(lambda **more: dn.rake(REPORTS, {"region": {"north": 0.4, "south": 0.6}}, **more).weights),
    "replicate_weights": {
        "weights": (
            WEIGHTS,
            lambda given: dn.replicate_weights(REPORTS, np.ones((N, 3)), "bootstrap", weights=given).weights,
        ),
        "replicates": (
            WEIGHTS,
            lambda given: (
                dn.replicate_weights(REPORTS, twice(given), "bootstrap", weights=[1.0] * N).replicated.weights
            ),
        ),
    },
    "synthesize": {
        "weights": (
            WEIGHTS,
            lambda given: (
                dn.Table.count(dn.synthesize(REPORTS, 900, weights=given, source=dn.Seeded(1)), DOMAIN).values
            ),
        )
    },
    "logit": drawn(lambda **more: dn.logit("report ~ z", FRAME, dn.Triangular(0.3), **more).params.to_numpy()),
    "linear": drawn(lambda **more: dn.linear("z ~ region", FRAME, **more).std_error.to_numpy()),
    "correlate": drawn(
        lambda **more: dn.correlate(FRAME, "report", "z", channels={"report": dn.Triangular(0.3)}, **more).std_error
    ),
    "compliance.cdm": drawn(lambda **more: of_compliance(dn.compliance.cdm(YES, GROUPS, p=TWO, **more)))
    | {"groups": (GROUPS, lambda given: of_compliance(dn.compliance.cdm(YES, given, p=TWO)))},
    **{
        name: {"weights": (WEIGHTS, call)}
        for name, call in {
            "independence": lambda given: value_of(dn.independence(BOTH, "a", "b", weights=given)),
            "conditional_independence": lambda given: value_of(
                dn.conditional_independence(THREE, "a", "b", "c", weights=given)
            ),
            "all_pairs": lambda given: dn.all_pairs(BOTH, ["a", "b"], weights=given).v,
            "compliance.crosswise_bounds": lambda given: of_compliance(
                dn.compliance.crosswise_bounds(YES, p=0.3, attentive=0.9, weights=given)
            ),
            "compliance.self_protective": lambda given: of_compliance(
                dn.compliance.self_protective(ITEMS, channels=[dn.Warner(0.8)] * 3, weights=given)
            ),
        }.items()
    },
    **{
        f"compliance.{name}": {
            "weights": (WEIGHTS, lambda given, call=call: of_compliance(call(GROUPS, weights=given))),
            "groups": (GROUPS, lambda given, call=call: of_compliance(call(given))),
        }
        for name, call in {
            "cdm_symmetric": partial(dn.compliance.cdm_symmetric, YES, forced=FORCED),
            "cdm_triangular": partial(dn.compliance.cdm_triangular, YES, p=TWO),
            "cheating_detection": partial(dn.compliance.cheating_detection, YES, channels=DEVICES),
            "extended_crosswise": partial(dn.compliance.extended_crosswise, YES, p=TWO),
            "sld": partial(dn.compliance.sld, YES, p=TWO),
        }.items()
    },
    "compliance.sum_score": drawn(
        lambda **more: (
            dn.compliance.sum_score(
                pd.DataFrame({"x": YES, "y": YES}), channels=[dn.Triangular(0.3)] * 2, **more
            ).covariance
        )
    ),
    "compliance.anchored_crosswise": drawn(
        lambda **more: of_compliance(dn.compliance.anchored_crosswise(YES, ANCHORS, p=0.3, anchor_p=0.2, **more))
    )
    | {
        "anchors": (
            ANCHORS,
            lambda given: of_compliance(dn.compliance.anchored_crosswise(YES, given, p=0.3, anchor_p=0.2)),
        )
    },
}
COLUMNS = {f"{name}.{argument}": made for name, arguments in ROWS.items() for argument, made in arguments.items()}


def kinds_of_columns(column):
    """The same column in everything that people have it in, and of more people than reported."""
    values = column.tolist()
    more = pd.concat([column.sort_index(), pd.Series([values[0]] * 3, index=[1, 2, 3])])
    return {
        "series": column,
        "series in another order": column.sort_index(),
        "series of more people": more,
        "polars": pl.Series(values),
        "arrow": pa.array(values),
        "array": column.to_numpy(),
        "list": values,
    }


def wrong_columns(column):
    return {
        "numbered anew": column.reset_index(drop=True),
        "of other people": column.set_axis(np.arange(N) + 5000),
        "some of them twice": column.set_axis([1000] * N),
        "too short": column.tolist()[:-1],
        "of fewer people": column.iloc[:-1],
        "with gaps": [None, *column.tolist()[1:]],
        "a set": set(column.tolist()),
        "one value": column.iloc[0] if not isinstance(column.iloc[0], str) else 3,
    }


@pytest.mark.filterwarnings("ignore::deniable.errors.SmallCellWarning")
@pytest.mark.parametrize("argument", COLUMNS)
def test_one_value_a_respondent_finds_its_respondent(argument):
    column, call = COLUMNS[argument]
    usual = np.asarray(call(column.tolist()), dtype=float)
    for kind, given in kinds_of_columns(column).items():
        assert np.asarray(call(given), dtype=float) == pytest.approx(usual, rel=1e-6), kind


@pytest.mark.parametrize("argument", COLUMNS)
def test_columns_of_other_people_are_refused_in_our_words(argument):
    column, call = COLUMNS[argument]
    for kind, given in wrong_columns(column).items():
        assert answer(call, given) is None, kind


SETS = {
    "edges": lambda: dn.mean(ESTIMATE, edges={0, 1, 2, 3}),
    "levels": lambda: dn.quantile(ESTIMATE, {0.2, 0.5}, scores=[1, 2, 3]),
    "groups": lambda: dn.difference(PAIR, groups={"low", "high"}, outcome="high"),
    "categories": lambda: dn.Warner(0.8, categories={"no", "yes"}),
    "categories of a domain": lambda: dn.Domain({"a": {"no", "yes"}}),
    "wanted scores": lambda: dn.Wanted.mean("a", scores={1, 2, 3}),
    "wanted edges": lambda: dn.Wanted.quantiles("a", edges=frozenset({1, 2, 3, 4})),
    "forced": lambda: dn.ForcedResponse({0.1, 0.2}),
    "a matrix": lambda: dn.Dense({(0.7, 0.3), (0.3, 0.7)}),
    "codes": lambda: dn.prevalence({0, 1}, dn.Warner(0.8)),
}


@pytest.mark.parametrize("what", SETS)
def test_a_set_has_no_order_and_is_refused(what):
    with pytest.raises(DeniableError, match=r"which a set (does not have|is not)"):
        SETS[what]()


# -- something beside each name ----------------------------------------------------------------------------------------

MARGIN = {"north": 0.4, "south": 0.6}
BESIDE = {
    "compliance.cdm.p": (TWO, lambda given: of_compliance(dn.compliance.cdm(YES, GROUPS, p=given))),
    "compliance.cdm_triangular.p": (
        TWO,
        lambda given: of_compliance(dn.compliance.cdm_triangular(YES, GROUPS, p=given)),
    ),
    "compliance.extended_crosswise.p": (
        TWO,
        lambda given: of_compliance(dn.compliance.extended_crosswise(YES, GROUPS, p=given)),
    ),
    "compliance.sld.p": (TWO, lambda given: of_compliance(dn.compliance.sld(YES, GROUPS, p=given))),
    "compliance.cdm_symmetric.forced": (
        FORCED,
        lambda given: of_compliance(dn.compliance.cdm_symmetric(YES, GROUPS, forced=given)),
    ),
    "compliance.cheating_detection.channels": (
        DEVICES,
        lambda given: of_compliance(dn.compliance.cheating_detection(YES, GROUPS, channels=given)),
    ),
    "rake.margins": (MARGIN, lambda given: dn.rake(REPORTS, {"region": given}).weights),
}


@pytest.mark.parametrize("argument", BESIDE)
def test_what_stands_beside_a_name_is_matched_by_it(argument):
    known, call = BESIDE[argument]
    usual = np.asarray(call(known), dtype=float)
    series = pd.Series(list(known.values()), index=list(known))
    for given in (dict(reversed(known.items())), series, series.iloc[::-1]):
        assert np.asarray(call(given), dtype=float) == pytest.approx(usual, rel=1e-4, abs=1e-6)
    *names, _ = known
    for given in (list(known.values()), {**dict.fromkeys(names, known[names[0]]), "else": known[names[0]]}, 3, "one"):
        assert answer(call, given) is None, given


def test_counts_of_groups_are_counts_of_what_they_are_labelled():
    usual = of_compliance(dn.compliance.cdm(YES, GROUPS, p=TWO))
    counted = {name: YES[name == GROUPS].value_counts() for name in ("two", "one")}  # the more frequent first
    for given in (counted, pd.crosstab(GROUPS, YES), pd.crosstab(GROUPS, YES).loc[["two", "one"], [1, 0]]):
        assert of_compliance(dn.compliance.cdm(given, p=TWO)) == pytest.approx(usual)
    with pytest.raises(DeniableError, match="no category"):
        dn.compliance.cdm(pd.crosstab(GROUPS, YES, margins=True), p=TWO)


# -- every argument of every function ----------------------------------------------------------------------------------

# Arguments in which nothing stands that could be labelled: numbers, names, texts, switches, functions, places.
NO_LABELS = """
    k epsilon again t respondents colluders share coin p_carrier p_other repetitions keep error ballots
    most_cells least_dependence path place engine progress kind rho method gap n yes unit correct replicates
    outcome outcomes f name scale warnings attribute size levels a b given control how formula design_column
    nodes sizes x y tables also null alpha alternative category power width level assurance certify text largest
    runs confidence inputs claimed model anchor_p anchor_prevalence inattentive attentive order trait anchor
    cheating truthful edges by attributes categories prevalence rr_models at slope_at data wanted more sampled
    scales combine missing repeats methods distance corrected
"""
# Things of ours, which know their names; frames, whose columns have some; reports, with which others are matched.
OURS = """
    domain design channel asked estimate fit frame pilot randomizer table population rr reports source codes first
    second probabilities designs
"""
KNOWN = set(NO_LABELS.split()) | set(OURS.split())
# Where another function's argument is the same, read in the same place.
SAME = {
    **dict.fromkeys(("probit.options", "cloglog.options", "cauchit.options", "multinomial.options"), "logit.weights"),
    "logit.options": "logit.weights",
    "linear.options": "linear.weights",
    **dict.fromkeys((f"{name}.options" for name in ("cdf", "density", "mean", "mean_difference")), "cdf.weights"),
    **dict.fromkeys((f"{name}.options" for name in ("means_by", "median", "quantile", "total")), "cdf.weights"),
    "density.scores": "cdf.scores",
    **dict.fromkeys(("compliance.self_protective.channels", "compliance.sum_score.channels"), "a list, one an item"),
    **dict.fromkeys(("compliance.cdm_regression.channels", "correlate.channels"), "a mapping by names, as its p"),
    **dict.fromkeys(("compliance.cdm_regression.groups", "compliance.sld_regression.groups"), "the name of a column"),
    **dict.fromkeys(("random_intercept.groups", "odds_ratio.groups", "risk_ratio.groups"), "names"),
    **dict.fromkeys(("difference.groups", "mean_difference.groups"), "names"),
    "compliance.sld_regression.p": "a mapping by names",
    "compare.truth": "a table, or a frame of people",
    **dict.fromkeys((f"compliance.{name}.p" for name in ("anchored_crosswise", "crosswise_bounds")), "one number"),
    **dict.fromkeys((f"compliance.anchored_{name}.p" for name in ("predictor", "regression")), "one number"),
    **dict.fromkeys((f"{name}.p" for name in ("Warner", "Crosswise", "Triangular", "Mangat")), "one number"),
    **dict.fromkeys(("UnrelatedQuestion.p", "unrelated_two_samples.p"), "numbers in the order of the samples"),
}


def arguments():
    """Every argument of every function of the door and of `compliance`."""
    functions = {name: getattr(dn, name) for group in NAMES.values() for name in group}
    functions |= {f"compliance.{name}": getattr(dn.compliance, name) for name in dn.compliance.__all__}
    for name, function in functions.items():
        if inspect.isfunction(function):
            for parameter in inspect.signature(function).parameters:
                yield f"{name}.{parameter}"


def test_it_is_said_of_every_argument_what_it_takes():
    tried, unsaid = {*CELLS, *IN_ORDER, *COLUMNS, *BESIDE, *SAME}, []
    for argument in arguments():
        function, _, name = argument.rpartition(".")
        with_weights = name in ("strata", "clusters") and f"{function}.weights" in tried  # read in one place
        if argument not in tried and name not in KNOWN and not with_weights:
            unsaid.append(argument)
    assert unsaid == [], "say above what is found with these, or in NO_LABELS that nothing in them has labels"


def test_nothing_is_said_of_what_there_is_not():
    there = set(arguments())
    methods = {"Table.values", "Observation.counts", "Optimal.truth", "Design.simulate.table", "Mixture.fakes"}
    tried = {*CELLS, *IN_ORDER, *COLUMNS, *BESIDE, *SAME} - methods
    named = {argument for argument in tried if argument.rpartition(".")[2] not in ("weights", "strata", "clusters")}
    assert named - there == set()
