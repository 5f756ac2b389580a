"""What every analysis finds through every design, or why it refuses."""

from __future__ import annotations

import inspect
from functools import partial

import pytest
from analyses import BY_CHANCE, FLAT_THERE, FORMULAS, OTHERS
from people import DESIGNS, file_name, reports_of
from stored import CLIMBED, FLAT, FORMULA
from telling import found

import deniable as dn

# What takes reports too, and is not asked here.
NOT_HERE = {
    "density": "b has too few categories: test_other_numbers.py",
    "replicate_weights": "takes weights that somebody else made: test_other_numbers.py",
    "convergence": "of blocks alone: tests/extensions/blocks/test_convergence.py",
    "corrected_words": "nothing was corrected here: tests/inference/test_corrected_words.py",
    "second_phase": "plans: test_other_numbers.py",
    "randomize_in_clusters": "disguises: test_other_numbers.py",
}


def told(name, design):
    """An analysis by name, and what it finds through a design."""
    digits = FORMULA if name in FORMULAS else FLAT if design in FLAT_THERE.get(name, ()) else CLIMBED
    call = partial((FORMULAS | OTHERS)[name], reports_of(design))
    return f"-- {name}\n{found(call, digits, by_chance=name in BY_CHANCE)}\n"


@pytest.mark.parametrize("design", DESIGNS)
def test_every_analysis_finds_what_it_found(stored, design):
    stored.holds(file_name(design), "".join(told(name, design) for name in (*FORMULAS, *OTHERS)))


def test_nothing_else_is_stored(stored):
    stored.holds_no_more_than(map(file_name, DESIGNS))


def test_every_analysis_of_reports_is_here():
    taken = {"reports", "estimate", "source", "frame", "fit"}
    functions = {name: found for name in dn.__all__ if inspect.isfunction(found := getattr(dn, name))}
    takes = {name for name, each in functions.items() if taken & {*list(inspect.signature(each).parameters)[:2]}}
    here = {name.partition(" ")[0].rstrip(",") for name in (*FORMULAS, *OTHERS)} - {"totals"}
    assert takes == here | set(NOT_HERE)
