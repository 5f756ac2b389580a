"""Building the respondent's page: one HTML file with its style and program, the same for every survey and language.

    python -m deniable.web.page.respondent_page

writes it, `static/page.html`, out of its parts: the frame `page/shell.html`, the style `page/page.css` and the program.
So does every installation from source (`hatch_build.py`), with the standard library alone; the repository does not hold
the file, but its hash. With documents behind it, the modules that are made too are written first
(`static/page/page_words.mjs`, `static/channels/generated_list.mjs`, `static/device/text_safety_table.mjs`), and the
hashes into the documents: `make page`. A test makes all of it anew and compares.

Style and program stand in the page itself, and its policy names their hashes. Nothing that a server sends beside the
page can take their place: not another file, and not a header that loads one before the page is read.

The program's modules are bundled into one script, so that the page needs to load nothing. Each module becomes a
function that runs once and gives what the module exports; nothing else of it is changed. Only the forms of `import` and
`export` that our modules use are known; any other is an error, and none is passed on.
"""

from __future__ import annotations

import base64
import hashlib
import json
import posixpath
import re
import sys
from html import escape
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.device.replaceable_words import PLAIN
from deniable.errors import DeniableError
from deniable.surveys.fingerprint_words import FRAMES
from deniable.surveys.page_words import SENTENCES, WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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


PAGE = "page.html"
WORDS_MODULE = "page/page_words.mjs"
KINDS_MODULE = "channels/generated_list.mjs"
TABLE_MODULE = "device/text_safety_table.mjs"
# A page from elsewhere must reach collectors that it does not know yet. Once it knows its own, it forbids all others.
COLLECTORS = "https: http://localhost:* http://127.0.0.1:*"
_BY_US = "Written by `python -m deniable.web.page.respondent_page`, not by hand."
_HASHES = re.compile(r"(?:^    [0-9a-f]{64}  \S+\n)+", re.MULTILINE)
_HERE = files("deniable.web")


def policy(style: str, script: str, reach: str = "'self'") -> str:
    """What the page may do: run this style and this script, speak to a collector, and nothing else."""
    return (
        f"default-src 'none'; script-src '{script}'; style-src '{style}'; img-src 'none'; font-src 'none'; "
        f"connect-src {reach}; form-action 'none'; base-uri 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


def words_module() -> str:
    """The program's own words, as a module."""

    def constant(name: str, value: object) -> str:
        return f"export const {name} = {json.dumps(value, ensure_ascii=False, indent=2)};\n"

    kind = "/** @type {Record<string, Record<string, string>>} */\n"
    head = f"// @ts-check\n/** The program's own words. {_BY_US} */\n\n"
    return "\n".join(
        [
            head + kind + constant("WORDS", {**WORDS, **FRAMES}),
            "// What a survey may say otherwise. All other words are ours alone.\n" + constant("PLAIN", sorted(PLAIN)),
            "// The word for each code, of a refusal or of a problem.\n"
            "/** @type {Record<string, string>} */\n"
            + constant("SENTENCES", {code: word for word, codes in SENTENCES.items() for code in codes.split()}),
        ]
    )


def kinds() -> list[str]:
    """The kinds of channel that the program runs: the files of `static/kinds`."""
    return sorted(path.name.removesuffix(".mjs") for path in _HERE.joinpath("static", "kinds").iterdir())


def modules() -> list[str]:
    """The program's modules, by their paths: all there are but those of the analyst's pages."""
    static = Path(str(_HERE.joinpath("static")))
    found = (path.relative_to(static).as_posix() for path in static.rglob("*.mjs"))
    return sorted(name for name in found if not name.startswith("dashboard/"))


def kinds_module() -> str:
    """The list of them, as a module."""
    head = f"// @ts-check\n/** Every kind of channel. {_BY_US} */\n\n"
    imports = "".join(f'import {{ kind as {kind} }} from "../kinds/{kind}.mjs";\n' for kind in kinds())
    shape = '/** @type {Record<string, import("./registry.mjs").Kind>} */\n'
    return f"{head}{imports}\n{shape}export const KINDS = {{ {', '.join(kinds())} }};\n"


def table_module() -> str:
    """The tables of `device.text_safety`, as a module."""
    table = files("deniable.device").joinpath("text_safety.json").read_text(encoding="utf-8").strip()
    head = f"// @ts-check\n/** What texts may hold. {_BY_US} */\n\n"
    return f"{head}export const TABLE = {table};\n"


def page() -> str:
    """The page, made of its parts. ASCII alone, so that no header can make a browser read it otherwise."""
    style = _ascii("page.css", _part("page", "page.css"), r"\{:06x}")
    script = _ascii("the program", bundle("deniable", lambda name: _part("static", f"{name}.mjs")), r"\u{:04x}")
    if re.search(r"</(script|style)|<!--", script + style, re.IGNORECASE):
        raise DeniableError("style and program must not hold what ends them inside a page: </script, </style, <!--")
    frame = _part("page", "shell.html").replace("{{ no_script }}", _no_script())
    frame = _ascii("shell.html", frame, "&#x{:x};")
    reach = f"'self' {COLLECTORS}"
    parts = {
        "policy": policy(integrity(style), integrity(script), reach),
        "style": style,
        "program": script,
    }
    return re.sub(r"\{\{ (\w+) \}\}", lambda found: parts[found.group(1)], frame)


def _no_script() -> str:
    """What is said where no program runs, in every language."""
    said = [f'<p lang="{code}" dir="auto">{escape(text)}</p>' for code, text in WORDS["no_script"].items()]
    return "\n".join(said)


def header_policy(made: str) -> str:
    """The policy of a page's own hashes for the response's header: it reaches its own collector only."""
    found = re.search(r'content="([^"]*)"', made)
    assert found is not None
    return found.group(1).replace(f" {COLLECTORS}", "") + "; frame-ancestors 'none'"


def integrity(text: str) -> str:
    """A text's hash as policies write it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _part(folder: str, name: str) -> str:
    if name in _MADE:
        return _MADE[name]()
    return _HERE.joinpath(folder, name).read_text(encoding="utf-8")


def _ascii(name: str, text: str, escape: str) -> str:
    """Write every other character as its number."""
    if any(ord(char) > 0xFFFF for char in text):
        raise DeniableError(f"{name} has a character that takes more than four digits")
    return re.sub(r"[^\x00-\x7f]", lambda found: escape.format(ord(found.group())), text)


_MADE = {WORDS_MODULE: words_module, KINDS_MODULE: kinds_module, TABLE_MODULE: table_module}


def _write(path: Path, content: bytes) -> None:
    """Write a file, unless that is in it: somebody may be reading it."""
    if not path.exists() or path.read_bytes() != content:
        path.write_bytes(content)


def main(documents: Sequence[str]) -> int:
    """Write the page; where documents are named the modules that are made, too, and all hashes into the documents."""
    with as_file(_HERE.joinpath("static")) as folder:
        for name, make in {**(_MADE if documents else {}), PAGE: page}.items():
            _write(folder / name, make().encode())
    if not documents:
        return 0
    from deniable.web.page.static_files import published

    hashes = "".join(f"    {line}\n" for line in published().splitlines())
    for path in map(Path, documents):
        path.write_text(_HASHES.sub(lambda _: hashes, path.read_text(encoding="utf-8"), count=1), encoding="utf-8")
    sys.stdout.write(published())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
