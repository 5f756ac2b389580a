"""Two things that list the same categories in another order mean the same: names win, in every function that takes two.

Every call below is made with both things in one order, and with one of them turned round; numbers are compared by the
names of the categories. Functions of the door that take a thing with categories stand in `CALLS` or in `ALONE`, which a
test holds them to: a new one appears here by itself.
"""

from __future__ import annotations

import inspect
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from chequered import black
from deniable._public import NAMES
from deniable.errors import DeniableError, UnknownCategoryError

N = 3_000
ATTRIBUTES = ["drug", "often"]
RNG = np.random.default_rng(11)
TRUTH = RNG.random(N) < 0.3
AGE = RNG.normal(size=N) + TRUTH
SECOND = RNG.random(N) < np.where(TRUTH, 0.7, 0.2)

# The names of no and yes, of every type that categories have.
PAIRS = {
    "texts": ("no", "yes"),
    "truths": (False, True),
    "numbers": (0, 1),
    "decimals": (0.0, 1.0),
    "digits": ("0", "1"),
}
ORDERS = ("as usual", "turned")


def names(kind, order):
    return PAIRS[kind] if order == "as usual" else PAIRS[kind][::-1]


def named(kind, values):
    """A column of truths in words of a kind."""
    no, yes = PAIRS[kind]
    return [yes if value else no for value in values]


def domain(kind, order):
    return dn.Domain(
        {"drug": names(kind, order), "often": ["never", "some", "much"][:: 1 if order == "as usual" else -1]}
    )


PEOPLE = {
    kind: pd.DataFrame(
        {"drug": named(kind, TRUTH), "often": np.where(SECOND, "much", np.where(TRUTH, "some", "never"))}
    )
    for kind in PAIRS
}


def by_name(table, kind):
    """The cells of a table in one order, whichever it has."""
    wanted = domain(kind, "as usual")
    return table.in_order_of(wanted).project([name for name in wanted if name in table.domain]).values.ravel()


# -- a device and names ------------------------------------------------------------------------------------------------

DEVICES = {
    "Warner": lambda **names: dn.Warner(0.8, **names),
    "Crosswise": lambda **names: dn.Crosswise(0.3, **names),
    "Triangular": lambda **names: dn.Triangular(0.3, **names),
    "UnrelatedQuestion": lambda **names: dn.UnrelatedQuestion(0.7, 0.2, **names),
    "Mangat": lambda **names: dn.Mangat(0.7, **names),
}
# Where the names are given: to the device, to the function, or to both.
GIVEN = {
    "to the device": lambda order: ({"categories": order}, {}),
    "to the function": lambda order: ({}, {"categories": order}),
    "to both, in two orders": lambda order: ({"categories": order[::-1]}, {"categories": order}),
}
SAID = {
    name: np.random.default_rng(5).random(N) < make().matrix()[1][TRUTH.astype(int)] for name, make in DEVICES.items()
}


@pytest.mark.parametrize(("named_how", "device"), black(product(PAIRS, ORDERS, GIVEN), DEVICES, of=3))
def test_prevalence_is_that_of_yes_whichever_is_named_first(named_how, device):
    kind, order, where = named_how
    own, more = GIVEN[where](names(kind, order))
    found = dn.prevalence(named(kind, SAID[device]), DEVICES[device](**own), **more).table
    plain = dn.prevalence(SAID[device].astype(int), DEVICES[device]()).table
    (attribute,) = found.domain
    assert found.domain[attribute].categories == names(kind, order)  # results are listed as somebody named them
    assert [found.at(**{attribute: name}) for name in PAIRS[kind]] == pytest.approx(plain.values)
    counted = dn.prevalence(None, DEVICES[device](**own), yes=int(SAID[device].sum()), n=N, **more)
    assert by_index(counted, PAIRS[kind][1]) == pytest.approx(plain.values[1])


