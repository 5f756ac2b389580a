"""Whatever is made of simulated reports says so, in print, as CSV and Markdown and in a frame: every analysis.

A new analysis joins by itself: they are those of the contract of analyses.
"""

import copy
import sys
import warnings
from functools import cache
from pathlib import Path

import narwhals as nw
import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.errors import SmallCellWarning
from deniable.inference.corrected_words import CorrectedWords
from deniable.origin import PEOPLE
from deniable.summary import STAMPED, Stamp

sys.path.insert(0, str(Path(__file__).parent))
import test_analyses as contract

N = 3000
NAMES = [name for name, (_, _, group) in contract.ANALYSES.items() if group != "Estimates"]
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
    for told in (str(found), found.to_markdown(), found._repr_html_(), str(copy.copy(found))):
        assert told.count(SEED) == 1
    assert STAMPED in found.to_csv().splitlines()[0]
    assert found.to_csv().count("Simulated") == len(found.summary().rows())
    if hasattr(type(found), "to_frame") and not isinstance(found, dn.Poststratified):
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
