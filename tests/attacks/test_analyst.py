"""The analyst: has the token and a login, and asks a running survey for everything, as often as they like.

They want to know which report is whose, from when it came. So they ask every address for all it says, its head and the
length of its body included, after each single report, in every role; and hold what different addresses say, at
different times, against each other. A new address joins by itself. How long an answer takes is not looked at; that
nothing is computed for a report that is not shown follows from what is kept (`dashboard.cache`), and is tested there.
"""

from __future__ import annotations

import http.client
import json
import secrets
import sys
from collections import Counter
from contextlib import closing
from itertools import pairwise
from math import inf
from pathlib import Path

import httpx
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sentences import breaks

from deniable.collection.bearer_tokens import ANALYST, new_token
from deniable.collection.collector import Collector
from deniable.collection.survey_messages import design_body
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.messages import FEWEST_TOGETHER, Report, design_id
from deniable.device.verify import verify
from deniable.errors import RefusedDesignError, SurveyError
from deniable.extensions.blocks.served_blocks import Chain, Tally
from deniable.extensions.paired.match_partners import Matching
from deniable.storage.open_store import FILE
from deniable.storage.sqlite import SqliteStore
from deniable.storage.store import block_of
from deniable.surveys.survey import parse_survey
from deniable.web.api.app import create_app
from deniable.web.dashboard import cache as kept
from deniable.web.http.prometheus_metrics import Figures, Served
from deniable.web.serve import Service, background
from deniable.web.site import site
from small_survey import BLOCKS, PAIRED, small_survey
from waiting import until

KINDS = ("csv", "parquet", "sav", "dta", "svg", "png", "json", "R", "py")
TABLES = "of=a&of=b"
# What may be asked besides a path. Paths and kinds come from the routes themselves.
QUERIES = {
    "/analyst/tables": (TABLES, f"{TABLES}&by=region", "of=a&lang=en"),
    "/analyst/chart.{kind}": ("of=a", f"{TABLES}&by=region", "of=a&plain"),
    "/v1/results": ("", "table=a,b"),
    "/v1/designs/{design}/blocks": ("", "after=0"),
}
MADE = ("/analyst?", "/v1/results", "/analyst/chart.svg")
QUICK = ("/analyst/progress", "/v1/results", "/v1/simulated", "/health")
OPEN = small_survey() + '[[public]]\nname = "region"\ntext = "?"\nchoices = ["north", "south"]\n'
SURVEYS = {"open": OPEN, "blocks": small_survey(BLOCKS), "pairs": small_survey(PAIRED)}


class Watched:
    """A running survey, those who answer it, and one who watches."""

    def __init__(self, text, folder) -> None:
        folder.mkdir(exist_ok=True)
        self.text, self.store = text, SqliteStore(folder / FILE)
        self.collector = Collector(parse_survey(text), self.store, folder=folder)
        self.token = new_token(self.store, ANALYST)
        self.service = Service(self.collector, self.store, self.token)
        self.metrics = Figures(Served.of(self.collector.survey), self.store)
        self.came = 0

    def answer(self, number=1):
        """So many people answer, one after the other; of pairs, with a partner."""
        design = self.collector.design_id
        session = self.collector.session
        for _ in range(number):
            block = None
            if isinstance(session, Chain):
                block = json.loads(self.client.get(f"/v1/designs/{design}/block").content)
            body = Report(
                version=2,
                id=secrets.token_hex(32),
                design=design,
                block=None if block is None else session.current().id,
                ballot=0,
                answers=(self.came * 7 % 2,) * len(self.collector.survey.design.ballots[0]),
                public=(self.came % 2,) * len(self.collector.survey.public),
            )
            if isinstance(session, Matching):
                session.of[design].add(self.came % 2, 1)
                session.close()
            assert self.client.post("/v1/reports", content=encode(body)).status_code == 204
            self.came += 1

    def paths(self):
        """Every address that is there to be asked, with whatever can be put into it."""
        for route in create_app(self.collector, site(self.collector)).routes:
            if "GET" in route.methods:
                named = route.path.replace("{design}", self.collector.design_id)
                named = named.replace("{form}", self.collector._served[self.collector.design_id].verified.message.texts)
                for kind in KINDS if "{kind}" in named else ("",):
                    for query in QUERIES.get(route.path, ("",)):
                        yield f"{named.replace('{kind}', kind)}?{query}"

    def log_in(self):
        same = {"Origin": str(self.client.base_url).rstrip("/")}
        assert self.client.post("/analyst/login", data={"token": self.token}, headers=same).status_code == 303
        (cookie,) = (f"{name}={value}" for name, value in self.client.cookies.items())
        self.client.cookies.clear()
        bearer = {"Authorization": f"Bearer {self.token}"}
        self.roles = {"nobody": {}, "token": bearer, "login": {"Cookie": cookie}, "both": bearer | {"Cookie": cookie}}

    def look(self, paths=None):
        """Everything that every role is told, and what an operator's metrics say."""
        found = {"metrics": self.metrics.text()}
        for path in self.paths() if paths is None else paths:
            for role, headers in self.roles.items():
                if role not in (self.roles if paths is None else ("both",)):
                    continue
                self.plain.request("GET", path, headers=headers)
                answer = self.plain.getresponse()
                body = answer.read()
                assert answer.status < 500, (path, body)
                head = {name.lower(): value for name, value in answer.getheaders() if name.lower() != "date"}
                found[path, role] = answer.status, tuple(sorted(head.items())), body
        return found

    @property
    def shown(self):
        """The state that is shown."""
        return Counter(self.store.counts(self.collector.number, shown=True))

    @property
    def waiting(self):
        """The most reports, to the design or to one of its blocks, that are stored and not shown."""
        groups = Counter()
        for cell, times in (Counter(self.store.counts(self.collector.number)) - self.shown).items():
            groups[block_of(cell) if isinstance(self.collector.session, Chain) else None] += times
        return max(groups.values())


