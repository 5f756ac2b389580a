"""Environments that users have: the wheel, and of everything else only what it declares.

Nothing is downloaded. The packages are links to those of the environment that the tests run in.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import PathDistribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# Run by a test, in another environment.
collect_ignore = ["pandas_3.py"]


def package_in(wheel):
    """What a wheel says of itself."""
    (where,) = [place for place in zipfile.Path(wheel).iterdir() if place.name.endswith(".dist-info")]
    return PathDistribution(where)


def wanted_by(package, extras=()):
    """What a package requires here, with some of its extras."""
    asked = [Requirement(text) for text in package.requires or []]
    return [
        one
        for one in asked
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *extras))
    ]


def needed(wheel, extras):
    """The packages that a wheel with some extras brings, and those that these bring, by name."""
    ours = package_in(wheel)
    found, seen, waiting = {}, set(), wanted_by(ours, extras)
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        if (name, *sorted(one.extras)) in seen:
            continue
        seen.add((name, *sorted(one.extras)))
        package = ours if name == ours.name else distribution(name)
        if package is not ours:
            found[name] = package
        waiting += wanted_by(package, one.extras)
    return found


def link(place, into):
    """Put a package's folder, or what describes it, into an environment."""
    if place.suffix == ".dist-info":
        shutil.copytree(place, into / place.name)  # uv does not follow links to these
    elif not (into / place.name).exists():
        (into / place.name).symlink_to(place)


@pytest.fixture(scope="session")
def environment(tmp_path_factory, wheel):
    """A function that makes an environment with the wheel and some extras, and gives its folder of programs."""

    def make(*extras, instead=None):
        folder = tmp_path_factory.mktemp("environment")
        venv.create(folder, symlinks=True)
        (into,) = folder.glob("lib/python*/site-packages")
        for place in () if instead is None else instead.iterdir():
            link(place, into)
        replaced = {place.name.partition("-")[0] for place in into.glob("*.dist-info")}
        for name, package in needed(wheel, extras).items():
            for top in {file.parts[0] for file in package.files} if name not in replaced else ():
                if top != "..":  # a program; nobody runs those here
                    link(Path(package.locate_file(top)), into)
        # Not `--no-deps`: with nothing to download, the requirements of the wheel must be met already.
        install = ["install", "--quiet", "--offline", "--no-index", "--python", folder / "bin" / "python", wheel]
        subprocess.run([sys.executable, "-m", "uv", "pip", *install], check=True, capture_output=True)
        return folder / "bin"

    return make


@pytest.fixture(scope="session")
def bare(environment):
    """The programs of an environment that has the wheel without any extra."""
    return environment()
