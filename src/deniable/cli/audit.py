"""`deniable audit`: watch a design run, and prove how much it tells at least."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deniable.cli.terminal import TARGET, as_json, console, emit
from deniable.errors import PrivacyError

if TYPE_CHECKING:
    from pathlib import Path


@click.command("audit")
@click.argument("audited", metavar="FILE", type=TARGET)
@click.option("--runs", type=click.IntRange(1000), default=200_000, show_default=True, help="Reports to draw.")
@click.option(
    "--confidence", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True
)
@as_json
def command(audited: Path | str, runs: int, confidence: float, as_json: bool) -> None:
    """Audit the design of FILE: a file of reports, or a design as JSON. It may lie in object storage.

    No real answer is touched: made-up people are disguised again and again, and what tells them apart is a lower bound
    on epsilon. The exit code is 6 when that is above the promise.

    \b
    Example:
      deniable audit reports.parquet
    """  # noqa: D301 - click wants the character itself
    from deniable.engines.read_reports import read_design
    from deniable.privacy.audit import audit

    design = read_design(audited)
    found = audit(design, runs=runs, confidence=confidence)
    if as_json:
        emit(
            {
                "design": design.id,
                "epsilon": design.epsilon,
                "ratio": str(design.ratio),
                "lower_bound": found.lower_bound,
                "confidence": found.confidence,
                "runs": found.runs,
                "violated": found.violated,
                "telling": found.is_telling,
            }
        )
    else:
        out = console()
        for line in (*design.describe().lines(), "", *found.lines()):
            out.print(line, soft_wrap=True, markup=False)
    if found.violated:
        raise PrivacyError("the audit proves that the promised epsilon is not kept")
