"""Consent of a caller, compared with what a survey wants: in clear only what was named, and no other design."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.device.panel import panel_sentence
from deniable.device.privacy_statement import both_numbers, rounded_up
from deniable.errors import PrivacyError
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Collection

    from deniable.device.verified_design import VerifiedDesign

PANEL = "panel"  # what a caller accepts who answers a survey of a panel
DENIABILITY = "deniability"  # and one that claims less than its reports may tell


def agree(
    found: VerifiedDesign,
    public: Collection[str],
    design: str | None,
    epsilon: float | None,
    accept: Collection[str],
) -> None:
    """Compare a verified design with what the caller agrees to; the arguments are those of `Client.answer`."""
    if design is not None and found.id != design:
        raise PrivacyError(f"the collector serves the design {found.id}, not the {design} you expect", design=found.id)
    if epsilon is not None and found.epsilon > epsilon:
        raise PrivacyError(
            f"a whole report of this survey may tell epsilon {rounded_up(found.epsilon)}, more than the "
            f"{epsilon:g} you allow",
            epsilon=found.epsilon,
        )
    named = [public] if isinstance(public, str) else list(public)
    unnamed = [variable.name for variable in found.public if variable.name not in named]
    if unnamed:
        raise PrivacyError(
            f"this survey wants {listed(unnamed)} in clear, not disguised. If you agree, say "
            f"public={[variable.name for variable in found.public]}; else leave it out. Nothing was sent",
            attributes=unnamed,
        )
    if found.message.panel is not None and found.found_again is not None and PANEL not in accept:
        raise PrivacyError(
            f"{panel_sentence(found.message.panel, found.found_again)} If you agree, say accept=['panel']",
            design=found.id,
        )
    if found.claim is not None and DENIABILITY not in accept:
        raise PrivacyError(
            f"this survey claims deniability, which is less than differential privacy at the number it claims. "
            f"{both_numbers(found.claim, found.ratio)} Your account is charged the true one. If you agree, say "
            f'accept=["deniability"]',
            design=found.id,
        )
    weaker, word = found.exchange.weakens(found), found.exchange.accept
    if weaker is not None and word not in accept:
        raise PrivacyError(f'{weaker} If you agree, say accept=["{word}"]', design=found.id)
