"""What commits may say: good and bad messages, alone and in a repository."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[1] / ".ci" / "commits"
WHY = "Whoever has both disguises of a row averages them, and learns more than was promised."

GOOD = [
    "Disguise a table or a graph once",
    "Feed a store in steps of twenty",
    "Bring every clock to the same second",
    "Pass what was measured: weights, tables, counts",
    "Discuss why a floor is no promise",
    "Say 'no' where `plan` is asked for pairs",
    "Merge the two programs that write SPSS files",
]
BAD = {
    "feat: disguise a table once": "no label before the subject: leave 'feat' out",
    "fix(web)!: close what was opened": "no label",
    "Web: close what was opened": "no label",
    "WIP": "work in progress",
    "wip disguise": "work in progress",
    "fixup! Disguise a table once": "work in progress",
    "Disguise a table once.": "ends with a dot",
    "disguise a table once": "begins with 'disguise'; begin with a verb and a capital letter",
    "Disguise": "begins with 'Disguise'",
    "#12 is done": "begins with '#12'",
    "Fixed the disguise": "'Fixed' is no plain form",
    "Added a disguise": "'Added' is no plain form",
    "Adds a disguise": "'Adds' is no plain form",
    "Adding a disguise": "'Adding' is no plain form",
    "Disguise " + "a table, " * 12: "the subject has 117 characters",
    "": "begins with ''",
}
BODIES = {
    "": False,
    "Two are averaged.": False,  # too short
    "two disguises of one row are averaged by whoever has both": False,  # no sentence
    "Co-authored-by: Somebody who helped a lot <somebody@example.org>.": False,
    WHY: True,
    f"{WHY}\n\nSigned-off-by: Somebody <somebody@example.org>": True,
    "Whoever has both\ndisguises of a row\naverages them (twice).": True,
}


@pytest.fixture(scope="module")
def checker():
    """The program as a module; nothing of it is kept beside it."""
    loader = SourceFileLoader("commits", str(PROGRAM))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("commits", loader))
    exec(compile(PROGRAM.read_text(encoding="utf-8"), PROGRAM, "exec"), module.__dict__)  # noqa: S102 - it is ours
    return module


@pytest.mark.parametrize("subject", GOOD)
def test_a_good_subject_is_accepted(checker, subject):
    assert checker.faults(subject, WHY) == []


@pytest.mark.parametrize("subject", BAD)
def test_a_bad_subject_is_told_what_is_wrong(checker, subject):
    (told, *more) = checker.faults(subject, WHY)
    assert BAD[subject] in told
    assert more == []


@pytest.mark.parametrize("body", BODIES)
def test_the_body_says_why_in_a_sentence(checker, body):
    assert (checker.faults("Disguise a table once", body) == []) == BODIES[body]


class Repository:
    """A repository of its own, with the program in it, that knows nothing of this machine's settings."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / ".ci").mkdir(parents=True)
        shutil.copy(PROGRAM, folder / ".ci")
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        who = {f"GIT_{role}_{what}": "somebody" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        self.environment = clean | who | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}

    def git(self, *arguments: str) -> str:
        asked = ["git", "-C", str(self.folder), *arguments]
        return subprocess.run(asked, check=True, capture_output=True, text=True, env=self.environment).stdout.strip()

    def commit(self, subject: str, body: str = WHY) -> str:
        self.git("commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", f"{subject}\n\n{body}")
        return self.git("rev-parse", "HEAD")

    def check(self, *arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, str(self.folder / ".ci" / "commits"), *arguments],
            check=False,
            capture_output=True,
            text=True,
            env=self.environment,
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def repository(tmp_path):
    made = Repository(tmp_path / "one")
    made.git("init", "-q", "-b", "main")
    return made


def test_commits_since_a_base_are_checked_but_for_merges(repository):
    base = repository.commit("whatever was before.", "")
    repository.commit("Disguise a table once")
    repository.git("checkout", "-q", "-b", "aside", base)
    repository.commit("Show a running survey in steps")
    repository.git("checkout", "-q", "main")
    repository.git("merge", "-q", "--no-ff", "-m", "merged.", "aside")
    assert repository.check(base) == (0, f"commits: 2 since {base[:9]}, 0 to be said anew\n")
    wrong = repository.commit("Fixed it.", "")
    code, told = repository.check(base)
    assert code == 1
    assert f"{wrong[:7]} Fixed it.\n    'Fixed' is no plain form" in told
    assert "    the subject ends with a dot" in told
    assert "    the body says why" in told
    assert told.endswith(f"commits: 3 since {base[:9]}, 1 to be said anew: CONTRIBUTING.md shows three good ones\n")


def test_a_base_that_is_not_there_is_refused(repository):
    repository.commit("Disguise a table once")
    assert repository.check("0123456789") == (
        2,
        "commits: 0123456789 is no commit that this one comes after; name another\n",
    )


def test_a_history_that_does_not_reach_back_is_let_be(repository):
    for subject in ("whatever.", "Fixed it."):
        repository.commit(subject, "")
    shallow = Repository(repository.folder.parent / "two")
    shutil.rmtree(shallow.folder / ".ci")
    repository.git("clone", "-q", "--depth", "1", repository.folder.as_uri(), str(shallow.folder / "clone"))
    shallow.folder = shallow.folder / "clone"
    (shallow.folder / ".ci").mkdir()
    shutil.copy(PROGRAM, shallow.folder / ".ci")
    code, told = shallow.check()
    assert (code, "does not reach back" in told) == (0, True)


def test_without_a_history_there_is_nothing_to_check(tmp_path):
    code, told = Repository(tmp_path / "unpacked").check()
    assert (code, "no history here" in told) == (0, True)


def test_those_that_are_shown_as_good_are(checker):
    contributing = (PROGRAM.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```text\n(.*?)\n```$", contributing.partition("## Commits")[2], re.MULTILINE | re.DOTALL)
    assert [checker.faults(*message.split("\n\n", 1)) for message in shown] == [[], [], []]
