"""An extension is one file: a system that stands in it is served, answered, estimated, exported and described."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from copied_tree import copied_tree, run

HERE = Path(__file__).parent


@pytest.mark.slow
def test_an_extension_that_is_one_file_is_served_answered_estimated_and_exported(tmp_path):
    extension = HERE.joinpath("first_come.py").read_text(encoding="utf-8")
    tree = copied_tree(tmp_path / "tree", {"extensions/first_come.py": extension})
    found = json.loads(run(HERE / "collect_first_come.py", tmp_path, environment=tree).splitlines()[-1])
    assert found["kind"] == "first_come"
    assert found["late"] == [2, 2]  # of 32 people, for 30 of whom there was room
    assert found["results"] == [30, ["sleeps", "smokes"]]
    assert found["exported"] == ["EarlyReports", 30, 2, 1.0]
    assert found["reason"].endswith("; 2 people came too late")
    assert "Only the first 30 reports were taken, each truth with chance 0.5000 or more." in found["methods"]
