"""What machines run after a change is what anybody can run: every step of a workflow is a make target."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.y*ml"))
SETUP = {"actions/checkout", "actions/setup-java", "actions/setup-python"}
MATRIX = re.compile(r"\$\{\{ matrix\.(?P<name>\w+) \}\}")


def targets():
    """What can be made."""
    return set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def commands(job):
    """What the steps of a job run, once for each value of the matrix they name."""
    for step in job["steps"]:
        line = step.get("run", "")
        named = MATRIX.search(line)
        values = job["strategy"]["matrix"][named["name"]] if named else [""]
        yield from (MATRIX.sub(str(value), line) for value in values if line)


def problems(text):
    """What a workflow does besides setting up and making targets."""
    found = []
    for job in yaml.safe_load(text)["jobs"].values():
        found += [command for command in commands(job) if not re.fullmatch(r"make [a-z-]+", command)]
        found += [command for command in commands(job) if command.removeprefix("make ") not in targets()]
        used = [step["uses"].partition("@")[0] for step in job["steps"] if "uses" in step]
        found += [action for action in used if action not in SETUP]
        found += [str(step) for step in job["steps"] if len({"run", "uses"} & set(step)) != 1 or "env" in step]
    return found


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_every_step_of_a_workflow_is_a_make_target(workflow):
    assert problems(workflow.read_text(encoding="utf-8")) == []


def test_the_workflows_run_the_tests():
    runs = [yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"] for path in WORKFLOWS]
    assert "make test" in {command for jobs in runs for job in jobs.values() for command in commands(job)}


@pytest.mark.parametrize(
    "step",
    ["run: pip install .", "run: make test && echo done", "run: make nothing", "uses: someone/action@v1", "name: none"],
)
def test_another_step_is_found(step):
    assert problems(f"jobs: {{one: {{steps: [{{{step}}}]}}}}")