@pytest.fixture
def watch(tmp_path):
    """A function that runs a survey, and lets the analyst in."""
    opened = []

    def start(name, folder="data"):
        found = Watched(SURVEYS[name], tmp_path / folder)
        running = background(found.service)
        found.client = httpx.Client(base_url=running.__enter__(), timeout=300)
        found.plain = http.client.HTTPConnection(found.client.base_url.host, found.client.base_url.port)
        opened.extend((running, found.client, closing(found.plain)))
        found.log_in()
        return found

    yield start
    for each in reversed(opened):
        each.__exit__(None, None, None)


def differences(one, two):
    return {key for key in one | two if one.get(key) != two.get(key)}


@breaks(
    "What is shown of a running survey stands still until twenty more reports to its design can be shown at once; the "
    "end shows as many, or all there are."
)
@pytest.mark.parametrize("name", SURVEYS)
def test_whoever_asks_after_each_report_sees_steps_of_twenty(watch, name):
    watched = watch(name)
    paths = [path for path in watched.paths() if path.partition("?")[0] in QUICK or "/block" in path]
    states, seen = [watched.shown], {}
    for number in range(6 * FEWEST_TOGETHER):
        watched.answer()
        if number % 10 == 0:
            watched.store.seal()  # time is up
        before = watched.shown
        told = watched.look(paths)
        if (after := watched.shown) != states[-1]:
            states.append(after)
        if before == after:  # else the step came while we looked
            known = seen.setdefault(frozenset(after.items()), told)
            # A block comes within a second after a step, and then stays.
            late = {key for key in differences(known, told) if "/block" in key[0]}
            assert differences(known, told) == late
            seen[frozenset(after.items())] = told
    assert len(states) > 2
    for one, two in pairwise(states):
        assert not one - two
        assert (two - one).total() >= FEWEST_TOGETHER
        assert watched.came - two.total() >= 0
    assert watched.store.total(watched.collector.number) - states[-1].total() >= FEWEST_TOGETHER  # for the end


@breaks(
    "What is shown of a running survey stands still until twenty more reports to its design can be shown at once; the "
    "end shows as many, or all there are.",
    "Whatever is shown is one state: pages, files, results, blocks, metrics, whoever asks, whichever worker answers.",
)
@pytest.mark.parametrize("name", SURVEYS)
def test_no_address_tells_any_role_more_than_the_state_that_is_shown(watch, name):
    watched = watch(name)
    nothing = watched.look()
    watched.answer(FEWEST_TOGETHER - 1)  # more than half of a step, and nothing is shown
    watched.store.seal()
    assert differences(nothing, watched.look()) == set()
    watched.answer(3 * FEWEST_TOGETHER)
    watched.store.seal()
    watched.collector.session._read = -inf  # a second passes
    state, first = watched.shown, watched.look()
    assert state.total() > 0
    told = {key[0].partition("?")[0] for key in differences(nothing, first) if key != "metrics"}
    assert {"/analyst", "/analyst/progress", "/analyst/reports.csv", "/v1/results", "/v1/simulated"} <= told
    held = watched.came - state.total()
    for number in range(2 * FEWEST_TOGETHER - 1 - held):
        watched.answer()
        watched.client.post("/v1/reports", content=b"{}")  # turned away
        if number % 3 == 0:
            watched.store.seal()  # time is up
        if number % 12 == 0:
            assert differences(first, watched.look()) == set()
    assert watched.shown == state
    # The end shows everything, at once, and no fewer than any step.
    end = watched.client.post(
        "/analyst/close", headers=watched.roles["login"] | {"Origin": str(watched.client.base_url)}
    )
    assert end.status_code == 303
    told = watched.client.get("/analyst/progress", headers=watched.roles["login"]).json()
    assert told == {"reports": watched.came, "open": False}
    assert watched.came - state.total() >= FEWEST_TOGETHER
    until(lambda: watched.shown.total() == watched.came)


