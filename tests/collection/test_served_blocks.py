"""Blocks on the server: published in a chain that every device can follow, closed when full, the same everywhere."""

from __future__ import annotations

import json
import secrets
import threading

import numpy as np
import pytest

from deniable.channels.mixture import Mixture
from deniable.collection.load_reports import stored_reports
from deniable.collection.report_cells import decode_cell, encode_cell
from deniable.collection.simulate_respondents import Crowd
from deniable.collection.survey_messages import design_body
from deniable.designs.registry import design_from_bytes
from deniable.device.client import Client
from deniable.device.fake_limits import BITS
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.fake_blocks import Block, check_chain
from deniable.device.protocol.http_transport import Http, Response
from deniable.device.protocol.messages import FEWEST_TOGETHER, Report, design_id
from deniable.device.verify import verify
from deniable.errors import DesignError, PrivacyError, RefusedDesignError, StoreError
from deniable.estimation.estimator import estimate
from deniable.extensions.blocks.aggregator import Aggregator
from deniable.extensions.blocks.block_endpoint import _page
from deniable.extensions.blocks.served_blocks import Chain, ServedBlocks
from deniable.storage.postgres import PostgresStore
from deniable.storage.sqlite import SqliteStore
from deniable.storage.store import Fate, Row, key_of
from deniable.surveys.survey import parse_survey
from small_survey import BLOCKS, small_survey
from waiting import later

SURVEY = small_survey(BLOCKS, epsilon=2.0)
PERSON = {"a": "yes", "b": "no"}


@pytest.fixture(params=["sqlite", "postgres"])
def store(request, tmp_path):
    address = request.getfixturevalue("database") if request.param == "postgres" else None
    made = SqliteStore(tmp_path / "reports.sqlite") if address is None else PostgresStore(address)
    yield made
    made.close()


@pytest.fixture
def running(serve):
    with serve(SURVEY) as found:
        yield found


def report_in(block):
    """A report that names a block; nothing else of it is looked at."""
    return Report(2, "ab" * 32, "cd" * 32, 0, (0,), block)


def chain_of(store):
    body = design_body(parse_survey(SURVEY))
    number = store.register(design_id(body), body)
    chain = Chain(store, verify(body, design_id(body)))
    chain.join(chain.design.id, number)
    return chain


def fill(store, chain, n):
    """Respondents who all say yes and no, disguised by the open block."""
    block = chain.current()
    channel = Mixture.from_weights(block.keep[0], block.fakes[0], BITS)
    cells = [encode_cell(block.id, 0, (given,), ()) for given in channel.randomize(np.full(n, 2)).tolist()]
    keep(store, cells)
    later(chain)


def keep(store, cells):
    rows = [Row(key_of(store.salt, secrets.token_hex(32)), 1, cell) for cell in cells]
    assert store.add(rows) == [Fate.STORED] * len(cells)
    store.seal()  # then all that may be shown are: of each block, all but twenty


def test_a_full_block_is_closed_and_the_next_one_learned_from_it(store):
    chain = chain_of(store)
    first = chain.current()
    assert (first.index, first.previous) == (0, chain.design.id)
    fill(store, chain, 39)
    assert chain.current() == first
    fill(store, chain, 400)
    second = chain.current()
    assert (second.index, second.previous) == (1, first.id)
    # Fakes come to look like the people: the chance that another cell leads after 439 reports is below 1e-9.
    assert second.fakes[0][2] == max(second.fakes[0])
    check_chain(chain.blocks, chain.design)


def test_workers_agree_on_every_block(store):
    one, two = chain_of(store), chain_of(store)
    for _ in range(3):
        fill(store, one, 60)
        later(two)  # a second has passed
        assert two.current() == one.current()
    assert one.current().index == 3
    later(two)  # the open block is empty: nothing is published
    assert two.blocks == one.blocks == chain_of(store).blocks


def test_devices_answer_in_the_open_block_and_estimates_follow(running):
    crowd = Crowd(running.url)
    chain = running.collector.sessions[running.collector.design_id]
    for number in range(240):
        crowd.answer(PERSON if number % 4 else {"a": "no", "b": "no"})
        if not number % 10:
            running.collector.store.seal()
            later(chain)
    assert chain.current().index >= 2
    reports = stored_reports(running.collector.store, running.collector.design_id)
    assert reports.n == 240
    assert len(set(reports.blocks.tolist())) >= 3
    assert estimate(reports, ["a", "b"]).table.values.sum() == pytest.approx(1)
    assert Client(running.url).follow_blocks() == len(chain.blocks)


