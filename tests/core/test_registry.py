"""A kind is a file: found by looking, imported when asked for."""

import sys
from textwrap import dedent

import pytest

from deniable.core.registry import Registry
from deniable.errors import DesignError, InputError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    package = tmp_path / "some_kinds"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "mean.py").write_text('class Mean:\n    kind = "mean"\n')
    (package / "yes_no.py").write_text('class YesNo:\n    kind = "yes-no"\n')
    (package / "broken.py").write_text('class Broken:\n    kind = "another"\n')
    monkeypatch.syspath_prepend(tmp_path)
    yield package
    for name in [name for name in sys.modules if name.startswith("some_kinds")]:
        del sys.modules[name]


def test_names_are_files_and_nothing_is_imported_before_it_is_asked_for(folder):
    kinds = Registry("number", "some_kinds", dashed=True)
    assert set(kinds) == set(kinds.names()) == {"mean", "yes-no", "broken"}
    assert not [name for name in sys.modules if name.startswith("some_kinds.")]
    assert kinds["yes-no"].__name__ == "YesNo"
    assert kinds["yes-no"] is kinds["yes-no"]
    assert "some_kinds.mean" not in sys.modules


def test_a_file_added_later_is_a_kind_at_once(folder):
    kinds = Registry("number", "some_kinds")
    assert "median" not in kinds
    (folder / "median.py").write_text(
        dedent(
            """
            from some_kinds.mean import Mean

            class Median(Mean):
                kind = "median"
            """
        )
    )
    assert kinds["median"].__name__ == "Median"


def test_an_unknown_kind_lists_the_known(folder):
    with pytest.raises(InputError, match=r"unknown kind of number 'mode'; known are 'broken', 'mean', 'yes_no'"):
        Registry("number", "some_kinds")["mode"]
    with pytest.raises(DesignError):
        Registry("design", "some_kinds", error=DesignError)[3]


def test_a_file_whose_class_says_another_kind_is_a_mistake_of_ours(folder):
    with pytest.raises(TypeError, match="must hold one class whose kind is 'broken'; it has 0"):
        Registry("number", "some_kinds")["broken"]
