"""The door: which public name is in which module, loaded when it is first asked for (PEP 562).

The table is the only place where a public name is written: `__init__.pyi`, which type checkers and editors read, is
made of it (`pytest tests/snapshots --renew`). At the door, and not behind it, functions and classes get their answer to
arguments that they do not take.
"""

from __future__ import annotations

import sys

# What is there, by what it is for: the reference has a page in this order.
NAMES = {
    "Names, tables and random bits": {
        "Domain": "core.domain",
        "Variable": "core.domain",
        "Table": "core.table",
        "Seeded": "core.randomness",
    },
    "Channels": {
        "KRR": "channels.krr",
        "Mixture": "channels.mixture",
        "Dense": "channels.dense",
        "Kronecker": "channels.kronecker",
        "Unary": "channels.sets.unary",
        "SubsetSelection": "channels.sets.subset",
        "LocalHashing": "channels.sets.hashing",
        "HadamardResponse": "channels.sets.hadamard",
        "BlockDesign": "channels.sets.block_design",
        "Patterns": "channels.patterns",
        "OUE": "channels.aliases",
        "OLH": "channels.aliases",
        "RAPPOR": "channels.aliases",
        "ProjectiveGeometry": "channels.aliases",
        "Channel": "channels.aliases",
        "TwoLevel": "channels.sets.two_level",
        "TwoLevelKRR": "channels.two_level_krr",
        "BinnedLaplace": "channels.laplace",
        "Coins": "extensions.paired.pairing",
        "paired_optimum": "extensions.paired.optimal_coins",
    },
    "Survey devices, performed by hand": {
        "Warner": "channels.survey_devices",
        "Crosswise": "channels.survey_devices",
        "Triangular": "channels.survey_devices",
        "ForcedResponse": "channels.survey_devices",
        "UnrelatedQuestion": "channels.survey_devices",
        "Kuk": "channels.survey_devices",
        "Mangat": "channels.survey_devices",
    },
    "Designs": {
        "Design": "designs.design",
        "Question": "designs.question",
        "Independent": "designs.kinds.independent",
        "Joint": "designs.kinds.joint",
        "Clusters": "designs.kinds.clusters",
        "Sampled": "designs.kinds.sampled",
        "Views": "designs.kinds.views",
        "Tables": "designs.kinds.tables",
        "Blocks": "extensions.designs.blocks",
        "Optimal": "designs.kinds.optimal",
        "Paired": "extensions.designs.paired",
        "PairedItems": "extensions.designs.paired_items",
        "design_from_dict": "designs.registry",
        "block_size": "extensions.blocks.paper_estimators",
        "convergence": "extensions.blocks.convergence",
        "Convergence": "extensions.blocks.convergence",
        "find_clusters": "estimation.find_clusters",
        "randomize_in_clusters": "estimation.find_clusters",
    },
    "Reports": {
        "Reports": "designs.reports.reports",
        "Labels": "core.labels",
        "PairedReports": "extensions.paired.paired_reports",
        "Observation": "designs.observation",
        "likelihood_data": "estimation.export_likelihood",
        "read_reports": "engines.read_reports",
        "open_reports": "engines.stored_reports",
    },
    "How respondents were drawn": {
        "rake": "sampling.raking",
        "replicate_weights": "sampling.replicate_weights",
        "Sampling": "sampling.sampling",
    },
    "Estimates": {
        "estimate": "estimation.estimator",
        "Estimate": "estimation.estimate",
        "Grouped": "estimation.by_group",
        "GroupedTotals": "estimation.totals",
        "Totals": "estimation.totals",
        "synthesize": "estimation.joint_tables.synthetic_records",
        "prevalence": "inference.prevalence",
        "Prevalence": "inference.prevalence",
        "Prevalences": "inference.prevalence",
        "unrelated_two_samples": "inference.unrelated_question",
    },
    "Measures": {
        "Measure": "inference.measures.delta_method",
        "entropy": "inference.measures.association_measures",
        "mutual_information": "inference.measures.association_measures",
        "chi2": "inference.measures.association_measures",
        "g2": "inference.measures.association_measures",
        "cramers_v": "inference.measures.association_measures",
        "phi": "inference.measures.association_measures",
        "correlation": "inference.measures.association_measures",
        "odds_ratio": "inference.measures.two_by_two",
        "risk_ratio": "inference.measures.two_by_two",
        "difference": "inference.measures.two_by_two",
        "null_mean": "inference.measures.phi_squared",
        "derived": "inference.measures.delta_method",
    },
    "Numbers": {
        "mean": "inference.numbers.mean",
        "means_by": "inference.numbers.mean",
        "mean_difference": "inference.numbers.mean",
        "total": "inference.numbers.mean",
        "median": "inference.numbers.quantile",
        "quantile": "inference.numbers.quantile",
        "cdf": "inference.numbers.distribution_function",
        "density": "inference.numbers.density",
        "Distribution": "inference.numbers.distribution_function",
        "Density": "inference.numbers.density",
        "Numbers": "inference.numbers.functionals_of_reports",
    },
    "Tests": {
        "independence": "inference.hypothesis_tests.independence",
        "conditional_independence": "inference.hypothesis_tests.independence",
        "all_pairs": "inference.hypothesis_tests.all_pairs",
        "adjusted": "inference.hypothesis_tests.all_pairs",
        "goodness_of_fit": "inference.hypothesis_tests.goodness_of_fit",
        "homogeneity": "inference.hypothesis_tests.goodness_of_fit",
        "corrected_words": "inference.corrected_words",
    },
    "Regression": {
        "logit": "regression.logit",
        "probit": "regression.logit",
        "cloglog": "regression.logit",
        "cauchit": "regression.logit",
        "multinomial": "regression.logit",
        "linear": "regression.linear",
        "random_intercept": "regression.random_intercept",
        "poststratify": "regression.poststratify",
        "Poststratified": "regression.poststratified",
        "correlate": "regression.correlation",
    },
    "Planning": {
        "plan": "planning.forecast",
        "Forecast": "planning.forecast",
        "power": "planning.power",
        "sample_size": "planning.power",
        "sample_size_for_width": "planning.sample_size",
        "second_phase": "planning.two_phases",
        "sample_cost": "planning.power",
        "compare": "planning.compare_designs",
        "Comparison": "planning.compare_designs",
    },
    "The best possible": {
        "floor": "optimal.floor",
        "Floor": "optimal.floor",
        "Wanted": "aims.aim",
        "read_wanted": "aims.parse",
        "MadeFor": "optimal.channel_for",
        "loss_of": "designs.distance_to_best",
        "Certificate": "optimal.certificate",
        "DelsarteCertificate": "optimal.delsarte_certificate",
        "HypercontractiveCertificate": "optimal.hypercontractive_floor",
        "optimal_channel": "optimal.optimal_channel",
        "OptimalChannel": "optimal.optimal_channel",
        "optimal_mix": "optimal.question_mix",
        "Mix": "optimal.question_mix",
    },
    "Privacy": {
        "audit": "privacy.audit",
        "Amplified": "privacy.shuffle",
        "Ledger": "device.ledger",
    },
    "Collecting": {
        "Survey": "surveys.survey",
        "read_survey": "surveys.survey",
        "Client": "device.client",
    },
    "Results and errors": {
        "Interval": "core.results",
        "TestResult": "core.results",
        "DeniableError": "errors",
    },
}
# Rooms that are groups of names of their own.
GROUPS = ("compliance", "graphs")
HOMES = {name: f"deniable.{home}" for names in NAMES.values() for name, home in names.items()}
PUBLIC = sorted([*HOMES, *GROUPS])
# What people write first, and what to write.
INSTEAD = {
    "Channel": "Dense(P), for a matrix with P[u, v] = Pr(report u | truth v)",
    "RandomizedResponse": "Warner(p), KRR(k, epsilon), or a design such as Joint(domain, epsilon)",
    "RR": "Warner(p), KRR(k, epsilon), or a design such as Joint(domain, epsilon)",
    "OUE": "Unary(k, epsilon)",
    "GRR": "KRR(k, epsilon)",
    "kRR": "KRR(k, epsilon)",
    "DirectEncoding": "KRR(k, epsilon)",
    "read_csv": "read_reports(path) for reports; true answers are read with pandas or polars",
    "fit": "estimate(reports, attributes), or logit(formula, data) for a regression",
    "OLH": "LocalHashing(k, epsilon)",
    "load_survey": "read_survey(path)",
    "load_reports": "read_reports(path)",
    "Report": "Reports(frame, design)",
    "test": "independence(reports, a, b), all_pairs(reports) or goodness_of_fit(...)",
    "regression": "logit(formula, data, channel), or another of the regressions",
}


