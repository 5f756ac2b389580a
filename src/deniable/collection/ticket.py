"""The device's half of admission: from an invitation to the id of the one report that it lets in.

A blind token is made up, blinded and written down before anything is sent: a lost reply costs nothing, because the
same bytes get the same signature again. Once it is signed, the number that undoes the blinding is forgotten.

The signature hides which token was signed. It cannot hide that two requests came from the same place at the same time:
fetch the token (`Client.enter`) some time before answering, or over another network.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from deniable.collection import blind, messages
from deniable.collection.blind import PublicKey
from deniable.collection.invitations import report_id, token_id
from deniable.collection.messages import MOST_ADMISSION_BYTES, Application, Entry, Hex, Issuer, Message, Signed
from deniable.errors import CollectorError, InputError, PrivacyError

if TYPE_CHECKING:
    from collections.abc import Callable

    from deniable.collection.state import State


class Ticket(Message, frozen=True):
    """A token on its way: `inverse` until it is signed, `signature` from then on."""

    n: Hex
    token: Hex
    blinded: Hex
    inverse: Hex | None = None
    signature: Hex | None = None


class Tickets:
    """Where a device gets the id of its report from.

    Args:
        admission: what the survey says: open, invited or blind.
        invitation: the secret that the respondent was given.
        state: what the device keeps.
        name: what to keep it under: the collector's address and the survey's name.
        get: fetches an address of the collector.
        post: sends a message to one and returns the answer; raises where it is refused.
        expected: the issuer's key that the respondent read elsewhere, by its hash.
    """

    def __init__(
        self,
        admission: str,
        invitation: str | None,
        state: State,
        name: str,
        *,
        get: Callable[[str], bytes],
        post: Callable[[str, bytes], bytes],
        expected: str | None = None,
    ) -> None:
        self._admission, self._invitation, self._state, self._expected = admission, invitation, state, expected
        self._name, self._get, self._post = f"ticket:{name}", get, post

    def id(self) -> str:
        """The id for this device's report, admitted by the collector."""
        if self._admission == "open":
            return secrets.token_hex(32)
        if self._admission == "invited":
            return report_id(self._secret)
        if self._admission != "blind":
            raise CollectorError(f"this client does not know the admission {self._admission!r}; upgrade deniable")
        ticket = self.signed()
        self._post("/v1/entries", messages.encode(Entry(1, ticket.token, ticket.signature or "")))
        return token_id(bytes.fromhex(ticket.token))

    @property
    def _secret(self) -> str:
        if self._invitation is None:
            raise InputError("this survey is by invitation: give the client the one you received, invitation=...")
        return self._invitation

    def signed(self) -> Ticket:
        """A signed token: the one this device has, or a new one for the invitation."""
        kept = self._state.noted(self._name)
        ticket = self._new() if kept is None else messages.decode(kept, Ticket, most=MOST_ADMISSION_BYTES)
        if ticket.inverse is None:
            return ticket
        asked = messages.encode(Application(1, self._secret, ticket.blinded))
        answer = messages.decode(self._post("/v1/tokens", asked), Signed, most=MOST_ADMISSION_BYTES)
        key, token = PublicKey(int(ticket.n, 16)), bytes.fromhex(ticket.token)
        signature = blind.finalize(key, token, bytes.fromhex(answer.signature), int(ticket.inverse, 16))
        done = Ticket(ticket.n, ticket.token, ticket.blinded, None, signature.hex())
        self._state.note(self._name, messages.encode(done))
        return done

    def _new(self) -> Ticket:
        _ = self._secret
        issuer = self._get("/v1/issuer")
        found = messages.design_id(issuer)
        if self._expected is not None and found != self._expected:
            # A key of one's own would be as good as a name on the token.
            raise PrivacyError(f"the collector shows the issuer's key {found}, not the {self._expected} you expect")
        key = _key(issuer)
        token = blind.prepare(secrets.token_bytes(32))
        blinded = blind.blind(key, token)
        inverse = blinded.inverse.to_bytes(key.size, "big").hex()
        ticket = Ticket(key.n.to_bytes(key.size, "big").hex(), token.hex(), blinded.message.hex(), inverse)
        self._state.note(self._name, messages.encode(ticket))
        return ticket


def _key(issuer: bytes) -> PublicKey:
    message = messages.decode(issuer, Issuer, most=MOST_ADMISSION_BYTES)
    key = PublicKey(int(message.n, 16), message.e)
    if not key.is_sound:
        raise PrivacyError("the issuer's key is refused: it is not an RSA key of 2048 to 8192 bits with exponent 65537")
    return key
