"""How much work something is, counted in calls: the same number on every machine, however busy it is."""

from __future__ import annotations

import sys


def calls(work):
    """The result of some work, and how many functions were called for it, Python's own included."""
    count = 0

    def notice(_frame, event, _argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(notice)
    try:
        result = work()
    finally:
        sys.setprofile(None)
    return result, count
