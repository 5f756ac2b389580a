"""What the package says of itself: to installers, to those who cite it, and in its locks."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path

import yaml
from packaging.markers import Marker
from packaging.requirements import Requirement

from deniable.version import __version__

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PINNED = re.compile(r"^(?P<name>[a-z0-9-]+)==(?P<version>[^ ]+)(?: ; (?P<marker>[^\\]+?))? \\$", re.MULTILINE)


def pins(lock, python):
    """The versions that a lock has for a Python on Linux, by name."""
    here = {"python_version": python, "python_full_version": f"{python}.9", "sys_platform": "linux"}
    found = {}
    for line in PINNED.finditer((ROOT / lock).read_text(encoding="utf-8")):
        if line["marker"] is None or Marker(line["marker"]).evaluate(here):
            assert line["name"] not in found, line
            found[line["name"]] = line["version"]
    return found


def test_all_is_every_extra_that_users_have():
    (everything,) = EXTRAS["all"]
    assert Requirement(everything).extras == set(EXTRAS) - {"all", "bench", "dev", "docs"}


def test_pandas_is_held_below_3_for_spark_alone():
    held = {extra for extra, wanted in EXTRAS.items() if any(re.match(r"pandas.*<", one) for one in wanted)}
    assert held == {"engines"}
    assert any(one.startswith("pyspark") for one in EXTRAS["engines"])


def test_the_locks_have_both_pandas_and_something_for_every_python():
    asked = {python: f"Programming Language :: Python :: {python}" for python in PYTHONS}
    assert set(asked.values()) <= set(PROJECT["classifiers"])
    for python in PYTHONS:
        locked = pins("requirements.lock", python)
        for one in map(Requirement, chain(PROJECT["dependencies"], *EXTRAS.values())):
            if one.name != "deniable":
                assert one.specifier.contains(locked[one.name]), (python, str(one))
        assert pins("requirements-pandas3.lock", python)["pandas"].startswith("3.")
        assert locked["pandas"].startswith("2.")


def test_the_locks_name_no_index():
    for lock in ROOT.glob("requirements*.lock"):
        assert "://" not in lock.read_text(encoding="utf-8")


def test_the_citation_is_of_this_version():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == __version__
    assert cited["license"] == PROJECT["license"]
    assert [one["name"] for one in cited["authors"]] == [one["name"] for one in PROJECT["authors"]]
