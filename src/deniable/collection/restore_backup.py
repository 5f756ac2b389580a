"""Put back from a backup: what ended after the copy was made must not begin again.

A copy knows no token, link or login (`storage.copy_store`), so none that was revoked since opens anything. A database
that its own tools put back has them; it is known by its home, which is another one then. Whether the survey was closed
since is in no copy either: a file beside the store says so, and where that is lost, whoever runs the survey has to
(`deniable close`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.collection import bearer_tokens as tokens

if TYPE_CHECKING:
    from pathlib import Path

    from deniable.storage.store import Store

HOME = "home"  # under which a store keeps where it is


def settle(store: Store) -> bool:
    """Tell whether a store is served for the first time since it was put back; then every secret ends that it knows."""
    if store.save(HOME, store.home) == store.home:
        return False
    tokens.revoke(store)
    store.drop(HOME)
    store.save(HOME, store.home)
    return True


def closed_path(folder: Path, survey: str, admission_id: str) -> Path:
    """The file that says that a survey was closed, whatever is put back in the place of its reports."""
    return folder / f"closed-{survey}-{admission_id[:16]}"
