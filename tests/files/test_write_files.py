"""Reports as files: what is written is what is read, and what cannot be trusted is refused."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable.core.provenance import PEOPLE, Origin
from deniable.core.randomness import Seeded
from deniable.engines.read_reports import read_header
from deniable.errors import DesignError, InputError, MissingColumnError
from deniable.files.write_files import sidecar

DOMAIN = dn.Domain({"sex": ["F", "M"], "children": [0, 1, 2], "smokes": [True, False]})
FORMATS = [".parquet", ".csv", ".sav", ".dta"]
DESIGNS = [
    dn.Independent(DOMAIN, 3.0),
    dn.Joint(DOMAIN, 1.0),
    dn.Views(DOMAIN, 2, 1.0),
    dn.Views(DOMAIN, 2, 1.0, answer="all"),
    dn.Blocks(DOMAIN, 2, 1.0, block_size=100),
    dn.Paired(DOMAIN, 0.75, -0.2),
]


def people(n=600):
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "children": rng.integers(0, 3, n),
            "smokes": rng.random(n) < 0.3,
            "where from": rng.choice(["north west", "süd|ost"], n),
        }
    )


@pytest.fixture
def reports():
    return dn.Views(DOMAIN, 2, 1.0).randomize(people(), keep=["where from"], source=Seeded(1))


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("design", DESIGNS, ids=lambda d: f"{d.kind}-{d.width}")
def test_every_format_gives_back_every_design_s_reports(design, suffix, tmp_path):
    reports = design.randomize(people(), keep=["where from"], source=Seeded(1))
    reports = reports.with_notes("A note.")
    again = dn.read_reports(reports.write(tmp_path / "new" / f"r{suffix}"))
    assert type(again) is type(reports)
    assert again.design == design
    assert again.notes == ("A note.",)
    assert np.array_equal(again.answers, reports.answers)
    assert np.array_equal(again.ballots, reports.ballots)
    assert again.public["where from"].to_list() == reports.public["where from"].to_list()
    assert getattr(again, "pairs", None) == getattr(reports, "pairs", None)
    assert getattr(again, "published", None) == getattr(reports, "published", None)
    for name in DOMAIN:
        assert np.array_equal(dn.estimate(again, name).values, dn.estimate(reports, name).values)


def test_a_number_of_pairs_that_is_none_is_refused(tmp_path):
    design = dn.Paired({"a": ["no", "yes"]}, p=0.7, rho=-0.1)
    place = design.randomize({"a": ["no", "yes"] * 20}, source=Seeded(1)).write(tmp_path / "r.csv")
    (header,) = tmp_path.glob("*.json")
    told = header.read_text()
    assert '"pairs": "20' in told
    header.write_text(told.replace('"pairs": "20', '"pairs": "x20'))
    with pytest.raises(InputError, match="number of pairs that both answered cannot be read"):
        dn.read_reports(place)


def test_the_note_is_in_the_statement(reports, tmp_path):
    reports = reports.with_notes("The categories were read off the data.")
    again = dn.read_reports(reports.write(tmp_path / "r.parquet"))
    assert again.describe().notes[-1] == reports.notes[0]


def test_spss_and_stata_show_the_categories(tmp_path):
    import pyreadstat

    dn.Independent(DOMAIN, 3.0).randomize(people(), source=Seeded(1)).write(tmp_path / "r.sav")
    _, about = pyreadstat.read_sav(tmp_path / "r.sav")
    assert about.column_labels == ["[disguised] sex", "[disguised] children", "[disguised] smokes"]
    assert about.variable_value_labels["sex"] == {0.0: "F", 1.0: "M"}


def test_the_file_holds_the_design_for_other_programs_to_read(reports, tmp_path):
    path = reports.write(tmp_path / "r.parquet")
    metadata = pq.read_metadata(path).metadata
    assert metadata[b"deniable.design"] == reports.design.canonical()
    assert metadata[b"deniable.sha256"].decode() == reports.design.id
    assert metadata[b"deniable.format"] == b"2"
    assert dn.read_reports(path).origin == reports.origin == Origin(reports.n, reports.n, seeded=True)
    plain = reports.with_origin(PEOPLE).write(tmp_path / "plain.parquet")
    assert pq.read_metadata(plain).metadata[b"deniable.format"] == b"1"
    assert not dn.open_reports(plain).origin


def rewrite(path, change):
    """Write the file again with other metadata."""
    table = pq.read_table(path)
    metadata = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
    change(metadata)
    pq.write_table(table.replace_schema_metadata(metadata), path)


def lose(metadata):
    metadata.clear()


def alter(metadata):
    metadata["deniable.design"] = metadata["deniable.design"].replace('"F"', '"X"')


def age(metadata):
    metadata["deniable.format"] = "3"


def drop_hash(metadata):
    del metadata["deniable.sha256"]


def add(metadata):
    metadata["deniable.colour"] = "red"


def spoil_notes(metadata):
    metadata["deniable.notes"] = "{"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lose, "does not say by which design"),
        (alter, "altered"),
        (age, "reads formats up to 2"),
        (drop_hash, "does not give its design's hash"),
        (add, "unknown fields colour"),
        (spoil_notes, "cannot be read"),
    ],
)
def test_metadata_that_cannot_be_trusted_is_refused(change, told, reports, tmp_path):
    path = reports.write(tmp_path / "r.parquet")
    rewrite(path, change)
    with pytest.raises((InputError, DesignError), match=told) as refused:
        dn.read_reports(path)
    assert "r.parquet" in str(refused.value)


def test_a_design_newer_than_the_program_is_refused(reports, tmp_path):
    path = reports.write(tmp_path / "r.csv")
    fields = json.loads(sidecar(path).read_text())
    newer = fields["design"].replace('"format":1', '"format":7')
    import hashlib

    fields |= {"design": newer, "sha256": hashlib.sha256(newer.encode()).hexdigest()}
    sidecar(path).write_text(json.dumps(fields))
    with pytest.raises(DesignError, match="format 7"):
        dn.read_reports(path)


def test_a_file_without_its_other_half_is_refused(reports, tmp_path):
    path = reports.write(tmp_path / "r.csv")
    sidecar(path).unlink()
    with pytest.raises(InputError, match=r"r\.csv\.design\.json"):
        dn.read_reports(path)


def test_codes_the_design_cannot_have_made_are_refused(reports, tmp_path):
    path = reports.write(tmp_path / "r.parquet")
    table = pq.read_table(path)
    wrong = table.set_column(1, "dn_answer_0", pa.array(np.full(len(table), 250), pa.uint8()))
    pq.write_table(wrong.replace_schema_metadata(table.schema.metadata), path)
    with pytest.raises(InputError, match="no answer of this design"):
        dn.read_reports(path)


def test_a_missing_column_is_refused(reports, tmp_path):
    path = reports.write(tmp_path / "r.parquet")
    table = pq.read_table(path)
    pq.write_table(table.drop_columns(["dn_ballot"]), path)
    with pytest.raises(MissingColumnError, match="ballot"):
        dn.read_reports(path)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not parquet at all"])
def test_what_is_no_parquet_is_refused(content, tmp_path):
    (tmp_path / "r.parquet").write_bytes(content)
    with pytest.raises(InputError, match=r"r\.parquet is not a readable Parquet file"):
        dn.read_reports(tmp_path / "r.parquet")


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_what_is_no_survey_file_is_refused(suffix, reports, tmp_path):
    path = reports.write(tmp_path / f"r{suffix}")
    path.write_bytes(b"no such thing")
    with pytest.raises(InputError, match="not a readable"):
        dn.read_reports(path)


def test_unknown_endings_and_absent_files_are_refused(reports, tmp_path):
    with pytest.raises(InputError, match="written to"):
        reports.write(tmp_path / "r.xlsx")
    with pytest.raises(InputError, match="there is no file"):
        dn.read_reports(tmp_path / "r.parquet")
    (tmp_path / "r.xlsx").touch()
    with pytest.raises(InputError, match="must end in"):
        dn.read_reports(tmp_path / "r.xlsx")


def test_a_failed_write_leaves_nothing_behind(reports, tmp_path, monkeypatch):
    def fail(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", fail)
    with pytest.raises(OSError, match="No space"):
        reports.write(tmp_path / "r.parquet")
    assert list(tmp_path.iterdir()) == []


def test_the_header_is_read_without_the_reports(reports, tmp_path):
    assert read_header(reports.write(tmp_path / "r.parquet")).design == reports.design.canonical()
