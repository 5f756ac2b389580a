"""Admission: which reports to a plan are let in, by its invitations or its issuer of blind tokens.

All of it belongs to one plan, by the name `invitations.admission_id` that the plan has before there is an issuer's key.
Another survey that is served from the same folder, or the same one with other questions, finds none of it: a token for
one admits to no other, and what was closed stays closed. Reports to a design that was served earlier are still taken,
through that design's own door and until its own date.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from deniable.collection.invitations import admission_id, admitted, check_number, digest, invite, name_of
from deniable.collection.survey_lifecycle import end_mark, given_date
from deniable.collection.token_issuer import LocalIssuer, issuer_path, public_key
from deniable.device.protocol import blind_signature as blind
from deniable.device.protocol.admission_token import token_id
from deniable.device.protocol.messages import design_id
from deniable.errors import InputError
from deniable.storage.sqlite_files import sync

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from deniable.collection.token_issuer import Issuing
    from deniable.device.protocol.blind_signature import PublicKey
    from deniable.device.protocol.messages import Report
    from deniable.storage.store import Store
    from deniable.surveys.schema import Admission
    from deniable.surveys.survey import Survey


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


class Entrance:
    """Who may answer the survey that is served from a store.

    Args:
        survey: the survey.
        store: keeps plain invitations, and which key signs blind tokens.
        folder: where the issuer's file is; that of the store if it has one.
        issuer: an issuer that is somewhere else.
    """

    def __init__(self, survey: Survey, store: Store, folder: Path | None = None, issuer: Issuing | None = None) -> None:
        self._survey, self._store = survey, store
        self.id = name_of(survey)
        self.issuer: Issuing | None = None
        if survey.admission == "blind":
            self.issuer = self._local(folder or store.folder) if issuer is None else issuer
            self._pin(self.issuer.message)
        elif issuer is not None:
            raise InputError('an issuer is for blind tokens: say admission = "blind" in the survey file')
        self.end_mark = end_mark(self.id)
        self._folder = folder or store.folder
        if self._folder is not None and closed_path(self._folder, survey.name, self.id).exists():
            store.save(self.end_mark, b"")  # the store may have been put back from a copy that does not know
        if survey.closes is not None:
            store.save(given_date(self.id, survey.closes), b"")

    def _local(self, folder: Path | None) -> LocalIssuer:
        if folder is None:
            raise InputError("blind tokens are issued from a file, never from a database: name a folder, or an issuer")
        return LocalIssuer(issuer_path(folder, self._survey.name, self.id))

    def _pin(self, message: bytes) -> None:
        if self._store.save(f"issuer {self.id}", message) != message:
            raise InputError(
                "this survey's tokens were signed with another key until now, and those who have one would be turned "
                "away. Put the issuer's file back, or give the survey another name"
            )

    def invite(self, number: int) -> list[str]:
        """Make invitations; this is the only time they can be shown."""
        refuse_open(self._survey)
        if self.issuer is None:
            return invite(self._store, self.id, number)
        if not isinstance(self.issuer, LocalIssuer):
            raise InputError("invitations to this survey are made where its issuer is")
        return self.issuer.invite(check_number(number))

    @property
    def issuer_id(self) -> str | None:
        """The issuer's key by the hash that stands in designs; None where there are no blind tokens."""
        return None if self.issuer is None else design_id(self.issuer.message)

    def door(self, design: bytes) -> Door:
        """The door for reports to a design."""
        name = admission_id(design)
        pinned = self._store.saved(f"issuer {name}")
        key = None if pinned is None else public_key(pinned)
        return Door(json.loads(design)["admission"], self._store, admitted(name), key)

    @property
    def is_ended(self) -> bool:
        """Whether the survey was closed for good."""
        return self._store.saved(self.end_mark) is not None

    @property
    def has_been_used(self) -> bool:
        """Whether anybody got a token: then there is something to be forgotten at the end."""
        return isinstance(self.issuer, LocalIssuer) and self.issuer.issued() > 0

    def end(self) -> None:
        """Close the survey for good: no report, no token, and no way to tell who got one."""
        mark_end(self._store, self._survey, self._folder)
        if self.issuer is not None:
            self.issuer.end()

    def close(self) -> None:
        """Let go of the issuer's file."""
        if self.issuer is not None:
            self.issuer.close()


def mark_end(store: Store, survey: Survey, folder: Path | None) -> None:
    """Keep in a store, and in a file beside it, that a survey was closed for good."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        closed_path(folder, survey.name, name_of(survey)).touch(mode=0o600)
        sync(folder)
    store.save(end_mark(name_of(survey)), b"")


def was_served(store: Store, survey: Survey) -> bool:
    """Tell whether a survey was ever served from a store, as its file says it now."""
    return bool(numbers_of(store, survey))


def numbers_of(store: Store, survey: Survey) -> list[int]:
    """The numbers of a survey's designs in a store."""
    mine = name_of(survey)
    return [number for number, body in store.designs().values() if admission_id(body) == mine]


def refuse_open(survey: Survey) -> None:
    """Refuse to invite people to a survey that everybody may answer."""
    if survey.admission == "open":
        raise InputError('everybody may answer this survey; say admission = "invited" or "blind" in the survey file')


def closed_path(folder: Path, survey: str, admission_id: str) -> Path:
    """The file that says that a survey was closed, whatever copy is put back in the place of its reports."""
    return folder / f"closed-{survey}-{admission_id[:16]}"
