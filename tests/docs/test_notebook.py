"""The tutorial notebooks: run from top to bottom, every cell shows what is stored in the file.

Cells are plain Python, so they are run here in one namespace, without a Jupyter kernel. What a cell shows is what a
notebook would show of its last expression: HTML where the object has it, else its repr, and what was printed.
Pictures are stored, small, and not compared: their bytes differ between versions of what draws them. Of numbers eight
digits are compared: the last ones differ between processors.
`python tests/docs/test_notebook.py` writes the outputs anew.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PNG = "image/png"
NOTEBOOKS = sorted(DOCS.rglob("*.ipynb"))


def show(value):
    """What a notebook shows of a value."""
    if hasattr(value, "figure"):
        return {"text/plain": ["a picture"], PNG: drawn(value.figure)}
    data = {"text/plain": repr(value).splitlines(keepends=True)}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_().splitlines(keepends=True)
    return data


def drawn(figure):
    """A picture as a small file, in the letters that notebooks keep it in."""
    from PIL import Image

    shot, small = io.BytesIO(), io.BytesIO()
    figure.savefig(shot, dpi=80, bbox_inches="tight", facecolor="white")
    Image.open(shot).convert("RGB").quantize(32).save(small, "PNG", optimize=True)
    return base64.b64encode(small.getvalue()).decode()


def compared(outputs):
    """What is compared: no pictures, each of which must be one, and no last digits."""
    for output in outputs:
        picture = output.get("data", {}).pop(PNG, None)
        assert (picture is None) == (output.get("data", {}).get("text/plain") != ["a picture"])
        assert picture is None or base64.b64decode(picture).startswith(b"\x89PNG")
    return re.sub(r"\d+\.\d{9,}", lambda found: f"{float(found[0]):.8g}", json.dumps(outputs, indent=1))


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
            assert compared(run(source, namespace)) == compared(cell["outputs"]), source
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
