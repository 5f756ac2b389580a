"""A hostile aggregator is refused, and told what was wrong. `tests/collection` shows the client doing it."""

from __future__ import annotations

import msgspec
import pytest

import deniable as dn
from deniable.device.fake_limits import WHOLE
from deniable.device.protocol.fake_blocks import Block, check, check_chain
from deniable.errors import InputError, PrivacyError
from deniable.extensions.blocks.aggregator import Aggregator
from deniable.extensions.designs.blocks import Blocks

DESIGN = Blocks({"a": [0, 1], "b": [0, 1]}, epsilon=1.0, block_size=2)


@pytest.fixture
def block():
    return Aggregator(DESIGN).block


def changed(block, **fields):
    return msgspec.structs.replace(block, **fields)


def moved(block, amount, source=0, target=1):
    """Move draws from one fake to another."""
    fakes = list(block.fakes[0])
    fakes[source] -= amount
    fakes[target] += amount
    return changed(block, fakes=(tuple(fakes),))


def refused(block, problem, message):
    with pytest.raises(PrivacyError, match=message) as caught:
        check(block, DESIGN)
    assert caught.value.problem == problem
    assert caught.value.block == block


def test_an_honest_block_is_accepted(block):
    check(block, DESIGN)
    assert block.ratio(0) <= DESIGN.ratio


def test_a_fake_that_never_comes(block):
    refused(moved(block, block.fakes[0][0]), "zero", "weight 0 for question 'a\\*b'.*known to mean it")


def test_a_negative_fake(block):
    refused(moved(block, block.fakes[0][0] + 1), "zero", "weight -1")


def test_draws_that_do_not_add_up(block):
    fakes = (block.fakes[0][0] + 1, *block.fakes[0][1:])
    refused(changed(block, fakes=(fakes,)), "sum", f"sum to {WHOLE + 1}, not to 2\\^32")


def test_the_truth_kept_too_often(block):
    fakes = (block.fakes[0][0] - 1, *block.fakes[0][1:])
    bad = changed(block, keep=(block.keep[0] + 1,), fakes=(fakes,))
    refused(bad, "keep", "above the design's")


def test_a_fake_below_the_floor(block):
    too_much = block.fakes[0][0] - DESIGN.limits[0].floor + 1
    refused(moved(block, too_much), "floor", f"below the design's floor {DESIGN.limits[0].floor}")
    check(moved(block, too_much - 1), DESIGN)  # the floor itself is allowed


def test_fakes_for_other_questions(block):
    refused(changed(block, keep=block.keep * 2, fakes=block.fakes * 2), "questions", "2 questions")
    refused(changed(block, fakes=(block.fakes[0][:3],)), "questions", "3 fakes.*4 cells")
    refused(changed(block, fakes=((),)), "questions", "0 fakes")


def test_a_block_of_another_design(block):
    refused(changed(block, design="f" * 64), "design", "published for design ffff")


def test_more_epsilon_than_was_asked_for(block, monkeypatch):
    # Nothing that passes the checks before it can get here; the last check must hold without them all the same.
    monkeypatch.setitem(vars(DESIGN), "requested", 0.1)
    refused(block, "epsilon", "more than 0.1")


def chain(length):
    aggregator = Aggregator(DESIGN)
    for _ in range(length - 1):
        aggregator.collect([0, 0], [[3], [1]])
        aggregator.close()
        aggregator.publish()
    return aggregator.published


def test_a_broken_chain():
    first, second, third = chain(3)
    forged = changed(third, index=1)
    with pytest.raises(PrivacyError, match="somebody was shown another block") as caught:
        check_chain([forged], DESIGN, first)
    assert caught.value.problem == "chain"
    with pytest.raises(PrivacyError, match="came where block 1 was due"):
        check_chain([third], DESIGN, first)
    assert check_chain([second, third], DESIGN, first) == third


def test_two_blocks_under_one_number():
    first, second = chain(2)
    with pytest.raises(PrivacyError, match="came where block 2 was due") as caught:
        check_chain([first, second, moved(second, 5)], DESIGN)
    assert caught.value.problem == "chain"


def test_a_first_block_that_follows_nothing():
    _, second = chain(2)
    with pytest.raises(PrivacyError, match="came where block 0 was due"):
        check_chain([second], DESIGN)
    with pytest.raises(PrivacyError, match="came before it"):
        check_chain([changed(second, index=0)], DESIGN)


def test_deniability_allows_a_zero_and_says_what_it_costs():
    design = Blocks({"a": [0, 1], "b": [0, 1]}, mode="deniability", keep=0.5, block_size=1)
    aggregator = Aggregator(design, update="last")
    aggregator.collect([0], [[2]])
    aggregator.close()
    block = aggregator.publish()
    check(block, design)
    assert block.ratio(0) == float("inf")


def test_a_block_is_its_bytes(block):
    assert Block.parse(block.canonical()) == block
    assert Block.parse(block.canonical()).id == block.id
    for bad in (b"{}", block.canonical()[:-1], block.canonical()[:-1] + b',"surprise":1}'):
        with pytest.raises(InputError, match="not a block"):
            Block.parse(bad)
    with pytest.raises(InputError, match="format 2"):
        Block.parse(changed(block, format=2).canonical())


def test_the_same_answer_through_the_library():
    with pytest.raises(dn.DeniableError):
        check(changed(chain(1)[0], keep=(0,)), DESIGN)
