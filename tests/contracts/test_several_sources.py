"""Whoever is handed several sources that differ says so: every public function that takes reports.

A new analysis joins by itself: they are those of the contract of analyses, and what takes reports besides.
"""

from __future__ import annotations

import sys
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.errors import DeniableError, InputError, SmallCellWarning, SourcesDifferWarning

sys.path.insert(0, str(Path(__file__).parent))
import test_analyses as contract

SAID = "the sources differ"
MORE = {
    "quantile": lambda given: dn.quantile(given, 0.5, "b"),
    "median": lambda given: dn.median(given, "b"),
    "density": lambda given: dn.density(given, "n"),
    "find_clusters": lambda given: dn.find_clusters(given, ["a", "c"]),
    "second_phase": lambda given: dn.second_phase(given, [["a", "c"]], 2.0),
    "synthesize": lambda given: dn.synthesize(given, 100),
    "homogeneity of several each": lambda given: dn.homogeneity({"all": given, "first": given[0]}, "a"),
    "goodness of fit, Pearson": lambda given: dn.goodness_of_fit(given, "a", [0.5, 0.5], "pearson"),
    "independence, weighted": lambda given: dn.independence(given, "a", "c", weights=np.ones(sum(s.n for s in given))),
    "two steps": lambda given: dn.independence(given, "a", "c", "two_step"),
}
DOMAIN = dn.Domain({**{name: v.categories for name, v in contract.DOMAIN.items()}, "n": range(5)})
NAMES = list(dict.fromkeys([*contract.ANALYSES, *MORE]))


@cache
def waves(*, alike=False):
    """Two waves in each of which a and c are independent, and both are more frequent in the second."""
    found = []
    for seed, share in enumerate((0.2, 0.2 if alike else 0.7)):
        rng, n = np.random.default_rng(10 + seed), 4000
        people = {name: np.where(rng.random(n) < share, "yes", "no") for name in "ac"}
        more = {"b": rng.choice(3, n, p=[1 - share, share / 2, share / 2]), "high": rng.integers(0, 2, n)}
        more["n"] = rng.choice(5, n, p=[1 - share, *[share / 4] * 4])
        people |= more | {"z": rng.integers(-1, 2, n), "w": rng.normal(size=n).round(1)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SmallCellWarning)
            design = dn.Joint(DOMAIN, 8.0)
            sent = design.randomize(pd.DataFrame(people), keep=["z", "high", "w"], source=dn.Seeded(seed))
        found.append(sent)
    return tuple(found)


def told(name, given):
    """What an answer says, and what it warns of; None where several sources are refused."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = MORE[name](given) if name in MORE else contract.ask(name, given)
        except DeniableError:
            return None
    return f"{found} {[str(each.message) for each in caught if each.category is SourcesDifferWarning]}"


@pytest.mark.parametrize("name", NAMES)
def test_sources_that_differ_are_said_to_differ(name):
    said = told(name, waves())
    assert said is None or said.lower().count(SAID) == 1, said


@pytest.mark.parametrize("name", ["independence", "all_pairs", "goodness_of_fit a*c", "synthesize", "find_clusters"])
def test_sources_that_do_not_differ_are_not(name):
    said = told(name, waves(alike=True))
    assert said is not None
    assert SAID not in said.lower()


@pytest.mark.parametrize("name", NAMES)
def test_who_takes_no_several_sources_says_so_in_our_words(name):
    """A function that begins to refuse them must not do so unnoticed."""
    _, _, group = contract.ANALYSES.get(name, (None, None, ""))
    refusing = name in ("estimate by", "homogeneity") or group == "Regression"
    assert (told(name, waves()) is None) == refusing
    if refusing:
        with pytest.raises(InputError, match=r"one set of reports|a data frame is needed|mapping from group"):
            contract.ask(name, waves())
