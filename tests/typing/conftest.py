"""The package as users have it: a wheel, installed in an environment of its own."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv

import pytest

# What checkers read is not to be imported; the right uses are run by a test.
collect_ignore = ["right.py", "wrong.py"]


@pytest.fixture(scope="session")
def installed(tmp_path_factory, wheel):
    """The interpreter of an environment that has the built wheel, and everything else from ours."""
    folder = tmp_path_factory.mktemp("typing")
    venv.create(folder / "venv", symlinks=True)
    (packages,) = folder.glob("venv/lib/python*/site-packages")
    install = ["-m", "uv", "pip", "install", "--quiet", "--offline", "--no-deps", "--target", packages, wheel]
    subprocess.run([sys.executable, *install], check=True)
    # An editable install of ours is not found this way: it is another .pth file, and those do not nest.
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder / "venv" / "bin" / "python"
