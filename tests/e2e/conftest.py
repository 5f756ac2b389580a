"""A real Chromium for every test here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
pytest.register_assert_rewrite("watching")

from browser import chromium, service, serving, visitor  # noqa: E402, F401 - fixtures, found through the line above
