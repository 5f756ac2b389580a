"""`--renew` writes what is stored beside these tests anew."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from stored import Stored  # found through the line above, as it is by every test here


def pytest_addoption(parser):
    parser.addoption("--renew", action="store_true", help="write the stored texts of tests/snapshots anew")


@pytest.fixture(scope="module")
def stored(request):
    """The texts that are stored for a module, in a folder of its name without `test_`."""
    # Where other tests run too, this file is read too late to bring an option.
    renew = request.config.getoption("--renew", default=False)
    return Stored(request.path.with_name(request.path.stem.removeprefix("test_")), renew=renew)
