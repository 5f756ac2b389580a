"""The device's half of admission: from an invitation to the id of the one report that it lets in.

A blind token is made up, blinded and written down before anything is sent: a lost reply costs nothing, because the
same bytes get the same signature again. Once it is signed, the number that undoes the blinding is forgotten.

The signature hides which token was signed. It cannot hide that two requests came from the same place at the same time:
fetch the token (`Client.enter`) some time before answering, or over another network.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING, NamedTuple

from deniable.device.protocol import blind_signature as blind
from deniable.device.protocol import canonical_json as wire
from deniable.device.protocol.blind_signature import PublicKey
from deniable.device.protocol.canonical_json import Hex, Message
from deniable.device.protocol.messages import MOST_ADMISSION_BYTES, Application, Issuer, Signed, design_id
from deniable.errors import InputError, PrivacyError

if TYPE_CHECKING:
    from collections.abc import Callable

    from deniable.device.device_state import State
    from deniable.device.verified_design import VerifiedDesign


class Ticket(Message, frozen=True):
    """A token on its way: `inverse` until it is signed, `signature` from then on."""

    n: Hex
    token: Hex
    blinded: Hex
    inverse: Hex | None = None
    signature: Hex | None = None


class Pass(NamedTuple):
    """What lets a report in: its id and, under blind admission, the token that the id is the hash of."""

    id: str
    token: str | None = None
    signature: str | None = None


class Tickets:
    """Where a device gets the id of its report from.

    Args:
        design: says who may answer, and whose signature a blind token needs.
        invitation: the secret that the respondent was given.
        state: what the device keeps.
        get: fetches an address of the collector.
        post: sends a message to one and returns the answer; raises where it is refused.
    """

    def __init__(
        self,
        design: VerifiedDesign,
        invitation: str | None,
        state: State,
        *,
        get: Callable[[str], bytes],
        post: Callable[[str, bytes], bytes],
    ) -> None:
        self._terms, self._invitation, self._state = design.message, invitation, state
        self._name, self._get, self._post = f"ticket:{design.plan_id}", get, post

    def admitted(self) -> Pass:
        """What lets this device's report in."""
        if self._terms.admission == "open":
            return Pass(secrets.token_hex(32))
        if self._terms.admission == "invited":
            return Pass(report_id(self._secret))
        ticket = self.signed()
        return Pass(token_id(bytes.fromhex(ticket.token)), ticket.token, ticket.signature)

    @property
    def _secret(self) -> str:
        if self._invitation is None:
            raise InputError("this survey is by invitation: give the client the one you received, invitation=...")
        return self._invitation

    def signed(self) -> Ticket:
        """A signed token: the one this device has, or a new one for the invitation."""
        kept = self._state.noted(self._name)
        ticket = self._new() if kept is None else wire.decode(kept, Ticket, most=MOST_ADMISSION_BYTES)
        if ticket.inverse is None:
            return ticket
        asked = wire.encode(Application(1, self._secret, ticket.blinded))
        answer = wire.decode(self._post("/v1/tokens", asked), Signed, most=MOST_ADMISSION_BYTES)
        key, token = PublicKey(int(ticket.n, 16)), bytes.fromhex(ticket.token)
        signature = blind.finalize(key, token, bytes.fromhex(answer.signature), int(ticket.inverse, 16))
        done = Ticket(ticket.n, ticket.token, ticket.blinded, None, signature.hex())
        self._state.note(self._name, wire.encode(done))
        return done

    def _new(self) -> Ticket:
        _ = self._secret
        issuer = self._get("/v1/issuer")
        found = design_id(issuer)
        if found != self._terms.issuer:
            # A key of one's own would be as good as a name on the token.
            raise PrivacyError(f"the collector shows the issuer's key {found}, not the design's {self._terms.issuer}")
        key = _key(issuer)
        token = blind.prepare(secrets.token_bytes(32))
        blinded = blind.blind(key, token)
        inverse = blinded.inverse.to_bytes(key.size, "big").hex()
        ticket = Ticket(key.n.to_bytes(key.size, "big").hex(), token.hex(), blinded.message.hex(), inverse)
        self._state.note(self._name, wire.encode(ticket))
        return ticket


def report_id(invitation: str) -> str:
    """The id of the one report that a plain invitation lets in.

    >>> report_id("invitation")[:16]
    '232f73a67b9cfe94'
    """
    return hashlib.sha256(b"deniable/1/invitation:" + invitation.encode()).hexdigest()


def token_id(token: bytes) -> str:
    """The id of the one report that a blind token lets in."""
    return hashlib.sha256(token).hexdigest()


def _key(issuer: bytes) -> PublicKey:
    message = wire.decode(issuer, Issuer, most=MOST_ADMISSION_BYTES)
    key = PublicKey(int(message.n, 16), message.e)
    if not key.is_sound:
        raise PrivacyError("the issuer's key is refused: it is not an RSA key of 2048 to 8192 bits with exponent 65537")
    return key
