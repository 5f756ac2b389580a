"""A hostile aggregator is refused by the respondent's device, and told what was wrong."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from scipy import stats

import deniable as dn
from deniable.designs.aggregator import Aggregator
from deniable.designs.block import Block, check, check_chain
from deniable.designs.blocks import Blocks
from deniable.designs.fakes import WHOLE
from deniable.designs.respondent import Respondent
from deniable.errors import InputError, OverdrawnError, PrivacyError
from deniable.privacy.ledger import Ledger

DESIGN = Blocks({"a": [0, 1], "b": [0, 1]}, epsilon=1.0, block_size=2)
RECORD = {"a": 0, "b": 1}


@pytest.fixture
def block():
    return Aggregator(DESIGN).block


@pytest.fixture
def respondent():
    return Respondent(DESIGN, Ledger(limit=5.0))


def changed(block, **fields):
    return msgspec.structs.replace(block, **fields)


def moved(block, amount, source=0, target=1):
    """Move draws from one fake to another."""
    fakes = list(block.fakes[0])
    fakes[source] -= amount
    fakes[target] += amount
    return changed(block, fakes=(tuple(fakes),))


def test_an_honest_block_is_answered_once_and_paid_for(respondent, block):
    report = respondent.answer(block, RECORD)
    assert report.block_id == block.id
    assert 0 <= report.answers[0] < 4
    assert respondent.ledger.spent == block.ratio(0)


def refused(respondent, block, problem, message):
    with pytest.raises(PrivacyError, match=message) as caught:
        respondent.answer(block, RECORD)
    assert caught.value.problem == problem
    assert caught.value.block == block
    assert respondent.ledger.spent == 1, "nothing may be spent on a refused block"


def test_a_fake_that_never_comes(respondent, block):
    refused(respondent, moved(block, block.fakes[0][0]), "zero", "weight 0 for question 'a\\*b'.*known to mean it")


def test_a_negative_fake(respondent, block):
    refused(respondent, moved(block, block.fakes[0][0] + 1), "zero", "weight -1")


def test_draws_that_do_not_add_up(respondent, block):
    fakes = (block.fakes[0][0] + 1, *block.fakes[0][1:])
    refused(respondent, changed(block, fakes=(fakes,)), "sum", f"sum to {WHOLE + 1}, not to 2\\^32")


def test_the_truth_kept_too_often(respondent, block):
    fakes = (block.fakes[0][0] - 1, *block.fakes[0][1:])
    bad = changed(block, keep=(block.keep[0] + 1,), fakes=(fakes,))
    refused(respondent, bad, "keep", "above the design's")


def test_a_fake_below_the_floor(respondent, block):
    too_much = block.fakes[0][0] - DESIGN.limits[0].floor + 1
    refused(respondent, moved(block, too_much), "floor", f"below the design's floor {DESIGN.limits[0].floor}")
    assert respondent.answer(moved(block, too_much - 1), RECORD)  # the floor itself is allowed


def test_fakes_for_other_questions(respondent, block):
    refused(respondent, changed(block, keep=block.keep * 2, fakes=block.fakes * 2), "questions", "2 questions")
    refused(respondent, changed(block, fakes=(block.fakes[0][:3],)), "questions", "3 fakes.*4 cells")
    refused(respondent, changed(block, fakes=((),)), "questions", "0 fakes")


def test_a_block_of_another_design(respondent, block):
    refused(respondent, changed(block, design="f" * 64), "design", "published for design ffff")


def test_more_epsilon_than_was_asked_for(respondent, block, monkeypatch):
    # Nothing that passes the checks before it can get here; the last check must hold without them all the same.
    monkeypatch.setitem(vars(DESIGN), "requested", 0.1)
    refused(respondent, block, "epsilon", "more than 0.1")


def chain(length):
    aggregator = Aggregator(DESIGN)
    for _ in range(length - 1):
        aggregator.collect([0, 0], [[3], [1]])
        aggregator.close()
        aggregator.publish()
    return aggregator.published


def test_a_broken_chain(respondent):
    first, second, third = chain(3)
    respondent.follow([first])
    forged = changed(third, index=1)
    with pytest.raises(PrivacyError, match="somebody was shown another block") as caught:
        respondent.answer(forged, RECORD)
    assert caught.value.problem == "chain"
    with pytest.raises(PrivacyError, match="came where block 1 was due"):
        respondent.answer(third, RECORD)
    assert respondent.answer(third, RECORD, missed=[second]).block == 2


def test_two_blocks_under_one_number(respondent):
    first, second = chain(2)
    respondent.follow([first, second, second])  # the same block again is no news
    other = moved(second, 5)
    with pytest.raises(PrivacyError, match="came where block 2 was due") as caught:
        respondent.answer(other, RECORD)
    assert caught.value.problem == "chain"


def test_a_first_block_that_follows_nothing():
    _, second = chain(2)
    with pytest.raises(PrivacyError, match="came where block 0 was due"):
        check_chain([second], DESIGN)
    with pytest.raises(PrivacyError, match="came before it"):
        check_chain([changed(second, index=0)], DESIGN)


def test_a_second_question_to_the_same_respondent(respondent):
    first, second = chain(2)
    respondent.answer(first, RECORD)
    spent = respondent.ledger.spent
    with pytest.raises(PrivacyError, match="answered before"):
        respondent.answer(second, RECORD)
    assert respondent.ledger.spent == spent


def test_more_than_the_account_has(block):
    with pytest.raises(OverdrawnError):
        Respondent(DESIGN, Ledger(limit=0.01)).answer(block, RECORD)


def test_deniability_with_a_zero_is_no_answer_on_a_device():
    design = Blocks({"a": [0, 1], "b": [0, 1]}, mode="deniability", keep=0.5, block_size=1)
    aggregator = Aggregator(design, update="last")
    aggregator.collect([0], [[2]])
    aggregator.close()
    block = aggregator.publish()
    check(block, design)  # it is what the mode allows ...
    with pytest.raises(PrivacyError, match="known to be the truth") as caught:
        Respondent(design, Ledger(limit=50.0)).answer(block, RECORD)  # ... and no account can pay for it
    assert caught.value.problem == "zero"


def test_the_device_draws_as_the_integers_say(block):
    # 4000 devices, one truth: a chi-square below 1e-8 would be a false alarm.
    skewed = moved(block, block.fakes[0][0] - DESIGN.limits[0].floor)
    answers = [Respondent(DESIGN, Ledger(limit=2.0)).answer(skewed, RECORD).answers[0] for _ in range(4000)]
    expected = np.array(skewed.fakes[0], dtype=float)
    expected[1] += skewed.keep[0]
    assert stats.chisquare(np.bincount(answers, minlength=4), expected / WHOLE * 4000).pvalue > 1e-8


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