def load(name: str) -> object:
    """A public name's object, kept in the package from then on."""
    from importlib import import_module

    if name in GROUPS:
        return import_module(f"deniable.{name}")
    if name not in HOMES:
        raise AttributeError(_unknown(name))
    value = answered("deniable", name, getattr(import_module(HOMES[name]), name))
    setattr(sys.modules["deniable"], name, value)
    return value


def answer(namespace: dict[str, object], names: list[str]) -> None:
    """Do for a room that is a group of its own what the door does for the names in it."""
    for name in names:
        namespace[name] = answered(str(namespace["__name__"]), name, namespace[name])


def answered(home: str, name: str, value: object) -> object:
    """The same, with our words for arguments that it does not take: in place of a function one that has them.

    A class stays itself, which `isinstance` and pickles ask for: its constructor is exchanged.
    """
    from types import FunctionType

    from deniable.arguments import answering

    called = f"{home}.{name}".removeprefix("deniable.")
    if isinstance(value, type):
        type.__setattr__(value, "__init__", answering(value.__init__, called))  # type: ignore[misc]
    elif isinstance(value, FunctionType):
        value = answering(value, called)
        value.__module__ = home  # where a pickle finds it again
    return value


def _unknown(name: str) -> str:
    """What to write instead of a name that there is not."""
    told = f"module 'deniable' has no attribute {name!r}"
    if name in INSTEAD:
        return f"{told}; write deniable.{INSTEAD[name]}"
    if name.startswith("_"):  # nobody's guess at a name of ours; tools look for such in every module
        return told
    from difflib import get_close_matches

    alike = {each.lower(): each for each in PUBLIC}
    close = get_close_matches(name.lower(), alike, n=2, cutoff=0.8)
    return f"{told}; did you mean {' or '.join(alike[each] for each in close)}?" if close else told
