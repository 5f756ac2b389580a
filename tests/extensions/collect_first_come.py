"""A survey by a system that the package has never heard of: served, answered, estimated, exported, described.

Run by the test of extensions that are one file, in a copy of the package that holds this one.
"""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx

import deniable as dn
from deniable.cli.app import app
from deniable.collection.simulate_respondents import Crowd, Population
from deniable.errors import RejectedError
from deniable.web.serve import Service, background

SURVEY = """
format = 1
name = "first-come"
title = "First come"
epsilon = 4.0
design = { kind = "first_come" }
[[questions]]
name = "smokes"
text = "Do you smoke?"
kind = "yes-no"
[[questions]]
name = "sleeps"
text = "Do you sleep well?"
kind = "yes-no"
"""


def asked(address: str, headers: dict[str, str] | None = None) -> Any:
    """What a collector answers, however busy the machine is."""
    return httpx.get(address, headers=headers, timeout=600).raise_for_status().json()


def collect(folder: Path) -> dict[str, object]:
    """Everything that happens to a survey, and what is said on the way."""
    found: dict[str, object] = {}
    path, data = folder / "survey.toml", folder / "data"
    path.write_text(SURVEY, encoding="utf-8")
    service = Service.open(path, data)
    with background(service) as url:
        found["kind"] = asked(f"{url}/v1/designs/{service.collector.design_id}")["plan"]["kind"]
        refused = 0
        with closing(Crowd(url, batch=1)) as crowd:
            population = Population(crowd.design, seed=1)
            for _ in range(32):
                try:
                    crowd.answer(population.person())
                except RejectedError:
                    refused += 1
                    crowd._waiting.clear()
        found["late"] = [refused, asked(f"{url}/v1/late")]
        service.store.compact(service.collector.numbers)
        results = asked(f"{url}/v1/results", {"Authorization": f"Bearer {service.token}"})
        found["results"] = [results["reports"], sorted("*".join(table["attributes"]) for table in results["tables"])]
    app(["export", str(data), "-o", str(folder / "reports.parquet")], standalone_mode=False)
    exported = dn.read_reports(folder / "reports.parquet")
    estimate = dn.estimate(exported, ["smokes"])
    found["exported"] = [type(exported).__name__, exported.n, exported.late, round(float(estimate.values.sum()), 9)]
    found["reason"] = estimate.reason
    written = folder / "methods.md"
    app(["report", str(data), "--methods", "-o", str(written)], standalone_mode=False)
    found["methods"] = written.read_text(encoding="utf-8")
    return found


if __name__ == "__main__":
    sys.stdout.write("\n" + json.dumps(collect(Path(sys.argv[1]))))
