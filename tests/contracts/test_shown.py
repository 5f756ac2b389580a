"""What is shown of an estimate, through every design with every option that changes a report.

The point lies in the interval and both in the range, on tables with an empty cell, from one report and from fifty, that
are equal or drawn; or the refusal is one of ours. No other exception leaves a public function.

No standard error contradicts the interval beside it: an arm of what is shown is at most two and a half times, half of
what is not clipped at least a fifth of what it is for a normal interval with that error.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import norm

import deniable as dn
from chequered import is_tried
from deniable.errors import DeniableError
from every_design import answered, every_design, every_option

DOMAIN = dn.Domain({"a": ["no", "yes"], "b": [0, 1, 2], "c": ["no", "yes"]})
DESIGNS = every_option(DOMAIN, 50)
N = 50


def people(case):
    """One, fifty who are all alike, or fifty who leave cells empty."""
    n, rng = 1 if case == "one report" else N, np.random.default_rng(4)
    alike = case != "empty cells"
    a = np.zeros(n, dtype=int) if alike else (rng.random(n) < 0.3).astype(int)
    b = np.ones(n, dtype=int) if alike else rng.integers(0, 2, n) + a  # nobody has a 0 beside b 2, or a 1 beside b 0
    c = np.zeros(n, dtype=int) if alike else a * (rng.random(n) < 0.2)
    return pa.table({"a": np.array(["no", "yes"])[a], "b": b, "c": np.array(["no", "yes"])[c]})


def collected(name, case):
    """Reports of the people; pairs need a partner each, so that one of them alone is refused in words of ours."""
    design = DESIGNS[name]
    chosen = people(case)
    own = answered(chosen.select([column for column in chosen.column_names if column in design.domain]), design)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return design.randomize(own, source=dn.Seeded(6))


METHODS = ("mle", "wls", "norm_sub", "shrink", "product", "loglinear", "ipf")  # whatever an estimate is made by
FUNCTIONS = {
    "share of a": lambda reports: dn.estimate(reports, "a"),
    "share of b": lambda reports: dn.estimate(reports, "b"),
    "pair": lambda reports: dn.estimate(reports, ["a", "c"]),
    "table": lambda reports: dn.estimate(reports, ["a", "b"]),
    "by moments": lambda reports: dn.estimate(reports, "b", "wls"),
    "nearest": lambda reports: dn.estimate(reports, "b", "norm_sub"),
    "inverted": lambda reports: dn.estimate(reports, "b", "inversion"),
    "inverted pair": lambda reports: dn.estimate(reports, ["a", "c"], "inversion"),
    "inverted table": lambda reports: dn.estimate(reports, ["a", "b"], "inversion"),
    **{f"by {method}": lambda reports, m=method: dn.estimate(reports, ["a", "c"], m) for method in METHODS},
    "mean": lambda reports: dn.mean(reports, "b"),
    "cdf": lambda reports: dn.cdf(reports, "b"),
    "means by": lambda reports: dn.means_by(reports, "b", by="a"),
    "difference": lambda reports: dn.difference(dn.estimate(reports, ["a", "c"])),
    "V": lambda reports: dn.cramers_v(dn.estimate(reports, ["a", "c"])),
    "information": lambda reports: dn.mutual_information(dn.estimate(reports, ["a", "c"])),
    "odds ratio": lambda reports: dn.odds_ratio(dn.estimate(reports, ["a", "c"])),
}
Z = norm.ppf(0.975)
LONGEST, SHORTEST = 2.5, 0.2
RANGE = {"mean": (0, 2), "means by": (0, 2), "difference": (-1, 1), "odds ratio": (0, np.inf)}
SLACK = 1e-9


def parts(found):
    """Values, ends and errors of whatever was found, flat."""
    if isinstance(found, Mapping):
        each = [parts(part) for part in found.values()]
        return tuple(np.concatenate(column) for column in zip(*each, strict=True))
    if isinstance(found, dn.Estimate):  # what is shown, whatever the method
        rows = [(row.estimate, row.low, row.high, row.std_error) for row in found.rows()]
        return tuple(np.array(column) for column in zip(*rows, strict=True))
    value = found.value if hasattr(found, "value") else found.values
    low, high = found.interval()
    return tuple(np.ravel(np.asarray(part, dtype=float)) for part in (value, low, high, found.std_error))


CASES = ("one report", "equal reports", "empty cells")


def tried():
    """Every case of the designs that differ in kind; of their options each with a case in turn: `chequered`.

    Each with every other function; a design that is there with several cases meets all of them.
    Every design tells a share.
    """
    kinds = every_design(DOMAIN, N)
    for row, name in enumerate(DESIGNS):
        for column, case in enumerate(CASES):
            if name in kinds or is_tried(row, column, len(CASES)):
                tried = [what for place, what in enumerate(FUNCTIONS) if place == 0 or is_tried(row + column, place)]
                yield name, case, tried


@pytest.mark.parametrize(
    ("name", "case", "functions"), list(tried()), ids=lambda each: each if type(each) is str else ""
)
def test_the_point_lies_in_the_interval_and_both_in_the_range(name, case, functions):
    try:
        reports = collected(name, case)
    except DeniableError:
        return
    seen = 0
    for what, function in ((what, FUNCTIONS[what]) for what in functions):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = function(reports)
                values, low, high, errors = parts(found)
                str(found)
        except DeniableError:
            continue
        seen += 1
        least, most = RANGE.get(what, (0, 1))
        told = ~np.isnan(low) & ~np.isnan(values)
        assert (np.isnan(low) == np.isnan(high)).all(), what
        assert ((values >= least - SLACK) & (values <= most + SLACK))[~np.isnan(values)].all(), (what, values)
        assert ((low <= values + SLACK) & (values <= high + SLACK))[told].all(), (what, low, values, high)
        inside = (low >= least - SLACK) & (high <= most + SLACK)
        assert inside[told & np.isfinite(low) & np.isfinite(high)].all(), (what, low, high)
        if what != "odds ratio":
            if isinstance(found, dn.Distribution):
                low, high = (np.ravel(end) for end in found.interval(simultaneous=False))
            arms, stated = np.fmax(values - low, high - values), ~np.isnan(errors)
            assert (errors[stated] > 0).all(), (what, errors)
            assert (arms <= LONGEST * Z * errors + SLACK)[np.isfinite(arms) & stated].all(), (what, arms)
        if isinstance(found, dn.Estimate):
            assert told.any() or "none is shown" in str(found), what
            unclipped = found.interval(clip=False)
            assert (np.ravel(unclipped.high - unclipped.low) >= 2 * SHORTEST * Z * errors).all(), (what, errors)
            assert abs(values.sum() - 1) < 1e-6, what
    assert seen or case == "one report", "everything was refused"


def test_the_error_of_a_share_at_zero_is_as_wide_as_its_interval():
    """Without a floor under the invented answers, a report of a rare category is nearly a confession: nobody's is 0."""
    domain = dn.Domain({"a": ["no", "yes"], "b": [0, 1, 2, 3, 4], "c": ["no", "yes"]})
    shares = np.outer([0.7, 0.3], [0.1, 0.01, 0.8, 0.01, 0.08])
    design = dn.Blocks(domain, 2, 0.5, mode="deniability", keep=0.3, block_size=40, answer="one")
    rng = np.random.default_rng(7)
    codes = rng.choice(10, size=400, p=shares.ravel())
    truths = pa.table({"a": np.array(["no", "yes"])[codes // 5], "b": codes % 5, "c": ["no", "yes"] * 200})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = dn.estimate(design.randomize(truths, source=dn.Seeded(3)), ["a", "b"])
    none = found.values.ravel() < 1e-6
    assert none.any()
    half = found.interval().high.ravel()[none] / Z
    assert ((found.std_error.ravel()[none] >= 0.39 * half) & (found.std_error.ravel()[none] <= half)).all()
