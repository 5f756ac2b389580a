"""The pages of a Parquet file, by their headers alone: how large each becomes is known before any is unpacked.

Arrow makes room for what a page's header says, up to 2 GB, and what is packed well takes a millionth of that in the
file. So the headers of all pages of the columns that will be read are looked at first. They are written in Thrift's
compact protocol, of which this reads as much as a header needs (parquet-format, `PageHeader`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from deniable.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_PAGE = 1 << 28  # bytes of a page, unpacked; writers begin another one after 1 MB
_WINDOW, _WIDEST = 1 << 10, 1 << 24  # bytes in which a header is looked for: it may quote the page's least and largest
_DATA, _DICTIONARY, _DATA_V2 = 5, 7, 8  # fields of a page header
_DEEPEST = 8


@dataclass(frozen=True)
class Page:
    """What a page's header says."""

    unpacked: int
    packed: int
    values: int


def pages(file: IO[bytes], start: int, size: int, where: str) -> Iterator[Page]:
    """The pages of a column chunk of `size` bytes."""
    at, end = start, start + size
    while at < end:
        header, length = _header(file, at, where)
        fields = header.get(_DATA) or header.get(_DATA_V2) or header.get(_DICTIONARY) or {}
        page = Page(header.get(2, 0), header.get(3, 0), fields.get(1, 0))
        if min(page.unpacked, page.packed, page.values) < 0:
            raise InputError(f"{where} has a page whose header cannot be true; the file is damaged", file=where)
        yield page
        at += length + page.packed


def _header(file: IO[bytes], at: int, where: str) -> tuple[dict[int, Any], int]:
    """The header that begins at a byte, and how long it is."""
    window = _WINDOW
    while window <= _WIDEST:
        file.seek(at)
        data = file.read(window)
        try:
            reader = _Compact(data)
            return reader.struct(), reader.at
        except IndexError:
            if len(data) < window:
                break
            window *= 8
        except ValueError:
            break
    raise InputError(f"{where} has a page whose header cannot be read; the file is damaged", file=where)


class _Compact:
    """Thrift's compact protocol; texts and lists are read past."""

    def __init__(self, data: bytes) -> None:
        self._data, self.at = data, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """The fields of a structure by their numbers."""
        found: dict[int, Any] = {}
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._signed()
            found[field] = self._value(head & 15, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError(depth)
        if kind in (1, 2):  # true and false
            return kind == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._signed()
        if kind == 7:
            self.at += 8
        elif kind == 8:
            length = self._unsigned()
            self.at += length
        elif kind in (9, 10):
            head = self._byte()
            for _ in range(self._unsigned() if head >> 4 == 15 else head >> 4):
                self._value(head & 15, depth + 1)
        elif kind == 12:
            return self.struct(depth + 1)
        else:
            raise ValueError(kind)
        return None

    def _byte(self) -> int:
        byte = self._data[self.at]
        self.at += 1
        return byte

    def _unsigned(self) -> int:
        found = shift = 0
        while True:
            byte = self._byte()
            found |= (byte & 127) << shift
            if byte < 128:
                return found
            shift += 7
            if shift > 63:
                raise ValueError(shift)

    def _signed(self) -> int:
        found = self._unsigned()
        return (found >> 1) ^ -(found & 1)
