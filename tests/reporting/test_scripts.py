"""Scripts: base R and bare NumPy compute our numbers anew; a notebook runs; a do-file, which we cannot run, is kept."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pyarrow as pa
import pytest

import deniable as dn
from deniable.errors import InputError
from deniable.labels import Labels
from deniable.reporting.scripts.write import write_script
from exams import TOGETHER, answered

GOLDEN = Path(__file__).parent / "golden" / "analysis.do"
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


def test_the_do_file_stays_as_it_is_and_says_that_we_did_not_run_it(tmp_path):
    """`PYTHONPATH=tests python tests/reporting/test_scripts.py` writes it anew; whoever has a Stata, please run it."""
    write_script(small(), tmp_path / "analysis.do")
    text = (tmp_path / "analysis.do").read_text(encoding="utf-8")
    assert text.startswith("* This file was not run by us")
    assert rounded(text) == rounded(GOLDEN.read_text(encoding="utf-8"))


def rounded(text):
    """The same with twelve digits of every number: the last ones depend on the processor."""
    return re.sub(r"\d+\.\d+", lambda found: f"{float(found[0]):.12g}", text)


def small():
    """Reports whose counts are round, so that the golden file has few digits."""
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
    write_script(reports, tmp_path / "analysis.do")
    written = (tmp_path / "analysis.do").read_text(encoding="utf-8")
    assert not [line for line in written.splitlines() if "shell" in line and not line.startswith("* ")]
    assert "/*" not in written


def test_what_counts_and_matrices_do_not_tell_is_refused(tmp_path):
    pairs = dn.Paired({"a": ["no", "yes"]}, p=0.75, rho=-0.2).randomize(
        pa.table({"a": ["no", "yes"] * 50}), source=dn.Seeded(1)
    )
    with pytest.raises(InputError, match=r"cannot be written as a script.*deniable estimate"):
        write_script(pairs, tmp_path / "analysis.R")


if __name__ == "__main__":
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.unlink(missing_ok=True)
    write_script(small(), GOLDEN)
