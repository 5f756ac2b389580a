"""What functions find that take no reports to every design: plans, floors, classic surveys, compliance, graphs."""

from __future__ import annotations

import inspect
from functools import cache

import numpy as np
import pandas as pd
from analyses import FORMULAS, OTHERS
from people import DESIGNS, DOMAIN, N, people, reports_of
from telling import found

import deniable as dn
from deniable import compliance, graphs

WARNER = dn.Warner(0.85)
PAIR = {"a": ["no", "yes"], "c": ["no", "yes"]}
TRUTH = dn.Table(PAIR, [[0.4, 0.1], [0.2, 0.3]])
AGES = dn.Observation("age", dn.KRR(5, 3.0), [90, 60, 40, 30, 20])


CROSSWISE, FORCED = dn.Crosswise(0.2), {"low": dn.ForcedResponse(0.1, 0.3), "high": dn.ForcedResponse(0.3, 0.1)}


@cache
def items():
    """What 2,000 people answer through devices: laid out, but for the devices' coins; one in ten does as they like."""
    at = np.arange(2000)
    leaning, group = at % 10 < 4, np.where(at // 3 % 2, "low", "high")
    truth = {name: leaning ^ (at // 10 % 5 == place) for place, name in enumerate("yvw")}
    own = at // 7 % 10 == 0
    cards = {name: WARNER.randomize(each.astype(int), source=dn.Seeded(9)) for name, each in truth.items()}
    forced = np.where(
        group == "low", *(each.randomize(leaning.astype(int), source=dn.Seeded(8)) for each in FORCED.values())
    )
    told = {
        **{name: np.where(own, 0, each) for name, each in cards.items()},
        "forced": np.where(own, 0, forced),
        "cross": np.where(own, at % 2, CROSSWISE.randomize(leaning.astype(int), source=dn.Seeded(7))),
        "anchor": np.where(own, at // 2 % 2, CROSSWISE.randomize(np.zeros(2000, dtype=int), source=dn.Seeded(6))),
    }
    return pd.DataFrame({**told, "z": at // 11 % 3, "age": at * 37 % 101 / 25 - 2 + leaning / 2, "group": group})


def codes(*names):
    return items()[list(names)].to_numpy()


@cache
def graph():
    """Sixty nodes in a ring, each joined to some that are further on."""
    pairs = {tuple(sorted((node, (node + step) % 60))) for node in range(60) for step in (1, 2, 5 + node % 7)}
    return graphs.Graph(sorted(pairs), nodes=60)


@cache
def noisy():
    return graphs.randomize(graph(), 2.0, source=dn.Seeded(1))


def seeded():
    return {"replicates": 200, "source": dn.Seeded(3)}


TWO = {"low": (550, 450), "high": (350, 650)}
P = {"low": 0.25, "high": 0.75}
CALLS = {
    "plan": lambda: dn.plan(DOMAIN, 2.0, [["a", "c"]], 5000),
    "plan, for a mean": lambda: dn.plan(DOMAIN, 2.0, "mean(b)", 5000),
    "power": lambda: dn.power(WARNER, 200, prevalence=0.1),
    "power, of a design": lambda: dn.power(dn.Joint(PAIR, 2.0), 800, table=TRUTH, **seeded()),
    "sample_size": lambda: dn.sample_size(WARNER, prevalence=0.1),
    "sample_size_for_width": lambda: dn.sample_size_for_width(WARNER, 0.1, 0.1),
    "sample_cost": lambda: dn.sample_cost(WARNER, 0.1),
    "second_phase": lambda: dn.second_phase(reports_of("views"), [["a", "c"]], 2.0).id,
    "floor": lambda: dn.floor(PAIR, [["a", "c"], dn.Wanted.mean("a")], 1.0, certify=True),
    "optimal_channel": lambda: dn.optimal_channel(np.eye(4), 1.0).to_dict(),
    "optimal_mix": lambda: dn.optimal_mix(DOMAIN, [["a", "c"], ["b", "c"]], 1.0),
    "loss_of": lambda: dn.loss_of(DESIGNS["views"], [["a", "c"]]),
    "read_wanted": lambda: dn.read_wanted("mean(b) weight 2"),
    "paired_optimum": lambda: dn.paired_optimum(1.0, 10_000, 0, 0.02),
    "block_size": lambda: dn.block_size(4, 0.5),
    "amplified": lambda: DESIGNS["joint"].amplified(10_000, delta=1e-6),
    "Ledger": lambda: dn.Ledger(2.0),
    "describe": DESIGNS["clusters"].describe,
    "prevalence": lambda: dn.prevalence(yes=60, n=200, channel=WARNER),
    "prevalence, by group": lambda: dn.prevalence(
        codes("y").ravel(), WARNER, by=items()["group"].to_numpy(), clusters=np.arange(2000) % 30
    ),
    "unrelated_two_samples": lambda: dn.unrelated_two_samples([1] * 32 + [0] * 68, [1] * 46 + [0] * 54, p=(0.7, 0.3)),
    "adjusted": lambda: dn.adjusted([0.01, 0.02, 0.3], "holm").tolist(),
    "density": lambda: dn.density(AGES, "age"),
    "randomize_in_clusters": lambda: [
        each.design.id for each in dn.randomize_in_clusters(people(), DOMAIN, 4.0, pilot=0.5, source=dn.Seeded(2))
    ],
    "replicate_weights": lambda: dn.estimate(
        reports_of("joint"),
        "a",
        weights=dn.replicate_weights(
            reports_of("joint"), 1 + (np.arange(N)[:, None] % 5 == range(5)) * 0.5, "jk1", weights="weight"
        ),
    ),
    "logit, of codes": lambda: dn.logit("y ~ age + C(group)", items(), WARNER),
    "linear, of codes": lambda: dn.linear("age ~ y", items(), rr={"y": WARNER}),
    "multinomial, of codes": lambda: dn.multinomial("z ~ age", items(), dn.KRR(3, 2.0)),
    "cdm": lambda: compliance.cdm(TWO, p=P),
    "cdm_symmetric": lambda: compliance.cdm_symmetric(TWO, forced={"low": (0.1, 0.3), "high": (0.3, 0.1)}),
    "cdm_triangular": lambda: compliance.cdm_triangular(TWO, p=P),
    "cheating_detection": lambda: compliance.cheating_detection(TWO, channels=FORCED),
    "crosswise_bounds": lambda: compliance.crosswise_bounds(codes("cross").ravel(), p=0.2),
    "extended_crosswise": lambda: compliance.extended_crosswise(TWO, p=P),
    "anchored_crosswise": lambda: compliance.anchored_crosswise(
        codes("cross").ravel(), codes("anchor").ravel(), p=0.2, anchor_p=0.2
    ),
    "sld": lambda: compliance.sld({"a": (700, 300), "b": (450, 550)}, p={"a": 0.9, "b": 0.5}),
    "self_protective": lambda: compliance.self_protective(codes("y", "v", "w"), [WARNER] * 3),
    "sum_score": lambda: compliance.sum_score(codes("y", "v", "w"), [WARNER] * 3),
    "cdm_regression": lambda: compliance.cdm_regression("forced ~ age", items(), groups="group", channels=FORCED),
    "sld_regression": lambda: compliance.sld_regression(
        "y ~ age", items(), groups="group", p={"low": 0.95, "high": 0.6}
    ),
    "anchored_regression": lambda: compliance.anchored_regression(
        "cross ~ age", items(), anchor="anchor", p=0.2, anchor_p=0.2
    ),
    "anchored_predictor": lambda: compliance.anchored_predictor(
        "age ~ cross", items(), trait="cross", anchor="anchor", p=0.2, anchor_p=0.2
    ),
    "noise": lambda: graphs.noise(dn.KRR(2, 2.0)),
    "randomize": lambda: noisy().describe(),
    "degrees": lambda: noisy().degrees(),
    "triangles": lambda: noisy().triangles(),
    "degree_variance": lambda: graphs.degree_variance(60, 0.5),
    "triangle_variance": lambda: graphs.triangle_variance(graph(), 0.5).sum(),
    "triangle_total_variance": lambda: graphs.triangle_total_variance(graph(), 0.5),
    "resampled": lambda: graphs.resampled(noisy(), source=dn.Seeded(1)),
    "laplace_global": lambda: float(graphs.laplace_global(graph(), 1.0, source=dn.Seeded(1)).values.sum()),
    "laplace_local": lambda: graphs.laplace_local(graph(), 1.0, source=dn.Seeded(1)),
    "laplace_smooth": lambda: float(graphs.laplace_smooth(graph(), 1.0, source=dn.Seeded(1)).values.sum()),
}
# Functions that are called elsewhere, make no numbers, or draw from the secure source alone.
ELSEWHERE = {
    "audit": "draws from the secure source",
    "compare": "tests/planning/test_compare_designs.py",
    "convergence": "tests/extensions/blocks/test_convergence.py",
    "derived": "test_numbers.py",
    "design_from_dict": "test_designs.py",
    "open_reports": "test_files.py",
    "read_reports": "test_files.py",
    "read_survey": "test_http.py",
    "corrected_words": "a survey's words",
    **dict.fromkeys(("read_graph", "read_noisy_graph", "write_graph", "write_noisy_graph"), "files of graphs"),
    **dict.fromkeys(("merge_rows", "randomize_row", "read_rows", "write_row"), "tests/graphs/test_rows.py"),
}


def test_what_is_found_is_what_was_found(stored):
    stored.holds("other-numbers", "".join(f"-- {name}\n{found(call)}\n" for name, call in CALLS.items()))


CHANNELS = {
    "Channel": lambda: dn.Channel([[0.9, 0.1], [0.1, 0.9]]),
    "KRR": lambda: dn.KRR(4, 1.0),
    "Mixture": lambda: dn.Mixture(0.5, [0.25, 0.25, 0.5]),
    "Unary": lambda: dn.Unary(4, 1.0),
    "SubsetSelection": lambda: dn.SubsetSelection(6, 1.0),
    "LocalHashing": lambda: dn.LocalHashing(9, 1.0),
    "HadamardResponse": lambda: dn.HadamardResponse(5, 1.0),
    "BlockDesign": lambda: dn.BlockDesign(9, 1.0),
    "OUE": lambda: dn.OUE(4, 1.0),
    "OLH": lambda: dn.OLH(9, 1.0),
    "RAPPOR": lambda: dn.RAPPOR(4, 1.0),
    "ProjectiveGeometry": lambda: dn.ProjectiveGeometry(9, 1.0),
    "BinnedLaplace": lambda: dn.BinnedLaplace(4, 1.0),
    "Warner": lambda: dn.Warner(0.8),
    "Crosswise": lambda: dn.Crosswise(0.2),
    "Triangular": lambda: dn.Triangular(0.2),
    "ForcedResponse": lambda: dn.ForcedResponse(0.1, 0.2),
    "UnrelatedQuestion": lambda: dn.UnrelatedQuestion(0.7, 0.3),
    "Kuk": lambda: dn.Kuk(0.8, 0.3),
    "Mangat": lambda: dn.Mangat(0.6),
}


def test_channels_are_what_they_were(stored):
    told = [f"-- {name}\n{found(lambda make=make: channel(make()))}\n" for name, make in CHANNELS.items()]
    stored.holds("channels", "".join(told))


def channel(made):
    """A channel's integers, its ratio, and what a seed makes of every truth."""
    drawn = made.randomize(np.arange(200) % made.input_shape[0], source=dn.Seeded(4))
    return f"{made.to_dict()}\nratio {made.ratio}\n{drawn.tolist()}"


def test_every_function_is_called_somewhere():
    spaces = {**vars_of(dn), **vars_of(compliance), **vars_of(graphs)}
    functions = {name for name, each in spaces.items() if inspect.isfunction(each)}
    here = {name.partition(",")[0] for name in CALLS} | set(CHANNELS) | set(ELSEWHERE)
    assert functions - here - analyses() == set()
    assert set(ELSEWHERE) <= functions


def vars_of(space):
    return {name: getattr(space, name) for name in space.__all__}


def analyses():
    return {name.partition(" ")[0].rstrip(",") for name in (*FORMULAS, *OTHERS)}


def test_nothing_else_is_stored(stored):
    stored.holds_no_more_than(["other-numbers", "channels"])
