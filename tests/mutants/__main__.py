"""`python tests/mutants`: the folder is run, so it has to be made a package first."""

import os
import sys
from pathlib import Path

if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as for all tests: see tests/conftest.py
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    from mutants.command import main

    sys.exit(main(sys.argv[1:]))
