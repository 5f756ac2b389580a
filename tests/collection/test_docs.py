"""The reference pages name every key, field and code that there is."""

from __future__ import annotations

import re
import typing
from pathlib import Path

import pytest

from deniable.designs.registry import DESIGNS
from deniable.designs.request import ChannelOptions
from deniable.device.protocol import messages
from deniable.device.protocol.form import AROUND
from deniable.device.protocol.problem_details import PROBLEMS
from deniable.surveys import schema
from deniable.surveys.translations import PHRASES

DOCS = Path(__file__).parents[2] / "docs" / "reference"


@pytest.mark.parametrize("entry", [schema.SurveyEntry, schema.PublicEntry])
def test_every_key_of_the_survey_file_is_explained(entry):
    page = (DOCS / "survey-file.md").read_text(encoding="utf-8")
    assert not [key for key in entry.__struct_fields__ if f"`{key}`" not in page and f"[{key}]" not in page]


@pytest.mark.parametrize("kind", sorted(kind for kind in DESIGNS if DESIGNS[kind].is_served))
def test_a_design_s_row_names_its_own_keys(kind):
    page = (DOCS / "survey-file.md").read_text(encoding="utf-8")
    (row,) = [line for line in page.splitlines() if line.startswith(f'| `"{kind}"`')]
    options = DESIGNS[kind].Options
    shared = set(ChannelOptions.__struct_fields__) if issubclass(options, ChannelOptions) else set()
    assert set(re.findall(r"`(\w+)`", row.split("|")[3])) == set(options.__struct_fields__) - shared
    assert not [key for key in shared if f"| `{key}` |" not in page]


def test_every_design_and_text_is_explained():
    page = (DOCS / "survey-file.md").read_text(encoding="utf-8")
    served = [kind for kind in DESIGNS if DESIGNS[kind].is_served]
    assert not [kind for kind in served if f'`"{kind}"`' not in page]
    assert not [name for name in [*AROUND, *PHRASES] if f"`{name}`" not in page]


MESSAGES = [
    messages.Announcement,
    messages.Design,
    messages.Item,
    messages.PublicItem,
    messages.Rule,
    messages.BlockRule,
    messages.Form,
    messages.FormItem,
    messages.Correction,
    messages.Change,
    messages.Report,
    messages.Receipt,
    messages.Problem,
    *typing.get_args(messages.Weights),
]


@pytest.mark.parametrize("message", MESSAGES)
def test_every_field_of_a_message_is_explained(message):
    page = (DOCS / "messages.md").read_text(encoding="utf-8")
    known = {"plan"}  # explained field by field
    assert not [field for field in message.__struct_encode_fields__ if f"`{field}`" not in page and field not in known]


def test_every_problem_is_listed_with_its_status():
    page = (DOCS / "messages.md").read_text(encoding="utf-8")
    for code, (status, _) in PROBLEMS.items():
        (line,) = [line for line in page.splitlines() if line.startswith("| `") and f"`{code}`" in line]
        assert str(status) in line
