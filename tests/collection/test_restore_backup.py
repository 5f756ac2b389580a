"""What was revoked or closed stays so, in whatever order copies are made, secrets end, and a copy is put back."""

from __future__ import annotations

import itertools
import shutil

import pytest
from click.testing import CliRunner
from psycopg.conninfo import conninfo_to_dict
from starlette.requests import Request
from starlette.responses import Response

from deniable.cli.app import app
from deniable.cli.collect.serve import found_there
from deniable.collection import bearer_tokens as tokens
from deniable.collection.bearer_tokens import ANALYST, LINK, opens
from deniable.storage.open_store import FILE, open_store
from deniable.web.dashboard.login import is_known, let_in, new_link
from deniable.web.serve import Service
from small_survey import question, survey_file

SURVEY = survey_file("smoking", question("smokes", "Do you smoke?", "yes-no"), epsilon=1.0)


def run(*arguments):
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exit_code == 0, done.output


def asking(cookie):
    """A request that comes with the cookie of an answer."""
    value = cookie.headers["set-cookie"].split(";")[0]
    return Request({"type": "http", "headers": [(b"cookie", value.encode())]})


class Secrets:
    """Everything that ever opened something."""

    def __init__(self):
        self.tokens, self.links, self.cookies = [], [], []

    def add(self, store, token):
        self.tokens.append(token)
        self.links.append(new_link(store).partition("=")[2])
        self.cookies.append(asking(let_in(store, Response(), secure=False)))

    def good(self, store):
        """How many of each open something."""
        return (
            sum(opens(store, token, ANALYST) for token in self.tokens),
            sum(opens(store, link, LINK) for link in self.links),
            sum(is_known(store, cookie) for cookie in self.cookies),
        )


STEPS = ("backup", "revoke", "close")


@pytest.mark.parametrize("order", list(itertools.permutations(STEPS)), ids="-".join)
@pytest.mark.parametrize("keeps_folder", [True, False])
def test_whatever_ended_stays_so_after_a_restore(tmp_path, order, keeps_folder):
    survey, data, copy = tmp_path / "survey.toml", tmp_path / "data", tmp_path / "copy.sqlite"
    survey.write_text(SURVEY)
    known = Secrets()

    def serve(**options):
        service = Service.open(survey, data, **options)
        told = " ".join(found_there(service, data))
        if service.token is not None:
            known.add(service.store, service.token)
        return service, told

    service, told = serve()
    assert "copy" not in told
    service.collector.close()
    for step in order:
        if step == "backup":
            run("backup", data, copy)
        elif step == "revoke":
            service, told = serve(new_token=True)
            assert known.good(service.store) == (1, 1, 1)  # the new ones
            service.collector.close()
        else:
            run("close", survey, "--data", data)

    # By the book: what begins with "reports." goes, the copy comes in its place. Or everything is lost.
    for path in list(data.iterdir()):
        if not keeps_folder or path.name.startswith("reports."):
            path.unlink()
    shutil.copy(copy, data / FILE)
    service, told = serve()
    assert "put back from a copy" in told
    assert known.good(service.store) == (1, 1, 1)  # those that were made just now
    is_known_closed = keeps_folder or order.index("close") < order.index("backup")
    assert service.collector.is_open != is_known_closed
    assert ("deniable close" in told) != is_known_closed
    service.collector.close()
    if not is_known_closed:
        run("close", survey, "--data", data)
    service, told = serve()
    assert not service.collector.is_open
    assert (service.token, "copy" in told) == (None, False)  # it is told once
    service.collector.close()


def test_a_copied_folder_does_not_know_that_it_is_one_and_a_new_token_ends_what_it_brings_back(tmp_path):
    survey, data, aside = tmp_path / "survey.toml", tmp_path / "data", tmp_path / "aside"
    survey.write_text(SURVEY)
    known = Secrets()
    service = Service.open(survey, data)
    known.add(service.store, service.token)
    service.collector.close()
    shutil.copytree(data, aside)
    Service.open(survey, data, new_token=True).collector.close()
    shutil.rmtree(data)
    aside.rename(data)
    for options, good in (({}, (1, 1, 1)), ({"new_token": True}, (0, 0, 0))):  # as the page on backups says
        service = Service.open(survey, data, **options)
        assert not service.is_restored
        assert known.good(service.store) == good
        service.collector.close()


def test_a_copy_opens_nothing(tmp_path):
    store = open_store(tmp_path / "data")
    known = Secrets()
    known.add(store, tokens.new_token(store, ANALYST))
    store.save("something", b"else")
    (tmp_path / "copy").mkdir()
    store.copy(tmp_path / "copy" / FILE)
    store.close()
    copy = open_store(tmp_path / "copy")
    assert known.good(copy) == (0, 0, 0)
    assert (copy.saved("something"), copy.saved_under("login "), copy.tokens(ANALYST)) == (b"else", {}, [])
    copy.close()


def test_logins_that_are_over_are_forgotten(tmp_path):
    store = open_store(tmp_path)
    first = tokens.new_login(store, now=100, ends=200)
    second = tokens.new_login(store, now=150, ends=250)
    assert tokens.is_login(store, first, 200)
    assert not tokens.is_login(store, first, 201)  # nobody makes theirs last longer
    third = tokens.new_login(store, now=200, ends=300)
    assert not tokens.is_login(store, first, 200)
    assert tokens.is_login(store, second, 250)
    assert tokens.is_login(store, third, 300)
    assert len(store.saved_under("login ")) == 2
    tokens.end_login(store, second)
    assert not tokens.is_login(store, second, 250)
    store.close()


def test_a_database_that_was_put_back_knows_it(cluster, database, tmp_path):
    survey = tmp_path / "survey.toml"
    survey.write_text(SURVEY)
    known = Secrets()
    service = Service.open(survey, tmp_path / "data", database)
    assert not service.is_restored
    known.add(service.store, service.token)
    service.collector.close()
    # As a dump that is put back is: every row the same, in another database.
    with cluster.database() as elsewhere:
        old, new = (conninfo_to_dict(address)["dbname"] for address in (database, elsewhere))
        cluster.run(f"DROP DATABASE {new}")
        cluster.run(f"CREATE DATABASE {new} TEMPLATE {old}")
        for is_first in (True, False):
            service = Service.open(survey, tmp_path / "elsewhere", elsewhere)
            assert service.is_restored == (service.token is not None) == is_first
            assert known.good(service.store) == (0, 0, 0)
            service.collector.close()
