"""What version 0.1 kept about blind tokens: one key and one list of invitations, in the store, for all its surveys.

The first of those surveys that is served, or that people are invited to, takes all of it over into its issuer's file.
What is in that file counts; what the store still has is added to it, and forgotten only then. So it does not matter how
often this is begun, nor how many programs do it at once. When one of those surveys ends, whatever is left is forgotten:
nobody can tell to which of them it belongs.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from deniable.collection.invitations import name_of, outline
from deniable.collection.issuer import issuer_path, key_bytes, read_key
from deniable.collection.storage.slots import FREE, Slots

if TYPE_CHECKING:
    from pathlib import Path

    from deniable.collection.storage.base import Store
    from deniable.surveys.survey import Survey

OLD_ADMITTED, OLD_INVITED, OLD_KEY, OLD_SIGNED = "admitted", "invitation", "issuer", "signed:"
_ADOPTED = "adopted"


def earlier(store: Store, survey: Survey) -> list[str]:
    """The designs under which version 0.1 served a survey from this store."""
    now: dict[str, Any] = json.loads(outline(survey))
    found = []
    for name, (_, body) in store.designs().items():
        fields: dict[str, Any] = json.loads(body)
        if fields["version"] == 1 and (fields["survey"], fields["plan"]) == (now["survey"], now["plan"]):
            found.append(name)
    return found


def adopts(store: Store, survey: Survey) -> bool:
    """Whether a survey is the one that takes over what version 0.1 kept. The first that could is."""
    name = name_of(survey).encode()
    return bool(earlier(store, survey)) and store.save(_ADOPTED, name) == name


def adopt(store: Store, survey: Survey, folder: Path) -> None:
    """Move what version 0.1 kept from the store to the file of a survey's issuer, if it is for this survey.

    Raises:
        InputError: there is such a file, with another key. Nothing is moved then, and nothing forgotten.
    """
    kept = store.saved(OLD_KEY)
    if survey.admission != "blind" or kept is None or not adopts(store, survey):
        return
    used = {
        bytes.fromhex(name.removeprefix(OLD_SIGNED)): value for name, value in store.saved_under(OLD_SIGNED).items()
    }
    old = {**dict.fromkeys(store.tokens(OLD_INVITED), FREE), **used}
    public, secret = key_bytes(read_key(kept))
    slots = Slots(issuer_path(folder, survey.name, name_of(survey)), lambda: (public, secret))
    try:
        slots.absorb(public, old)
    finally:
        slots.close()
    forget(store)  # after the file is on disk: whoever is interrupted here begins again
    store.compact()


def forget(store: Store) -> None:
    """Forget the secret key of version 0.1, who was invited, and who fetched a token."""
    store.forget(OLD_SIGNED)
    store.drop_tokens(OLD_INVITED)
    store.drop(OLD_KEY)  # no other name that begins like this: the issuers of today are pinned under such
