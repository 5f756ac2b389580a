"""Parts that cannot be read before they are finished: in which order they reach the disk, and what half a key is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from deniable.engines import sealed_parts as sealed
from deniable.engines.sealed_parts import is_finished, seal, unseal


def test_a_key_is_written_when_all_else_is_on_disk(tmp_path, monkeypatch):
    """Else a machine that goes down could keep the key and lose what it opens: the part would count as finished."""
    done, fsync, write = [], os.fsync, os.write

    def synced(handle):
        place = Path(f"/proc/self/fd/{handle}").readlink()
        done.append((place.name, place.stat().st_size if place.is_file() else None))
        fsync(handle)

    def written(handle, data):
        done.append(("key", len(data)))
        return write(handle, data)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "write", written)
    with seal(tmp_path / "part") as file:
        assert file.write(b"rows" * 100) == 400
        assert file.tell() == 400
    folder = (tmp_path.name, None)
    assert done == [("part.sealed", 416), folder, ("key", 32), ("part.key", 32), folder]
    with unseal(tmp_path / "part") as file:
        assert file.read() == b"rows" * 100


def test_half_a_key_is_none(tmp_path, monkeypatch):
    write = os.write
    handles = len(list(Path("/proc/self/fd").iterdir()))
    monkeypatch.setattr(sealed.os, "write", lambda handle, data: write(handle, data[:10]))
    with pytest.raises(OSError, match=r"part\.key could not be written whole"), seal(tmp_path / "part") as file:
        file.write(b"rows")
    assert (tmp_path / "part.key").read_bytes() == b""
    assert not is_finished(tmp_path / "part")
    assert len(list(Path("/proc/self/fd").iterdir())) == handles
    monkeypatch.setattr(sealed.os, "write", write)
    with seal(tmp_path / "part") as file:  # drawn anew
        file.write(b"other rows")
    with unseal(tmp_path / "part") as file:
        assert file.read() == b"other rows"
