"""The door: which reports a collector takes, and how a blind token is got and used. See `invitations` for the kinds."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING

from deniable.collection import blind, messages
from deniable.collection.blind import SecretKey
from deniable.collection.invitations import ADMITTED, INVITED, digest, token_id
from deniable.collection.messages import MOST_ADMISSION_BYTES, Application, Issuer, Problem, Report, Signed
from deniable.collection.problems import problem, read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.collection.storage.base import Store
    from deniable.surveys.schema import Admission

_KEY = "issuer"
_NUMBER = 512  # bytes of a prime, at most


class Door:
    """Admission to one survey. Everything here asks the store, and may be called from any thread."""

    def __init__(self, admission: Admission, store: Store) -> None:
        """Make the issuer's key if this is the first start of a survey with blind tokens."""
        self.is_open, self._blind, self._store = admission == "open", admission == "blind", store
        if self._blind:
            _ = self._key

    def strangers(self, reports: Sequence[Report]) -> set[str]:
        """Which of these reports, by their ids, are not admitted."""
        if self.is_open:
            return set()
        if self._blind:
            return {report.id for report in reports if not self._is_signed(report)}
        digests = {digest(report.id): report.id for report in reports}
        known = self._store.held(list(digests), ADMITTED)
        return {name for found, name in digests.items() if found not in known}

    def _is_signed(self, report: Report) -> bool:
        """Tell whether a report comes with a token that was signed, and that its id is the hash of."""
        if report.token is None or report.signature is None:
            return False
        token = bytes.fromhex(report.token)
        return token_id(token) == report.id and blind.verify(self._key.public, token, bytes.fromhex(report.signature))

    # -- blind tokens -------------------------------------------------------------------------------------------------

    @cached_property
    def _key(self) -> SecretKey:
        """The issuer's key, the same for all workers: the first to start makes it."""
        kept = self._store.kept(_KEY)
        if kept is None:
            made = SecretKey.generate()
            kept = self._store.keep(_KEY, made.p.to_bytes(_NUMBER, "big") + made.q.to_bytes(_NUMBER, "big"))
        return SecretKey(int.from_bytes(kept[:_NUMBER], "big"), int.from_bytes(kept[_NUMBER:], "big"))

    @cached_property
    def issuer(self) -> bytes | None:
        """The issuer's public key as a message; None where there are no blind tokens."""
        if not self._blind:
            return None
        key = self._key.public
        return messages.encode(Issuer(1, key.n.to_bytes(key.size, "big").hex(), key.e))

    def sign(self, body: bytes) -> Signed | Problem:
        """Sign a blinded token for an invitation: this one, and never another. Asked again, the answer is the same."""
        asked = read(body, Application, most=MOST_ADMISSION_BYTES)
        if isinstance(asked, Problem):
            return asked
        name = digest(asked.invitation)
        if not self._blind or not self._store.has_token(name, INVITED):
            return problem("not-invited")
        blinded = bytes.fromhex(asked.blinded)
        first = self._store.keep(f"signed:{name.hex()}", hashlib.sha256(blinded).digest())
        if first != hashlib.sha256(blinded).digest():
            return problem("used")
        try:
            return Signed(1, self._key.sign(blinded).hex())
        except ValueError as error:
            return problem("malformed", str(error))
