"""The respondent's page as it is served: its words, its policy, its files."""

from __future__ import annotations

import base64
import hashlib
import re
from contextlib import ExitStack
from datetime import UTC, datetime

import httpx
import pytest

from deniable.collection import verify
from deniable.collection.collector import Collector
from deniable.collection.problems import PROBLEMS
from deniable.collection.storage.sqlite import SqliteStore
from deniable.designs import block
from deniable.surveys.example import example_text
from deniable.surveys.survey import parse_survey
from deniable.surveys.words import SENTENCES, WORDS
from deniable.web.assets import HASHES, PROGRAM
from deniable.web.pages import choose
from deniable.web.serve import Service, background


@pytest.fixture
def visit(tmp_path):
    """A function that serves a survey and gives a client of its pages."""
    with ExitStack() as stack:

        def start(survey=None, **options):
            store = SqliteStore(tmp_path / "r.sqlite")
            collector = Collector(parse_survey(survey or example_text()), store, **options)
            url = stack.enter_context(background(Service(collector, store, None)))
            return stack.enter_context(httpx.Client(base_url=url))

        yield start


def test_the_page_lets_nothing_in_and_no_form_out(visit):
    page = visit().get("/")
    policy = dict(part.strip().partition(" ")[::2] for part in page.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["form-action"] == "'none'"
    assert policy["frame-ancestors"] == "'none'"
    assert {policy[f"{kind}-src"] for kind in ("script", "style", "img", "connect")} == {"'self'"}
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cache-control"] == "no-store"
    assert "set-cookie" not in page.headers
    assert not re.search(r"<style|style=|<script(?! type=\"module\" src=)|\son[a-z]+=", page.text)
    assert all(address[0] in "/?" for address in re.findall(r"(?:src|href|action)=\"([^\"]*)", page.text))


def test_the_page_runs_exactly_the_published_program(visit):
    client = visit()
    page = client.get("/").text
    hashes = client.get(f"/static/{HASHES}").text
    for name in PROGRAM:
        digest = hashlib.sha256(client.get(f"/static/{name}").content)
        promised = f'="/static/{name}" integrity="sha256-{base64.b64encode(digest.digest()).decode()}"'
        assert page.count(promised) == 1
        assert digest.hexdigest() in page
        assert f"{digest.hexdigest()}  {name}\n" in hashes
    assert hashes.count("\n") == len(PROGRAM)


def test_files_are_asked_for_again_and_answered_unchanged(visit):
    client = visit()
    scripts = [(name, "text/javascript") for name in PROGRAM]
    for name, kind in (*scripts, ("style.css", "text/css"), ("icon.svg", "image/svg+xml")):
        first = client.get(f"/static/{name}")
        assert first.headers["content-type"].startswith(kind)
        assert first.headers["cache-control"] == "no-cache"
        again = client.get(f"/static/{name}", headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    ("query", "header", "language"),
    [
        ("", "", "en"),
        ("", "de-CH,de;q=0.9,en;q=0.8", "de"),
        ("", "fr;q=1.0, xx;q=abc", "en"),
        ("?lang=de", "en", "de"),
        ("?lang=<script>", "", "en"),
    ],
)
def test_the_respondents_language(visit, query, header, language):
    page = visit().get(f"/{query}", headers={"Accept-Language": header}).text
    assert f'<html lang="{language}">' in page
    assert WORDS["begin"][language] in page
    assert "<script>" not in page


def test_the_nearest_language():
    assert choose(["en", "pt-BR"], ["pt"]) == "pt-BR"
    assert choose(["en", "pt", "pt-BR"], ["pt-BR"]) == "pt-BR"


def test_a_survey_says_it_in_its_own_words(visit):
    own = example_text().replace("[texts]", '[texts]\nbegin = { en = "Off <we> go", de = "Los" }')
    client = visit(own)
    assert "Off &lt;we&gt; go" in client.get("/").text
    assert ">Los</button>" in client.get("/?lang=de").text
    # Only what differs travels with the form.
    assert set(client.get("/v1/survey").json()["texts"]) == {"welcome", "thanks", "begin"}


def test_a_language_without_words_falls_back_to_english(visit, survey_text):
    client = visit(survey_text.replace('title = "Smoking"', 'title = "Fumer"\nlanguages = ["fr"]'))
    page = client.get("/").text
    assert '<html lang="fr">' in page
    assert WORDS["how_it_works"]["en"].split(".")[0] in page


def test_every_word_is_there_in_both_languages_with_the_same_places():
    for name, texts in WORDS.items():
        places = [sorted(re.findall(r"\{[a-z]+\}", text)) for text in texts.values()]
        assert set(texts) == {"en", "de"}, name
        assert places[0] == places[1], name


def test_every_reason_and_every_problem_has_a_sentence_in_the_respondents_language():
    codes = " ".join(SENTENCES.values()).split()
    assert len(set(codes)) == len(codes)
    assert set(SENTENCES) <= set(WORDS)
    reasons = {line.split("`")[1] for line in verify.__doc__.splitlines() if line.startswith("`")}
    blocks = set(re.findall(r'"([a-z]+)"', f"{block.check.__doc__} {block.check_chain.__doc__}"))
    # What a collector may say to a respondent's device; the others are for analysts and for what is no device.
    others = {"unauthorized", "not-found", "method-not-allowed"}
    assert reasons | blocks | set(PROBLEMS) - others <= set(codes)


def test_a_sentence_may_be_said_otherwise(visit, survey_text):
    page = visit(survey_text + '[texts]\nproblem_used = "Too late, <friend>."\n').get("/").text
    assert '<p data-codes="used conflict">Too late, &lt;friend&gt;.</p>' in page


def test_a_closed_survey_says_so_and_runs_no_program(visit, survey_text):
    closed = survey_text.replace("epsilon = 1.0", "epsilon = 1.0\ncloses = 2020-01-01T00:00:00Z")
    page = visit(closed, now=lambda: datetime(2021, 1, 1, tzinfo=UTC)).get("/").text
    assert WORDS["closed"]["en"] in page
    assert "<script" not in page
