"""What an import loads: a respondent's device must stay small, and `import deniable` costs nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

import deniable
from deniable._public import GROUPS, NAMES
from deniable.cli.new import example_text

HEAVY = {"scipy", "pyarrow", "pandas", "matplotlib", "narwhals"}
SHARED = {"deniable"} | {f"deniable.{name}" for name in ("_public", "errors", "frozen", "text", "version")}


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


def test_importing_the_package_loads_the_table_of_its_names_and_nothing_else():
    added = "before = set(sys.modules)\nimport deniable\nprint(*sorted(set(sys.modules) - before - {'__future__'}))"
    command = [sys.executable, "-Sc", f"import sys\nsys.path[:0] = {sys.path!r}\n{added}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["deniable", "deniable._public", "deniable.version"]


def test_every_public_name_resolves_and_is_listed():
    for name in deniable.__all__:
        assert getattr(deniable, name).__name__ == (f"deniable.{name}" if name in GROUPS else name)
        assert name in dir(deniable)


def test_dir_shows_what_is_there_and_nothing_else():
    assert dir(deniable) == sorted([*deniable.__all__, "__version__"])


def test_a_name_stands_in_one_group():
    named = [name for names in NAMES.values() for name in names]
    assert sorted([*named, *GROUPS]) == deniable.__all__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'deniable' has no attribute 'oracle'"):
        _ = deniable.oracle
