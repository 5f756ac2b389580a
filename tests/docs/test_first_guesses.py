"""Small programs as people write them from the documentation's headings alone: each runs as it is."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

PROGRAMS = sorted((Path(__file__).parent / "first_guesses").glob("*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_the_program_runs(program, capsys):
    runpy.run_path(str(program), run_name="__main__")
    assert "Traceback" not in capsys.readouterr().out


def test_there_are_two_for_every_role():
    roles = [program.stem.split("_")[0] if not program.stem.startswith("data") else "data" for program in PROGRAMS]
    assert {role: roles.count(role) for role in roles} == dict.fromkeys(
        ("data", "operator", "sociologist", "statistician", "student"), 2
    )