def by_index(estimate, category):
    (attribute,) = estimate.table.domain
    return estimate.table.at(**{attribute: category})


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("kind", "order"), list(product(PAIRS, ORDERS)))
def test_counts_by_name_are_counts_of_that_name(device, kind, order):
    counts = pd.Series(named(kind, SAID[device])).value_counts()
    found = dn.estimate(counts, DEVICES[device](categories=names(kind, order)), "inversion")
    plain = dn.prevalence(SAID[device].astype(int), DEVICES[device]()).values
    assert by_index(found, PAIRS[kind][1]) == pytest.approx(plain[1])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", ["texts", "truths", "digits"])
def test_numbers_beside_names_that_say_other_numbers_are_refused(device, kind):
    turned = names(kind, "turned")
    with pytest.raises(DeniableError, match="Give the reports by name"):
        dn.prevalence(SAID[device].astype(int), DEVICES[device](categories=turned))
    with pytest.raises(DeniableError):
        dn.logit("y ~ 1", pd.DataFrame({"y": SAID[device].astype(int)}), DEVICES[device](categories=turned))


@pytest.mark.parametrize("device", DEVICES)
def test_names_of_another_kind_are_refused(device):
    said = named("texts", SAID[device])
    for other in (("no", "perhaps"), (0, 1), (False, True)):
        with pytest.raises(UnknownCategoryError, match="matched by name"):
            dn.prevalence(said, DEVICES[device](categories=("no", "yes")), categories=other)
        with pytest.raises(UnknownCategoryError, match="matched by name"):
            dn.Independent({"drug": other}, channels={"drug": DEVICES[device](categories=("no", "yes"))})


@pytest.mark.parametrize(("named_how", "device"), black(product(PAIRS, ORDERS, GIVEN), ["Triangular", "Warner"]))
def test_slopes_are_of_the_category_that_is_named_last(named_how, device):
    kind, order, where = named_how
    own, more = GIVEN[where](names(kind, order))
    frame = pd.DataFrame({"y": named(kind, SAID[device]), "age": AGE})
    found = dn.logit("y ~ age", frame, DEVICES[device](**own), **more)
    plain = dn.logit("y ~ age", frame.assign(y=SAID[device].astype(int)), DEVICES[device]())
    turned = -1 if order == "turned" else 1
    assert found.params.to_numpy() == pytest.approx(turned * plain.params.to_numpy(), abs=1e-5)


