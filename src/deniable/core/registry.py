"""Registry: the kinds of a thing, a file each, found by looking into their folder."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING, Generic, TypeVar

from deniable.errors import DeniableError, InputError
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")

EXTENSIONS = "deniable.extensions"  # whoever looks for a kind there finds those of extensions, and names none


class Registry(Generic[T]):
    """The classes that stand in files of their own, by the name of their kind; a file is imported when it is asked for.

    The file `mean.py` of a folder holds the class whose `kind` is `"mean"`; with `dashed`, `yes_no.py` that of
    `"yes-no"`. Whoever puts a file there has added a kind: nothing else has to name it.

    >>> channels = Registry[type]("channel", "deniable.device.channels")
    >>> "krr" in channels
    True
    """

    def __init__(
        self, word: str, *packages: str, dashed: bool = False, error: type[DeniableError] = InputError
    ) -> None:
        """Take the word that messages use for such a thing, and the packages whose every file is a kind."""
        self._word, self._packages, self._dashed, self._error = word, packages, dashed, error
        self._found: dict[str, T] = {}

    def names(self) -> tuple[str, ...]:
        """The kinds there are, without importing any."""
        return tuple(self._homes())

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __contains__(self, kind: object) -> bool:
        return kind in self._homes()

    def __getitem__(self, kind: object) -> T:
        if not isinstance(kind, str) or kind not in (homes := self._homes()):
            known = listed(sorted(self.names()))
            raise self._error(f"unknown kind of {self._word} {kind!r}; known are {known}", kind=kind)
        if kind not in self._found:
            made = vars(import_module(homes[kind])).values()
            classes = [each for each in made if isinstance(each, type) and each.__dict__.get("kind") == kind]
            if len(classes) != 1:
                raise TypeError(f"{homes[kind]} must hold one class whose kind is {kind!r}; it has {len(classes)}")
            self._found[kind] = classes[0]  # type: ignore[assignment]  # of the sort this is a registry of
        return self._found[kind]

    def _homes(self) -> dict[str, str]:
        """The module of each kind. A package that is not installed has none."""
        return {
            (each.name.replace("_", "-") if self._dashed else each.name): f"{package}.{each.name}"
            for package in self._packages
            for each in pkgutil.iter_modules(import_module(package).__path__)
            if not each.ispkg
        }
