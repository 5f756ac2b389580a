"""The door: which reports to a plan are let in. See `invitations` for the kinds of admission."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.collection.invitations import digest
from deniable.device.protocol import blind_signature as blind
from deniable.device.protocol.admission_token import token_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.device.protocol.blind_signature import PublicKey
    from deniable.device.protocol.messages import Report
    from deniable.storage.store import Store
    from deniable.surveys.schema import Admission


class Door:
    """Admission to one plan. May be called from any thread.

    Args:
        admission: who is let in.
        store: keeps hashes of the ids of reports that are let in.
        purpose: what it keeps them under.
        key: what blind tokens are signed with.
    """

    def __init__(self, admission: Admission, store: Store, purpose: str, key: PublicKey | None) -> None:
        self.is_open, self._blind = admission == "open", admission == "blind"
        self._store, self._purpose, self._key = store, purpose, key

    def strangers(self, reports: Sequence[Report]) -> set[str]:
        """Which of these reports, by their ids, are not let in."""
        if self.is_open:
            return set()
        digests = {digest(report.id): report.id for report in reports if not self._is_signed(report)}
        known = self._store.held(list(digests), self._purpose)
        return {name for kept, name in digests.items() if kept not in known}

    def _is_signed(self, report: Report) -> bool:
        """Tell whether a report brings a token that the issuer signed. That it comes once is up to the report's id."""
        if not self._blind or self._key is None or report.token is None or report.signature is None:
            return False
        token = bytes.fromhex(report.token)
        return report.id == token_id(token) and blind.verify(self._key, token, bytes.fromhex(report.signature))
