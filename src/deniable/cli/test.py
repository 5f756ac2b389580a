"""`deniable test`: are two attributes independent? Is an attribute distributed alike in all groups?"""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.terminal import (
    PLACE,
    as_json,
    console,
    design_option,
    emit,
    origin_json,
    print_origin,
    reports_at,
    sampling_options,
    words_options,
)
from deniable.errors import EstimationError, InputError

if TYPE_CHECKING:
    from pathlib import Path

    from deniable.core.results import TestResult
    from deniable.designs.reports.reports import Reports
    from deniable.inference.hypothesis_tests.all_pairs import Adjustment


@click.command("test")
@click.argument("reports", type=PLACE)
@click.argument("attributes", nargs=-1)
@click.option(
    "--method",
    default="auto",
    show_default=True,
    help="auto, lrt, pearson, wald or two_step; with weights, auto or bootstrap.",
)
@click.option("--given", metavar="COLUMN", help="One test within all values of this attribute or public column.")
@click.option(
    "--by",
    metavar="COLUMN",
    help="A public column. One attribute: is it distributed alike in all groups? Two: a test in each group.",
)
@click.option("--control", type=click.Choice(["holm", "bh", "none"]), default="holm", show_default=True)
@click.option("--replicates", type=click.IntRange(19), default=999, show_default=True, help="Of the bootstrap.")
@sampling_options
@words_options
@design_option
@as_json
def command(
    *,
    reports: Path | str,
    attributes: tuple[str, ...],
    method: str,
    given: str | None,
    by: str | None,
    control: Adjustment,
    replicates: int,
    weights: str | None,
    strata: str | None,
    clusters: str | None,
    words: Path | None,
    language: str | None,
    design: str | None,
    as_json: bool,
) -> None:
    """Test two ATTRIBUTES of REPORTS for independence; with more or none, every pair, corrected for their number.

    REPORTS is a file, or what a collector has stored: its folder, its SQLite file, or postgresql://user@host/survey.
    The test is one that holds its level on disguised answers; those that do not are refused. The same reports give the
    same p-value every time.

    \b
    Examples:
      deniable test reports.parquet sex income
      deniable test deniable-data
      deniable test reports.parquet --weights weight --clusters school
      deniable test reports.parquet cheated --by faculty
      deniable test reports.parquet cheated worried --by faculty
    """  # noqa: D301 - click wants the character itself
    from deniable.inference.hypothesis_tests.all_pairs import all_pairs
    from deniable.inference.hypothesis_tests.independence import independence

    opened = reports_at(reports, design, words=words, language=language)
    _refuse_public(opened, attributes)
    opened.design.domain.project(attributes) if attributes else None
    if by is not None:
        if given is not None or len(attributes) not in (1, 2):
            raise InputError("--by goes with one attribute or two, and without --given")
        if (weights, strata, clusters) != (None, None, None):
            raise InputError("--by compares groups as they answered: leave --weights, --strata and --clusters out")
        _by_group(opened, attributes, by, method=method, control=control, replicates=replicates, as_json=as_json)
        return
    if len(attributes) == 1:
        raise InputError(
            f"name at least two attributes to test {attributes[0]!r} against, or none for every pair; or a public "
            f"column, as in --by region, to compare its groups"
        )
    more: dict[str, Any] = {"replicates": replicates, "weights": weights, "strata": strata, "clusters": clusters}
    if len(attributes) != 2:
        if given is not None:
            raise InputError("--given goes with exactly two attributes")
        pairs = all_pairs(opened, list(attributes) or None, method=method, control=control, **more)
        if as_json:
            columns = pairs._columns()
            rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
            emit({**origin_json(opened), "pairs": rows})
        else:
            _asked(opened, dict.fromkeys(name for pair in pairs.pairs for name in pair))
            _say(opened, str(pairs))
        return
    found = independence(opened, *attributes, method=method, given=given, **more)
    if as_json:
        emit({"attributes": attributes, **origin_json(opened), **_data(found)})
    else:
        _asked(opened, attributes)
        _say(opened, str(found))


