"""The demonstration: what it prints is what it says, and the report is whole."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import pyarrow as pa
import pytest
from click.testing import CliRunner
from rich.console import Console

from deniable.cli import demo
from deniable.cli.app import app
from deniable.core.randomness import SECURE, Seeded
from deniable.core.table import Table
from deniable.datasets import fair
from deniable.designs.kinds.views import Views
from deniable.device.privacy_statement import Statement
from deniable.surveys.survey import read_survey

SHARE = r"(-?\d+\.\d)%"


def run(*arguments):
    return CliRunner().invoke(app, ["demo", *map(str, arguments)], env={"COLUMNS": "200"})


def disguised_here(source):
    """Stand in for the collector: the same design on the same people, without the trip over HTTP."""

    def collect(_console, survey, people):
        design = read_survey(survey).design
        return design.randomize(pa.Table.from_pylist(people), source=source)

    return collect


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """One run with the noise fixed: the command itself has no seed, and must not have one."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "_collect", disguised_here(Seeded(7)))
        outcome = run("--output", folder / "new" / "place")
    assert outcome.exit_code == 0, outcome.output
    return outcome, folder / "new" / "place" / "report.html"


def test_every_respondent_answers_the_collector_over_http(tmp_path):
    survey = tmp_path / "survey.toml"
    survey.write_text(files("deniable.cli").joinpath("demo.toml").read_text(encoding="utf-8"), encoding="utf-8")
    people, domain = fair()
    reports = demo._collect(Console(quiet=True), survey, people.slice(0, 120).to_pylist())
    assert reports.n == 120
    assert reports.design.domain == domain
    assert reports.design.epsilon == Views(domain, k=2, epsilon=2.0).epsilon


def rows(output, columns):
    """The printed rows: so many labels, then estimate, standard error, interval, truth and verdict."""
    shares = rf"{SHARE}\s+[\d.]+%\s+{SHARE} to {SHARE}\s+{SHARE}"
    line = re.compile(r"^ " + r"(\w+)\s+" * columns + rf"{shares}\s+(yes|no)\s*$", re.MULTILINE)
    return [(m[:columns], [float(x) / 100 for x in m[columns:-1]], m[-1]) for m in line.findall(output)]


def test_the_steps_are_numbered_through(result):
    steps = [int(number) for number in re.findall(r"^(\d)\. ", result[0].output, re.MULTILINE)]
    assert steps == list(range(1, 9))


def test_the_promise_is_the_design_s(result):
    design = Views(fair()[1], k=2, epsilon=2.0)
    assert all(line in result[0].output for line in Statement(design.ratio).lines())


def test_the_disguise_is_described_with_its_own_integers(result):
    true, other, draws = map(int, re.search(r"exact: (\d+) and (\d+) of (\d+)", result[0].output).groups())
    channel = Views(fair()[1], k=2, epsilon=2.0).questions[0].channel
    assert (true, other, draws) == (channel.keep, channel.other, 2**channel.bits)


def test_estimates_stand_beside_the_truth(result):
    frame, domain = fair()
    truth = Table.count(frame, domain).normalize()
    cells = [(name, category) for name, variable in domain.items() for category in variable.categories]
    for (name, category), ((shown,), (value, low, high, true), held) in zip(
        cells, rows(result[0].output, 1), strict=True
    ):
        assert shown == category
        assert true == pytest.approx(truth.project(name).at(**{name: category}), abs=5e-4)
        assert low < value < high
        assert abs(value - true) < 0.1  # standard error .013: seven of them
        assert held == ("yes" if low <= true <= high else "no")


def test_the_pair_is_shown_with_how_many_truths_are_held(result):
    output = result[0].output.partition("6. And how")[2]
    cells = rows(output, 2)
    assert [cell[0] for cell in cells] == [("no", "unhappy"), ("no", "happy"), ("yes", "unhappy"), ("yes", "happy")]
    assert sum(cell[1][0] for cell in cells) == pytest.approx(1, abs=0.002)
    assert sum(cell[1][3] for cell in cells) == pytest.approx(1, abs=0.002)
    held, of = map(int, re.search(r"hold (\d) of the (\d) true values", output).groups())
    assert of == 4
    assert held == sum(cell[2] == "yes" for cell in cells)


def test_only_reports_are_shown_never_a_truth(result):
    shown = re.findall(r"^\s*(\w+) and (\w+)\s+\1: \w+, \2: \w+\s*$", result[0].output, re.MULTILINE)
    assert len(shown) == demo._SHOWN


def test_there_are_no_colours_where_there_is_no_terminal(result):
    assert "\x1b" not in result[0].output


def test_the_report_is_where_it_says(result):
    outcome, path = result
    assert path.is_file()
    assert str(path) in outcome.output
    assert outcome.output.rstrip().endswith(f"deniable serve {path.parent / 'survey.toml'}")


@pytest.fixture
def without_report(monkeypatch, tmp_path):
    """Only what is printed: the trip over HTTP and drawing the charts are what takes the time."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo, "_collect", disguised_here(SECURE))
    monkeypatch.setattr(demo, "write_report", lambda path, *_args, **_options: path)


def test_the_noise_is_new_in_every_run(without_report):
    first, second = (rows(run().output, 1) for _ in range(2))
    assert first
    assert first != second  # equal with probability below 1e-12: a dozen estimates, each to a tenth of a percent


def test_the_default_place_is_under_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo, "_collect", disguised_here(SECURE))
    assert run().exit_code == 0
    assert (tmp_path / "deniable-demo" / "report.html").is_file()


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf"])
def test_an_impossible_epsilon_is_refused_in_words(epsilon, tmp_path):
    result = run("--epsilon", epsilon, "--output", tmp_path)
    assert result.exit_code == 4
    assert "epsilon" in result.stderr
    assert not list(tmp_path.iterdir())


def test_less_privacy_gives_narrower_intervals(without_report):
    def width(epsilon):
        return sum(high - low for _, (_, low, high, _), _ in rows(run("--epsilon", epsilon).output, 1))

    assert width(1) > 2 * width(4) > 0


def test_json_has_the_numbers_of_the_story(tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "_collect", disguised_here(Seeded(7)))
    outcome = run("--output", tmp_path, "--json")
    assert outcome.exit_code == 0, outcome.output
    data = json.loads(outcome.stdout)
    people, domain = fair()
    truth = Table.count(people, domain).normalize()
    assert data["respondents"] == len(people)
    for one in data["estimates"]:
        assert one["truth"] == pytest.approx(truth.project(one["attributes"]).values.ravel().tolist())
        ends = zip(one["low"], one["estimate"], one["high"], strict=True)
        assert all(low < estimate < high for low, estimate, high in ends)
    assert [one["attributes"] for one in data["estimates"]] == [*([name] for name in domain), list(demo.PAIR)]
    assert (tmp_path / "report.html").is_file()
