"""The program's own sentences in further languages, a file each: `fr.json` says them in French.

English and German stand where sentences are written: in `words`, `frames` and `phrases`. A language is there as soon as
its file is, and a test holds every file to every sentence, with the same places for numbers. They were not yet read by
people who grew up with these languages.
"""

from __future__ import annotations

import json
from importlib.resources import files


def codes() -> list[str]:
    """The languages that have a file."""
    return sorted(path.name.removesuffix(".json") for path in files(__name__).iterdir() if path.name.endswith(".json"))


def add_languages(words: dict[str, dict[str, str]]) -> None:
    """Add what the files say of these words."""
    for code in codes():
        said: dict[str, str] = json.loads(files(__name__).joinpath(f"{code}.json").read_text(encoding="utf-8"))
        for name, texts in words.items():
            if name in said:
                texts[code] = said[name]
