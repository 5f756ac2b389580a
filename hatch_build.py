"""What happens when the package is built or installed from source: the respondent's page is put together.

It goes into every wheel, and into the source folder, where an editable installation finds it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Makes `page.html` as `make page` does, by the package's own program."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - as hatchling calls it
        """Write the page before files are collected."""
        source = {**os.environ, "PYTHONPATH": str(Path(self.root, "src"))}
        subprocess.run([sys.executable, "-B", "-m", "deniable.web.page.respondent_page"], check=True, env=source)
