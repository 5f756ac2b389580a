"""Memory that a server has freed goes back to the system.

What sorts and merges reports takes pieces that grow with their number, and frees them. The C library takes this for a
habit: it keeps larger and larger pieces for the next time, among others that are in use, and a server seems to grow.
"""

from __future__ import annotations

import ctypes

LARGE = 128 * 1024  # bytes: glibc's own measure at the start, which it raises as larger pieces are freed
_TRIM, _MAP = -1, -3  # the numbers of M_TRIM_THRESHOLD and M_MMAP_THRESHOLD in glibc


def return_what_is_free() -> bool:
    """Have the C library return large pieces as soon as they are freed, from now on.

    Returns False where it cannot be told to (only glibc has this habit).
    """
    try:
        tell = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library, another system
        return False
    tell.argtypes, tell.restype = [ctypes.c_int, ctypes.c_int], ctypes.c_int
    return bool(tell(_TRIM, LARGE)) and bool(tell(_MAP, LARGE))