def in_block(store, block):
    """How many reports count in a block."""
    return sum(times for cell, times in store.counts(1).items() if decode_cell(cell)[0] == block.id)


def test_a_late_report_counts_in_its_own_block_and_changes_nothing_that_was_published(running, tmp_path):
    store = running.collector.store
    late = Client(running.url, tmp_path / "late")
    waiting = encode(late.answer(PERSON, send=False).report)
    crowd = Crowd(running.url)
    for _ in range(80):  # of which no more than 39 are held back
        crowd.answer(PERSON)
    chain = running.collector.sessions[running.collector.design_id]
    store.seal()
    later(chain)
    first, second = chain.blocks
    before = in_block(store, first)
    late.send()
    again = Http(running.url).request("POST", "/v1/reports", b"[" + waiting + b"," + waiting + b"]", most=10_000)
    assert json.loads(again.body) == {"version": 1, "accepted": 2, "failures": []}
    assert in_block(store, first) == before + 1
    assert running.collector.rejections.total() == {}
    assert chain.blocks == [first, second]
    assert late.follow_blocks() == 2
    reports = stored_reports(store, running.collector.design_id)
    assert (reports.n, reports.blocks.tolist().count(0)) == (81, before + 1)


def test_the_next_block_is_learned_from_late_reports_as_well(store):
    chain = chain_of(store)
    first = chain.current()
    fill(store, chain, 60)
    second = chain.current()
    channel = Mixture.from_weights(first.keep[0], first.fakes[0], BITS)
    # Of the first block, after the second was published.
    keep(store, [encode_cell(first.id, 0, (given,), ()) for given in channel.randomize(np.full(30, 1)).tolist()])
    fill(store, chain, 60)
    third = chain.current()
    assert [block.index for block in (first, second, third)] == [0, 1, 2]
    # What an aggregator publishes that had all reports of the first block before it closed it.
    whole = Aggregator(chain.design)
    for block in (first, second):
        cells = [
            (ballot, answers[0], times)
            for cell, times in store.counts(1, shown=True).items()
            for name, ballot, answers, _ in [decode_cell(cell)]
            if name == block.id
        ]
        ballots = np.repeat([ballot for ballot, *_ in cells], [times for *_, times in cells])
        answers = np.repeat([[answer] for _, answer, _ in cells], [times for *_, times in cells], axis=0)
        whole.collect(ballots, answers)
        whole.close()
        if block is first:
            assert whole.publish().fakes != second.fakes  # 30 reports more: it would have been another
            whole.published[-1] = second
            whole._weights[-1] = np.array(second.fakes)
    assert whole.publish().fakes == third.fakes
    check_chain(chain.blocks, chain.design)


def drawn(block, n, truth):
    """Cells of people who all mean the same, disguised by a block."""
    channel = Mixture.from_weights(block.keep[0], block.fakes[0], BITS)
    return [encode_cell(block.id, 0, (given,), ()) for given in channel.randomize(np.full(n, truth)).tolist()]


def test_what_is_kept_of_past_blocks_is_what_an_aggregator_knows_that_forgets_nothing(store):
    chain = chain_of(store)
    for number in range(7):
        cells = drawn(chain.current(), 60 + number, number % 4)
        if number > 4:  # much too late, and in time for one block more
            cells += drawn(chain.blocks[1], 29, 3) + drawn(chain.blocks[-2], 25, 3)
        keep(store, cells)
        found = later(chain)
        state = {"format": 1, "design": chain.design.id, "update": "pooled", "state": "closed", "received": 0}
        state["blocks"] = [block.canonical().decode() for block in chain.blocks[:-1]]
        state["counts"] = [np.zeros((1, 4), dtype=np.int64) for _ in state["blocks"]]
        for cell, times in store.counts(1, shown=True).items():
            name, _, (answer,), _ = decode_cell(cell)
            state["counts"][[block.id for block in chain.blocks].index(name)][0, answer] += times
        assert Aggregator.from_dict(state, chain.design).publish() == found
    assert found.index == 7
    again = chain_of(store)  # begins with what is stored
    assert again._tally.next_block(found) == chain._tally.next_block(found)


