"""What type checkers and editors read of the front door, made of the one table of public names."""

from __future__ import annotations

import difflib
from pathlib import Path

from stored import RENEW

import deniable
from deniable._public import GROUPS, HOMES

STUB = Path(deniable.__file__).with_suffix(".pyi")


def stub():
    """The stub: `import Y as Y` is what makes a name public to a checker."""
    homes = {**dict.fromkeys(GROUPS, "deniable"), **HOMES, "__version__": "deniable.version"}
    lines = sorted((home, not name.isupper(), name.lower() == name, name) for name, home in homes.items())
    return "".join(f"from {home} import {name} as {name}\n" for home, _, _, name in lines)


def test_checkers_see_the_door_that_opens(request):
    if request.config.getoption("--renew", default=False):
        STUB.write_text(stub(), encoding="utf-8")
    stands = STUB.read_text(encoding="utf-8")
    assert stands == stub(), "\n".join(difflib.unified_diff(stands.splitlines(), stub().splitlines(), n=0)) + RENEW
