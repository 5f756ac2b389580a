"""pandas 3, in an environment of its own: the other tests have pandas 2, because Spark needs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PANDAS_3 = Path(sys.prefix) / "pandas3"  # `make test` puts it there


def test_what_takes_and_gives_frames_works_on_pandas_3(environment, tmp_path):
    assert PANDAS_3.is_dir(), f"no pandas 3 in {PANDAS_3}: make test sets it up"
    programs = environment("demo", "files", "regression", instead=PANDAS_3)
    check = [sys.executable, "-m", "uv", "pip", "check", "--offline", "--python", programs / "python"]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    # None of the packages that come with these extras refuses it.
    assert b"are compatible" in subprocess.run(check, check=True, capture_output=True).stderr
    script = Path(__file__).with_name("pandas_3.py")
    done = subprocess.run(
        [programs / "python", script], check=False, capture_output=True, text=True, cwd=tmp_path, env=clean
    )
    assert done.returncode == 0, done.stdout + done.stderr
