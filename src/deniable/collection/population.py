"""A made-up population for a survey: random shares, and answers that go together, so that there is much to find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.device.protocol.answer_encoding import NOT_ASKED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.device.protocol.answer_encoding import Coded
    from deniable.device.protocol.messages import Attribute
    from deniable.device.verified_design import VerifiedDesign

_TOGETHER = 0.5  # how often an answer follows the person's own trait instead of the population's shares


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
                place = trait if self._rng.random() < _TOGETHER else self._rng.random()
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
