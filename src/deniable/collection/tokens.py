"""Secrets that open something: made here, shown once, and kept as hashes only.

They are random and 256 bits long, so a plain hash hides them: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deniable.collection.storage.base import Store

ANALYST, LINK, LOGIN = "analyst", "link", "login"


def new_token(store: Store, purpose: str) -> str:
    """Make a secret and keep its hash; this is the only time it can be shown."""
    token = secrets.token_urlsafe(32)
    store.add_token(_digest(token), purpose)
    return token


def opens(store: Store, token: str, purpose: str) -> bool:
    """Tell whether a secret was made for this purpose."""
    return store.has_token(_digest(token), purpose)


def end(store: Store, token: str, purpose: str) -> None:
    """Let a secret open nothing any more."""
    store.drop_tokens(purpose, [_digest(token)])


def replace(store: Store) -> str:
    """Make a new analyst's token. The one before, its one-time links and everybody's login end at once."""
    for purpose in (LOGIN, LINK, ANALYST):
        store.drop_tokens(purpose)
    return new_token(store, ANALYST)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
