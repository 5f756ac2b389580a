from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def repository():
    return Path(__file__).parents[2]
