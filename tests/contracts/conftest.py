"""Lets the tests of this folder say `from channel_contract import ...`, with pytest's readable assertions inside."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
pytest.register_assert_rewrite("channel_contract")
