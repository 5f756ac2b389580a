"""Words of a survey that would do something where they are shown: in Markdown, notebooks and HTML they are words."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pyarrow as pa
import pytest
from markdown_it import MarkdownIt

import deniable as dn
from deniable.core.labels import Labels
from deniable.core.markup import markdown_text
from deniable.reporting.scripts.write_script import write_script

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "](javascript:alert(1))",
    "[a](javascript:alert(1))",
    "![a](https://evil.example/pixel)",
    "<javascript:alert(1)>",
    "`` `code` ``",
    "a | b | c",
    "a\n\n# heading\n\n- list",
    "a\r\r<script>alert(1)</script>\r",
    "a\u2028<b>b</b>\x85c",
    "\\<script>alert(1)\\</script>",
    "\\](javascript:alert(1))",
    "&lt;script&gt;alert(1)",
    "$\\href{javascript:alert(1)}{x}$",
    "~~~\ncode",
    "- list",
    "1. list",
    "> quoted",
    "=====",
    "[a]: javascript:alert(1)",
    '"><script>alert(1)</script>',
]
DOMAIN = dn.Domain({"a": ["no", "yes"], "b": ["no", "yes"]})


def reports(text):
    """Reports whose every word is the text."""
    labels = Labels(
        title={"en": text},
        texts={name: {"en": text} for name in DOMAIN},
        answers={name: {"no": {"en": text}, "yes": {"en": f"{text} "}} for name in DOMAIN},
        languages=("en",),
        language="en",
    )
    people = pa.table({"a": ["no", "yes"] * 100, "b": ["no", "no", "yes", "yes"] * 50})
    return dn.Joint(DOMAIN, epsilon=2.0).randomize(people, source=dn.Seeded(1)).with_labels(labels)


class Tags(HTMLParser):
    """The tags of a page, and what their attributes lead to."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def does_something(html):
    """Tags that no words of a survey may make."""
    for tag, attributes in Tags(html).found:
        leads = [value for name, value in attributes.items() if name in ("href", "src") and value]
        if tag in ("script", "img", "b", "iframe") or any(name.startswith("on") for name in attributes):
            return tag, attributes
        if any(value.startswith("javascript:") for value in leads):
            return tag, attributes
    return None


def rendered(text):
    """What a notebook makes of Markdown: tables and HTML included."""
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_is_one_line_of_words(text):
    html = rendered(markdown_text(text))
    assert {tag for tag, _ in Tags(html).found} <= {"p"}
    assert "$" not in markdown_text(text).replace("\\$", "")


@pytest.mark.parametrize("text", HOSTILE)
def test_notebooks_reports_and_tables_show_words_as_words(text, tmp_path):
    made = reports(text)
    write_script(made, tmp_path / "n.ipynb", [["a", "b"]])
    cells = json.loads((tmp_path / "n.ipynb").read_text(encoding="utf-8"))["cells"]
    shown = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    estimate = dn.estimate(made, "a")
    shown.append(estimate.to_markdown())
    assert len(shown) >= 4
    for markdown in shown:
        html = rendered(markdown)
        assert does_something(html) is None, markdown
        assert "<ul>" not in html
        assert "<ol>" not in html
        assert "<blockquote>" not in html
    for page in (
        made._repr_html_(),
        estimate._repr_html_(),
        dn.independence(made, "a", "b", replicates=19)._repr_html_(),
    ):
        assert does_something(page) is None
