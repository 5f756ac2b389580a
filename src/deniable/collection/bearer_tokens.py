"""Secrets that open something: made here, shown once, and kept as hashes only.

They are random and 256 bits long, so a plain hash hides them: there is nothing to guess. What ended must not begin
again when a copy of the store is put back: a copy knows no token, link or login (`storage.copy_store`), and a database
that its own tools put back is known by its home, which is another one then (`settle`).
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deniable.storage.store import Store

ANALYST, LINK = "analyst", "link"
HOME = "home"  # under which a store keeps where it is
LOGIN = "login "  # how the names begin under which logins are kept, each with the moment it ends


def new_token(store: Store, purpose: str) -> str:
    """Make a secret and keep its hash; this is the only time it can be shown."""
    token = secrets.token_urlsafe(32)
    store.add_token(_digest(token), purpose)
    return token


def opens(store: Store, token: str, purpose: str) -> bool:
    """Tell whether a secret was made for this purpose."""
    return store.has_token(_digest(token), purpose)


def new_login(store: Store, now: int, ends: int) -> str:
    """Make the secret of a login that is over at a moment, in seconds; those that are over by now are forgotten."""
    for name, moment in store.saved_under(LOGIN).items():
        if int(moment) <= now:
            store.drop(name)
    secret = secrets.token_urlsafe(32)
    store.save(_login(secret), str(ends).encode())
    return secret


def is_login(store: Store, secret: str, ends: int) -> bool:
    """Tell whether this is the secret of a login that ends then."""
    return store.saved(_login(secret)) == str(ends).encode()


def end_login(store: Store, secret: str) -> None:
    """Log out."""
    store.drop(_login(secret))


def revoke(store: Store) -> None:
    """End the analyst's token, its one-time links and everybody's login at once."""
    store.forget(LOGIN)
    for purpose in (LINK, ANALYST):
        store.drop_tokens(purpose)


def replace(store: Store) -> str:
    """Make a new analyst's token in the place of everything that opened something before."""
    revoke(store)
    return new_token(store, ANALYST)


def settle(store: Store) -> bool:
    """Tell whether a store is served for the first time since it was put back; then every secret ends that it knows."""
    if store.save(HOME, store.home) == store.home:
        return False
    revoke(store)
    store.drop(HOME)
    store.save(HOME, store.home)
    return True


def _login(secret: str) -> str:
    return f"{LOGIN}{_digest(secret).hex()}"


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
