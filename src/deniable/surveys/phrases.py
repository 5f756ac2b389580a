"""The few texts that a survey file need not write: yes, no, and the two ways of not answering.

A survey in another language, or with other words, gives them under `[texts]`.
"""

from __future__ import annotations

from deniable.surveys.languages import add_languages

YES, NO = "yes", "no"

PHRASES: dict[str, dict[str, str]] = {
    "yes": {"en": "Yes", "de": "Ja"},
    "no": {"en": "No", "de": "Nein"},
    "prefer_not_to_say": {"en": "Prefer not to say", "de": "Keine Angabe"},
    "does_not_apply": {"en": "Does not apply", "de": "Trifft nicht zu"},
}
add_languages(PHRASES)
