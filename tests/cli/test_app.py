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


@pytest.mark.parametrize("width", [40, 80, 200])
def test_help_is_what_click_would_write_after_loading_every_command(width, monkeypatch):
    listed = app.get_help(click.Context(app, terminal_width=width, max_content_width=width))
    monkeypatch.setattr(type(app), "format_commands", click.Group.format_commands)
    assert listed == app.get_help(click.Context(app, terminal_width=width, max_content_width=width))


def test_help_loads_no_command():
    script = (
        "import sys; from deniable.cli.app import app\n"
        "app(['--help'], standalone_mode=False)\n"
        "print([m for m in sys.modules if m.startswith('deniable.cli.') or m in ('numpy', 'rich', 'msgspec')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "['deniable.cli.app']"


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


# What these print is no result: pages and tokens are served, invitations are CSV already, the others say what they did.
NO_JSON = {"serve", "invite", "issuer", "close", "delete", "backup"}


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - NO_JSON))
def test_whatever_prints_a_result_prints_json(name):
    assert "--json" in run(name, "--help").output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_set_up(shell, monkeypatch, capsys):
    from click.shell_completion import get_completion_class

    # bash is asked for its version there, and need not be installed here
    monkeypatch.setattr(get_completion_class("bash"), "_check_version", staticmethod(lambda: None))
    monkeypatch.setenv("_DENIABLE_COMPLETE", f"{shell}_source")
    with pytest.raises(SystemExit) as left:
        app(prog_name="deniable")
    assert left.value.code == 0
    assert "_DENIABLE_COMPLETE" in capsys.readouterr().out


def complete(words, place, monkeypatch, capsys):
    monkeypatch.setenv("_DENIABLE_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(place))
    with pytest.raises(SystemExit):
        app(prog_name="deniable")
    return [line.split(",") for line in capsys.readouterr().out.split()]


def test_commands_options_choices_and_files_are_completed(monkeypatch, capsys):
    assert complete("deniable re", 1, monkeypatch, capsys) == [["plain", "report"]]
    assert [name for _, name in complete("deniable ", 1, monkeypatch, capsys)] == list(COMMANDS)
    assert complete("deniable plan --ep", 2, monkeypatch, capsys) == [["plain", "--epsilon"]]
    found = complete("deniable randomize people.csv --design v", 4, monkeypatch, capsys)
    assert found == [["plain", "views"]]
    for command in ("randomize", "estimate", "test", "report", "audit", "export", "plan"):
        assert complete(f"deniable {command} pe", 2, monkeypatch, capsys) == [["file", "pe"]]


def test_a_broken_pipe_is_no_traceback():
    code = "from deniable.cli import main; main()"
    command = f"{sys.executable} -c '{code}' --help | head -c 1"
    done = subprocess.run(["bash", "-c", command], check=False, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
