"""Simulated respondents: a crowd of devices in one process, each with a client and an account of its own.

They share the connection. Their answers come from a made-up population: random shares, and answers that go together, so
that there is much to find.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from deniable.device.client import Client
from deniable.device.consent import DENIABILITY, PANEL
from deniable.device.protocol.answer_encoding import NOT_ASKED
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.collector_connection import SIMULATED, Line, persist, post_batch, post_report
from deniable.device.protocol.http_transport import Http
from deniable.errors import CollectorError, RejectedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from deniable.device.protocol.answer_encoding import Coded
    from deniable.device.protocol.exchange import Context
    from deniable.device.protocol.http_transport import Transport
    from deniable.device.protocol.messages import Attribute, Form
    from deniable.device.verified_design import VerifiedDesign

_MOST = 1 << 10  # bytes of a short answer
_OTHERS = msgspec.json.Decoder(dict[str, bool])
_TOGETHER = 500  # simulated respondents who look for a partner at one time


class Crowd:
    """Simulated respondents of one collector. Their reports are sent as such, and the collector marks them.

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
        self._seeking: list[tuple[Context, Mapping[str, Any]]] = []
        self._waiting: list[bytes] = []
        self.sent = 0

    @property
    def is_among_others(self) -> bool:
        """Whether the collector has reports that no simulation has sent."""
        answer = persist(lambda: self._transport.request("GET", "/v1/simulated", most=_MOST))
        if answer.status != 200:
            raise CollectorError(
                f"{self._url} does not say whether it holds other people's reports: it answered {answer.status}"
            )
        return _OTHERS.decode(answer.body)["others"]

    def answer(self, values: Mapping[str, Any]) -> None:
        """Let one more respondent answer. Those who wait for each other do until they are many, as they would."""
        if not self.design.exchange.waits:
            return self._answer(values)
        self._seeking.append((self.design.exchange.before(Line(self._url, self._transport), self.design), values))
        if len(self._seeking) >= _TOGETHER:
            self._meet()
        return None

    def _answer(self, values: Mapping[str, Any], context: Context | None = None) -> None:
        client = Client(
            self._url,
            limit=max(5.0, self.design.epsilon),
            transport=self._transport,
            invitation=next(self._invitations, None),
        )
        vars(client).update(design=self.design, form=self.form)
        if context is not None:
            vars(client)["_before"] = lambda: context
        agreed = [variable.name for variable in self.design.public]
        weaker = [self.design.exchange.accept, DENIABILITY, PANEL]
        self._waiting.append(
            encode(client.answer(self._as_typed(values), public=agreed, accept=weaker, send=False).report)
        )
        client.close()
        if len(self._waiting) >= self._batch:
            self._send()

    def _as_typed(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """What people would type: a number in its bin, where made-up people have the bin."""
        asked = {each.name: each for each in (*self.design.asked_coded, *self.design.public_coded)}
        return {name: asked[name].typed(value) if name in asked else value for name, value in values.items()}

    def _meet(self) -> None:
        """Let everybody who waits ask the collector until they are settled."""
        while self._seeking:
            still, pauses = [], [0.0]
            for context, values in self._seeking:
                if (pause := context.settle()) is None:
                    self._answer(values, context)
                else:
                    still.append((context, values))
                    pauses.append(pause)
            self._seeking = still
            time.sleep(max(pauses))

    def flush(self) -> None:
        """Let everybody who looks for a partner find one, and send what is waiting."""
        self._meet()
        self._send()

    def close(self) -> None:
        """Close the connection that they share."""
        if isinstance(self._transport, Http):
            self._transport.close()

    def _send(self) -> None:
        if not self._waiting:
            return
        alone = len(self._waiting) == 1
        fates = (
            [post_report(self._transport, self._waiting[0], SIMULATED)]
            if alone
            else post_batch(self._transport, self._waiting)
        )
        refused = [problem for problem in fates if problem is not None]
        if refused:
            raise RejectedError(f"{self._url} refused {len(refused)} reports: {refused[0].title}", problem=refused[0])
        self.sent += len(self._waiting)
        self._waiting = []


_POPULATION_TOGETHER = 0.5  # how often an answer follows the person's own trait instead of the population's shares


class Population:
    """People who do not exist. Each has a trait that leans all their answers the same way."""

    def __init__(self, design: VerifiedDesign, seed: int) -> None:
        """Draw the shares of every attribute."""
        self._rng = np.random.default_rng(seed)
        self._rules = {each.name: each.rules for each in design.asked_coded}
        self._design = design
        self._shares = {each.name: self._drawn(each) for each in [*design.asked_coded, *design.public_coded]}

    def _drawn(self, attribute: Coded) -> NDArray[np.float64]:
        """Random shares of the categories; none say that a question does not apply to which it is put."""
        shares = self._rng.dirichlet(np.full(len(attribute.variable), 3.0))
        if attribute.rules:
            shares[attribute.place(NOT_ASKED)] = 0
        return shares / shares.sum()

    def person(self) -> dict[str, Any]:
        """One person's answers, as `Client.answer` takes them."""
        trait = self._rng.random()
        person: dict[str, Any] = {v.name: self._pick(v, self._rng.random()) for v in self._design.public}
        for name, variable in self._design.domain.items():
            if all(person[rule.attribute] in rule.values for rule in self._rules[name]):
                place = trait if self._rng.random() < _POPULATION_TOGETHER else self._rng.random()
                person[name] = self._pick(variable, place)
            else:
                person[name] = NOT_ASKED
        return person

    def _pick(self, variable: Attribute, place: float) -> Any:
        ends = np.cumsum(self._shares[variable.name])
        return variable.categories[min(int(np.searchsorted(ends, place, side="right")), len(variable) - 1)]

    def code(self, person: dict[str, Any], name: str) -> int:
        """The code of a person's true answer."""
        return self._design.domain[name].categories.index(person[name])
