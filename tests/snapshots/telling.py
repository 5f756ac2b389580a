"""What an analysis finds, as a text to be stored."""

from __future__ import annotations

import re
import warnings

from stored import CLIMBED, FLAT, SIMULATED, rounded, sha256, shortened

from deniable.errors import DeniableError

# P-values of a bootstrap: draws are cut at floats, so that a few in a hundred fall otherwise on another processor.
HUNDREDTHS = re.compile(r"(?<=,)\d\.\d0000e[+-]0\d")


def found(call, digits=CLIMBED, *, by_chance=False):
    """Its numbers, and a hash of all that it says; or the refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = call()
        except DeniableError as refusal:
            return f"{type(refusal).__name__}: {refusal}"
    if not hasattr(result, "to_csv"):
        return shortened(rounded(str(result), digits))
    rows, said = rounded(result.to_csv(), digits).replace(",Simulated", "").splitlines()[1:], str(result)
    if by_chance:
        rows = [HUNDREDTHS.sub(lambda p: rounded(p[0], SIMULATED), row) for row in rows]
    if by_chance or digits == FLAT:
        said = re.sub(r"[\d.e+-]+", "#", said)  # the words alone
    return "\n".join([*rows, f"said {sha256(said)}"])
