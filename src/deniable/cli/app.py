"""The group that holds the commands; loads each when it is called, and shows our errors as a line and an exit code."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import click

from deniable.errors import DeniableError, InputError

if TYPE_CHECKING:
    from click import Command, Context, HelpFormatter

# A command `name` is the object `command` in deniable/cli/name.py, or in deniable/cli/collect/name.py where it is about
# a running survey; `-` is `_` there. What it does is told here, so that listing the commands loads none of them.
COMMANDS = {
    "demo": "Show the whole story on real answers, in a few seconds.",
    "new": "Write a survey file to start from.",
    "plan": "Forecast the errors of designs before anybody is asked.",
    "compare": "Try designs on the people of a table.",
    "serve": "Collect the reports of a survey.",
    "invite": "Make invitations to a survey.",
    "issuer": "Issue the blind tokens of a survey, apart from the collector.",
    "close": "Close a survey for good.",
    "delete": "Delete a survey and all its reports.",
    "backup": "Copy a collector's reports into one file.",
    "verify": "Check a store, a backup or a design for damage.",
    "verify-page": "Compare a server's page with the published one.",
    "simulate": "Send made-up respondents to a collector.",
    "randomize": "Disguise a table into a file of reports.",
    "estimate": "Estimate tables from reports.",
    "test": "Test whether attributes are independent.",
    "clusters": "Find which attributes are best asked as one.",
    "synthesize": "Write made-up records that tell what reports tell.",
    "report": "Write a report of everything the reports tell.",
    "audit": "Check a design's epsilon by watching it run.",
    "export": "Write reports in another format.",
    "graph": "Disguise a graph's edges, or estimate from disguised ones.",
}


WHILE_COLLECTING = {"serve", "invite", "issuer", "close", "delete", "backup", "verify-page", "simulate"}


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
        room = "deniable.cli.collect" if cmd_name in WHILE_COLLECTING else "deniable.cli"
        command: Command = import_module(f"{room}.{cmd_name.replace('-', '_')}").command
        command.short_help = COMMANDS[cmd_name]
        return command

    def format_commands(self, _ctx: Context, formatter: HelpFormatter) -> None:
        """List the commands as click does."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

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
