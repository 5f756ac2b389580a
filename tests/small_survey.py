"""Survey files for tests: of any questions, and the smallest one, of two, for every way to admit and to disguise."""

from __future__ import annotations

import json

INDEPENDENT = '{ kind = "independent" }'
BLOCKS = '{ kind = "blocks", k = 2, block_size = 40 }'
PAIRED = '{ kind = "paired", p = 0.7, rho = -0.1, accept = "a partner who knows the coin" }'


def _toml(value):
    """A value as TOML writes it; a table may be given as it is written."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(part)}" for key, part in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return value if str(value).startswith("{") else json.dumps(value, ensure_ascii=False)


def _lines(keys):
    return "".join(f"{key} = {_toml(value)}\n" for key, value in keys.items() if value is not None)


def question(name, text="?", kind=None, choices=None, **keys):
    """A question."""
    return "[[questions]]\n" + _lines({"name": name, "text": text, "kind": kind, "choices": choices, **keys})


def public(name, choices, text="?"):
    """A question whose answers are not disguised."""
    return "[[public]]\n" + _lines({"name": name, "text": text, "choices": choices})


def survey_file(name, *items, title=None, epsilon=4.0, **keys):
    """The text of a survey file: its questions, and what else it says at its head."""
    head = {"format": 1, "name": name, "title": title or name.capitalize(), "epsilon": epsilon, **keys}
    return "\n".join([_lines(head), *items])


def small_survey(design=INDEPENDENT, admission="open", epsilon=4.0):
    """The smallest survey's text; more tables may be appended."""
    questions = question("a", kind="yes-no"), question("b", kind="yes-no")
    return survey_file("small", *questions, epsilon=epsilon, admission=admission, design=design)
