"""The search for changes that no test notices: what it changes, what it finds, and that it leaves every file alone."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mutants.command import chosen, equivalents
from mutants.mutation import mutants, mutated
from mutants.table import SUBJECTS
from mutants.trial import place_of

ROOT = Path(__file__).resolve().parent.parent.parent
TINY = '''"""A module to be changed."""
from __future__ import annotations

SHIFT = 3


def graded(points: int, *, strict: bool = False) -> str:
    """Docstrings are not changed."""
    if points < 0:
        raise ValueError(f"{points} is below {0}")
    return "good" if points + SHIFT >= 10 and not strict else "poor"
'''


def changes(source):
    return {(mutant.before, mutant.after) for mutant in mutants(source)}


def test_every_kind_of_change_is_made():
    returned = "return 'good' if points + SHIFT >= 10 and (not strict) else 'poor'"
    assert {
        ("SHIFT = 3", "SHIFT = 4"),
        ("SHIFT = 3", "SHIFT = 2"),
        ("if points < 0:", "if points <= 0:"),
        ("if points < 0:", "if points >= 0:"),
        ("if points < 0:", "if True:"),
        ("if points < 0:", "if False:"),
        (returned, "return None"),
        (returned, returned.replace("+", "-")),
        (returned, returned.replace(">=", ">")),
        (returned, returned.replace(" and ", " or ").replace("(not strict)", "not strict")),
        (returned, returned.replace("(not strict)", "strict")),
        (returned, returned.replace("good", "goodx")),
    } <= changes(TINY)
    assert ("raise ValueError(f'{points} is below {0}')", "pass") in changes(TINY)


def test_what_decides_nothing_is_left_alone():
    assert not changes('"""A docstring."""\nfrom x import y\n')
    assert not changes("if TYPE_CHECKING:\n    z = 1\n")
    assert not changes("Name: TypeAlias = 'word' | 3\n")
    assert not changes("def plot(ax):\n    ax.line(1)\n")
    assert changes("raise Wrong('word', 3)\n") == {("raise Wrong('word', 3)", "pass")}


def test_a_change_keeps_its_name_when_lines_move_and_its_choice_when_others_change():
    moved = TINY.replace("SHIFT = 3", "\n\nSHIFT = 3\nOTHER = 'word'")
    before, after = ({mutant.key for mutant in mutants(text)} for text in (TINY, moved))
    assert before < after
    picked = [{mutant.key for mutant in chosen(text, "tiny", 5)} for text in (TINY, TINY + "\n\n", moved)]
    assert picked[0] == picked[1]
    assert len(picked[0]) == 5
    assert len(picked[0] & picked[2]) >= 4  # the new one may have taken one place


def test_the_same_statement_twice_has_two_names():
    found = mutants("def f(x):\n    x += 1\n    x += 1\n")
    assert len({mutant.key for mutant in found}) == len(found) == 8


def test_each_change_compiles_and_changes_something():
    for mutant in mutants(TINY):
        tree = mutated(TINY, mutant)
        compile(tree, "tiny", "exec")
        assert ast.unparse(tree) != ast.unparse(ast.parse(TINY))


@pytest.mark.parametrize("name", SUBJECTS)
def test_the_table_names_what_is_there(name):
    assert all((ROOT / test.partition("::")[0]).exists() for test in SUBJECTS[name].tests)
    source = place_of(SUBJECTS[name].module).read_text(encoding="utf-8")
    known = equivalents().get(name, {})
    stale = known.keys() - {mutant.key for mutant in mutants(source)}
    assert not stale, f"equivalent.toml excuses what is not there any more; name it anew or take it out: {stale}"
    assert all(len(reason.split()) > 3 for reason in known.values())


def test_no_module_is_excused_that_is_not_in_the_table():
    assert equivalents().keys() <= SUBJECTS.keys()


WEAK = """
import tiny

def test_points():
    assert tiny.graded(9) == "good"
"""
STRONG = """
import pytest
import tiny

@pytest.mark.parametrize(("points", "grade"), [(0, "poor"), (6, "poor"), (7, "good"), (9, "good")])
def test_points(points, grade):
    assert tiny.graded(points) == grade
    assert tiny.graded(points, strict=True) == "poor"

def test_refusal():
    with pytest.raises(ValueError, match="below"):
        tiny.graded(-1)
"""
RUN = """
import sys
from pathlib import Path
sys.path[:0] = [sys.argv[1], "."]
from mutants import command
from mutants.table import Subject
command.SUBJECTS = {"tiny": Subject("tiny", ("test_tiny.py",))}
command.EQUIVALENT = Path("equivalent.toml")
sys.exit(command.main(["--workers", "2", "--most", "6", *sys.argv[2:]]))
"""


def run(folder, *options):
    command = [sys.executable, "-c", RUN, str(ROOT / "tests"), *options]
    quick = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, cwd=folder, env=quick, capture_output=True, text=True, check=False, timeout=300)


def test_survivors_are_found_noticed_by_better_tests_and_no_file_is_touched(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "tiny.py").write_text(TINY)
    (tmp_path / "test_tiny.py").write_text(WEAK)
    (tmp_path / "equivalent.toml").write_text("")
    weak = run(tmp_path)
    assert weak.returncode == 1, weak.stdout + weak.stderr
    assert "6 mutants tried, 0 change nothing" in weak.stdout
    assert "or more survive in tiny" in weak.stdout
    log = tmp_path / "build" / "mutants" / "tiny.jsonl"
    before = log.read_text()
    again = run(tmp_path)
    assert again.returncode == 1
    assert "running its tests" not in again.stdout  # taken up where it ended
    assert log.read_text() == before
    (tmp_path / "test_tiny.py").write_text(STRONG)
    strong = run(tmp_path, "--survivors")
    assert strong.returncode == 0, strong.stdout + strong.stderr
    assert "0 survived (0.0%)" in strong.stdout
    assert (tmp_path / "tiny.py").read_text() == TINY
    assert sorted(path.name for path in log.parent.iterdir()) == ["tiny.jsonl"]
