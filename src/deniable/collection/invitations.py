"""Invitations: secrets that let one report in each. Whoever runs the survey hands them out; the store keeps hashes.

=========  ==========================================================================================================
admission  what an invitation is good for
=========  ==========================================================================================================
invited    the report's id is a hash of the invitation. Whoever knows to whom each invitation went can find the report
blind      one blind signature of a token that the device made up; the report's id is a hash of the token. Nobody can
           tell for whose invitation it was signed (see `blind`)
=========  ==========================================================================================================

In both, a report is admitted if the hash of its id is known, and used up because no two reports have the same id: an
invitation needs no state of its own, and sending the same bytes again is harmless as ever.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING

from deniable.errors import InputError

if TYPE_CHECKING:
    from deniable.collection.storage.base import Store
    from deniable.surveys.schema import Admission

INVITED, ADMITTED = "invitation", "admitted"
MOST = 1_000_000


def invite(store: Store, admission: Admission, number: int) -> list[str]:
    """Make invitations; this is the only time they can be shown."""
    if admission == "open":
        raise InputError('everybody may answer this survey; say admission = "invited" or "blind" in the survey file')
    if not 1 <= number <= MOST:
        raise InputError(f"make 1 to {MOST} invitations at a time, not {number}", number=number)
    made = [secrets.token_urlsafe(24) for _ in range(number)]
    if admission == "invited":
        store.add_tokens([digest(report_id(code)) for code in made], ADMITTED)
    else:
        store.add_tokens([digest(code) for code in made], INVITED)
    return made


def report_id(invitation: str) -> str:
    """The id of the one report that a plain invitation lets in.

    >>> report_id("invitation")[:16]
    '232f73a67b9cfe94'
    """
    return hashlib.sha256(b"deniable/1/invitation:" + invitation.encode()).hexdigest()


def token_id(token: bytes) -> str:
    """The id of the one report that a blind token lets in."""
    return hashlib.sha256(token).hexdigest()


def digest(secret: str) -> bytes:
    """What the store keeps of an invitation or of an admitted id."""
    return hashlib.sha256(secret.encode()).digest()
