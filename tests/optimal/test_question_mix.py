"""The optimal mix: printed values, the loss against pooled information cell by cell, and its own bound."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import deniable as dn
from chequered import one_of
from deniable.aims.aim import matrix_of
from deniable.aims.contrasts import Contrasts
from deniable.aims.parse import gathered
from deniable.datasets import network
from deniable.errors import DesignError
from deniable.optimal.floor import at_even_shares
from deniable.optimal.question_mix import information


def closed(domain, pairs, epsilon):
    """The closed form, which other floors are above where epsilon is large."""
    found = at_even_shares(epsilon, domain.cells, Contrasts(domain, gathered(pairs)).singular_sum ** 2)
    assert dn.floor(domain, pairs, epsilon).loss >= found
    return found


@pytest.mark.parametrize(
    ("name", "largest", "expected"),
    one_of(
        3,
        [
            ("survey", None, (1.165, 1.176, 1.358)),
            ("survey", 2, (1.18, 1.26, 1.99)),
            ("child", None, (1.357, 1.373, 1.407)),
            ("child", 2, (1.42, 1.45, 1.82)),
            ("alarm", 2, (1.57, 1.60, 2.06)),
            ("alarm", None, (1.488, 1.508, 1.559)),
        ],
    ),
)
def test_all_pairs_of_benchmark_networks(name, largest, expected):
    domain = network(name).domain
    pairs = list(combinations(domain.names, 2))
    for epsilon, times in zip((1.0, 2.0, 3.0), expected, strict=True):
        mix = dn.optimal_mix(domain, pairs, epsilon, largest=largest)
        assert mix.loss / closed(domain, pairs, epsilon) == pytest.approx(times, rel=0.005)
        assert sum(mix.weights) == pytest.approx(1, abs=1e-2)
        assert mix.floor.loss < mix.bound <= mix.loss <= mix.bound * (1 + 2e-4)


@pytest.mark.parametrize(
    ("name", "expected"), [("survey", (1.23, 1.31, 2.02)), ("child", (1.64, 1.66, 1.97)), ("alarm", (1.71, 1.74, 2.15))]
)
def test_pairs_asked_equally_often(name, expected):
    # Not the module's own sums: set by set, from the definition.
    domain = network(name).domain
    pairs = list(combinations(domain.names, 2))
    k = {names: len(domain[names[0]]) * len(domain[names[1]]) for names in pairs}
    for epsilon, times in zip((1.0, 2.0, 3.0), expected, strict=True):
        told = {names: information(cells, epsilon) / len(pairs) for names, cells in k.items()}
        loss = sum((len(domain[a]) - 1) * (len(domain[b]) - 1) / k[a, b] / told[a, b] for a, b in pairs)
        for one in domain:
            inside = [names for names in pairs if one in names]
            length = (len(domain[one]) - 1) * sum(1 / k[names] for names in inside)
            loss += length / sum(told[names] for names in inside)
        assert loss / closed(domain, pairs, epsilon) == pytest.approx(times, rel=0.005)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_its_loss_is_that_of_the_pooled_reports(epsilon):
    # The second way: Fisher information of every question's channel, lifted to all cells and summed.
    domain = dn.Domain({"a": [0, 1], "b": [0, 1, 2], "c": [0, 1]})
    wanted = [["a", "b"], dn.Wanted.mean("b", weight=3), ["b", "c"]]
    mix = dn.optimal_mix(domain, wanted, epsilon)
    total = np.zeros((domain.cells, domain.cells))
    for names, weight in zip(mix.questions, mix.weights, strict=True):
        part = matrix_of(domain, gathered([list(names)]))  # from all cells to the question's
        k = len(part)
        # A channel that treats k cells alike has M = (1 - g) 11'/k + g I at even shares, and F = k M.
        g = information(k, epsilon)
        total += weight * part.T @ (k * ((1 - g) / k + g * np.eye(k))) @ part
    rows = matrix_of(domain, gathered(wanted))
    centred = rows - rows.mean(axis=1, keepdims=True)
    pooled = np.trace(centred @ np.linalg.pinv(total, rcond=1e-12, hermitian=True) @ centred.T)
    assert mix.loss == pytest.approx(pooled, rel=1e-3)  # questions rarer than a millionth are left out


@pytest.mark.parametrize(("k", "epsilon"), [(2, 1.0), (6, 0.5), (20, 2.0)])
def test_information_is_that_of_the_best_set_size(k, epsilon):
    # n times the summed variance of all shares: k - 1 contrasts, each with information k g.
    loss = dn.SubsetSelection(k, epsilon).variance(np.full(k, 1 / k), 1).sum()
    assert (k - 1) / k / information(k, epsilon) == pytest.approx(loss, rel=2e-3)


def test_what_it_says_and_what_it_refuses():
    domain = {"a": [0, 1], "b": [0, 1], "c": [0, 1]}
    told = str(dn.optimal_mix(domain, [["a", "b"]], 1.0))
    assert "times as many respondents as the best possible design, at even shares" in told
    with pytest.raises(DesignError, match=r"asks a\*b\*c together"):
        dn.optimal_mix(domain, [["a", "b", "c"]], 1.0, largest=2)
