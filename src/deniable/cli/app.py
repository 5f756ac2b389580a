"""The group that holds the commands; loads each when it is called, and shows our errors as a line and an exit code."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import click

from deniable.errors import DeniableError, InputError

if TYPE_CHECKING:
    from click import Command, Context

# A command `name` is the object `command` in deniable/cli/name.py; `-` is `_` there.
COMMANDS = (
    "demo",
    "new",
    "plan",
    "serve",
    "invite",
    "issuer",
    "close",
    "backup",
    "verify-page",
    "simulate",
    "randomize",
    "estimate",
    "test",
    "report",
    "audit",
    "export",
    "graph",
    "reproduce",
    "bench",
)


class Failure(click.ClickException):
    """One of our errors, shown without a traceback; the exit code is the error's own."""

    def __init__(self, error: DeniableError) -> None:
        """Take over the message and the exit code."""
        super().__init__(error.message)
        # click declares it a class variable, and reads it from the instance.
        vars(self)["exit_code"] = error.exit_code


class Commands(click.Group):
    """A group whose commands are the modules of this package."""

    def list_commands(self, _ctx: Context) -> list[str]:
        """Name the commands, in the order of a first acquaintance."""
        return list(COMMANDS)

    def get_command(self, _ctx: Context, cmd_name: str) -> Command | None:
        """Import a command's module."""
        if cmd_name not in COMMANDS:
            return None
        command: Command = import_module(f"deniable.cli.{cmd_name.replace('-', '_')}").command
        return command

    def invoke(self, ctx: Context) -> object:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except DeniableError as error:
            raise Failure(error) from error
        except OSError as error:
            # A file that cannot be read or written is the user's to mend; where in our code it showed is no help.
            if error.filename is None:
                raise
            raise Failure(InputError(f"{error.filename}: {error.strerror}")) from error


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="deniable", message="deniable %(version)s")
def app() -> None:
    """Ask sensitive questions, learn the population, never the person.

    \b
    Example:
      deniable demo
    """  # noqa: D301 - click wants the character itself