def _refuse_public(opened: Reports, attributes: tuple[str, ...]) -> None:
    """A public attribute is not disguised: it makes groups. Say how they are compared."""
    public = [name for name in attributes if name in opened.public_names and name not in opened.design.domain]
    others = [name for name in attributes if name not in public]
    if public and others:
        raise InputError(
            f"{public[0]!r} is public: it makes groups, which are compared with deniable test ... "
            f"{' '.join(others[:2])} --by {public[0]}",
            attribute=public[0],
        )


def _by_group(
    opened: Reports,
    attributes: tuple[str, ...],
    by: str,
    *,
    method: str,
    control: Adjustment,
    replicates: int,
    as_json: bool,
) -> None:
    """One attribute: compare the groups. Two: test them in each group, corrected for the number of groups."""
    from deniable.core.summary import Summary
    from deniable.estimation.notes.refused import small_groups, unanswered
    from deniable.inference.hypothesis_tests.all_pairs import adjusted, stars
    from deniable.inference.hypothesis_tests.goodness_of_fit import homogeneity
    from deniable.inference.hypothesis_tests.independence import independence

    parts = dict(opened.groups(by))
    if len(attributes) == 1:
        warned = small_groups(by, {group: part.n for group, part in parts.items()})
        found = homogeneity(opened, attributes[0], by, method, replicates=replicates)
        if as_json:
            emit({"attributes": attributes, "by": by, **origin_json(opened), **_data(found), "warnings": warned})
            return
        _asked(opened, [*attributes, by])
        _say(opened, str(Summary(found.summary().columns, (*found.notes, *warned))))
        return
    a, b = attributes
    tests: dict[Any, TestResult] = {}
    refused: dict[Any, str] = {}
    for group, part in parts.items():
        if told := unanswered([part], attributes):
            refused[group] = told
            continue
        try:
            tests[group] = independence(part, a, b, method, replicates=replicates)
        except EstimationError as error:
            refused[group] = error.message
    if not tests:
        reasons = "; ".join(f"{group}: {reason}" for group, reason in refused.items())
        raise EstimationError(f"no group of {by!r} can be tested: {reasons}", by=by)
    corrected = dict(zip(tests, adjusted([test.pvalue for test in tests.values()], control).tolist(), strict=True))
    if as_json:
        rows = [
            {
                by: group,
                "reports": part.n,
                **({"refused": refused[group]} if group in refused else _data(tests[group])),
                **({"adjusted": corrected[group]} if group in tests else {}),
            }
            for group, part in parts.items()
        ]
        emit({"attributes": attributes, "by": by, **origin_json(opened), "groups": rows})
        return
    columns: dict[str, list[Any]] = {
        by: [opened.labels.shown(by, group) for group in parts],
        "reports": [part.n for part in parts.values()],
        "p": [float(tests[group].pvalue) if group in tests else nan for group in parts],
        "p, corrected": [corrected.get(group, nan) for group in parts],
        "stars": [stars(corrected[group]) if group in tests else refused[group] for group in parts],
    }
    said = f"Tests in {len(tests)} groups; p-values adjusted by {control}."
    _asked(opened, [*attributes, by])
    _say(opened, str(Summary(columns, (said,))))


def _say(opened: Reports, text: str) -> None:
    out = console()
    out.print(text, soft_wrap=True, markup=False)
    print_origin(out, opened)


def _asked(opened: Reports, names: Any) -> None:
    """What was asked, in words, where they are known."""
    asked = opened.labels.asked(list(names))
    if asked:
        console().print(asked, soft_wrap=True, markup=False)


def _data(found: TestResult) -> dict[str, Any]:
    return {
        "statistic": float(found.statistic),
        "pvalue": float(found.pvalue),
        "df": None if found.df is None else float(found.df),
        "method": found.method,
        "notes": found.notes,
    }
