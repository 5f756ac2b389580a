"""The few texts that a survey file need not write: yes, no, and the two ways of not answering.

A survey in another language, or with other words, gives them under `[texts]`.
"""

from __future__ import annotations

YES, NO = "yes", "no"

PHRASES: dict[str, dict[str, str]] = {
    "yes": {"en": "Yes", "de": "Ja", "es": "Sí", "fr": "Oui", "it": "Sì", "nl": "Ja", "pt": "Sim"},
    "no": {"en": "No", "de": "Nein", "es": "No", "fr": "Non", "it": "No", "nl": "Nee", "pt": "Não"},
    "prefer_not_to_say": {
        "en": "Prefer not to say",
        "de": "Keine Angabe",
        "es": "Prefiero no decirlo",
        "fr": "Je préfère ne pas répondre",
        "it": "Preferisco non rispondere",
        "nl": "Zeg ik liever niet",
        "pt": "Prefiro não dizer",
    },
    "does_not_apply": {
        "en": "Does not apply",
        "de": "Trifft nicht zu",
        "es": "No procede",
        "fr": "Sans objet",
        "it": "Non pertinente",
        "nl": "Niet van toepassing",
        "pt": "Não se aplica",
    },
}
