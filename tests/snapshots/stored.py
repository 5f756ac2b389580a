"""Texts as they were stored: what a test makes today must be the same, but for a last digit.

Everything that may differ between two runs or two machines is taken out here, and nowhere else: see `normal`.
"""

from __future__ import annotations

import difflib
import hashlib
import re
import textwrap
from itertools import zip_longest
from pathlib import Path

import pytest

import deniable as dn

HERE = Path(__file__).parent
RENEW = ".venv/bin/python -m pytest tests/snapshots --renew"
LONG, PARTS = 1_500, 4  # characters of a text that is stored whole, and hashes of a longer one

# -- numbers -----------------------------------------------------------------------------------------------------------
# Linear algebra adds in another order on another processor, so the last digits of a number are its own. Every decimal
# is written as 1.23457e-01, with as many digits as can be relied on: ten where a formula gives it, six where it is
# climbed to, two where the hill is flat, one of a simulated p-value. Two such numbers are the same if the last digit
# differs by one; all else must be the same to the letter.

FORMULA, CLIMBED, FLAT, SIMULATED = 10, 6, 2, 1
DECIMAL = re.compile(r"(?<![\w.])-?(?:\d+\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+)(?![\w]|\.\d)")
COMPUTED = re.compile(r"-?\d(?:\.\d+)?e[+-]\d\d+")
NOTHING = 1e-6, 1e-9  # what is left where terms cancel, and at the edge of what is climbed to; of a formula's


def rounded(text, digits=CLIMBED):
    """A text with every decimal in it as far as it can be relied on."""
    least = NOTHING[digits == FORMULA]

    def write(found):
        value = float(found[0])
        return f"{value if abs(value) > least else 0.0:.{digits - 1}e}"

    return DECIMAL.sub(write, text)


def same_number(one, other):
    """Whether two computed numbers are the same but for one in the last digit."""
    (mantissa, power), (beside, above) = one.split("e"), other.split("e")
    places = len(mantissa.partition(".")[2])
    unit = 10.0 ** (max(int(power), int(above)) - places)
    return places == len(beside.partition(".")[2]) and abs(float(one) - float(other)) < 1.5 * unit


def same(one, other):
    """Whether two lines are the same but for last digits."""
    if COMPUTED.sub("#", one) != COMPUTED.sub("#", other):
        return False
    return all(map(same_number, COMPUTED.findall(one), COMPUTED.findall(other)))


# -- what else differs -------------------------------------------------------------------------------------------------

VERSIONS = (
    (re.compile(r"^\| (Python|deniable|numpy|scipy|matplotlib) \| \S+ \|$", re.MULTILINE), r"| \1 | its version |"),
    (re.compile(rf"\b(deniable,? (?:version )?)v?{re.escape(dn.__version__)}"), r"\1VERSION"),
)
# How far a climb still was from the top, and p-values that were simulated.
GAP = re.compile(r'("gap": ?)[\d.e-]+')
TESTED = re.compile(r"^(\| [^|]+ \| [\d.]+ \|)[^\n]*(\| [^|\n]*bootstrap \|)$", re.MULTILINE)
# Where a long list of numbers goes on in the next line depends on their last digits.
WRAPPED = re.compile(r"(?<=[,(\[])\s*\n\s*(?=-?\d)")


def normal(text):
    """A text without what belongs to a machine, a moment or chance."""
    for pattern, instead in VERSIONS:
        text = pattern.sub(instead, text)
    text = WRAPPED.sub(" ", GAP.sub(r"\1small", text))
    return rounded(TESTED.sub(r"\1 p-value by chance \2", text))


# -- texts -------------------------------------------------------------------------------------------------------------


HASHED = {}  # by hash, the text as it is today: shown where the hash is not the stored one
SHOWN = 2_000  # characters of it


def sha256(text):
    """A text's hash, as far as it takes to tell two apart."""
    whole = text if isinstance(text, bytes) else text.encode()
    name = hashlib.sha256(whole).hexdigest()[:12]
    HASHED[name] = whole[:SHOWN].decode(errors="replace")
    return name


def behind(line):
    """What stands behind the hash in a line that is new in a difference."""
    return [HASHED[name] for name in re.findall(r"\b[0-9a-f]{12}\b", line) if line[0] == "+" and name in HASHED]


def shortened(text, most=LONG):
    """A text; of a long one its size, and hashes of its parts with their beginnings, which tell where it differs."""
    if len(text) <= most:
        return text
    lines = text.splitlines() if text.count("\n") > PARTS else textwrap.wrap(text, 200)
    step = -(-len(lines) // PARTS)
    parts = [lines[at : at + step] for at in range(0, len(lines), step)]
    hashes = [f"{sha256(chr(10).join(part))}  {part[0][:40]}".rstrip() for part in parts]
    return "\n".join([f"{len(text)} characters, {len(lines)} lines, by {step}:", *hashes, ""])


class Stored:
    """A folder of stored texts; compares what is made today, or writes it."""

    def __init__(self, folder: Path, *, renew: bool) -> None:
        self.folder, self.renew = folder, renew

    def holds(self, name: str, made: str) -> None:
        """Fail with the difference unless the text is the stored one."""
        path = self.folder / f"{name}.txt"
        old = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        # A line whose last digits differ counts as the stored one, and is not written anew.
        new = made.splitlines()
        new = [
            stored if same(stored, line) else line for stored, line in zip_longest(old[: len(new)], new, fillvalue="")
        ]
        if new == old and path.exists():
            return
        if self.renew:
            path.parent.mkdir(exist_ok=True)
            path.write_text("".join(f"{line}\n" for line in new), encoding="utf-8")
            return
        lines = difflib.unified_diff(old, new, "stored", "made today", lineterm="", n=1)
        told = "\n".join(text for line in lines for text in (line, *behind(line)))
        what = path.relative_to(HERE).as_posix()
        pytest.fail(f"{what} is not what is stored. If that is meant: {RENEW}\n{told}", pytrace=False)

    def holds_no_more_than(self, names) -> None:
        """Fail if a text is stored that no test makes."""
        left = {path.stem for path in self.folder.glob("*")} - set(names)
        if self.renew:
            for name in left:
                (self.folder / f"{name}.txt").unlink()
        else:
            assert left == set(), f"stored, but made by no test: {left}. {RENEW} takes them away"
