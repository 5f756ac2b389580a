"""Designs of every kind, and with reports of every form: what is true of all designs is tried on these."""

from __future__ import annotations

from functools import cache

import narwhals as nw
import numpy as np

import deniable as dn
from deniable.channels.dense import Dense
from deniable.designs.design import Design
from deniable.designs.question import Question
from deniable.designs.registry import DESIGNS

# Of those that differ from the others.
EPSILON = {"independent": 6.0, "joint": 2.5, "clusters": 5.0, "hadamard": 4.0}
EPSILON |= dict.fromkeys(("blocks, all of 4", "blocks, all of 5"), 6.0)


def lopsided(cells, epsilon=None, truth=30_000):
    """A channel that treats no two truths alike, so that it has no form for part of the attributes."""
    bits, unit = 16, 1000
    if epsilon is not None:
        bits, keep = 32, 2.5 * np.exp(epsilon)
        unit = int((1 << bits) / (5 * cells + keep))
        truth = round(unit * (keep - 2.5))
    weights = np.random.default_rng(3).integers(1, 5, size=(cells + 1, cells)) * unit
    weights[1:] += truth * np.eye(cells, dtype=int)
    weights[0] += (1 << bits) - weights.sum(axis=0)
    return Dense.from_weights(weights.tolist(), bits)


def every_design(domain, respondents, block_size=1000, epsilon=None):
    """By name; a and c have two categories. Paired items are about a and c alone, pairs are made of so many people.

    Views of several combinations, all answered, take four attributes at least: see `answered`.
    Each design has an epsilon of its own, and pairs are asked about a and c; or all have the same, dense ones and pairs
    about that, and pairs are asked about everything.
    """
    two, others = domain.project(["a", "c"]), [name for name in domain if name not in ("a", "c")]
    rest = domain.project(others).cells

    def spend(name):
        return EPSILON.get(name, 3.0) if epsilon is None else epsilon

    p = 0.9 if epsilon is None else 1 / (1 + np.exp(-epsilon / 2))
    rho = -0.1 if epsilon is None else (p - 1) / 2
    made = {
        "independent": dn.Independent(domain, spend("independent")),
        "joint": dn.Joint(domain, spend("joint")),
        "clusters": dn.Clusters(domain, [["a", "c"], others], spend("clusters")),
        "views": dn.Views(domain, 2, spend("views")),
        "sampled": dn.Sampled(domain, spend("sampled")),
        "tables": dn.Tables(domain, [["a", "c"], *([name] for name in others)], spend("tables")),
        "blocks": dn.Blocks(domain, 2, spend("blocks"), block_size=block_size),
        **{
            f"blocks, all of {size}": dn.Blocks(
                _widened(domain, size), 2, spend(f"blocks, all of {size}"), answer="all", block_size=block_size
            )
            for size in (4, 5)
        },
        "unary": dn.Views(domain, 2, spend("unary"), channel="unary"),
        "subset": _together(domain, spend("subset"), "subset"),
        "hashing": dn.Joint(domain, spend("hashing"), channel="hashing"),
        "hadamard": dn.Views(domain, 2, spend("hadamard"), channel="hadamard"),
        "dense": Design(
            domain,
            [Question(("a", "c"), lopsided(4, epsilon)), Question(tuple(others), lopsided(rest, epsilon))],
            [[0, 1]],
        ),
        "dense on three": Design(domain, [Question(tuple(domain), lopsided(domain.cells, epsilon))], [[0]]),
        "optimal": _optimal(domain, spend("optimal")),
        "paired": dn.Paired(two if epsilon is None else domain, respondents=respondents, p=p, rho=rho),
        "paired_items": dn.PairedItems(two, p, rho),
    }
    assert {design.kind for design in made.values()} == {Design.kind, *DESIGNS}, "a kind of design has no maker here"
    return made


@cache
def _optimal(domain, epsilon):
    """The design that takes longest to make."""
    return dn.Optimal(domain, [["a", "c"], ["b", "c"], ["a", "b"]], epsilon)


def _widened(domain, size):
    """The domain with more questions, until there are so many."""
    more = {f"other {i}": ["no", "yes"] for i in range(size - len(domain))}
    return dn.Domain({name: variable.categories for name, variable in domain.items()} | more)


def answered(people, design):
    """People who have an answer to all that a design asks: every second one yes, where they have none of their own."""
    known = nw.from_native(people, eager_only=True)
    missing = [name for name in design.domain if name not in known.columns]
    given = [np.array(["no", "yes"])[np.arange(len(known)) >> i & 1] for i in range(len(missing))]
    kind = known.implementation
    columns = [nw.new_series(name, column, backend=kind) for name, column in zip(missing, given, strict=True)]
    return known.with_columns(*columns).to_native()


def _together(domain, epsilon, channel):
    """All attributes in one question, or two where a set of all would be too large."""
    fits = domain.cells <= 53 or channel not in ("unary", "subset")
    return dn.Joint(domain, epsilon, channel=channel) if fits else dn.Views(domain, 2, epsilon, channel=channel)


CHANNELS = ("krr", "least_variance", "unary", "subset", "hashing", "hadamard")


def every_option(domain, respondents, block_size=20, epsilon=None):
    """The same with every option that changes a report: channels, answers, modes, questions, what is wanted.

    The designs of `every_design` too, by their names. a and c have two categories; others are of any size. With an
    epsilon, that of one answer is as large, or half of it.
    """
    wide = _widened(domain, max(5, len(domain)))
    made = every_design(domain, respondents, block_size, epsilon)
    one = 2.0 if epsilon is None else epsilon
    parts = [["a", "c"], [name for name in domain if name not in ("a", "c")]]
    for channel in CHANNELS:
        made |= {
            f"independent, {channel}": dn.Independent(domain, 2 * one, channel=channel),
            f"joint, {channel}": _together(domain, one, channel),
            f"clusters, {channel}": dn.Clusters(domain, parts, 2 * one, channel=channel),
            f"sampled, {channel}": dn.Sampled(domain, one, channel=channel),
            f"views, {channel}": dn.Views(domain, 2, one, channel=channel),
            f"views, all, {channel}": dn.Views(wide, 3, 3 * one, answer="all", channel=channel),
        }
    for answer in ("one", "all"):
        asked = {"answer": answer, "block_size": block_size}
        made |= {
            f"blocks, {answer}, deniability": dn.Blocks(wide, 3, one, mode="deniability", keep=0.3, **asked),
            f"blocks, {answer}, phi .1": dn.Blocks(wide, 3, 1.5 * one, phi=0.1, **asked),
        }
    return made | {
        "views of one": dn.Views(domain, 1, one),
        "optimal for means": dn.Optimal(domain, ["mean(b)", "a"], one),
        "optimal at a guess": dn.Optimal(domain, ["a", "c"], one, truth={"a": [0.9, 0.1]}),
        "more questions than a ballot": Design(
            domain,
            [Question((name,), dn.KRR(len(domain[name]), 0.75 * one)) for name in domain],
            [[at, (at + 1) % len(domain)] for at in range(len(domain))],
        ),
    }
