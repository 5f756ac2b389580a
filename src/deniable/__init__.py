"""Ask sensitive questions, learn the population, never the person.

Randomized response under local differential privacy. Names are loaded when first used, so that importing the part that
runs on a respondent's device loads nothing else. Two rooms are groups of their own: `deniable.compliance`, models of
respondents who do not follow the device, and `deniable.graphs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.version import __version__ as __version__

# The door twice: as checkers and editors read it, and as it opens. A test compares the two. The second must stay hidden
# from checkers: a module with `__getattr__` has every name there is.
if TYPE_CHECKING:
    from deniable import compliance as compliance
    from deniable import graphs as graphs
    from deniable.aims.aim import Wanted as Wanted
    from deniable.aims.parse import read_wanted as read_wanted
    from deniable.channels.aliases import OLH as OLH
    from deniable.channels.aliases import OUE as OUE
    from deniable.channels.aliases import RAPPOR as RAPPOR
    from deniable.channels.aliases import Channel as Channel
    from deniable.channels.aliases import ProjectiveGeometry as ProjectiveGeometry
    from deniable.channels.dense import Dense as Dense
    from deniable.channels.kronecker import Kronecker as Kronecker
    from deniable.channels.krr import KRR as KRR
    from deniable.channels.laplace import BinnedLaplace as BinnedLaplace
    from deniable.channels.mixture import Mixture as Mixture
    from deniable.channels.patterns import Patterns as Patterns
    from deniable.channels.sets.block_design import BlockDesign as BlockDesign
    from deniable.channels.sets.hadamard import HadamardResponse as HadamardResponse
    from deniable.channels.sets.hashing import LocalHashing as LocalHashing
    from deniable.channels.sets.subset import SubsetSelection as SubsetSelection
    from deniable.channels.sets.two_level import TwoLevel as TwoLevel
    from deniable.channels.sets.unary import Unary as Unary
    from deniable.channels.survey_devices import Crosswise as Crosswise
    from deniable.channels.survey_devices import ForcedResponse as ForcedResponse
    from deniable.channels.survey_devices import Kuk as Kuk
    from deniable.channels.survey_devices import Mangat as Mangat
    from deniable.channels.survey_devices import Triangular as Triangular
    from deniable.channels.survey_devices import UnrelatedQuestion as UnrelatedQuestion
    from deniable.channels.survey_devices import Warner as Warner
    from deniable.channels.two_level_krr import TwoLevelKRR as TwoLevelKRR
    from deniable.core.domain import Domain as Domain
    from deniable.core.domain import Variable as Variable
    from deniable.core.labels import Labels as Labels
    from deniable.core.randomness import Seeded as Seeded
    from deniable.core.results import Interval as Interval
    from deniable.core.results import TestResult as TestResult
    from deniable.core.table import Table as Table
    from deniable.designs.design import Design as Design
    from deniable.designs.distance_to_best import loss_of as loss_of
    from deniable.designs.kinds.clusters import Clusters as Clusters
    from deniable.designs.kinds.independent import Independent as Independent
    from deniable.designs.kinds.joint import Joint as Joint
    from deniable.designs.kinds.optimal import Optimal as Optimal
    from deniable.designs.kinds.sampled import Sampled as Sampled
    from deniable.designs.kinds.views import Views as Views
    from deniable.designs.observation import Observation as Observation
    from deniable.designs.question import Question as Question
    from deniable.designs.registry import design_from_dict as design_from_dict
    from deniable.designs.reports.reports import Reports as Reports
    from deniable.device.client import Client as Client
    from deniable.device.ledger import Ledger as Ledger
    from deniable.engines.read_reports import read_reports as read_reports
    from deniable.engines.stored_reports import open_reports as open_reports
    from deniable.errors import DeniableError as DeniableError
    from deniable.estimation.by_group import Grouped as Grouped
    from deniable.estimation.estimate import Estimate as Estimate
    from deniable.estimation.estimator import estimate as estimate
    from deniable.estimation.export_likelihood import likelihood_data as likelihood_data
    from deniable.estimation.find_clusters import find_clusters as find_clusters
    from deniable.estimation.find_clusters import randomize_in_clusters as randomize_in_clusters
    from deniable.estimation.joint_tables.synthetic_records import synthesize as synthesize
    from deniable.estimation.totals import GroupedTotals as GroupedTotals
    from deniable.estimation.totals import Totals as Totals
    from deniable.extensions.blocks.paper_estimators import block_size as block_size
    from deniable.extensions.designs.blocks import Blocks as Blocks
    from deniable.extensions.designs.paired import Paired as Paired
    from deniable.extensions.designs.paired_items import PairedItems as PairedItems
    from deniable.extensions.paired.optimal_coins import paired_optimum as paired_optimum
    from deniable.extensions.paired.paired_reports import PairedReports as PairedReports
    from deniable.extensions.paired.pairing import Coins as Coins
    from deniable.inference.corrected_words import corrected_words as corrected_words
    from deniable.inference.hypothesis_tests.all_pairs import adjusted as adjusted
    from deniable.inference.hypothesis_tests.all_pairs import all_pairs as all_pairs
    from deniable.inference.hypothesis_tests.goodness_of_fit import goodness_of_fit as goodness_of_fit
    from deniable.inference.hypothesis_tests.goodness_of_fit import homogeneity as homogeneity
    from deniable.inference.hypothesis_tests.independence import conditional_independence as conditional_independence
    from deniable.inference.hypothesis_tests.independence import independence as independence
    from deniable.inference.measures.association_measures import chi2 as chi2
    from deniable.inference.measures.association_measures import correlation as correlation
    from deniable.inference.measures.association_measures import cramers_v as cramers_v
    from deniable.inference.measures.association_measures import entropy as entropy
    from deniable.inference.measures.association_measures import g2 as g2
    from deniable.inference.measures.association_measures import mutual_information as mutual_information
    from deniable.inference.measures.association_measures import phi as phi
    from deniable.inference.measures.delta_method import Measure as Measure
    from deniable.inference.measures.delta_method import derived as derived
    from deniable.inference.measures.phi_squared import null_mean as null_mean
    from deniable.inference.measures.two_by_two import difference as difference
    from deniable.inference.measures.two_by_two import odds_ratio as odds_ratio
    from deniable.inference.measures.two_by_two import risk_ratio as risk_ratio
    from deniable.inference.numbers.density import Density as Density
    from deniable.inference.numbers.density import density as density
    from deniable.inference.numbers.distribution_function import Distribution as Distribution
    from deniable.inference.numbers.distribution_function import cdf as cdf
    from deniable.inference.numbers.functionals_of_reports import Numbers as Numbers
    from deniable.inference.numbers.mean import mean as mean
    from deniable.inference.numbers.mean import mean_difference as mean_difference
    from deniable.inference.numbers.mean import means_by as means_by
    from deniable.inference.numbers.mean import total as total
    from deniable.inference.numbers.quantile import median as median
    from deniable.inference.numbers.quantile import quantile as quantile
    from deniable.inference.prevalence import Prevalence as Prevalence
    from deniable.inference.prevalence import Prevalences as Prevalences
    from deniable.inference.prevalence import prevalence as prevalence
    from deniable.inference.unrelated_question import unrelated_two_samples as unrelated_two_samples
    from deniable.optimal.certificate import Certificate as Certificate
    from deniable.optimal.channel_for import MadeFor as MadeFor
    from deniable.optimal.delsarte_certificate import DelsarteCertificate as DelsarteCertificate
    from deniable.optimal.floor import Floor as Floor
    from deniable.optimal.floor import floor as floor
    from deniable.optimal.hypercontractive_floor import HypercontractiveCertificate as HypercontractiveCertificate
    from deniable.optimal.optimal_channel import OptimalChannel as OptimalChannel
    from deniable.optimal.optimal_channel import optimal_channel as optimal_channel
    from deniable.optimal.question_mix import Mix as Mix
    from deniable.optimal.question_mix import optimal_mix as optimal_mix
    from deniable.planning.compare_designs import Comparison as Comparison
    from deniable.planning.compare_designs import compare as compare
    from deniable.planning.forecast import Forecast as Forecast
    from deniable.planning.forecast import plan as plan
    from deniable.planning.power import power as power
    from deniable.planning.power import sample_cost as sample_cost
    from deniable.planning.power import sample_size as sample_size
    from deniable.planning.sample_size import sample_size_for_width as sample_size_for_width
    from deniable.planning.two_phases import second_phase as second_phase
    from deniable.privacy.audit import audit as audit
    from deniable.privacy.shuffle import Amplified as Amplified
    from deniable.regression.correlation import correlate as correlate
    from deniable.regression.linear import linear as linear
    from deniable.regression.logit import cauchit as cauchit
    from deniable.regression.logit import cloglog as cloglog
    from deniable.regression.logit import logit as logit
    from deniable.regression.logit import multinomial as multinomial
    from deniable.regression.logit import probit as probit
    from deniable.regression.poststratified import Poststratified as Poststratified
    from deniable.regression.poststratify import poststratify as poststratify
    from deniable.regression.random_intercept import random_intercept as random_intercept
    from deniable.sampling.raking import rake as rake
    from deniable.sampling.replicate_weights import replicate_weights as replicate_weights
    from deniable.sampling.sampling import Sampling as Sampling
    from deniable.surveys.survey import Survey as Survey
    from deniable.surveys.survey import read_survey as read_survey

    __all__ = [
        "KRR",
        "OLH",
        "OUE",
        "RAPPOR",
        "Amplified",
        "BinnedLaplace",
        "BlockDesign",
        "Blocks",
        "Certificate",
        "Channel",
        "Client",
        "Clusters",
        "Coins",
        "Comparison",
        "Crosswise",
        "DelsarteCertificate",
        "DeniableError",
        "Dense",
        "Density",
        "Design",
        "Distribution",
        "Domain",
        "Estimate",
        "Floor",
        "ForcedResponse",
        "Forecast",
        "Grouped",
        "GroupedTotals",
        "HadamardResponse",
        "HypercontractiveCertificate",
        "Independent",
        "Interval",
        "Joint",
        "Kronecker",
        "Kuk",
        "Labels",
        "Ledger",
        "LocalHashing",
        "MadeFor",
        "Mangat",
        "Measure",
        "Mix",
        "Mixture",
        "Numbers",
        "Observation",
        "Optimal",
        "OptimalChannel",
        "Paired",
        "PairedItems",
        "PairedReports",
        "Patterns",
        "Poststratified",
        "Prevalence",
        "Prevalences",
        "ProjectiveGeometry",
        "Question",
        "Reports",
        "Sampled",
        "Sampling",
        "Seeded",
        "SubsetSelection",
        "Survey",
        "Table",
        "TestResult",
        "Totals",
        "Triangular",
        "TwoLevel",
        "TwoLevelKRR",
        "Unary",
        "UnrelatedQuestion",
        "Variable",
        "Views",
        "Wanted",
        "Warner",
        "adjusted",
        "all_pairs",
        "audit",
        "block_size",
        "cauchit",
        "cdf",
        "chi2",
        "cloglog",
        "compare",
        "compliance",
        "conditional_independence",
        "corrected_words",
        "correlate",
        "correlation",
        "cramers_v",
        "density",
        "derived",
        "design_from_dict",
        "difference",
        "entropy",
        "estimate",
        "find_clusters",
        "floor",
        "g2",
        "goodness_of_fit",
        "graphs",
        "homogeneity",
        "independence",
        "likelihood_data",
        "linear",
        "logit",
        "loss_of",
        "mean",
        "mean_difference",
        "means_by",
        "median",
        "multinomial",
        "mutual_information",
        "null_mean",
        "odds_ratio",
        "open_reports",
        "optimal_channel",
        "optimal_mix",
        "paired_optimum",
        "phi",
        "plan",
        "poststratify",
        "power",
        "prevalence",
        "probit",
        "quantile",
        "rake",
        "random_intercept",
        "randomize_in_clusters",
        "read_reports",
        "read_survey",
        "read_wanted",
        "replicate_weights",
        "risk_ratio",
        "sample_cost",
        "sample_size",
        "sample_size_for_width",
        "second_phase",
        "synthesize",
        "total",
        "unrelated_two_samples",
    ]
else:
    from importlib import import_module as _import_module

    from deniable._public import GROUPS as _GROUPS
    from deniable._public import INSTEAD as _INSTEAD
    from deniable._public import NAMES as _NAMES

    _HOME = {name: home for names in _NAMES.values() for name, home in names.items()}
    __all__ = sorted([*_HOME, *_GROUPS])  # noqa: PLE0605 - a list, made of the tables above

    def __getattr__(name: str) -> object:
        if name in _GROUPS:
            value = _import_module(f"{__name__}.{_GROUPS[name]}")
        elif name in _HOME:
            value = getattr(_import_module(f"{__name__}.{_HOME[name]}"), name)
        else:
            raise AttributeError(_unknown(name))
        globals()[name] = value
        return value

    def _unknown(name: str) -> str:
        """What to write instead of a name that there is not."""
        told = f"module {__name__!r} has no attribute {name!r}"
        if name in _INSTEAD:
            return f"{told}; write deniable.{_INSTEAD[name]}"
        if name.startswith("_"):  # nobody's guess at a name of ours; tools look for such in every module
            return told
        from difflib import get_close_matches

        alike = {each.lower(): each for each in __all__}
        close = get_close_matches(name.lower(), alike, n=2, cutoff=0.8)
        return f"{told}; did you mean {' or '.join(alike[each] for each in close)}?" if close else told

    def __dir__() -> list[str]:
        return [*__all__, "__version__"]
