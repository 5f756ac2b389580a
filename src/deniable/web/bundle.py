"""One script out of the program's modules, so that the page can hold it and needs to load nothing.

Each module becomes a function that runs once and gives what the module exports; nothing else of it is changed. Only the
forms of `import` and `export` that our modules use are known; any other is an error, and none is passed on.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from deniable.errors import DeniableError

if TYPE_CHECKING:
    from collections.abc import Callable

_IMPORT = re.compile(r'^import (?:\{([^}]*)\}|\* as (\w+)) from "(\.\.?/(?:\w+/)?\w+)\.mjs";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:const|class|function\*?) (\w+))", re.MULTILINE)
_AGAIN = re.compile(r"^export \{([^}]*)\};$", re.MULTILINE)  # what a module passes on
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)  # where types are named by import("./module.mjs")
_LEFT = re.compile(r"^\s*(?:import|export)\b.*$|\bimport\s*[.(]|^await\b", re.MULTILINE)


def bundle(main: str, read: Callable[[str], str]) -> str:
    r"""The module `main` and everything it imports, as one script.

    >>> modules = {
    ...     "main": 'import { two } from "./two.mjs";\nshow(two);\n',
    ...     "two": "export const two = 2;\n",
    ... }
    >>> print(bundle("main", modules.__getitem__))
    // two.mjs
    const $two = (() => {
    const two = 2;
    return { two };
    })();
    // main.mjs
    const $main = (() => {
    const { two } = $two;
    show(two);
    return {  };
    })();
    <BLANKLINE>
    """
    done: dict[str, str] = {}
    _add(main, read, done, ())
    return "".join(done.values())


def _add(name: str, read: Callable[[str], str], done: dict[str, str], above: tuple[str, ...]) -> None:
    """Write a module behind all that it imports."""
    if name in above:
        raise DeniableError(f"modules import one another in a circle: {' -> '.join((*above, name))}")
    if name in done:
        return
    text = read(name)
    for _, _, other in _IMPORT.findall(text):
        _add(_beside(name, other), read, done, (*above, name))
    passed = [word.strip() for words in _AGAIN.findall(text) for word in words.split(",") if word.strip()]
    exported = ", ".join([*passed, *(word for _, word in _EXPORT.findall(text))])
    body = _AGAIN.sub("", _EXPORT.sub(r"\1", _IMPORT.sub(lambda found: _taken(name, found), text)))
    left = _LEFT.search(_COMMENT.sub("", body))
    if left:
        raise DeniableError(f"{name}.mjs: this cannot be put into one script: {left.group().strip()}")
    done[name] = f"// {name}.mjs\nconst {_constant(name)} = (() => {{\n{body}return {{ {exported} }};\n}})();\n"


def _beside(name: str, path: str) -> str:
    """The module that a path means to the module of a name."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def _constant(name: str) -> str:
    return f"${name.replace('/', '_')}"


def _taken(name: str, found: re.Match[str]) -> str:
    """What a module imports, as a constant."""
    names, whole, path = found.groups()
    module = _constant(_beside(name, path))
    if whole:
        return f"const {whole} = {module};"
    given = ", ".join(" ".join(part.split()).replace(" as ", ": ") for part in names.split(",") if part.strip())
    return f"const {{ {given} }} = {module};"
