"""The reference says what the code says."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from deniable import errors

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "command-line.md"
USAGE = 2  # click's own


def test_the_exit_codes_are_those_of_the_errors():
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.DeniableError)]
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)}
    assert listed == {0, USAGE} | {kind.exit_code for kind in kinds}
