"""Header: what a file of reports says about them. Without it, codes are just numbers.

In Parquet it is part of the file (its schema metadata); beside other files lies a JSON file with the same fields. The
design is there byte for byte in its canonical form, with its SHA-256, so that nobody can mistake another design for the
one that ran, or change a probability unnoticed by accident. A header holds those bytes and does not read them:
`engines.read_reports` makes a design and reports of it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from deniable.core.labels import Labels
from deniable.core.provenance import PEOPLE, Origin
from deniable.core.untrusted_files import clipped, parse_json
from deniable.errors import DesignError, InputError
from deniable.files.reserved_columns import SHARE

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = 2  # what has neither words nor columns nor types nor an origin says 1, and is read alike
Columns = tuple[tuple[str, str, tuple[str | bool, ...] | None], ...]
ADVICE = (
    f"Columns that begin with {SHARE} are scores: the mean of one estimates the share of what it is named after, "
    "without bias, among those who were asked; so do a weighted mean, and the mean of a group. Where people are asked "
    "in several ways (views, blocks), the same estimate of deniable weighs these ways by the reports that came: it is "
    "near, and not equal. A single score says next to nothing, and lies below 0 or above 1: do not clip or round it, "
    "do not regress on it, and take no other statistic of it than means and their errors."
)
_PREFIX = "deniable."
_KEYS = (
    "format",
    "design",
    "sha256",
    "notes",
    "words",
    "columns",
    "types",
    "scores",
    "origin",
    "remarks",
)


class _Scores(msgspec.Struct):
    note: str
    columns: dict[str, str]


@dataclass(frozen=True)
class Header:
    """The design of some reports and what else must be known to count them.

    Attributes:
        design: what made the reports, as canonical bytes.
        notes: sentences that belong into their privacy statement.
        words: the survey's words, where they are known.
        columns: for SPSS and Stata, each column's name in the file, its true name, and what its codes mean.
        types: for files that know none (CSV, SPSS, Stata), the type of each column.
        scores: of columns whose means estimate shares, what each is the share of.
        origin: whether the reports are simulated, or a pilot's.
        remarks: sentences for whoever reads the header; reports that are read have none.
        more: what the design's extension says, as text (blocks that were published; how many pairs both answered).
    """

    design: bytes
    notes: tuple[str, ...] = ()
    words: Labels | None = None
    columns: Columns | None = None
    types: Mapping[str, str] | None = None
    scores: Mapping[str, str] | None = None
    origin: Origin = PEOPLE
    remarks: tuple[str, ...] = ()
    more: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def id(self) -> str:
        """The design's SHA-256."""
        return hashlib.sha256(self.design).hexdigest()

    @property
    def _more(self) -> tuple[object, ...]:
        return self.words, self.columns, self.types, self.scores

    @property
    def fields(self) -> dict[str, str]:
        """Everything as text."""
        texts = {
            "format": str(FORMAT if self.origin or self.remarks or any(more is not None for more in self._more) else 1),
            "design": self.design.decode(),
            "sha256": self.id,
            "notes": msgspec.json.encode(self.notes).decode(),
        }
        texts.update(self.more)
        if self.words is not None:
            texts["words"] = self.words.json()
        if self.columns is not None:
            texts["columns"] = msgspec.json.encode(self.columns).decode()
        if self.types is not None:
            texts["types"] = msgspec.json.encode(self.types).decode()
        if self.scores is not None:
            texts["scores"] = msgspec.json.encode({"note": ADVICE, "columns": self.scores}).decode()
        if self.remarks:
            texts["remarks"] = msgspec.json.encode(self.remarks).decode()
        if self.origin:
            texts["origin"] = self.origin.json()
        return texts

    @classmethod
    def from_fields(cls, fields: Mapping[str, str], where: str) -> Header:
        """Read what `fields` wrote; `where` names the file in a refusal."""
        if "design" not in fields:
            raise InputError(
                f"{where} does not say by which design its reports were made, and without the design they are just "
                f"numbers. Files written by deniable say it; copies made by other programs may have lost it",
                file=where,
            )
        version = fields.get("format", "")
        if not version.isdigit() or int(version) > FORMAT:
            raise InputError(
                f"{where} has format {version or 'unknown'}; this program reads formats up to {FORMAT}. Upgrade with "
                f"pip install --upgrade deniable",
                file=where,
                format=version,
            )
        if "sha256" not in fields:
            raise strange(where, "does not give its design's hash")
        try:
            design = unaltered(fields["design"].encode(), fields["sha256"])
        except DesignError as error:
            raise DesignError(f"{where}: {error}", **error.details) from None
        try:
            notes = parse_json(fields.get("notes", "[]"), "it", tuple[str, ...])
            columns = parse_json(fields["columns"], "it", Columns) if "columns" in fields else None
            scores = parse_json(fields["scores"], "it", _Scores).columns if "scores" in fields else None
            types = parse_json(fields["types"], "it", dict[str, str]) if "types" in fields else None
            remarks = parse_json(fields.get("remarks", "[]"), "it", tuple[str, ...])
        except ValueError as error:
            told = clipped(error)
            raise InputError(f"{where}: what belongs to the design cannot be read: {told}", file=where) from None
        words = Labels.from_json(fields["words"], where) if "words" in fields else None
        origin = Origin.from_json(fields["origin"], where) if "origin" in fields else PEOPLE
        more = {key: text for key, text in fields.items() if key not in _KEYS}
        return cls(design, notes, words, columns, types, scores, origin, remarks, more)

    # -- the two places it is kept in --------------------------------------------------------------------------

    def metadata(self) -> dict[str, str]:
        """For the schema of a Parquet file."""
        return {_PREFIX + key: text for key, text in self.fields.items()}

    @classmethod
    def from_metadata(cls, metadata: Mapping[bytes, bytes] | None, where: str) -> Header:
        """Out of the schema of a Parquet file."""
        prefix = _PREFIX.encode()
        found = {key: value for key, value in (metadata or {}).items() if key.startswith(prefix)}
        texts = {key[len(prefix) :].decode(): value.decode(errors="replace") for key, value in found.items()}
        return cls.from_fields(texts, where)

    def json(self) -> bytes:
        """For a file of its own."""
        return msgspec.json.format(msgspec.json.encode(self.fields, order="sorted"), indent=2) + b"\n"

    @classmethod
    def from_json(cls, data: bytes, where: str) -> Header:
        """Out of a file of its own."""
        try:
            fields = parse_json(data, "it", dict[str, str])
        except InputError as error:
            raise InputError(f"{where} cannot be read: {error.message}", file=where) from None
        return cls.from_fields(fields, where)


def strange(where: str, told: str) -> InputError:
    """What to say of a file whose header says too little or too much."""
    return InputError(f"{where} {told}; it was not written by deniable, or was altered since", file=where)


def unaltered(design: bytes, expected: str) -> bytes:
    """The bytes of a design, if that is their SHA-256."""
    found = hashlib.sha256(design).hexdigest()
    if found != expected:
        raise DesignError(
            f"the design was altered: its SHA-256 should be {expected[:12]}..., but is {found[:12]}.... Estimates from "
            f"another design than the one that ran would be wrong, so it is refused",
            expected=expected,
            found=found,
        )
    return design
