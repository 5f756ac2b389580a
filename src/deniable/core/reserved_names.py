"""Names that belong to reports themselves: no attribute and no public column has such a one."""

from __future__ import annotations

RESERVED = "dn_"  # how they begin


def is_reserved(name: str) -> bool:
    """Whether a name is one of those that belong to reports themselves, in whatever case.

    >>> is_reserved("dn_ballot"), is_reserved("DN_Ballot"), is_reserved("ballot")
    (True, True, False)
    """
    return name.casefold().startswith(RESERVED)
