"""The runner finds benchmarks by their modules and passes their verdict on."""

from __future__ import annotations

import json
import sys

import pytest
from click.testing import CliRunner

import benchmarks.__main__ as runner
from deniable.errors import InputError, MissingExtraError

GOOD = '"""Fast enough."""\n\n\ndef main():\n    print("a table")\n    return 0\n'


@pytest.fixture
def room(tmp_path, monkeypatch):
    """An importable package of made-up benchmarks, in the place of the real one."""
    folder = tmp_path / "made_up_bench"
    folder.mkdir()
    (folder / "fast").mkdir()
    (folder / "__init__.py").touch()
    (folder / "fast" / "__init__.py").touch()
    (folder / "fast" / "good.py").write_text(GOOD, encoding="utf-8")
    (folder / "helper.py").write_text('"""Not a benchmark: it has no main."""\n', encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(runner, "ROOM", "made_up_bench")
    yield folder
    for name in [name for name in sys.modules if name.startswith("made_up_bench")]:
        del sys.modules[name]


def run(*arguments):
    return CliRunner().invoke(runner.command, arguments)


def test_benchmarks_are_listed_with_their_first_line(room):
    result = run()
    assert result.output.split() == ["good", "Fast", "enough."]
    assert result.exit_code == 0


@pytest.mark.parametrize("name", ["good", "all"])
def test_a_benchmark_is_run(room, name):
    result = run(name)
    assert "a table" in result.output
    assert result.exit_code == 0


def test_one_that_falls_short_fails_all_but_stops_none(room):
    (room / "bad.py").write_text(GOOD.replace("return 0", "return 1"), encoding="utf-8")
    result = run("all")
    assert result.output.count("a table") == 2
    assert result.exit_code == 1
    assert run("good").exit_code == 0


def test_an_unknown_name_is_refused_with_the_known_ones(room):
    error = run("speed").exception
    assert isinstance(error, InputError)
    assert "choose from all, good" in error.message


def test_a_missing_peer_names_the_command(room):
    (room / "fast" / "good.py").write_text("import no_such_peer\n", encoding="utf-8")
    error = run("all").exception
    assert isinstance(error, MissingExtraError)
    assert "no_such_peer" in error.message
    assert "make bench" in error.message


def test_an_error_of_ours_is_a_line_and_an_exit_code(room, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmarks", "speed"])
    with pytest.raises(SystemExit) as ended:
        runner.main()
    assert ended.value.code == InputError.exit_code
    assert capsys.readouterr().err == "Error: there is no benchmark 'speed'; choose from all, good\n"


def test_json_has_the_list_and_what_was_printed(room):
    assert json.loads(run("--json").output) == [{"name": "good", "summary": "Fast enough."}]
    (room / "bad.py").write_text(GOOD.replace("return 0", "return 1"), encoding="utf-8")
    result = run("all", "--json")
    assert result.exit_code == 1
    assert [(one["name"], one["met"], one["printed"]) for one in json.loads(result.output)] == [
        ("bad", False, ["a table"]),
        ("good", True, ["a table"]),
    ]
