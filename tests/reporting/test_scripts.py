"""Scripts: base R and bare NumPy compute our numbers anew, and a notebook runs."""

from __future__ import annotations

import json
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pytest

import deniable as dn
from deniable.core.labels import Labels
from deniable.reporting.scripts.write_script import write_script
from exams import TOGETHER, answered

TABLES = [["cheated", "stress"]]


def sets():
    """Reports that are sets, which scripts list one by one."""
    domain = {"town": [f"town {i}" for i in range(14)]}
    people = pa.table({"town": [f"town {min(i % 20, 13)}" for i in range(400)]})
    return dn.Design(dn.Domain(domain), [dn.Question(("town",), dn.SubsetSelection(14, 2.0))], [[0]]).randomize(
        people, source=dn.Seeded(5)
    )


def views():
    """Questions about two attributes each: each speaks of a part of the others' tables."""
    domain = {"a": ["no", "yes"], "b": ["no", "yes"], "c": ["x", "y", "z"]}
    rows = {"a": ["no", "no", "yes"] * 200, "b": ["no", "yes"] * 300, "c": ["x", "y", "z"] * 200}
    return dn.Views(domain, k=2, epsilon=2.0).randomize(pa.table(rows), source=dn.Seeded(4))


MADE = {"ballots": (answered, []), "together": (lambda: answered(TOGETHER), TABLES), "sets": (sets, []),
        "views": (views, [["a", "c"]])}  # fmt: skip


def difference(printed):
    """The largest difference from our own numbers, as a script printed it last."""
    last = printed.strip().splitlines()[-1]
    assert last.startswith("Largest difference from the numbers of deniable:")
    return float(last.split(":")[1])


