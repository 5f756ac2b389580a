"""UCI Adult: 8 attributes, 59 categories, every method at the same true epsilon."""

from __future__ import annotations

from reproduction.choose.measure import compare
from reproduction.item import Item

ITEM = Item(
    __name__,
    where="no paper",
    claim="Which design leaves the smallest error at the same total true epsilon.",
    compute=compare("adult"),
    trials=20,
    smoke=4,
    size=(8.0, 7.0),
)
