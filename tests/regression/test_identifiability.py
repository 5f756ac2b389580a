"""Whether parameters can be told apart: no small group is missed; against the whole Jacobian."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.errors import NotIdentifiedError, SmallCellWarning
from deniable.regression.data_source import Categories, read_source
from deniable.regression.likelihood import identifiability as identified
from deniable.regression.likelihood.maximize import jitter
from deniable.regression.likelihood.responses import Binary
from deniable.regression.logit import LOGIT
from deniable.regression.model import _laid

DOMAIN = dn.Domain({"a": ["no", "yes"], "b": [0, 1, 2], "c": ["no", "yes"]})
N = 2000
DESIGNS = {
    "independent": dn.Independent(DOMAIN, 9.0),
    "views": dn.Views(DOMAIN, 2, 4.0),
    "hadamard": dn.Joint(DOMAIN, 4.0, channel="hadamard"),
}
GROUPS = {
    "sixteen regions": np.arange(N) % 16,
    "one in a hundred": (np.arange(N) % 100 == 0).astype(int),
    "three in two thousand": (np.arange(N) % 667 == 0).astype(int),
}
FITS = {
    "logit": lambda reports: dn.logit("c ~ a + C(g)", reports),
    "multinomial": lambda reports: dn.multinomial("b ~ a + C(g)", reports),
    "linear": lambda reports: dn.linear("w ~ a + C(g)", reports),
    "random_intercept": lambda reports: dn.random_intercept("c ~ a + C(g)", reports, groups="z"),
}


def sent(design, groups, seed=3):
    """Nothing depends on the group, so that the smallest one does not part answers from each other."""
    rng = np.random.default_rng(seed)
    a = np.arange(N) // 16 % 2
    frame = pd.DataFrame(
        {
            "a": np.array(["no", "yes"])[a],
            "b": rng.integers(0, 3, N),
            "c": np.where(rng.random(N) < 0.4 + 0.2 * a, "yes", "no"),
            "g": groups,
            "w": a + rng.normal(size=N),
            "z": rng.integers(0, 5, N),
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallCellWarning)  # nobody is behind these rows
        return design.randomize(frame, keep=["g", "w", "z"], source=dn.Seeded(seed))


def read(formula, reports):
    """What `check_identified` is given."""
    source = read_source(formula, reports, Categories(lambda _: Binary(LOGIT), None, None), None, rr={}, models={})
    return _laid(source, {}, np.ones(len(source.data)))[0], source.heard, source.alike_in_public()


@pytest.mark.parametrize("kind", GROUPS)
@pytest.mark.parametrize("name", DESIGNS)
def test_many_or_rare_groups_are_told_apart(name, kind):
    identified.check_identified(*read("c ~ a + C(g)", sent(DESIGNS[name], GROUPS[kind])))


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS.keys())
def test_regressions_on_many_groups_are_fitted(fit):
    found = fit(sent(DESIGNS["independent"], GROUPS["sixteen regions"]))
    assert np.isfinite(found.std_error).all()


@pytest.mark.parametrize(
    ("name", "formula"), [("independent", "c ~ a * b + C(g)"), ("views", "c ~ a + C(g)"), ("hadamard", "c ~ C(g)")]
)
def test_the_rank_is_that_of_every_row_and_every_report(name, formula):
    reports = sent(DESIGNS[name], GROUPS["sixteen regions"])
    laid, heard, public = read(formula, reports)
    identified.check_identified(laid, heard, public)
    # By the definition: every row that differs, with the likelihood rows of all reports that can come.
    every = np.unique(public, return_index=True)[1]
    likelihood = identified._likelihood(laid, heard, every)
    (place,) = jitter(np.zeros(len(laid.labels)), likelihood, 1)
    _, changes = likelihood.cells_at(place)
    whole = np.concatenate(
        [np.einsum("uc,cip->uip", g.said.matrix[:, g.cell], changes).reshape(-1, len(place)) for g in heard.groups]
    )
    assert np.linalg.matrix_rank((whole / np.linalg.norm(whole, axis=0))[:, : len(place) - laid.riding]) == (
        len(place) - laid.riding
    )


def test_rows_without_weight_tell_nothing():
    reports = sent(DESIGNS["independent"], GROUPS["sixteen regions"])
    weights = (GROUPS["sixteen regions"] != 7).astype(float)
    with pytest.raises(NotIdentifiedError, match=r"C\(g\)\[T.7\]"):
        dn.logit("c ~ a + C(g)", reports, weights=weights)
