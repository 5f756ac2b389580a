"""The statement says in words what the ratio says in numbers, and never says it better."""

from __future__ import annotations

import dataclasses
import math
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.device.privacy_statement import Statement
from deniable.errors import DesignError, InputError

ratios = st.builds(lambda n, d: 1 + Fraction(n, d), st.integers(0, 2**40), st.integers(1, 2**32))


def test_its_numbers():
    statement = Statement(Fraction(3))
    assert statement.epsilon == 1.0986122886681098
    assert statement.odds_factor == 3.0
    assert statement.posterior(0.5) == 0.75


@given(ratios)
def test_printed_numbers_are_rounded_up(ratio):
    statement = Statement(ratio)
    text = str(statement)
    numbers = [Fraction(number) for number in re.findall(r"\d+\.\d+", text)]
    true = [
        Fraction(statement.epsilon),
        ratio,
        100 * Fraction(statement.posterior(0.5)),
        100 * Fraction(statement.posterior(0.05)),
    ]
    steps = [Fraction(1, 10**4), Fraction(1, 10**3), Fraction(1, 100), Fraction(1, 100)]
    assert all(0 <= shown - exact < step for shown, exact, step in zip(numbers, true, steps, strict=True))


def test_a_disclosing_design_is_called_one():
    statement = Statement(math.inf, notes=("Performed by hand.",))
    assert statement.epsilon == statement.odds_factor == math.inf
    assert statement.posterior(0.01) == 1.0
    assert "disclosed with certainty" in str(statement)
    assert "not differentially private" in str(statement)
    assert str(statement).endswith("Performed by hand.")


def test_the_html_says_the_same_and_escapes_notes():
    statement = Statement(Fraction(3), notes=("<b>region</b> rides along in clear.",))
    html = statement._repr_html_()
    assert "1.0987" in html
    assert "&lt;b&gt;region" in html
    assert html.count("<li>") == len(statement.lines()) == 4


def test_it_is_checked_at_birth_and_frozen():
    with pytest.raises(DesignError):
        Statement(Fraction(1, 2))
    with pytest.raises(InputError):
        Statement(Fraction(2), notes="one sentence")
    with pytest.raises(dataclasses.FrozenInstanceError):
        Statement(Fraction(2)).ratio = Fraction(1)
