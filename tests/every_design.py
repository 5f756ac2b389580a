"""Designs of every kind, and with reports of every form: what is true of all designs is tried on these."""

from __future__ import annotations

import numpy as np

import deniable as dn
from deniable.channels.dense import Dense
from deniable.designs.base import Design, Question
from deniable.designs.kinds import HOMES


def lopsided(cells, truth=30_000):
    """A channel that treats no two truths alike, so that it has no form for part of the attributes."""
    weights = np.random.default_rng(3).integers(1, 5, size=(cells + 1, cells)) * 1000
    weights[1:] += truth * np.eye(cells, dtype=int)
    weights[0] += (1 << 16) - weights.sum(axis=0)
    return Dense.from_weights(weights.tolist(), 16)


def every_design(domain, respondents, block_size=1000):
    """By name; a and c have two categories, b has three. Pairs are asked about a and c alone, and of so many people."""
    two = domain.project(["a", "c"])
    made = {
        "independent": dn.Independent(domain, 6.0),
        "joint": dn.Joint(domain, 2.5),
        "clusters": dn.Clusters(domain, [["a", "c"], ["b"]], 5.0),
        "views": dn.Views(domain, 2, 3.0),
        "sampled": dn.Sampled(domain, 3.0),
        "blocks": dn.Blocks(domain, 2, 3.0, block_size=block_size),
        "unary": dn.Views(domain, 2, 3.0, channel="unary"),
        "subset": dn.Joint(domain, 3.0, channel="subset"),
        "hashing": dn.Joint(domain, 3.0, channel="hashing"),
        "hadamard": dn.Views(domain, 2, 4.0, channel="hadamard"),
        "dense": Design(domain, [Question(("a", "c"), lopsided(4)), Question(("b",), lopsided(3))], [[0, 1]]),
        "dense on three": Design(domain, [Question(("a", "b", "c"), lopsided(12))], [[0]]),
        "optimal": dn.Optimal(domain, [["a", "c"], ["b", "c"], ["a", "b"]], 3.0),
        "paired": dn.Paired(two, respondents=respondents, p=0.9, rho=-0.1),
        "paired_items": dn.PairedItems(two, 0.9, -0.1),
    }
    assert {design.kind for design in made.values()} == set(HOMES), "a kind of design has no maker here"
    return made
