"""The command line loads lazily, shows errors as a line, and names what is missing."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import click
import pytest
from click.testing import CliRunner

from deniable import cli
from deniable.cli.app import COMMANDS, app
from deniable.errors import DeniableError, DesignError, PrivacyError


def run(*arguments):
    return CliRunner().invoke(app, arguments, prog_name="deniable")


def test_the_version_is_the_package_s():
    assert run("--version").output == f"deniable {version('deniable')}\n"


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_lists_every_command(flag):
    output = run(flag).output
    assert all(f"\n  {name} " in output for name in COMMANDS)


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_every_help_has_an_example(name):
    result = run(*name.split(), "--help")
    assert result.exit_code == 0
    assert "Example" in result.output
    assert f"\n    deniable {name}".rstrip() in result.output


def test_an_unknown_command_is_refused():
    result = run("dmeo")
    assert result.exit_code == 2
    assert "No such command 'dmeo'" in result.stderr


@pytest.mark.parametrize("kind", [DeniableError, DesignError, PrivacyError])
def test_our_errors_become_a_line_and_their_exit_code(kind, monkeypatch):
    @click.command()
    def failing():
        raise kind("the reason and the way out")

    monkeypatch.setattr("deniable.cli.demo.command", failing)
    result = run("demo")
    assert result.exit_code == kind.exit_code
    assert result.stderr == "Error: the reason and the way out\n"
    assert result.stdout == ""


def test_other_errors_keep_their_traceback(monkeypatch):
    @click.command()
    def failing():
        raise ZeroDivisionError

    monkeypatch.setattr("deniable.cli.demo.command", failing)
    assert isinstance(run("demo").exception, ZeroDivisionError)


@pytest.mark.parametrize("package", ["click", "rich"])
def test_without_its_extra_the_command_line_names_it(package, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, package, None)
    for name in [name for name in sys.modules if name.startswith("deniable.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "argv", ["deniable", "demo"])
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == 7
    assert "pip install 'deniable[cli]'" in capsys.readouterr().err


def test_the_version_loads_no_statistics():
    code = (
        "import sys; from deniable.cli.app import app\n"
        "try: app(['--version'])\n"
        "except SystemExit: pass\n"
        "assert not {'numpy', 'scipy', 'pandas', 'matplotlib'} & set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode == 0
