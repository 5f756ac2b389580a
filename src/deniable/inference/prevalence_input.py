"""Two counts instead of the reports behind them: 60 of 200 said yes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deniable.channels.channel import Channel
from deniable.errors import InputError

if TYPE_CHECKING:
    from deniable.sampling.read_sampling import Column


def given_reports(
    codes: Column | Channel | None, channel: Channel | None, yes: int | None, n: int | None
) -> tuple[Any, Channel | None]:
    """The reports and the device; the device may come first where there are counts instead of reports."""
    if isinstance(codes, Channel):  # prevalence(Warner(0.8), yes=60, n=200)
        codes, channel = None, codes
    if yes is not None or n is not None:
        if codes is not None or yes is None or n is None or not 0 <= yes <= n or yes != int(yes) or n != int(n):
            raise InputError(f"yes= and n= go together, without codes, as in yes=60, n=200; found yes={yes!r}, n={n!r}")
        codes = [1] * int(yes) + [0] * int(n - yes)
    if codes is None:
        raise InputError("give the reports, as in prevalence(answers, Warner(0.8)), or yes=60 and n=200 of them")
    return codes, channel
