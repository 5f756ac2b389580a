"""Notebooks as pages: cells become Markdown, outputs are those stored in the file."""  # noqa: INP001 - see conf.py

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from myst_parser.parsers.sphinx_ import MystParser

if TYPE_CHECKING:
    from docutils.nodes import document
    from sphinx.application import Sphinx


class NotebookParser(MystParser):
    """Reads a notebook as the Markdown that it amounts to."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: document) -> None:
        """Turn cells into Markdown, then parse that."""
        cells = json.loads(inputstring)["cells"]
        super().parse("\n\n".join(part for cell in cells for part in _parts(cell)), document)


def _parts(cell: dict[str, Any]) -> list[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [source]
    return [f"```python\n{source}\n```", *(_shown(output) for output in cell["outputs"])]


def _shown(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return f"```text\n{''.join(output['text'])}\n```"
    data = output["data"]
    if "image/png" in data:
        return f'```{{raw}} html\n<img alt="What the cell draws" src="data:image/png;base64,{data["image/png"]}">\n```'
    if "text/html" in data:
        html = "".join(data["text/html"]).replace("<table>", '<table class="docutils">')
        return f'```{{raw}} html\n<div class="table-wrapper">{html}</div>\n```'
    return f"```text\n{''.join(data['text/plain'])}\n```"


def setup(app: Sphinx) -> dict[str, bool]:
    """Make notebooks known."""
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
