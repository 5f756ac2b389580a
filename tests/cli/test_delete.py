"""`deniable delete`: everything of a survey is gone, of no other one, and not by mistake."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from deniable.cli.app import app
from deniable.collection.collector import Collector
from deniable.storage.open_store import open_store
from deniable.storage.store import Row
from deniable.surveys.survey import parse_survey


@pytest.fixture(params=["sqlite", "postgres"])
def where(request, tmp_path):
    return request.getfixturevalue("database") if request.param == "postgres" else None


def delete(folder, database, *more, typed=None):
    arguments = ["delete", str(folder / "survey.toml"), "--data", str(folder / "data"), *more]
    if database is not None:
        arguments += ["--database", database]
    return CliRunner().invoke(app, arguments, input=typed)


def opened(folder, text, database):
    return Collector(parse_survey(text), open_store(folder / "data", database), folder=folder / "data")


def collect(folder, text, database):
    """Serve a blind survey, which has an issuer, and store three reports."""
    text = text.replace("epsilon = 1.0", 'epsilon = 1.0\nadmission = "blind"')
    (folder / "survey.toml").write_text(text, encoding="utf-8")
    collector = opened(folder, text, database)
    collector.entrance.invite(3)
    collector.store.add([Row(bytes([n]) * 16, collector.number, "[null,0,[1],[0]]") for n in range(3)])
    return collector


def test_what_is_confirmed_is_gone_and_nothing_else(tmp_path, survey_text, where):
    collector = collect(tmp_path, survey_text, where)
    refused = delete(tmp_path, where, "--confirm", "smoking")
    assert (refused.exit_code, "stop" in refused.output) == (3, True)
    collector.close()
    declined = delete(tmp_path, where, typed="smokers\n")
    assert (declined.exit_code, "nothing was deleted" in declined.output) == (3, True)
    done = delete(tmp_path, where, typed="smoking\n")
    assert done.exit_code == 0
    assert "'smoking' and 3 reports" in done.output
    assert "backups, exports" in done.output
    assert not (tmp_path / "data").exists()
    again = delete(tmp_path, where, "--confirm", "smoking")
    assert (again.exit_code, "never served" in again.output or "neither reports" in again.output) == (3, True)


def test_what_else_is_in_the_folder_stays(tmp_path, survey_text):
    collect(tmp_path, survey_text, None).close()
    (tmp_path / "data" / "reports.csv").write_text("mine", encoding="utf-8")
    (tmp_path / "data" / "pilot").mkdir()
    done = delete(tmp_path, None, "--confirm", "smoking")
    assert (done.exit_code, "its pilot are still in" in done.output) == (0, True)
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == ["pilot", "reports.csv"]


def test_an_issuer_that_was_left_behind_is_deleted(tmp_path, survey_text):
    collector = collect(tmp_path, survey_text, None)
    collector.entrance.close()
    collector.store.destroy()
    assert any((tmp_path / "data").glob("issuer-*"))
    assert delete(tmp_path, None, "--confirm", "smoking").exit_code == 0
    assert not (tmp_path / "data").exists()


def test_a_store_with_another_survey_in_it_is_not_deleted(tmp_path, survey_text, where):
    collect(tmp_path, survey_text, where).close()
    opened(tmp_path, survey_text.replace('name = "smoking"', 'name = "other"'), where).close()
    refused = delete(tmp_path, where, "--confirm", "smoking")
    assert (refused.exit_code, "also holds 'other'" in refused.output) == (3, True)
    (tmp_path / "survey.toml").write_text(survey_text.replace("epsilon = 1.0", "epsilon = 2.0"), encoding="utf-8")
    strange = delete(tmp_path, where, "--confirm", "smoking")
    assert (strange.exit_code, "never served" in strange.output) == (3, True)
