"""The `commands` directive: the help of every command, as it prints itself."""  # noqa: INP001 - found through conf.py

from __future__ import annotations

from typing import TYPE_CHECKING

from click import Context
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from deniable.cli.app import app as program

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_WIDTH = 96  # characters


class Commands(SphinxDirective):
    """A section for each command."""

    def run(self) -> list[nodes.Node]:
        """Ask the commands for their help."""
        context = _context(program, "deniable")
        return [self._section(name, context) for name in program.list_commands(context)]

    def _section(self, name: str, parent: Context) -> nodes.section:
        command = program.get_command(parent, name)
        assert command is not None
        text = command.get_help(_context(command, name, parent))
        section = nodes.section(ids=[f"deniable-{name}"], names=[f"deniable {name}"])
        section += nodes.title("", "", nodes.literal("", f"deniable {name}"))
        section += nodes.literal_block(text, text, language="none")
        self.state.document.note_explicit_target(section)
        return section


def _context(command: object, name: str, parent: Context | None = None) -> Context:
    return Context(command, parent, name, terminal_width=_WIDTH, max_content_width=_WIDTH)


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directive known."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
