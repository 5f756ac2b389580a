"""Refusing a design, as a device does it: with a code and a sentence."""

from __future__ import annotations

from typing import NoReturn

from deniable.errors import RefusedDesignError


def refuse(code: str, sentence: str) -> NoReturn:
    """Refuse a design, with the reason as a code and as a sentence."""
    raise RefusedDesignError(f"this design is refused ({code}): {sentence}", code=code)