def test_past_blocks_are_neither_counted_nor_verified_again(store, monkeypatch):
    chain = chain_of(store)
    for _ in range(5):
        fill(store, chain, 60)
    asked, verified = [], []
    whole = store.counts_in
    monkeypatch.setattr(
        store, "counts_in", lambda number, block, shown: asked.append(block) or whole(number, block, shown=shown)
    )
    monkeypatch.setattr(store, "counts", None)
    monkeypatch.setattr(
        "deniable.device.protocol.fake_blocks.check", lambda block, _design: verified.append(block.index)
    )
    fill(store, chain, 60)
    assert chain.current().index == 6
    assert verified == [6]
    assert set(asked) == {block.id for block in chain.blocks[3:]}
    assert len(asked) <= 8


def test_a_block_comes_when_somebody_asks_after_more_is_shown_and_never_with_a_report(running):
    store, chain = running.collector.store, running.collector.sessions[running.collector.design_id]
    crowd = Crowd(running.url)
    for _ in range(70):
        crowd.answer(PERSON)
    store.seal()
    published = len(chain.blocks)
    chain._read = np.inf  # no second passes
    for _ in range(FEWEST_TOGETHER):
        crowd.answer(PERSON)
    store.seal()
    assert len(chain.blocks) == published
    later(chain)
    assert len(chain.blocks) == 2


def test_nothing_is_counted_again_while_no_more_is_shown(store, monkeypatch):
    chain = chain_of(store)
    fill(store, chain, 50)
    monkeypatch.setattr(store, "counts_in", None)
    keep(store, drawn(chain.current(), 5, 2))
    assert later(chain).index == 0


def test_after_a_look_that_failed_whoever_comes_next_looks(store, monkeypatch):
    chain = chain_of(store)
    keep(store, drawn(chain.current(), 60, 2))

    def fail(*_, **__):
        raise StoreError("the database is away")

    with monkeypatch.context() as patch:
        patch.setattr(store, "counts_in", fail)
        with pytest.raises(StoreError):
            later(chain)
    assert later(chain).index == 1


def test_a_block_that_another_worker_has_just_published_is_known(store):
    one, two = chain_of(store), chain_of(store)
    for _ in range(2):
        fill(store, one, 60)
    # Not a second has passed for the other worker, and two blocks were published meanwhile.
    assert [two.admits(report_in(block.id)) for block in one.blocks] == [None] * 3
    assert two.admits(report_in("ab" * 32)) == two.admits(report_in(None)) == "unknown-block"


def test_a_report_of_a_newer_block_does_not_confuse_a_worker_that_has_not_seen_it(store):
    one, two = chain_of(store), chain_of(store)
    fill(store, one, 60)
    fill(store, one, 5)  # in the second block, which the other worker has not read
    later(two)
    assert two.blocks == one.blocks


def test_crowds_at_the_same_time_lose_nothing(running):
    failed = []

    def answer(seed):
        crowd = Crowd(running.url, batch=1 + 6 * seed)
        try:
            for number in range(120):
                crowd.answer(PERSON if number % 3 else {"a": "no", "b": "no"})
            crowd.flush()
        except Exception as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=answer, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    store = running.collector.store
    assert sum(store.counts(1).values()) == 360
    assert store.counts(1) == store.recount(1)
    assert running.collector.rejections.total() == {}
    chain = running.collector.sessions[running.collector.design_id]
    store.seal()
    later(chain)
    assert len(chain.blocks) >= 2
    check_chain(chain.blocks, chain.design)


def test_reports_must_name_a_published_block(running):
    given = {"version": 2, "design": running.collector.design_id, "ballot": 0, "answers": (0,)}
    for block in (None, "ab" * 32):
        body = encode(Report(**given, id=secrets.token_hex(32), block=block))
        answer = Http(running.url).request("POST", "/v1/reports", body, most=10_000)
        assert json.loads(answer.body)["type"].endswith("unknown-block")
    for path in ("/v1/designs/x/block", "/v1/designs/x/blocks", f"/v1/designs/{given['design']}/blocks?after=x"):
        assert Http(running.url).request("GET", path, most=10_000).status == 404


def test_a_page_of_blocks_is_not_much_larger_than_a_megabyte_and_never_empty():
    blocks = [bytes(size) for size in (1000, (1 << 20) - 1000, 1, 3 << 20, 1)]
    assert _page(blocks) == blocks[:2]
    assert _page(blocks[2:]) == blocks[2:3]
    assert _page(blocks[3:]) == blocks[3:4]
    assert _page(blocks[4:]) == blocks[4:]
    assert _page([]) == []


