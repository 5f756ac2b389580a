"""Whatever is made of simulated reports says so, in print, as CSV and Markdown and in a frame: every analysis.

A new analysis joins by itself: they are those of the contract of analyses.
"""

import copy
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import ibis
import matplotlib.pyplot as plt
import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import deniable as dn
from chequered import one_of
from deniable.core.provenance import PEOPLE, Origin
from deniable.core.summary import STAMPED, Stamp
from deniable.errors import SmallCellWarning
from deniable.inference.corrected_words import CorrectedWords

sys.path.insert(0, str(Path(__file__).parent))
import test_analyses as contract

N = 3000
NAMES = [name for name in contract.ANALYSES if name != "synthesize"]  # which makes a frame, see below
SEED = "reports were drawn from a seed, as in a simulation: they are no result."


@cache
def reports(*, simulated=True):
    rng = np.random.default_rng(4)
    a, c = rng.random(N) < 0.3, rng.random(N) < 0.5
    people = pd.DataFrame({"a": np.where(a, "yes", "no"), "b": rng.integers(0, 3, N), "c": np.where(c, "yes", "no")})
    people["z"], people["high"], people["w"] = (
        rng.integers(-1, 2, N),
        rng.integers(0, 2, N),
        rng.normal(size=N).round(1),
    )
    design = dn.Joint(contract.DOMAIN, 8.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallCellWarning)
        sent = design.randomize(people, keep=["z", "high", "w"], source=dn.Seeded(2))
    return sent if simulated else sent.with_origin(PEOPLE)


