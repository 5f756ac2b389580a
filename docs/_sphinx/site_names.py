"""The directives `public`, every public name of some rooms out of its docstring, and `grouped`, all of them in a list.

A name that is added to `deniable` appears on the page of its room by itself. ::

    ```{public} inference.regression
    deniable.regression.result.Regression
    ```

The argument names a room or module of `deniable`; the lines below are further objects, by their full names, which
nobody makes but everybody gets.
"""  # noqa: INP001 - an extension, found through conf.py

from __future__ import annotations

import inspect
from importlib import import_module
from typing import TYPE_CHECKING

from sphinx.util.docutils import SphinxDirective

import deniable
from deniable._public import GROUPS, HOMES, NAMES

if TYPE_CHECKING:
    from docutils.nodes import Node
    from sphinx.application import Sphinx


class Public(SphinxDirective):
    """Document the public names that live in a room, and the further objects in the content."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[Node]:
        """Write a list of the names, then what autodoc is to do for each."""
        names = [*names_of(self.arguments[0]), *(line.strip() for line in self.content if line.strip())]
        if not names:
            raise self.error(f"no public name of deniable lives in {self.arguments[0]!r}")
        lines = [".. list-table::", "   :widths: auto", ""]
        for name in names:
            lines += [f"   * - :py:obj:`~{name}`", f"     - {_summary(name)}"]
        for name in names:
            lines += ["", *_entry(name)]
        return self.parse_text_to_nodes("\n".join(["```{eval-rst}", *lines, "```"]))


class Grouped(SphinxDirective):
    """List every public name by what it is for, as the package itself has them."""

    def run(self) -> list[Node]:
        """Write a heading and a list for every group."""
        lines = []
        for heading, names in groups().items():
            lines += ["", f".. rubric:: {heading}", "", ".. list-table::", "   :widths: auto", ""]
            for name in names:
                lines += [f"   * - :py:obj:`~{name}`", f"     - {_summary(name)}"]
        return self.parse_text_to_nodes("\n".join(["```{eval-rst}", *lines, "```"]))


def groups() -> dict[str, list[str]]:
    """Headings, and the full names under each; a room that is a group of its own is the last of them."""
    found = {heading: [f"deniable.{name}" for name in names] for heading, names in NAMES.items()}
    return {**found, **{f"deniable.{group}": names_of(group) for group in GROUPS}}


def names_of(room: str) -> list[str]:
    """The public names of a room or module, in the order of their list."""
    if room in GROUPS:
        return [f"deniable.{room}.{name}" for name in getattr(deniable, room).__all__]
    inside = f"deniable.{room}."
    return [f"deniable.{name}" for name, home in HOMES.items() if f"{home}.".startswith(inside)]


def _object(name: str) -> object:
    path, _, short = name.rpartition(".")
    group = path.removeprefix("deniable.")
    return getattr(getattr(deniable, group) if group in GROUPS else import_module(path), short)


def _summary(name: str) -> str:
    return (inspect.getdoc(_object(name)) or "").partition("\n")[0]


def _entry(name: str) -> list[str]:
    found = _object(name)
    if not inspect.isclass(found):
        return [f".. autofunction:: {name}"]
    kind = "autoexception" if issubclass(found, Exception) else "autoclass"
    return [f".. {kind}:: {name}", "   :members:", "   :show-inheritance:"]


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directive known."""
    app.add_directive("public", Public)
    app.add_directive("grouped", Grouped)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
