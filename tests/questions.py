"""What a test asks of the process that estimates, which has to find it by name."""

from __future__ import annotations

import os

from deniable.collection.load_reports import stored_reports
from deniable.errors import NotCoveredError


def where(surveyed):
    """Which process looks at how many reports."""
    return os.getpid(), stored_reports(surveyed.shown, surveyed.design_id).n


def fail(_surveyed):
    """Be refused."""
    raise NotCoveredError("not covered", attributes=["a"])


def end(_surveyed):
    """Die."""
    os._exit(1)