def answer(name, given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return contract.ask(name, given)


@pytest.mark.parametrize("name", NAMES)
def test_every_analysis_of_simulated_reports_says_that_it_is_no_result(name):
    found = answer(name, reports())
    if isinstance(found, float) or (isinstance(found, CorrectedWords) and not len(found)):
        return  # a number alone; nothing was corrected
    seed = SEED if contract.ANALYSES[name][2] != "Estimates" else "simulated reports"
    for told in (str(found), found.to_markdown(), found._repr_html_(), str(copy.copy(found))):
        assert told.lower().count(seed) == 1
    assert STAMPED in found.to_csv().splitlines()[0]
    assert found.to_csv().count("Simulated") == len(found.summary().rows())
    if hasattr(type(found), "to_frame"):
        assert set(nw.from_native(found.to_frame())[STAMPED].to_list()) == {"Simulated"}


@pytest.mark.parametrize("name", NAMES)
def test_no_analysis_of_what_people_answered_says_so(name):
    found = answer(name, reports(simulated=False))
    if not isinstance(found, float):
        assert "imulat" not in str(found)
        assert STAMPED not in found.to_csv().splitlines()[0]


def test_a_measure_of_a_measure_and_of_several_sources_is_stamped_once():
    both = dn.estimate([reports(), reports(simulated=False)], ["a", "c"])
    found = dn.cramers_v(both)
    assert [note.word for note in found.warnings if isinstance(note, Stamp)] == ["Simulated in part"]
    assert "3,000 of the 6,000 reports were drawn from a seed" in str(found)
    assert (
        "Simulated in part" in dn.independence([reports(), reports(simulated=False)], "a", "c", replicates=19).to_csv()
    )


@pytest.mark.parametrize("name", one_of(2, NAMES))
def test_every_drawing_of_simulated_reports_says_so(name):
    for given, stamped in ((reports(), True), (reports(simulated=False), False)):
        found = answer(name, given)
        if not hasattr(type(found), "plot") or isinstance(found, float | CorrectedWords):
            continue
        drawn = found.plot()
        for ax in drawn if isinstance(drawn, Sequence) else [drawn]:
            assert ax.get_xlabel().startswith("Simulated") == stamped
        plt.close("all")


def _steps():
    design = dn.Joint({"steps": range(5)}, 2.0)
    return dn.estimate(
        design.randomize({"steps": [0, 1, 2, 3, 4] * 100}, source=dn.Seeded(1)).with_origin(PEOPLE), "steps"
    )


OTHERS = {
    "groups by name": lambda r: dn.homogeneity({"p": r, "q": r}, "a"),
    "groups of several each": lambda r: dn.homogeneity({"p": [r, r], "q": r}, "a", replicates=19),
    "what was counted": lambda r: dn.estimate(r.tabulate(["a"]), ["a"]),
    "what was counted by question": lambda r: dn.estimate(r.tabulate(), ["a"]),
    "what was drawn": lambda r: dn.estimate(r.design.simulate(dn.estimate(r, ["a"]).table, 100).tabulate(["a"]), "a"),
    "reports that were a frame": lambda r: dn.estimate(dn.Reports(r.to_frame(), r.design), "a"),
    "a test of counts": lambda r: dn.goodness_of_fit(r.tabulate(["a"]), "a", [0.5, 0.5], "pearson"),
    "a table": lambda r: dn.estimate(r, ["a", "c"]).table,
    "an unbiased table": lambda r: dn.estimate(r, ["a", "c"]).unbiased,
    "an efficient table": lambda r: dn.estimate(r, ["a", "c"]).efficient,
    "part of a table": lambda r: dn.estimate(r, ["a", "c"]).project("c"),
    "a table times another": lambda r: 2 * dn.estimate(r, "a").table * dn.estimate(r, "c").table,
    "totals": lambda r: dn.estimate(r, "a").totals(1000),
    "totals by group": lambda r: dn.estimate(r, "a", by="z").totals({-1: 10, 0: 20, 1: 30}),
    "a density": lambda r: dn.density(replace(_steps(), origin=r.origin)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_handed_on_is_known_to_be_simulated(name):
    found, other = (OTHERS[name](given) for given in (reports(), reports(simulated=False)))
    assert "imulated" in str(found) or SEED in str(found)
    assert set(nw.from_native(found.to_frame())[STAMPED].to_list()) == {"Simulated"} if _has_frame(found) else True
    if name != "what was drawn":
        assert "imulat" not in str(other)
        assert SEED not in str(other)


def _has_frame(found):
    return hasattr(type(found), "to_frame")


def test_frames_of_people_say_where_they_come_from():
    """Reports, scores and records: in a column of a name that nobody else has."""
    frames = {
        "reports": lambda r: r.to_frame(),
        "scores": lambda r: r.debiased("a"),
        "records": lambda r: dn.synthesize(r, 50, attributes=["a", "c"], source=dn.Seeded(1)),
    }
    for make in frames.values():
        said = nw.from_native(make(reports()), eager_only=True)
        assert set(said["dn_origin"].to_list()) == {"Simulated, from a seed"}
        assert "dn_origin" not in nw.from_native(make(reports(simulated=False)), eager_only=True).columns


@pytest.mark.parametrize(
    "origin", [Origin(N, N), Origin(2, 5, seeded=True), Origin(0, N, pilot=True), Origin(3, 5, pilot=True)]
)
def test_a_frame_of_reports_brings_back_where_they_come_from(origin):
    sent = reports().with_origin(origin)
    again = dn.Reports(sent.to_frame(), sent.design)
    assert again.origin == origin
    assert again.public_names == sent.public_names
    frame = pa.table(dict(zip(again.to_frame().columns, again.to_frame().to_numpy().T.tolist(), strict=True)))
    there = dn.open_reports(ibis.memtable(frame), sent.design)
    assert there.origin == origin
    assert there.public_names == sent.public_names


def test_frames_put_together_are_simulated_in_part():
    sent, answered = reports(), reports(simulated=False)
    both = pd.concat([sent.to_frame(), answered.to_frame()[:1000]])
    assert dn.Reports(both, sent.design).origin == Origin(N, N + 1000, seeded=True)