@pytest.mark.parametrize("case", MADE)
def test_base_r_finds_the_same_numbers(case, tmp_path):
    make, tables = MADE[case]
    write_script(make(), tmp_path / "analysis.R", tables)
    ran = subprocess.run(
        ["Rscript", "--vanilla", "analysis.R"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert difference(ran.stdout) < 1e-6
    if case == "together":
        assert "Have you cheated in an exam? (cheated); How stressed are you? (stress)" in ran.stdout


@pytest.mark.parametrize("case", MADE)
def test_bare_numpy_finds_the_same_numbers(case, tmp_path):
    make, tables = MADE[case]
    write_script(make(), tmp_path / "analysis.py", tables)
    alone = "import sys; sys.modules['deniable'] = None; sys.modules['scipy'] = None; exec(open('analysis.py').read())"
    ran = subprocess.run([sys.executable, "-c", alone], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert difference(ran.stdout) < 1e-6


def test_a_script_prints_what_estimate_prints(tmp_path):
    reports = answered(TOGETHER)
    write_script(reports, tmp_path / "analysis.py")
    ran = subprocess.run([sys.executable, "analysis.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    found = dn.estimate(reports, "cheated")
    line = next(line for line in ran.stdout.splitlines() if line.startswith("Yes"))
    assert line.split()[1:4] == [f"{x:.4f}" for x in (found.values[1], found.efficient.values[1], found.std_error[1])]


def test_the_notebook_runs_from_top_to_bottom(tmp_path, monkeypatch):
    made = write_script(answered(TOGETHER, language="de"), tmp_path / "exams.ipynb", TABLES)
    assert [path.name for path in made] == ["exams.ipynb", "exams.parquet"]
    monkeypatch.chdir(tmp_path)
    cells = json.loads((tmp_path / "exams.ipynb").read_text(encoding="utf-8"))["cells"]
    namespace, shown = {}, []
    for cell in cells:
        if cell["cell_type"] == "code":
            lines = "".join(cell["source"]).rstrip(";").split("\n")
            exec("\n".join(lines[:-1]), namespace)  # noqa: S102 - the notebook is ours
            shown.append(str(eval(lines[-1], namespace)))  # noqa: S307 - the same
    plt.close("all")
    assert any("Haben Sie in einer Prüfung betrogen? (cheated)\n" in text for text in shown)
    assert any("Kunst (arts)" in text for text in shown)
    assert "## Wie gestresst sind Sie? (stress)" in ["".join(cell["source"]) for cell in cells]


def small():
    """A hundred reports about one attribute."""
    answers = pa.table({"dn_answer_smokes": [0] * 60 + [1] * 40})
    design = dn.Joint({"smokes": ["no", "yes"]}, 1.0)
    return dn.Reports(answers, design)


def test_words_cannot_become_commands(tmp_path):
    title = 'a\nsystem("touch ran")\n*/ shell touch ran /*'
    text = 'b")\nsystem("touch ran")\n# \\'
    hostile = Labels({"en": title}, {"smokes": {"en": text}}, {"smokes": {"no": {"en": text}, "yes": {"en": title}}})
    reports = small().with_labels(hostile)
    for name, run in (("analysis.R", ["Rscript", "--vanilla"]), ("analysis.py", [sys.executable])):
        write_script(reports, tmp_path / name)
        subprocess.run([*run, name], cwd=tmp_path, capture_output=True, check=True)
    assert not (tmp_path / "ran").exists()


def pairs():
    """Respondents who are not independent of each other."""
    answers = pa.table({"a": ["no", "yes"] * 50})
    return dn.Paired({"a": ["no", "yes"]}, p=0.75, rho=-0.2).randomize(answers, source=dn.Seeded(1))


def hashes():
    """Reports of which hardly two are alike."""
    answers = pa.table({name: ["1", "1", "2", "5"] * 200 for name in "abc"})
    domain = {name: ["1", "2", "3", "4", "5"] for name in "abc"}
    return dn.Joint(domain, 2.0, channel="hashing").randomize(answers, source=dn.Seeded(1))


def blocks():
    """Many blocks, each with fakes of its own."""
    answers = pa.table({f"q{i}": ["no", "yes", "no"] * 1000 for i in range(12)})
    design = dn.Blocks({f"q{i}": ["no", "yes"] for i in range(12)}, 2, 2.0, block_size=100)
    return design.randomize(answers, source=dn.Seeded(1))


@pytest.mark.parametrize("make", [pairs, hashes, blocks])
def test_what_would_be_too_long_or_needs_more_than_counts_is_there_by_its_scores(make, tmp_path):
    reports = make()
    name = next(iter(reports.design.domain))
    for suffix in ("R", "py"):
        write_script(reports, tmp_path / f"analysis.{suffix}")
    expected = dn.estimate(reports, name, "inversion")
    shown = f'source("analysis.R"); cat("\\n", format(mean_of_scores(tables[["{name}"]])$mean, digits = 17))'
    ran = subprocess.run(
        ["Rscript", "--vanilla", "-e", shown], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    # Of blocks, inversion weights what views tell by how many were asked, scores by how many are asked on average.
    within = 1e-9 if make is not blocks else 1e-3
    means = [float(each) for each in ran.stdout.splitlines()[-1].split()]
    assert means == pytest.approx(expected.unbiased.values.tolist(), abs=within)
    alone = f"exec(open('analysis.py').read()); print(*map(repr, map(float, mean_of_scores(tables[{name!r}])[0])))"
    ran = subprocess.run([sys.executable, "-c", alone], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert [float(each) for each in ran.stdout.splitlines()[-1].split()] == pytest.approx(means, abs=1e-12)


@pytest.mark.parametrize("kind", ["independent", "views", "unary", "blocks"])
def test_a_script_of_forty_questions_is_a_text_that_people_look_into(kind, tmp_path):
    domain = dn.Domain({f"q{i}": [f"answer {j}" for j in range(5)] for i in range(40)})
    rng = np.random.default_rng(1)
    answers = {name: [f"answer {j}" for j in rng.integers(0, 5, 4000)] for name in domain}
    made = {
        "independent": lambda: dn.Independent(domain, 40.0),
        "views": lambda: dn.Views(domain, 2, 4.0),
        "unary": lambda: dn.Sampled(domain, 4.0, channel="unary"),
        "blocks": lambda: dn.Blocks(domain.project([f"q{i}" for i in range(8)]), 2, 4.0, block_size=50),
    }[kind]()
    write_script(made.randomize(answers, source=dn.Seeded(1)), tmp_path / "analysis.R")
    assert (tmp_path / "analysis.R").stat().st_size < 100_000


@pytest.mark.parametrize("language", ["R", "py"])
def test_likelihood_is_climbed_in_few_steps_where_noise_is_large(language, tmp_path):
    """At epsilon .2 a question plain EM takes 10^5 steps and more; the loop has no more than 20,000."""
    domain = {f"q{i}": [f"c{j}" for j in range(5)] for i in range(4)}
    rng = np.random.default_rng(1)
    answers = {name: [f"c{j}" for j in np.minimum(rng.geometric(0.5, 3000) - 1, 4)] for name in domain}
    write_script(dn.Independent(domain, 0.8).randomize(answers, source=dn.Seeded(1)), tmp_path / f"analysis.{language}")
    run = ["Rscript", "--vanilla"] if language == "R" else [sys.executable]
    ran = subprocess.run([*run, f"analysis.{language}"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert difference(ran.stdout) < 1e-6
