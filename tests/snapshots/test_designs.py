"""The canonical bytes of designs with every option, what they promise, and what a seed makes of the same people."""

from __future__ import annotations

import hashlib

import narwhals as nw
from people import DOMAIN, N, people
from stored import rounded, sha256

import deniable as dn
from every_design import answered, every_option


def told(name, design):
    """A design in a line: name, kind, id, size, ratio and a hash of the reports to it."""
    bytes_ = design.canonical()
    assert design.id == hashlib.sha256(bytes_).hexdigest()
    assert dn.design_from_dict(design.to_dict()).id == design.id
    reports = design.randomize(answered(people(), design), source=dn.Seeded(7))
    drawn = sha256(nw.from_native(reports.to_frame()).write_csv())
    ratio = rounded(str(float(design.ratio)))
    return f"{name}: {design.kind} {sha256(bytes_)} {len(bytes_)} bytes, ratio {ratio}, reports {drawn}"


def test_every_design_is_what_it_was(stored):
    made = every_option(DOMAIN, N, block_size=400)
    stored.holds("every-option", "\n".join(told(name, design) for name, design in made.items()))
    stored.holds_no_more_than(["every-option"])
