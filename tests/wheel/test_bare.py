"""What works when only the package was installed, and what is said of the rest."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from deniable.errors import MissingExtraError
from deniable.version import __version__

PAGE = Path("src", "deniable", "web", "static", "page.html")
WITHOUT_EXTRAS = """
import warnings
from importlib.util import find_spec

assert not [package for package in ("click", "matplotlib", "pandas", "starlette") if find_spec(package)]
warnings.simplefilter("error")

import deniable as dn
import pyarrow as pa

for name in dn.__all__:
    getattr(dn, name)

people = pa.table({"evaded": ["no"] * 1700 + ["yes"] * 300})
design = dn.Joint({"evaded": ["no", "yes"]}, epsilon=1.5)
design.randomize(people, source=dn.Seeded(7)).write("reports.parquet")
found = dn.estimate(dn.open_reports("reports.parquet"), "evaded")
print(found)
try:
    found.plot()
except dn.DeniableError as error:
    print(error)
print(dn.__file__)
"""
COMMANDS_ALONE = """
from click.testing import CliRunner
from deniable.cli.app import COMMANDS, app
from deniable.errors import MissingExtraError

def run(*arguments):
    return CliRunner().invoke(app, arguments)

for name in COMMANDS:
    done = run(name, "--help")
    assert done.exit_code == 0, (name, done.output, done.exception)
assert run("new", "survey.toml").exit_code == 0
for arguments in (["demo"], ["serve", "survey.toml"], ["issuer", "survey.toml"]):
    done = run(*arguments)
    assert done.exit_code == MissingExtraError.exit_code, (arguments, done.output, done.exception)
    print(arguments[0], " ".join(done.output.split()))
"""


def run(*command, cwd, status=0):
    """Run in a folder without the paths of this process: the package must come out of the wheel."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=cwd, env=clean)
    assert done.returncode == status, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def with_commands(environment):
    """The programs of an environment with the extra `cli`."""
    return environment("cli")


def test_the_requirements_are_met_without_any_extra(bare, tmp_path):
    done = run(sys.executable, "-m", "uv", "pip", "check", "--offline", "--python", bare / "python", cwd=tmp_path)
    assert "All installed packages are compatible" in done.stderr


def test_without_any_extra_every_name_loads_and_reports_are_made_kept_and_estimated(bare, tmp_path):
    done = run(bare / "python", "-c", WITHOUT_EXTRAS, cwd=tmp_path)
    assert "2000 simulated reports about evaded" in done.stdout
    assert "pip install 'deniable[plot]'" in done.stdout
    assert done.stdout.splitlines()[-1].startswith(str(bare.parent))


@pytest.mark.parametrize("command", [("deniable",), ("python", "-m", "deniable")], ids=" ".join)
def test_the_command_without_its_extra_says_what_to_install(command, bare, tmp_path):
    done = run(bare / command[0], *command[1:], "--version", cwd=tmp_path, status=MissingExtraError.exit_code)
    assert done.stderr == ("Error: the command line needs click and rich: not installed. pip install 'deniable[cli]'\n")


@pytest.mark.parametrize("command", [("deniable",), ("python", "-m", "deniable")], ids=" ".join)
def test_with_its_extra_the_command_is_there(command, with_commands, tmp_path):
    done = run(with_commands / command[0], *command[1:], "--version", cwd=tmp_path)
    assert done.stdout == f"deniable {__version__}\n"


def test_with_the_commands_alone_each_explains_itself_or_names_what_it_needs(with_commands, tmp_path):
    done = run(with_commands / "python", "-c", COMMANDS_ALONE, cwd=tmp_path)
    said = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    needs = {"demo": "demo", "serve": "service", "issuer": "service"}
    assert {name: f"pip install 'deniable[{extra}]'" in said[name] for name, extra in needs.items()} == dict.fromkeys(
        needs, True
    )


def test_the_source_distribution_builds_the_same_wheel(distributions, wheel, tmp_path):
    (source,) = distributions.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = [place for place in tmp_path.iterdir() if place.is_dir()]
    assert not (unpacked / PAGE).exists()  # it is made where the wheel is
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path, cwd=unpacked)
    assert contents(tmp_path / wheel.name) == contents(wheel)
    # What `make test` starts from is in it too.
    for file in (
        "Makefile",
        ".ci/venv",
        "requirements.lock",
        "tests/conftest.py",
        "CITATION.cff",
        "SECURITY.md",
        "hatch_build.py",
        "benchmarks/speed/encoding.py",
        "reproduction/CLAIMS.md",
        "reproduction/rrba/views.json",
    ):
        assert (unpacked / file).is_file(), file


def test_the_page_in_the_wheel_is_the_one_whose_hash_is_published(wheel):
    page = contents(wheel)[PAGE.relative_to("src").as_posix()]
    published = Path(__file__).parents[2] / "docs" / "how-to" / "answer-in-a-browser.md"
    assert f"    {sha256(page).hexdigest()}  page.html\n" in published.read_text(encoding="utf-8")


def test_the_wheel_is_the_package_and_what_describes_it(wheel):
    held = set(contents(wheel))
    package = {name for name in held if name.startswith("deniable/")}
    (described,) = {name.partition("/")[0] for name in held - package}
    assert described.endswith(".dist-info")
    source = Path(__file__).parents[2] / "src"
    files = {path.relative_to(source).as_posix() for path in (source / "deniable").rglob("*") if path.is_file()}
    assert package == {name for name in files if "__pycache__" not in name}


def contents(wheel):
    """Every file in a wheel, with what is in it."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
