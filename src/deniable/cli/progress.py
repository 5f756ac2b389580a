"""A bar on the terminal for work that takes long: rows done, rate and time left."""

from __future__ import annotations

import sys
from typing import Self

from deniable.cli.terminal import console


class Progress:
    """Rows done, rate and time left, on a terminal only; called with what is done and what there is (None: unknown)."""

    def __init__(self, description: str) -> None:
        from rich import progress
        from rich.text import Text

        class Rate(progress.ProgressColumn):
            def render(self, task: progress.Task) -> Text:
                return Text(f"{task.speed:,.0f} rows/s" if task.speed else "")

        columns = (
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.TextColumn("{task.completed:,.0f} rows"),
            Rate(),
            progress.TimeRemainingColumn(),
        )
        shown = sys.stderr.isatty()
        self._bar = progress.Progress(*columns, console=console(stderr=True), disable=not shown, transient=True)
        self._task = self._bar.add_task(description, total=None)

    def __call__(self, done: int, rows: int | None) -> None:
        """Draw it anew."""
        self._bar.update(self._task, completed=done, total=rows)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._bar.stop()
