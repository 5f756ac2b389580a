"""A folder as a user has it: a table, a domain, reports."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.cli.app import app
from deniable.core.provenance import PEOPLE
from deniable.core.randomness import Seeded

DOMAIN = dn.Domain({"sex": ["F", "M"], "income": ["<=50K", ">50K"], "age": ["young", "middle", "old"]})


def people(n=4000):
    rng = np.random.default_rng(1)
    sex = rng.choice(["F", "M"], n)
    rich = rng.random(n) < np.where(sex == "M", 0.45, 0.15)
    return pd.DataFrame(
        {
            "sex": sex,
            "income": np.where(rich, ">50K", "<=50K"),
            "age": rng.choice(["young", "middle", "old"], n),
            "region": rng.choice(["north", "south"], n),
            "school": np.arange(n) % 20,
            "weight": 1 + np.arange(n) // 7 % 2,
        }
    )


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """Made once; tests only read it."""
    folder = tmp_path_factory.mktemp("survey")
    people().to_parquet(folder / "people.parquet", index=False)
    people().to_csv(folder / "people.csv", index=False)
    (folder / "domain.toml").write_text(
        'sex = ["F", "M"]\nincome = ["<=50K", ">50K"]\nage = ["young", "middle", "old"]\n'
    )
    reports = dn.Views(DOMAIN, 2, 2.0).randomize(people(), keep=["region", "school", "weight"], source=Seeded(1))
    reports = reports.with_origin(PEOPLE)  # as if they had answered
    reports.write(folder / "reports.parquet")
    reports.write(folder / "reports.csv")
    return folder


@pytest.fixture
def run(made, tmp_path, monkeypatch):
    """Run a command in a new folder, where `in/` is the survey's."""
    (tmp_path / "in").symlink_to(made)
    monkeypatch.chdir(tmp_path)

    def call(*arguments, columns=160):
        wide = {"COLUMNS": str(columns)}
        return CliRunner().invoke(app, [str(a) for a in arguments], prog_name="deniable", env=wide)

    return call
