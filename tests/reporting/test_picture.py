"""The README's picture is what the code draws, and shows the README's numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from deniable.reporting.picture import DOMAIN, EPSILON, PEOPLE, SEED, picture

ROOT = Path(__file__).parents[2]
NUMBER = re.compile(r"-?\d+\.\d+")


def test_the_picture_in_the_readme_is_up_to_date():
    stored = (ROOT / "docs" / "images" / "estimates.svg").read_text(encoding="utf-8")
    drawn = picture()
    # Coordinates may differ in their last digits between processors; everything else must be the same.
    assert NUMBER.sub("#", drawn) == NUMBER.sub("#", stored), (
        "python -m deniable.reporting.picture docs/images/estimates.svg"
    )
    assert [float(x) for x in NUMBER.findall(drawn)] == pytest.approx(
        [float(x) for x in NUMBER.findall(stored)], abs=1e-3
    )


def test_pictures_of_pages_are_there_and_small():
    shown = (ROOT / "README.md").read_text(encoding="utf-8")
    shown += (ROOT / "docs" / "tutorials" / "first-survey.md").read_text(encoding="utf-8")
    for name in ("respondent.png", "dashboard.png", "cross-table.png"):
        body = (ROOT / "docs" / "images" / name).read_bytes()
        assert body.startswith(b"\x89PNG")
        assert len(body) < 100_000
        assert f"images/{name})" in shown


def test_it_is_the_readme_s_example():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code = "\n".join(line[4:] for line in readme.splitlines() if line.startswith((">>> ", "... ")))
    columns = re.search(r"pd\.DataFrame\((\{.*?\n\})\)", code, re.DOTALL)[1]
    assert eval(columns) == PEOPLE  # noqa: S307 - our own README
    assert f"dn.Joint(domain, epsilon={EPSILON})" in code
    assert f"source=dn.Seeded({SEED})" in code
    assert all(repr(list(v.categories)).replace("'", '"') in code for v in DOMAIN.values())
