"""The documentation site: builds without a warning, and nothing on any page leads nowhere.

One test, because there is one build: it takes some twenty seconds.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import deniable
from deniable._public import GROUPS, HOMES
from deniable.cli.app import COMMANDS

ROOT = Path(__file__).parents[2]


class Page(HTMLParser):
    """The anchors of a page, and what it points at."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.targets = set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.targets.add(value)


# Nothing of a program that ends soon is garbage for long: to look for it takes a fifth of the time. The stems of all
# words, for the search, take another sixth.
SPHINX = """
import gc, sys
gc.disable()
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.cmd.build import main
StandaloneHTMLBuilder.search = {search}
sys.exit(main(sys.argv[1:]))
"""


def build(out, *settings, source=".", search=True):
    command = [
        sys.executable,
        "-c",
        SPHINX.format(search=search),
        "-W",
        "--keep-going",
        "-q",
        "-b",
        "html",
        "-c",
        "docs",
    ]
    done = subprocess.run([*command, *settings, source, out], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {path: Page(path) for path in out.rglob("*.html")}


def broken(pages):
    """(page, target) of whatever is not there. Of addresses elsewhere only the form is checked: no network here."""
    for path, page in pages.items():
        for target in page.targets:
            if target.startswith("data:image/png;base64,"):  # a picture that is in the page
                continue
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if not (parts.scheme in ("http", "https") and parts.hostname):
                    yield path, target
                continue
            place = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = pages[place].anchors | {""} if place in pages else {"", parts.fragment}
            if not place.is_file() or unquote(parts.fragment) not in known:
                yield path, target


def loaded(pages):
    """What a browser would fetch from other servers by itself: there must be none."""
    elsewhere = re.compile(r'src="(?:https?:)?//|<link[^>]*stylesheet[^>]*href="(?:https?:)?//')
    return [path.name for path in pages if elsewhere.search(path.read_text(encoding="utf-8"))]


@pytest.mark.slow
def test_the_site_builds_and_leads_nowhere_wrong(tmp_path):
    out = tmp_path.resolve() / "site"
    # Without the menu that our theme puts on every page, all of them on each, which takes a third of the time; without
    # curly quotes, and without defaults and types read out of the sources, which takes another tenth.
    plain = ("html_theme=basic", "smartquotes=0", "autodoc_preserve_defaults=0", "autodoc_use_type_comments=0")
    pages = build(out, *(word for setting in plain for word in ("-D", setting)), search=False)
    assert sorted(broken(pages)) == []
    assert loaded(pages) == []
    found = defaultdict(list)
    for path, page in pages.items():
        for anchor in page.anchors:
            found[anchor].append(path.relative_to(out).as_posix())
    assert {name: found[f"deniable.{name}"] for name in public() if len(found[f"deniable.{name}"]) != 1} == {}
    assert [name for name in COMMANDS if "docs/reference/command-line.html" not in found[f"deniable-{name}"]] == []
    built = {path.relative_to(out).with_suffix("").as_posix() for path in pages}
    assert [text for text in texts() if text not in built] == []


def test_the_theme_fetches_nothing_from_other_servers(tmp_path):
    source = tmp_path / "docs"
    source.mkdir()
    (source / "index.md").write_text("# A page\n", encoding="utf-8")
    own = ["-D", "extensions=myst_parser", "-D", "root_doc=docs/index", "-D", "html_extra_path=", "-D", "html_title=x"]
    pages = build(tmp_path.resolve() / "site", *own, source=tmp_path)
    assert len(pages) >= 3  # the page itself, the index, the search
    assert loaded(pages) == []


def public():
    """Every public name, those of groups behind the group's."""
    grouped = [f"{group}.{name}" for group in GROUPS for name in getattr(deniable, group).__all__]
    return [*HOMES, *grouped]


def texts():
    """Every text of the documentation, as the page that it must become."""
    sources = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.ipynb")]
    return sorted(source.relative_to(ROOT).with_suffix("").as_posix() for source in sources)


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    (tmp_path / "a.html").write_text('<p id="here"><a href="#here"></a><a href="#there"></a><a href="b.html"></a>')
    (tmp_path / "c.html").write_text('<a href="a.html#here"></a><a href="a.html#gone"></a><a href="https:nowhere"></a>')
    pages = {path: Page(path) for path in tmp_path.resolve().glob("*.html")}
    assert {(path.name, target) for path, target in broken(pages)} == {
        ("a.html", "#there"),
        ("a.html", "b.html"),
        ("c.html", "a.html#gone"),
        ("c.html", "https:nowhere"),
    }
