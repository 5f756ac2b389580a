"""Invitations: secrets that let one report in each. Whoever runs the survey hands them out; only hashes are kept.

=========  ==========================================================================================================
admission  what an invitation is good for
=========  ==========================================================================================================
invited    the report's id is a hash of the invitation. Whoever knows to whom each invitation went can find the report
blind      one blind signature of a token that the device made up; the report's id is a hash of the token. Nobody can
           tell for whose invitation it was signed (see `blind`)
=========  ==========================================================================================================

In both, an invitation is used up because no two reports have the same id: sending the same bytes again is harmless as
ever. Invitations belong to one plan, by its `admission_id`; amendments, which correct words, share them.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from typing import TYPE_CHECKING

from deniable.collection.survey_messages import LOOPBACK, design_body
from deniable.device.protocol.admission_token import report_id
from deniable.device.protocol.canonical_json import encode
from deniable.errors import InputError

if TYPE_CHECKING:
    from deniable.storage.store import Store
    from deniable.surveys.survey import Survey

MOST = 1_000_000
# What may differ between designs that take the same invitations: words; where the survey is; and the issuer's key,
# which is made for this name and so cannot be part of it.
_OUTSIDE = ("texts", "replaces", "audience", "published", "issuer")


def admission_id(design: bytes) -> str:
    """Name what invitations are good for: everything that is asked and how, known before there is an issuer's key."""
    fields = {name: value for name, value in json.loads(design).items() if name not in _OUTSIDE}
    return hashlib.sha256(encode(fields)).hexdigest()


def outline(survey: Survey) -> bytes:
    """The survey's design, but for where it is served and who issues tokens: neither is part of the name."""
    return design_body(survey, LOOPBACK, issuer=bytes(32).hex() if survey.admission == "blind" else None)


def name_of(survey: Survey) -> str:
    """The name of what invitations to a survey are good for."""
    return admission_id(outline(survey))


def admitted(admission_id: str) -> str:
    """The purpose under which the store keeps plain invitations of a plan."""
    return f"admitted {admission_id}"


def invite(store: Store, admission_id: str, number: int) -> list[str]:
    """Make plain invitations; this is the only time they can be shown."""
    made = [secrets.token_urlsafe(24) for _ in range(check_number(number))]
    store.add_tokens([digest(report_id(code)) for code in made], admitted(admission_id))
    return made


def check_number(number: int) -> int:
    """Refuse to make none, or too many at a time."""
    if not 1 <= number <= MOST:
        raise InputError(f"make 1 to {MOST} invitations at a time, not {number}", number=number)
    return number


def digest(secret: str) -> bytes:
    """What is kept of an invitation or of an admitted id."""
    return hashlib.sha256(secret.encode()).digest()
