"""Ask sensitive questions, learn the population, never the person.

Randomized response under local differential privacy. Names are loaded when first used, so that importing the part that
runs on a respondent's device loads nothing else. Two rooms are groups of their own: `deniable.compliance`, models of
respondents who do not follow the device, and `deniable.graphs`.
"""

from __future__ import annotations

from deniable import _public
from deniable.version import __version__ as __version__

__all__ = _public.PUBLIC  # noqa: PLE0605 - a list, made of the table of names
__getattr__ = _public.load


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
