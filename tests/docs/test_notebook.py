"""The tutorial notebooks: run from top to bottom, every cell shows what is stored in the file.

Cells are plain Python, so they are run here in one namespace, without a Jupyter kernel. What a cell shows is what a
notebook would show of its last expression: HTML where the object has it, else its repr, and what was printed.
`python tests/docs/test_notebook.py` writes the outputs anew.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
NOTEBOOKS = sorted(DOCS.rglob("*.ipynb"))


def show(value):
    """What a notebook shows of a value; pictures are drawn, and not stored."""
    if hasattr(value, "figure"):
        value.figure.canvas.draw()
        return {"text/plain": ["a picture"]}
    data = {"text/plain": repr(value).splitlines(keepends=True)}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_().splitlines(keepends=True)
    return data


def run(source, namespace):
    """The outputs of a cell."""
    tree = ast.parse(source)
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, outputs = io.StringIO(), []
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), namespace)  # noqa: S102 - the notebook is ours
        value = None if last is None else eval(compile(last, "<cell>", "eval"), namespace)  # noqa: S307 - the same
    if printed.getvalue():
        outputs.append(
            {"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)}
        )
    if value is not None:
        outputs.append({"data": show(value), "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return outputs


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_shows_what_is_stored(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("agg")
    namespace = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            assert run(source, namespace) == cell["outputs"], source
    plt.close("all")


def test_there_is_one():
    assert NOTEBOOKS


def rewrite(path):
    """Store the outputs of a run."""
    import tempfile

    import matplotlib as mpl

    mpl.use("agg")
    book, namespace = json.loads(path.read_text(encoding="utf-8")), {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for cell in book["cells"]:
            if cell["cell_type"] == "code":
                cell["outputs"] = run("".join(cell["source"]), namespace)
    path.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for notebook in NOTEBOOKS:
        rewrite(notebook)
