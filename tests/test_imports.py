"""What an import loads: a respondent's device must stay small, and `import deniable` costs nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import deniable
from deniable.cli.new import example_text

HEAVY = {"scipy", "pyarrow", "pandas", "matplotlib", "narwhals"}
SHARED = {"deniable"} | {f"deniable.{name}" for name in ("_public", "errors", "frozen", "keywords", "text", "version")}


def loaded_by(code):
    """The top-level modules that a fresh interpreter has loaded after running some code."""
    script = f"import sys\n{code}\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("module", ["deniable.channels.krr", "deniable.designs.design", "deniable.core.domain"])
def test_what_disguises_loads_nothing_heavy(module):
    assert not HEAVY & loaded_by(f"import {module}")


def test_the_device_room_loads_no_numpy_and_no_other_room():
    everything = (
        "import pkgutil, importlib, deniable.device as room\n"
        "for each in pkgutil.walk_packages(room.__path__, room.__name__ + '.'): importlib.import_module(each.name)\n"
        "assert 'deniable.device.client' in sys.modules and 'deniable.device.channels.krr' in sys.modules\n"
        "ours = {name for name in sys.modules if name.partition('.')[0] == 'deniable'}\n"
        f"assert {{n for n in ours if not n.startswith('deniable.device')}} == {SHARED!r}, ours"
    )
    assert not {"numpy", *HEAVY} & loaded_by(everything)


def test_a_collector_starts_without_scipy(tmp_path):
    """It takes a third of the time, in each worker, and only estimates need it."""
    (tmp_path / "survey.toml").write_text(example_text(), encoding="utf-8")  # an optimal design
    started = (
        "from pathlib import Path\n"
        "from deniable.cli import app\nfrom deniable.cli.collect import serve\n"
        "from deniable.web.serve import Service\n"
        f"folder = Path({str(tmp_path)!r})\n"
        "Service.open(folder / 'survey.toml', folder / 'data').collector.close()"
    )
    assert not {"scipy", "pandas", "matplotlib"} & loaded_by(started)


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
    homes = {(name, name): f"deniable.{home}" for name, home in deniable._HOME.items()}
    groups = {(name, name): f"deniable.{home}".rpartition(".")[0] for name, home in deniable._GROUPS.items()}
    assert imports == homes | groups
    assert sorted(listed) == deniable.__all__


@pytest.mark.parametrize("name", deniable.__all__)
def test_every_public_name_resolves_and_is_listed(name):
    home = f"deniable.{deniable._GROUPS[name]}" if name in deniable._GROUPS else name
    assert getattr(deniable, name).__name__ == home
    assert name in dir(deniable)


def test_dir_shows_what_is_there_and_nothing_else():
    assert dir(deniable) == sorted([*deniable.__all__, "__version__"])


def test_a_name_stands_in_one_group():
    named = [name for names in deniable._NAMES.values() for name in names]
    assert sorted([*named, *deniable._GROUPS]) == deniable.__all__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'deniable' has no attribute 'oracle'"):
        _ = deniable.oracle