def liar(running, change):
    """A server that shows one device another block."""

    class Liar(Http):
        def request(self, method, path, body=None, *, most):
            answer = super().request(method, path, body, most=most)
            if path.endswith("/block"):
                return Response(200, change(Block.parse(answer.body)).canonical())
            return answer

    return Liar(running.url)


def with_another_fake(block):
    first, second, *rest = block.fakes[0]
    fakes = ((first - 7, second + 7, *rest), *block.fakes[1:])
    return Block(block.design, block.index, block.previous, block.keep, fakes)


def test_behind_a_blind_token_a_block_of_ones_own_is_found_out_before_anything_is_drawn(serve, tmp_path):
    with serve(small_survey(BLOCKS, "blind", 2.0)) as running:
        (invitation,) = running.collector.entrance.invite(1)
        transport = liar(running, with_another_fake)
        client = Client(running.url, tmp_path / "device", transport=transport, invitation=invitation)
        with pytest.raises(PrivacyError, match="not published to everybody"):
            client.answer(PERSON, accept=["blocks"])
        assert client._state.ledger().events == ()
        honest = Client(running.url, tmp_path / "device", invitation=invitation)
        assert honest.answer(PERSON, accept=["blocks"]).delivered


def test_a_block_that_breaks_the_bound_is_refused(running, tmp_path):
    def greedy(block):
        fakes = ((block.fakes[0][0] - 1000, *block.fakes[0][1:]), *block.fakes[1:])
        return Block(block.design, block.index, block.previous, (block.keep[0] + 1000, *block.keep[1:]), fakes)

    client = Client(running.url, tmp_path / "device", transport=liar(running, greedy))
    with pytest.raises(PrivacyError, match="keeps the truth"):
        client.answer(PERSON)
    assert running.collector.store.counts(1) == {}


def test_a_block_of_ones_own_is_found_out_later(running, tmp_path):
    # It keeps the bound, so it is answered.
    transport = liar(running, with_another_fake)
    Client(running.url, tmp_path / "device", transport=transport).answer(PERSON, send=False)
    with pytest.raises(PrivacyError, match="not published to everybody"):
        Client(running.url, tmp_path / "device").follow_blocks()


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (b'"least_fake":', b'"least_fake":-', "zero-weight"),
        (b'"least_fake":', b'"least_fake":9', "wrong-sum"),
        (b'"bits":32', b'"bits":16', "wrong-bits"),
        (b'"cells":4', b'"cells":3', "wrong-cells"),
        (b'"epsilon":"2"', b'"epsilon":"1.9"', "epsilon-exceeded"),
    ],
)
def test_limits_are_verified(old, new, code):
    body = design_body(parse_survey(SURVEY))
    assert old in body
    changed = body.replace(old, new)
    with pytest.raises(RefusedDesignError) as caught:
        verify(changed, design_id(changed))
    assert caught.value.code == code


def test_the_account_is_charged_for_the_worst_block(running):
    client = Client(running.url)
    client.answer(PERSON)
    assert client._state.ledger().spent == client.design.ratio
    assert 1.99 < client.design.epsilon <= 2.0


def test_a_design_in_blocks_is_written_as_its_message_and_read_back():
    body = design_body(parse_survey(SURVEY))
    verified = verify(body, design_id(body))
    design = ServedBlocks(verified)
    assert design.id == verified.plan_id  # without its words, which may be corrected: amendments share their blocks
    again = design_from_bytes(design.canonical(), design.id)
    assert again == design
    assert (again.limits, again.epsilon, again.ballots) == (design.limits, design.epsilon, design.ballots)
    assert str(1 << 62) not in f"{again!r}{again.describe()}"  # how large blocks are is not said
    for served in (design, again):  # called as whoever wrote the survey file calls it
        assert str(served.describe()).splitlines()[3].startswith("Blocks design over ")
        assert repr(served).startswith("<Blocks over ")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"kind":"adaptive"', b'"kind":"mixture"'),
        (b'"cells":4', b'"cells":3'),
        (b'"version":3', b'"version":9'),
        (b'"version":3', b'"version":2'),
    ],
)
def test_a_message_that_is_no_design_in_blocks_is_refused(before, after):
    body = design_body(parse_survey(SURVEY))
    assert before in body
    with pytest.raises(DesignError):
        design_from_bytes(body.replace(before, after))