@breaks("A restart shows nothing that was not shown before, and neither does a backup that is put back.")
@pytest.mark.parametrize("name", SURVEYS)
def test_neither_a_restart_nor_a_backup_shows_more(tmp_path, watch, name):
    watched = watch(name)
    watched.answer(4 * FEWEST_TOGETHER - 7)
    watched.store.seal()
    while watched.waiting + 3 >= 2 * FEWEST_TOGETHER:  # on a slow machine it sealed by itself in between
        watched.answer()
        watched.store.seal()
    watched.answer(3)  # in the tail, and too few for a step
    state = watched.shown
    assert state.total() > 0
    (tmp_path / "again").mkdir()
    watched.store.copy(tmp_path / "again" / FILE)
    collector = Collector(parse_survey(watched.text), watched.store)  # another worker, from the beginning
    found = [collector.shown.counts(collector.number)]
    for _ in range(2):
        store = SqliteStore(tmp_path / "again" / FILE)
        again = Collector(parse_survey(watched.text), store)
        found.append(again.shown.counts(again.number))
        assert sum(store.counts(again.number).values()) == watched.came
        store.tend()
        again.close()  # seals the tail
    assert found == [state] * 3


@breaks(
    "A block takes at least twenty reports, and its fakes follow from what is shown: blocks tell the order of reports "
    "in these steps, and no other."
)
def test_the_fakes_of_a_block_follow_from_what_was_shown(watch):
    watched = watch("blocks")
    chain = watched.collector.sessions[watched.collector.design_id]
    shown = [watched.shown]
    for number in range(10 * FEWEST_TOGETHER):
        watched.answer()
        if number % 10 == 0:
            watched.store.seal()
        if watched.shown != shown[-1]:
            shown.append(watched.shown)
            chain._read = -inf  # a second passes, and somebody asks for the open block
            chain.current()
    assert len(chain.blocks) > 2
    for block in chain.blocks[1:]:
        assert block.fakes in [following(chain, state, block.index) for state in shown]
    names = Counter(cell[2:66] for cell, n in watched.store.counts(watched.collector.number).items() for _ in range(n))
    assert all(names[block.id] >= 40 for block in chain.blocks[:-1])  # as this design says, which is not below twenty


def following(chain, state, index):
    """The fakes of a block, as they follow from the blocks before it and the reports that are shown."""
    tally = Tally(chain.design)
    for block in chain.blocks[:index]:
        tally.keep_apart(block, {cell: n for cell, n in state.items() if cell[2:66] == block.id})
    return tally.next_block(chain.blocks[index - 1]).fakes


@breaks(
    "A block takes at least twenty reports, and its fakes follow from what is shown: blocks tell the order of reports "
    "in these steps, and no other."
)
@pytest.mark.parametrize("size", [1, FEWEST_TOGETHER - 1])
def test_smaller_blocks_are_refused_wherever_they_are_read(size):
    text = small_survey(BLOCKS.replace("40", str(size)))
    with pytest.raises(SurveyError, match=f"{size} reports a block; at least 20"):
        parse_survey(text)
    whole = design_body(parse_survey(small_survey(BLOCKS)))
    body = whole.replace(b'"size":40', b'"size":%d' % size)
    assert body != whole
    with pytest.raises(RefusedDesignError) as refused:
        verify(body, design_id(body))
    assert refused.value.code == "malformed"


@breaks("Nothing is computed for a report that is not shown.")
def test_what_was_made_of_a_state_is_not_made_again_until_the_next(watch, monkeypatch):
    made = []
    make = kept.Kept._make

    async def counting(self, name, function):
        made.append(name)
        return await make(self, name, function)

    monkeypatch.setattr(kept.Kept, "_make", counting)
    watched = watch("open")
    watched.answer(3 * FEWEST_TOGETHER)
    watched.store.seal()
    paths = [path for path in watched.paths() if path.startswith(MADE) and "by=" not in path]
    watched.look(paths)
    before = len(made)
    assert before > 0
    state = watched.shown
    watched.answer(5)
    watched.look(paths)
    assert (watched.shown, made[before:]) == (state, [])
