"""Header: what a file of reports says about them. Without it, codes are just numbers.

In Parquet it is part of the file (its schema metadata); beside other files lies a JSON file with the same fields. The
design is there byte for byte in its canonical form, with its SHA-256, so that nobody can mistake another design for the
one that ran, or change a probability unnoticed by accident.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from deniable.designs.block import Block
from deniable.designs.block_reports import BlockReports
from deniable.designs.codec import design_from_bytes
from deniable.designs.paired_reports import PairedReports
from deniable.designs.reports import Reports
from deniable.errors import DeniableError, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deniable.designs.base import Design

FORMAT = 1
_PREFIX = "deniable."
_KEYS = ("format", "design", "sha256", "notes", "blocks", "pairs")


@dataclass(frozen=True)
class Header:
    """The design of some reports and what else must be known to count them.

    Attributes:
        design: what made the reports.
        notes: sentences that belong into their privacy statement.
        blocks: for `Blocks`, what was published.
        pairs: for `Paired`, how many pairs both answered.
    """

    design: Design
    notes: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    pairs: float | None = None

    @classmethod
    def of(cls, reports: Reports) -> Header:
        """What belongs beside these reports."""
        blocks = reports.published if isinstance(reports, BlockReports) else ()
        pairs = reports.pairs if isinstance(reports, PairedReports) else None
        return cls(reports.design, reports.notes, blocks, pairs)

    @property
    def fields(self) -> dict[str, str]:
        """Everything as text."""
        texts = {
            "format": str(FORMAT),
            "design": self.design.canonical().decode(),
            "sha256": self.design.id,
            "notes": msgspec.json.encode(self.notes).decode(),
        }
        if self.blocks:
            texts["blocks"] = msgspec.json.encode([block.canonical().decode() for block in self.blocks]).decode()
        if self.pairs is not None:
            texts["pairs"] = repr(self.pairs)
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
        strangers = [key for key in fields if key not in _KEYS]
        if strangers or "sha256" not in fields:
            told = f"has the unknown fields {', '.join(strangers)}" if strangers else "does not give its design's hash"
            raise InputError(f"{where} {told}; it was not written by deniable, or was altered since", file=where)
        try:
            design = design_from_bytes(fields["design"], fields["sha256"])
        except DeniableError as error:
            raise type(error)(f"{where}: {error}", **error.details) from None
        try:
            notes = msgspec.json.decode(fields.get("notes", "[]"), type=tuple[str, ...])
            blocks = msgspec.json.decode(fields.get("blocks", "[]"), type=tuple[str, ...])
            pairs = float(fields["pairs"]) if "pairs" in fields else None
        except ValueError as error:
            raise InputError(f"{where}: what belongs to the design cannot be read: {error}", file=where) from None
        return cls(design, notes, tuple(Block.parse(block.encode()) for block in blocks), pairs)

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
            fields = msgspec.json.decode(data, type=dict[str, str])
        except msgspec.DecodeError as error:
            raise InputError(f"{where} cannot be read: {error}", file=where) from None
        return cls.from_fields(fields, where)

    def reports(self, frame: Any) -> Reports:
        """Read a frame's rows as reports of this design; every code is checked."""
        made: Reports
        if self.blocks:
            made = BlockReports(frame, self.design, self.blocks)  # type: ignore[arg-type]
        elif self.pairs is not None:
            made = PairedReports(frame, self.design, pairs=self.pairs)  # type: ignore[arg-type]
        else:
            made = Reports(frame, self.design)
        return made.with_notes(*self.notes)
