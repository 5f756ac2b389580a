"""The commented survey file that `deniable new` writes."""

from __future__ import annotations

from importlib.resources import files


def example_text() -> str:
    """The text of the example: it parses, and every kind of question is in it."""
    return files("deniable.surveys").joinpath("example.toml").read_text(encoding="utf-8")
