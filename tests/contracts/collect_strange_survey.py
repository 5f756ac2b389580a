"""A survey whose questions or design are of kinds that no program was made for: served, answered, estimated, exported.

Run by the test of kinds that are one file, in a copy of the package that holds these files.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import httpx

import deniable as dn
from deniable.cli.app import app
from deniable.collection.simulate_respondents import Crowd, Population
from deniable.surveys.survey import read_survey
from deniable.web.serve import Service, background

PEOPLE = 60


def collect(folder: Path, node: str, answers: dict[str, object]) -> dict[str, object]:
    """Everything that happens to a survey, and what is said on the way; a typed number is {"number": "1994"}."""
    found: dict[str, object] = {}
    path, data = folder / "survey.toml", folder / "data"
    survey = read_survey(path)
    found["items"] = [[item.name, item.kind, [option.value for option in item.options]] for item in survey.questions]
    service = Service.open(path, data)
    with background(service) as url:
        with dn.Client(url, state=folder / "device") as client:
            found["python"] = client.answer({name: _plain(each) for name, each in answers.items()}).delivered
        program = Path(__file__).with_name("answer_strange_survey.mjs")
        static = Path(dn.__file__).parent / "web" / "static"
        asked = [node, program, static, url, json.dumps(answers)]
        done = subprocess.run(asked, check=True, capture_output=True, text=True)
        found["node"] = json.loads(done.stdout)
        with closing(Crowd(url, batch=PEOPLE)) as crowd:
            population = Population(crowd.design, seed=1)
            for _ in range(PEOPLE):
                crowd.answer(population.person())
            crowd.flush()
        service.store.compact(service.collector.numbers)
        allowed = {"Authorization": f"Bearer {service.token}"}
        told = httpx.get(f"{url}/v1/results", headers=allowed, timeout=60).json()
        found["results"] = {
            "*".join(table["attributes"]): [cell["categories"] for cell in table["cells"]] for table in told["tables"]
        }
    for name in ("reports.csv", "analysis.py", "reports.parquet"):
        app(["export", str(data), "-o", str(folder / name)], standalone_mode=False)
    exported = dn.read_reports(folder / "reports.parquet")
    first, said = next(iter(answers.items()))
    shares = dn.estimate(exported, [first])
    found["exported"] = [exported.n, list(shares.table.domain[first].categories), round(float(shares.values.sum()), 9)]
    found["script"] = str(said) in (folder / "analysis.py").read_text(encoding="utf-8")
    found["asked"] = [question.name for question in exported.design.questions]
    return found


def _plain(answer: object) -> object:
    return float(answer["number"]) if isinstance(answer, dict) else answer


if __name__ == "__main__":
    sys.stdout.write("\n" + json.dumps(collect(Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]))))
