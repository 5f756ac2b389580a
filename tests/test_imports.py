"""What an import loads: a respondent's device must stay small, and `import deniable` costs nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import deniable

HEAVY = {"scipy", "pyarrow", "pandas", "matplotlib", "narwhals"}
ON_A_DEVICE = ["deniable.channels.krr", "deniable.privacy.ledger", "deniable.designs.base", "deniable.domain"]


def loaded_by(code):
    """The top-level modules that a fresh interpreter has loaded after running some code."""
    script = f"import sys\n{code}\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("module", ON_A_DEVICE)
def test_what_a_device_needs_loads_nothing_heavy(module):
    assert not HEAVY & loaded_by(f"import {module}")


def test_a_device_can_check_and_answer_a_question_without_anything_heavy():
    answer = (
        "from deniable.channels.codec import channel_from_dict\n"
        "from deniable.domain import Domain\n"
        "from deniable.privacy.ledger import Asked, Ledger\n"
        "channel = channel_from_dict({'kind': 'krr', 'k': 2, 'other': 17626, 'bits': 16})\n"
        "Ledger(limit=2.0).charge(Asked('survey', 0, channel.ratio))\n"
        "channel.randomize(Domain({'smokes': ['no', 'yes']})['smokes'].code('yes'))"
    )
    assert not HEAVY & loaded_by(answer)


def test_importing_the_package_is_lazy():
    assert not {"numpy", "cryptography", "msgspec", *HEAVY} & loaded_by("import deniable")


def as_checkers_see_it():
    """Where each public name comes from, and the list of them, in the half of the door that only checkers read."""
    door = ast.parse(Path(deniable.__file__).read_text(encoding="utf-8"))
    (half,) = [statement.body for statement in door.body if isinstance(statement, ast.If)]
    imports = [statement for statement in half if isinstance(statement, ast.ImportFrom)]
    (listed,) = [statement.value for statement in half if isinstance(statement, ast.Assign)]
    return {(name.name, name.asname): line.module for line in imports for name in line.names}, ast.literal_eval(listed)


def test_checkers_see_the_door_that_opens():
    imports, listed = as_checkers_see_it()
    # `import Y as Y` is what makes a name public to a checker.
    assert imports == {(name, name): f"deniable.{home}" for name, home in deniable._HOME.items()}
    assert sorted(listed) == deniable.__all__


@pytest.mark.parametrize("name", deniable.__all__)
def test_every_public_name_resolves_and_is_listed(name):
    assert getattr(deniable, name).__name__ == name
    assert name in dir(deniable)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'deniable' has no attribute 'oracle'"):
        _ = deniable.oracle