@pytest.mark.parametrize("kind", PAIRS)
@pytest.mark.parametrize("row_by_row", [True, False])
def test_two_devices_may_name_their_answers_in_two_orders(kind, row_by_row):
    frame = pd.DataFrame({"y": named(kind, SAID["Triangular"]), "age": AGE, "which": np.arange(N) % 2})
    one, two = (dn.Triangular(0.3, categories=names(kind, order)) for order in ORDERS)
    plain = dn.logit("y ~ age", frame, one)
    if row_by_row:
        found = dn.logit("y ~ age", frame, [one, two] * (N // 2))
    else:
        found = dn.logit("y ~ age", frame, {0: one, 1: two}, design_column="which")
    assert found.params.to_numpy() == pytest.approx(plain.params.to_numpy(), abs=1e-5)


@pytest.mark.parametrize(("kind", "order"), list(product(PAIRS, ORDERS)))
def test_a_disguised_predictor_is_read_by_name(kind, order):
    frame = pd.DataFrame({"x": named(kind, SAID["Triangular"]), "y": 2 * TRUTH + AGE})
    found = dn.linear("y ~ x", frame, rr={"x": dn.Triangular(0.3, categories=names(kind, order))})
    plain = dn.linear("y ~ x", frame.assign(x=SAID["Triangular"].astype(int)), rr={"x": dn.Triangular(0.3)})
    slope = found.params.iloc[1]
    same = kind in ("numbers", "decimals") or order == "as usual"  # numbers stay numbers; else 1 is the second named
    assert slope == pytest.approx(plain.params.iloc[1] * (1 if same else -1), abs=1e-4)


@pytest.mark.parametrize("device", ["Warner", "Crosswise", "UnrelatedQuestion"])
@pytest.mark.parametrize("given", ["a name", "no name"])
@pytest.mark.parametrize(("kind", "order"), list(product(PAIRS, ORDERS)))
def test_a_design_takes_a_device_by_the_names_of_its_domain(device, given, kind, order):
    known = domain(kind, order).project("drug")
    own = DEVICES[device](**({"categories": names(kind, "as usual")} if given == "a name" else {}))
    design = dn.Independent(known, channels={"drug": own})
    plain = dn.Independent(domain(kind, "as usual").project("drug"), channels={"drug": DEVICES[device]()})
    (found,), (usual,) = ([question.channel.matrix() for question in each.questions] for each in (design, plain))
    turned = slice(None, None, 1 if order == "as usual" else -1)
    assert found[turned, turned].tolist() == usual.tolist()
    reports = design.randomize(PEOPLE[kind], source=dn.Seeded(3))
    assert by_name(dn.estimate(reports, "drug").table, kind)[1] == pytest.approx(0.3, abs=0.12)  # 5 standard errors


def test_counts_without_labels_are_refused_where_device_and_domain_differ():
    known, device = dn.Domain({"drug": ["yes", "no"]}), dn.Triangular(0.3, categories=("no", "yes"))
    with pytest.raises(DeniableError, match="give them by name"):
        dn.Observation(known, device, [60, 40])
    found = dn.Observation(known, device, {"no": 60, "yes": 40})
    assert found.counts.tolist() == [40, 60]
    assert by_index(dn.estimate(found, "drug", "inversion"), "yes") == pytest.approx((0.4 - 0.3) / 0.7)


@pytest.mark.parametrize("order", ORDERS)
def test_power_and_cost_are_about_the_sensitive_answer(order):
    named, plain = dn.Triangular(0.3, categories=names("texts", order)), dn.Triangular(0.3)
    assert float(dn.power(named, 300, prevalence=0.1)) == float(dn.power(plain, 300, prevalence=0.1))
    assert int(dn.sample_size(named, 0.1)) == int(dn.sample_size(plain, 0.1))
    assert dn.sample_cost(named, 0.1) == pytest.approx(dn.sample_cost(plain, 0.1))
    assert int(dn.sample_size_for_width(named, 0.1, 0.1)) == int(dn.sample_size_for_width(plain, 0.1, 0.1))


@pytest.mark.parametrize("order", ORDERS)
def test_models_of_compliance_take_devices_by_name(order):
    groups = np.array(["p", "q"])[np.arange(N) % 2]
    said = SAID["Triangular"].astype(int)

    def made(**more):
        return {"p": dn.Triangular(0.3, **more), "q": dn.Triangular(0.6, **more)}

    found = dn.compliance.cheating_detection(said, groups, channels=made(categories=names("texts", order)))
    assert found.params == dn.compliance.cheating_detection(said, groups, channels=made()).params
    items = np.stack([said, SAID["Triangular"][::-1].astype(int)], axis=1)
    turned = [dn.Triangular(0.3, categories=names("texts", order))] * 2
    plain = dn.compliance.sum_score(items, channels=[dn.Triangular(0.3)] * 2)
    assert dn.compliance.sum_score(items, channels=turned).values == pytest.approx(plain.values)


# -- reports, observations and tables ----------------------------------------------------------------------------------

DESIGNS = {
    "joint": lambda known: dn.Joint(known, 3.0),
    "independent": lambda known: dn.Independent(known, 4.0),
    "views": lambda known: dn.Views(known, k=1, epsilon=3.0),
    "sampled": lambda known: dn.Sampled(known, 3.0),
    "mixtures": lambda known: dn.Independent(
        known, channels={name: dn.Mixture(0.6, np.linspace(1, 2, len(v)) / (1.5 * len(v))) for name, v in known.items()}
    ),
    "matrices": lambda known: dn.Independent(known, channels={name: lopsided(len(v)) for name, v in known.items()}),
    "optimal": lambda known: dn.Optimal(known, [["drug", "often"]], 3.0),
    "sets": lambda known: dn.Joint(known, 3.0, channel="unary"),
    "signs": lambda known: dn.Independent(
        known, channels={"drug": dn.KRR(2, epsilon=2.0), "often": dn.HadamardResponse(3, epsilon=2.0)}
    ),
    "paired": lambda known: dn.Paired(known, p=0.8, rho=-0.2),
    "blocks": lambda known: dn.Blocks(known, k=2, epsilon=3.0, block_size=500),
}


def lopsided(k):
    """A matrix whose truths are all treated otherwise."""
    noise = np.arange(1.0, k + 1) / (k * (k + 1) / 2)
    return dn.Dense(0.6 * np.eye(k) + 0.4 * noise[:, None])


@cache
def surveyed(design, kind, order):
    return DESIGNS[design](domain(kind, order)).randomize(PEOPLE[kind], source=dn.Seeded(2))


def told(sources):
    """The table of one attribute, or None where it is refused in our words."""
    try:
        return dn.estimate(sources, "often").table
    except DeniableError:
        return None


@pytest.mark.parametrize(
    ("pair", "kind"),
    black(product(DESIGNS, DESIGNS), ["texts", "truths"], of=3),
    ids=lambda each: each if isinstance(each, str) else " beside ".join(each),
)
def test_reports_of_two_orders_are_pooled_by_name_or_refused(pair, kind):
    one, other = pair
    first = surveyed(one, kind, "as usual")
    usual, sources = ([first, surveyed(other, kind, order)] for order in ORDERS)
    if (same := told(usual)) is None:  # pairs beside sets, whatever the order
        assert told(sources) is None
        return
    if (found := told(sources)) is None:
        assert {one, other} <= {"sets", "signs", "paired", "blocks"}  # neither can be moved
        for call in (dn.estimate, lambda listing, name: dn.synthesize(listing, 9, attributes=[name])):
            with pytest.raises(DeniableError, match=r"the same order|[Pp]aired"):
                call(sources, "often")
        return
    made = records(sources)
    truth = dn.Table.count(PEOPLE[kind], domain(kind, "as usual")).normalize().project("often")
    # Standard errors are below .02 each: five of the difference of two, and of the distance to the truth.
    assert by_name(found, kind) == pytest.approx(by_name(same, kind), abs=0.15)
    assert by_name(found, kind) == pytest.approx(truth.values, abs=0.1)
    assert made.values == pytest.approx(truth.values, abs=0.1)


# What functions find that take several reports: numbers that do not hang on the order of categories.
SCORES = {"never": 0, "some": 1, "much": 3}
LISTED = {
    "estimate": lambda sources: by_name(dn.estimate(sources, ATTRIBUTES, "inversion").table, "texts"),
    "estimate, product": lambda sources: by_name(dn.estimate(sources, ATTRIBUTES, "product").table, "texts"),
    "independence": lambda sources: dn.independence(sources, *ATTRIBUTES, replicates=9).statistic,
    "all_pairs": lambda sources: dn.all_pairs(sources, ATTRIBUTES, replicates=9).v,
    "goodness_of_fit": lambda sources: (
        dn.goodness_of_fit(sources, ATTRIBUTES, expected("as usual"), replicates=9).statistic
    ),
    "homogeneity": lambda sources: dn.homogeneity(dict(enumerate(sources)), "often", replicates=9).statistic,
    "mean": lambda sources: dn.mean(sources, "often", scores=SCORES).value,
    "means_by": lambda sources: sorted(dn.means_by(sources, "often", "drug", scores=SCORES).values),
    "mean_difference": lambda sources: (
        dn.mean_difference(sources, "often", "drug", groups=("no", "yes"), scores=SCORES).value
    ),
    "total": lambda sources: dn.total(sources, "often", size=10, scores=SCORES).value,
    "cdf": lambda sources: dn.cdf(sources, "often", scores=SCORES).values,
    "median": lambda sources: dn.median(sources, "often", scores=SCORES).value,
    "quantile": lambda sources: dn.quantile(sources, 0.8, "often", scores=SCORES).value,
    "synthesize": lambda sources: records(sources).values,
    "likelihood_data": lambda sources: (
        sorted(dn.likelihood_data(sources, ["drug"])["attributes"]["drug"]) == ["no", "yes"]
    ),
    "find_clusters": lambda sources: sorted(map(sorted, dn.find_clusters(sources, ATTRIBUTES))) == [ATTRIBUTES],
}


@pytest.mark.filterwarnings("ignore::deniable.errors.SourcesDifferWarning")  # of two draws, one in twenty does
@pytest.mark.parametrize("function", LISTED)
@pytest.mark.parametrize("design", ["joint", "independent", "mixtures", "matrices"])
def test_the_same_reports_seen_in_another_order_say_the_same_exactly(design, function):
    first, second = (surveyed(design, "texts", order) for order in ORDERS)
    found = [LISTED[function](sources) for sources in ([first, second], [second, first])]
    assert np.asarray(found[1], dtype=float) == pytest.approx(np.asarray(found[0], dtype=float), rel=0.01, abs=1e-6)


@pytest.mark.parametrize("channel", ["krr", "unary"])
def test_observations_and_tallies_are_pooled_by_name(channel):
    population = dn.Table.count(PEOPLE["texts"], domain("texts", "as usual"))
    one, two = (dn.Joint(domain("texts", order), 3.0, channel=channel) for order in ORDERS)
    drawn = [design.simulate(population, 4000, source=dn.Seeded(4)) for design in (one, two)]
    counted = [drawn[0].observations[0], drawn[1].observations[0]]
    for sources in (drawn, counted, [drawn[0], counted[1]]):
        found = dn.estimate(sources, ["drug", "often"])
        assert by_name(found.table, "texts") == pytest.approx(population.normalize().values.ravel(), abs=0.08)


def records(sources):
    """Shares of synthetic records, by name."""
    made = dn.synthesize(sources, N, attributes=["often"], source=dn.Seeded(1))
    return dn.Table.count(made, domain("texts", "as usual").project("often")).normalize()


def expected(order):
    return dn.Table.count(PEOPLE["texts"], domain("texts", order)).normalize()


REPORTS = surveyed("joint", "texts", "as usual")
DESIGN = REPORTS.design
# What each function finds, given a table in either order.
CALLS = {
    "goodness_of_fit": lambda table: dn.goodness_of_fit(REPORTS, ATTRIBUTES, table, replicates=9).statistic,
    "goodness_of_fit, pearson": lambda table: dn.goodness_of_fit(REPORTS, ATTRIBUTES, table, "pearson").statistic,
    "goodness_of_fit, weighted": lambda table: (
        dn.goodness_of_fit(REPORTS, ATTRIBUTES, table, weights=np.linspace(1, 2, N)).statistic
    ),
    "Table": lambda table: dn.Table(domain("texts", "as usual"), table).values,
    "Table, product": lambda table: (table * expected("as usual")).in_order_of(DESIGN.domain).values,
    "Table, sum": lambda table: (expected("as usual") - table).values,
    "Design.simulate": lambda table: DESIGN.simulate(table, 500, source=dn.Seeded(1)).observations[0].counts,
    "Blocks.simulate": lambda table: (
        by_name(
            dn.Table.count(
                dn.Blocks(DESIGN.domain, k=2, epsilon=30.0, block_size=5000)
                .simulate(table, 5000, source=dn.Seeded(1))
                .labelled(),
                DESIGN.domain,
            ),
            "texts",
        )
        / 5000
        > 0.15
    ),
    "plan": lambda table: [
        one.std_error for one in dn.plan(DESIGN.domain, 1.0, [ATTRIBUTES], n=500, truth=table).candidates
    ],
    "compare": lambda table: [
        row.distance for row in dn.compare(table, [DESIGN], [ATTRIBUTES], n=400, repeats=2, source=dn.Seeded(1)).rows
    ],
    "floor": lambda table: dn.floor(DESIGN.domain, [ATTRIBUTES], 1.0, table).loss,
    "loss_of": lambda table: dn.loss_of(DESIGN, [dn.Wanted.table(*ATTRIBUTES)], table),
    "Optimal": lambda table: dn.Optimal(DESIGN.domain, [ATTRIBUTES], 1.0, truth=table).questions[0].channel.matrix(),
    "power": lambda table: dn.power(DESIGN, 300, table=table, replicates=40, source=dn.Seeded(1)) > 0.5,
    "sample_size": lambda table: int(dn.sample_size(DESIGN, table=table, replicates=40, source=dn.Seeded(1))) < N,
    "rake": lambda table: dn.rake(PUBLIC, table.project("often")).weights,
}
PUBLIC = dn.Joint({"drug": ["no", "yes"]}, 3.0).randomize(PEOPLE["texts"], keep=["often"], source=dn.Seeded(1))


@pytest.mark.parametrize("function", CALLS)
def test_a_table_in_another_order_is_the_same_table(function):
    usual, turned = (CALLS[function](expected(order)) for order in ORDERS)
    assert np.asarray(turned, dtype=float) == pytest.approx(np.asarray(usual, dtype=float), rel=1e-6, nan_ok=True)


@pytest.mark.parametrize("function", sorted(set(CALLS) - {"rake"}))
def test_a_table_of_other_categories_is_refused(function):
    strange = dn.Table({"drug": ["no", "perhaps"], "often": ["never", "some", "much"]}, np.full((2, 3), 1 / 6))
    with pytest.raises(DeniableError, match="perhaps"):
        CALLS[function](strange)


# -- a new function joins by itself ------------------------------------------------------------------------------------

# Arguments that carry categories. `reports` and `source` may be several.
CARRY = (
    "domain",
    "design",
    "asked",
    "channel",
    "channels",
    "table",
    "expected",
    "truth",
    "population",
    "margins",
    "fit",
)
SEVERAL = ("reports", "source")
# Functions that take two things with categories, and the test above that holds them to it, or why there is none.
HELD = {
    "prevalence": test_prevalence_is_that_of_yes_whichever_is_named_first,
    **dict.fromkeys(("logit", "probit", "cloglog", "cauchit"), test_slopes_are_of_the_category_that_is_named_last),
    **dict.fromkeys(("multinomial", "random_intercept"), test_slopes_are_of_the_category_that_is_named_last),
    "linear": test_a_disguised_predictor_is_read_by_name,
    "sample_cost": test_power_and_cost_are_about_the_sensitive_answer,
    "sample_size_for_width": test_power_and_cost_are_about_the_sensitive_answer,
    "replicate_weights": "takes no categories of the reports",
    "conditional_independence": "gathers reports as independence does",
    "convergence": "takes one survey's reports",
    "density": "its categories are numbers, which have an order of their own",
    "poststratify": "the population's cells are rows with names",
    "second_phase": "takes one survey's reports",
    "corrected_words": "compares parts of one survey's reports",
    "randomize_in_clusters": "the pilot's reports tell only which attributes belong together",
    "optimal_mix": "makes the channels itself",
}


def with_two(group):
    """The functions of a group of the door that take two things with categories, or several of one."""
    for name in group:
        function = getattr(dn, name)
        if not isinstance(function, type) and not name.startswith("read_"):
            named = [parameter for parameter in inspect.signature(function).parameters if parameter != "source"]
            first = next(iter(inspect.signature(function).parameters))
            several = "reports" in named or first == "source"
            if several or sum(parameter in CARRY for parameter in named) > 1 or "categories" in named:
                yield name


def test_every_function_that_takes_two_things_with_categories_is_tried():
    devices = {"Warner", "Crosswise", "Triangular", "ForcedResponse", "UnrelatedQuestion", "Kuk", "Mangat"}
    found = {name for group in NAMES.values() for name in with_two(group)} - devices
    tried = {call.split(",")[0] for call in (*CALLS, *LISTED)} | set(HELD)
    assert found - tried == set(), "say in CALLS, LISTED or HELD how these match categories"
    assert set(HELD) <= {name for group in NAMES.values() for name in group}
