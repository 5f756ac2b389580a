"""Certificates of a floor as files: what each has in common, written, read and checked again.

A file says what is wanted, at which epsilon, which loss nothing goes below, and what proves it. `deniable verify` reads
it and computes the bound again; that the file claims one plays no part in that. Numbers are doubles, written so that
they are read as the same doubles.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from importlib import import_module
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from deniable.aims.aim import made
from deniable.aims.contrasts import Contrasts
from deniable.core.domain import Domain
from deniable.device.epsilon import exp_below
from deniable.errors import DeniableError, DesignError, InputError
from deniable.frozen import Frozen
from deniable.text import SHOWN

if TYPE_CHECKING:
    from collections.abc import Mapping

_HOMES = {
    "patterns": ("deniable.optimal.certificate", "Certificate"),
    "delsarte": ("deniable.optimal.delsarte_certificate", "DelsarteCertificate"),
    "hypercontractive": ("deniable.optimal.hypercontractive_floor", "HypercontractiveCertificate"),
}
MOST_BYTES = 1 << 24


class Proof(Frozen, ABC):
    """A certificate of a floor."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def bound(self) -> float:
        """The proven bound, rounded down."""

    @abstractmethod
    def check(self) -> float:
        """Prove the bound again, and return it."""

    @property
    @abstractmethod
    def of(self) -> str:
        """What is wanted, in words."""

    @property
    @abstractmethod
    def where(self) -> str:
        """At which epsilon, and of which truth."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """What proves it, as JSON has it."""

    @classmethod
    @abstractmethod
    def from_dict(cls, known: Mapping[str, Any]) -> Self:
        """The certificate of what `to_dict` has written."""

    def write(self, path: str | Path) -> Path:
        """Write it to a JSON file, which `deniable verify` checks."""
        whole = {"certificate": self.kind, "loss": self.bound, **self.to_dict()}
        place = Path(path)
        place.write_text(json.dumps(whole, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        return place


def is_certificate(body: bytes) -> bool:
    """Whether a file is one of a certificate, whatever it proves."""
    try:
        known = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(known, dict) and "certificate" in known


def verified(body: bytes) -> Proof:
    """The certificate that a file holds, when it proves what it claims.

    Raises:
        InputError: this is no certificate.
        DesignError: it proves nothing, or less than it claims.
    """
    if len(body) > MOST_BYTES:
        raise InputError(f"a certificate is a file of at most {MOST_BYTES} bytes")
    try:
        known = json.loads(body)
        home = _HOMES.get(known["certificate"])
        if home is None:
            raise InputError(f"certificates are {', '.join(_HOMES)}, not {known['certificate']!r:.40}")
        module, name = home
        claimed, found = float(known["loss"]), getattr(import_module(module), name).from_dict(known)
        bound = found.check()
    except DeniableError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, RecursionError) as error:
        raise InputError(f"no certificate is written like this ({type(error).__name__}: {error!s:.80})") from None
    if not (isfinite(claimed) and claimed <= bound):
        raise DesignError(f"this certificate proves a loss of {bound:.9g}, and claims {claimed:.9g}", bound=bound)
    proof: Proof = found
    return proof


def epsilon_of(known: Mapping[str, Any]) -> float:
    """The epsilon that is written; refused where it is none."""
    epsilon = float(known["epsilon"])
    exp_below(epsilon)
    return epsilon


def names_of(contrasts: Contrasts) -> str:
    """What is wanted, in words."""
    named = [str(one) for one in contrasts.wanted]
    return ", ".join(named if len(named) <= SHOWN else [*named[:SHOWN], f"{len(named) - SHOWN} more"])


def contrasts_to_dict(contrasts: Contrasts) -> dict[str, Any]:
    """What is wanted of which attributes, at even shares."""
    wanted = [
        {"kind": one.kind, "attributes": one.attributes, "weight": one.weight, "options": one.options}
        for one in contrasts.wanted
    ]
    return {"domain": {name: list(v.categories) for name, v in contrasts.domain.items()}, "wanted": wanted}


def contrasts_from_dict(known: Mapping[str, Any]) -> Contrasts:
    """The same, as it was written."""
    wanted = (made(one["kind"], one["attributes"], float(one["weight"]), one["options"]) for one in known["wanted"])
    return Contrasts(Domain(known["domain"]), tuple(wanted))
