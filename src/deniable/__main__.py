"""`python -m deniable` is the command `deniable`, where that is not on the path."""

from __future__ import annotations

from deniable.cli import main

if __name__ == "__main__":
    main()
