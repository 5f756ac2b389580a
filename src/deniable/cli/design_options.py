"""The options of designs on the command line, one for each field that a kind takes, and back to a command's words."""

from __future__ import annotations

import shlex
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

import click
import msgspec

from deniable.cli.terminal import split
from deniable.designs.registry import DESIGNS
from deniable.errors import InputError, SurveyError
from deniable.surveys.parse_survey import convert

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeVar

    from msgspec.structs import FieldInfo

    from deniable.designs.request import Options

    F = TypeVar("F", bound=Callable[..., Any])

_PREFIX = "design_"  # of the parameters, so that none is taken for one of the command's own
_TAKEN = ("keep",)  # options of the command itself: a design's is called --design-keep


def design_options(command: F) -> F:
    """The options of every kind of design, with what they are and whose."""
    for name, kinds in sorted(_kinds_by_option().items(), reverse=True):
        what = DESIGNS[kinds[0]].Options.described()[name]
        defaults = {_field(kind, name).default for kind in kinds if not _field(kind, name).required} - {None}
        usual = f" [default: {defaults.pop()}]" if len(defaults) == 1 else ""
        text = f"For {', '.join(kinds)}: {what[:1].lower()}{what[1:]}{usual}"
        command = click.option(flag(name), f"{_PREFIX}{name}", help=text, **_type(name))(command)
    return command


def flag(name: str) -> str:
    """What an option is called: a list is given one by one.

    >>> flag("block_size"), flag("clusters")
    ('--block-size', '--cluster')
    """
    singular = name.removesuffix("s") if get_origin(_hint(name)) is tuple else name
    return f"--{_PREFIX if name in _TAKEN else ''}{singular}".replace("_", "-")


def read_options(kind: str, given: Mapping[str, Any], before: Options | None = None) -> Options:
    """The options of a kind of design, out of the command's parameters; what is not given is as it was before."""
    values = {name.removeprefix(_PREFIX): value for name, value in given.items() if name.startswith(_PREFIX)}
    said: dict[str, Any] = {} if before is None else msgspec.to_builtins(before)
    for name, kinds in _kinds_by_option().items():
        if values.get(name) in (None, ()):
            continue
        if kind not in kinds:
            raise InputError(
                f"{flag(name)} belongs to --design {' and --design '.join(kinds)}, not to --design {kind}: leave it "
                f"out, or choose {'that design' if len(kinds) == 1 else 'one of those'}",
                option=flag(name),
            )
        said[name] = _parsed(name, values[name])
    options = DESIGNS[kind].Options
    missing = [field.name for field in msgspec.structs.fields(options) if field.required and field.name not in said]
    if missing:
        needed = "; ".join(f"{flag(name)}: {options.described()[name]}" for name in missing)
        raise InputError(f"--design {kind} needs {needed}", options=[flag(name) for name in missing])
    try:
        return convert(said, options)
    except SurveyError as error:
        name, _, wrong = error.message.partition(":")
        raise InputError(f"{flag(name.partition('.')[0])}:{wrong}") from None


def anew(options: Options) -> Options:
    """The same for another request: what was made before is not for it."""
    return msgspec.structs.replace(options, made=None) if getattr(options, "made", None) is not None else options


def in_words(kind: str, options: Options) -> str:
    """The words of a command that ask for the same design.

    >>> from deniable.designs.request import ChannelOptions
    >>> in_words("joint", ChannelOptions(channel="unary"))
    '--design joint --channel unary'
    """
    words = ["--design", kind]
    for name, value in msgspec.to_builtins(options).items():
        texts = [str(value)]
        if isinstance(value, dict):
            texts = [f"{key}={','.join(map(str, inside))}" for key, inside in value.items()]
        elif isinstance(value, list | tuple):
            texts = [",".join(inside) for inside in value]
        words += [word for text in texts for word in (flag(name), text)]
    return shlex.join(words)


def shares(texts: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Shares by attribute, of texts such as "smokes=0.8,0.2"."""
    found: dict[str, tuple[float, ...]] = {}
    for text in texts:
        name, _, numbers = text.partition("=")
        try:
            found[name.strip()] = tuple(float(share) for share in numbers.split(","))
        except ValueError:
            raise InputError(
                f"--guess: write shares in the order of the categories, as smokes=0.8,0.2; not {text!r}"
            ) from None
    return found


@cache
def _kinds_by_option() -> dict[str, list[str]]:
    """Every option of some design, and the kinds that take it."""
    found: dict[str, list[str]] = {}
    for kind in sorted(DESIGNS):
        for name in DESIGNS[kind].Options.__struct_fields__:
            found.setdefault(name, []).append(kind)
    return found


def _field(kind: str, name: str) -> FieldInfo:
    return next(field for field in msgspec.structs.fields(DESIGNS[kind].Options) if field.name == name)


def _hint(name: str, kind: str | None = None) -> Any:
    """The type of an option, where it is given."""
    hint = get_type_hints(DESIGNS[kind or _kinds_by_option()[name][0]].Options)[name]
    inside = get_args(hint)
    return next(part for part in inside if part is not type(None)) if type(None) in inside else hint


def _type(name: str) -> dict[str, Any]:
    """How click takes an option."""
    hint = _hint(name)
    if get_origin(hint) is Literal:
        values = [value for kind in _kinds_by_option()[name] for value in get_args(_hint(name, kind))]
        return {"type": click.Choice(list(dict.fromkeys(values)))}
    if get_origin(hint) in (tuple, dict):
        return {"multiple": True, "metavar": "A,B" if get_origin(hint) is tuple else "NAME=SHARE,..."}
    return {"type": hint}


def _parsed(name: str, value: Any) -> Any:
    """An option's value as a survey file has it."""
    if get_origin(_hint(name)) is dict:
        return shares(value)
    return tuple(tuple(split(text)) for text in value) if get_origin(_hint(name)) is tuple else value
