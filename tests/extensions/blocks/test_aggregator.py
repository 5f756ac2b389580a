"""The aggregator: its three moves, its three rules for T, and its plain data."""

from __future__ import annotations

import json

import numpy as np
import pytest

import deniable as dn
from chequered import times
from deniable.device.fake_limits import WHOLE
from deniable.errors import DesignError, InputError, PrivacyError
from deniable.extensions.blocks.aggregator import Aggregator
from deniable.extensions.designs.blocks import Blocks

DOMAIN = dn.Domain({"a": [0, 1], "b": [0, 1]})
PI = np.array([0.5, 0.2, 0.2, 0.1])


def aggregator(update="pooled", **arguments):
    return Aggregator(Blocks(DOMAIN, **{"block_size": 4, "epsilon": 2.0, **arguments}), update)


def answered(machine, answers):
    machine.collect([0] * len(answers), [[a] for a in answers])
    machine.close()


def test_the_first_block_has_even_fakes():
    block = aggregator().block
    assert block.index == 0
    assert max(block.fakes[0]) - min(block.fakes[0]) <= 1
    assert block.previous == block.design


def test_moves_out_of_turn_are_refused():
    machine = aggregator()
    with pytest.raises(InputError, match="close it before publishing"):
        machine.publish()
    answered(machine, [0, 1])
    assert machine.state == "closed"
    with pytest.raises(InputError, match="closed already"):
        machine.close()
    with pytest.raises(InputError, match="publish the next one before collecting"):
        machine.collect([0], [[0]])
    machine.publish()
    assert machine.state == "collecting"
    assert machine.block.index == 1


@pytest.mark.parametrize(
    ("ballots", "answers", "block", "message"),
    [
        ([0] * 5, [[0]] * 5, None, "takes 4 respondents"),
        ([0], [[0]], 1, "made with block 1"),
        ([1], [[0]], None, "ballots must be"),
        ([0], [[4]], None, "no cells"),
        ([0], [[-1]], None, "no cells"),
        ([0, 0], [[0]], None, "a row of 1 answers"),
    ],
)
def test_what_does_not_fit_is_not_counted(ballots, answers, block, message):
    machine = aggregator()
    with pytest.raises(InputError, match=message):
        machine.collect(ballots, answers, block)
    assert machine.received == 0


def test_an_unknown_rule_is_refused():
    with pytest.raises(DesignError, match="pooled"):
        aggregator("newest")


def test_the_three_rules_by_hand():
    first, second = [0, 0, 1, 3], [2, 2, 2, 0]
    p = aggregator().design.limits[0].keep / WHOLE
    counts = np.array([[2, 1, 0, 1], [1, 0, 3, 0]]) / 4
    expected = {}
    for rule in ("pooled", "last", "literal"):
        machine = aggregator(rule)
        answered(machine, first)
        start = np.array(machine.block.fakes[0]) / WHOLE  # (1 - p) T
        np.testing.assert_allclose(machine.estimates()[0], (counts[0] - start) / p, atol=1e-9)
        machine.publish()
        later = np.array(machine.block.fakes[0]) / WHOLE
        answered(machine, second)
        both = counts.mean(axis=0)
        expected = {
            "pooled": (both - (start + later) / 2) / p,
            "last": (counts[1] - later) / p,
            "literal": (both - later) / p,
        }
        np.testing.assert_allclose(machine.estimates()[0], expected[rule], atol=1e-9)
        machine.publish()  # opening a block changes nothing that is known
        if rule != "literal":
            np.testing.assert_allclose(machine.estimates()[0], expected[rule], atol=1e-9)


def test_the_literal_rule_after_publishing_keeps_the_last_closed_fakes():
    machine = aggregator("literal")
    answered(machine, [0, 0, 1, 3])
    before = machine.estimates()
    machine.publish()
    np.testing.assert_array_equal(machine.estimates(), before)


def test_a_question_that_nobody_answered_keeps_its_fakes():
    machine = Aggregator(Blocks({name: [0, 1] for name in "abc"}, block_size=4))
    machine.collect([0, 0], [[3], [3]])
    machine.close()
    start, following = machine.block, machine.publish()
    assert following.fakes[0] != start.fakes[0]
    np.testing.assert_allclose(following.fakes[1], start.fakes[1], atol=4)


def version_one(update, keep, n=2000, seed=0):
    """Squared error of the estimate after n single respondents."""
    design = Blocks(DOMAIN, mode="deniability", keep=keep, block_size=1)
    codes = np.stack(np.unravel_index(np.random.default_rng(seed).choice(4, size=n, p=PI), (2, 2)), axis=1)
    machine = Aggregator(design, update)
    reports = design.run(codes, source=dn.Seeded(seed), update=update)
    for block, (ballot, answer) in enumerate(zip(reports.ballots, reports.answers, strict=True)):
        machine.collect([ballot], [answer])
        machine.close()
        assert machine.block == reports.published[block]
        machine.publish()
    return ((machine.estimates()[0] - PI) ** 2).sum()


def test_version_one_literally_is_unstable_and_the_stable_form_is_not():
    # Errors of T come back times -(1 - p) / p: at p = .3 the literal rule ends on the simplex's walls. The stable
    # rule's expected squared error is (1 - sum pi^2) / (n p^2) = .0037; five times that is beyond any doubt.
    stable = np.mean([version_one("pooled", 0.3, seed=s) for s in range(times(3, 1))])
    literal = np.mean([version_one("literal", 0.3, seed=s) for s in range(times(3, 1))])
    assert stable < 0.02
    assert literal > 0.2


@pytest.mark.parametrize("state", ["collecting", "closed"])
def test_it_goes_on_from_its_plain_data(state):
    machine = aggregator()
    answered(machine, [0, 1, 2])
    machine.publish()
    machine.collect([0, 0], [[3], [3]])
    if state == "closed":
        machine.close()
    again = Aggregator.from_dict(json.loads(json.dumps(machine.to_dict())), machine.design)
    assert again.to_dict() == machine.to_dict()
    np.testing.assert_array_equal(again.estimates(), machine.estimates())
    np.testing.assert_array_equal(again.ends, machine.ends)
    if state == "collecting":
        for one in (machine, again):
            one.close()
    assert again.publish() == machine.publish()
    assert repr(again) == repr(machine)


def test_forged_plain_data_is_refused():
    machine = aggregator()
    answered(machine, [0, 1, 2])
    machine.publish()
    data = machine.to_dict()
    with pytest.raises(InputError, match="not the state"):
        Aggregator.from_dict({**data, "design": "0" * 64}, machine.design)
    with pytest.raises(InputError, match="every block has its counts"):
        Aggregator.from_dict({**data, "counts": data["counts"][:1]}, machine.design)
    swapped = {**data, "blocks": data["blocks"][::-1]}
    with pytest.raises(PrivacyError, match="came where block 0 was due"):
        Aggregator.from_dict(swapped, machine.design)
