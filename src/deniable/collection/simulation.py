"""A crowd of devices in one process: every respondent has a client and an account, the connection is shared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deniable.device.client import Client
from deniable.device.consent import BLOCKS
from deniable.device.partner import Seeker
from deniable.device.sending import post_batch, post_report
from deniable.device.transport import Http
from deniable.device.wire import encode
from deniable.errors import RejectedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from deniable.device.messages import Form
    from deniable.device.transport import Transport
    from deniable.device.verified import VerifiedDesign


class Crowd:
    """Simulated respondents of one collector.

    The first device fetches and verifies the design; the others, being in the same process, take its word.
    """

    def __init__(
        self, url: str, *, batch: int = 1, transport: Transport | None = None, invitations: Iterable[str] = ()
    ) -> None:
        """Take the collector's address, how many reports go into a request, and an invitation a respondent if asked."""
        self._url, self._batch = url, batch
        self._transport = Http(url) if transport is None else transport
        first = Client(url, transport=self._transport)
        self.design: VerifiedDesign = first.design
        self.form: Form = first.form
        self._invitations = iter(invitations)
        self._partner: list[int] | None = None
        self._waiting: list[bytes] = []
        self.sent = 0

    def answer(self, values: Mapping[str, Any]) -> None:
        """Let one more respondent answer."""
        client = Client(
            self._url,
            limit=max(5.0, self.design.epsilon),
            transport=self._transport,
            invitation=next(self._invitations, None),
        )
        vars(client).update(design=self.design, form=self.form)
        if self.design.is_paired:
            vars(client)["_sides"] = self._sides
        agreed = [variable.name for variable in self.design.public]
        self._waiting.append(encode(client.answer(values, public=agreed, accept=[BLOCKS], send=False).report))
        client.close()
        if len(self._waiting) >= self._batch:
            self.flush()

    def _sides(self) -> list[int]:
        """Coins shared by two respondents in a row: they are matched here, and need not wait for each other."""
        if self._partner is None:
            one, two = Seeker(self.design), Seeker(self.design)
            self._partner = two.sides(one.key)
            return one.sides(two.key)
        sides, self._partner = self._partner, None
        return sides

    def flush(self) -> None:
        """Send what is waiting."""
        if not self._waiting:
            return
        alone = len(self._waiting) == 1
        fates = (
            [post_report(self._transport, self._waiting[0])] if alone else post_batch(self._transport, self._waiting)
        )
        refused = [problem for problem in fates if problem is not None]
        if refused:
            raise RejectedError(f"{self._url} refused {len(refused)} reports: {refused[0].title}", problem=refused[0])
        self.sent += len(self._waiting)
        self._waiting = []
