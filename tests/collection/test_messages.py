"""Messages, byte by byte; and what is refused."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.cli.new import example_text
from deniable.collection.survey_messages import announcement, decimal_text, design_body, form_body
from deniable.device.protocol.canonical_json import decode, encode
from deniable.device.protocol.fake_blocks import Block
from deniable.device.protocol.form import read_form
from deniable.device.protocol.messages import Announcement, Design, Failure, Form, Receipt, Report, design_id
from deniable.device.protocol.problem_details import PROBLEMS, problem
from deniable.device.verify import verify
from deniable.errors import MessageError
from deniable.extensions.blocks.aggregator import Aggregator
from deniable.extensions.blocks.served_blocks import ServedBlocks
from deniable.surveys.survey import parse_survey
from small_survey import INDEPENDENT, public, question, survey_file

GOLDEN = Path(__file__).parent / "golden"
SMOKING = survey_file(
    "smoking",
    question("smokes", "Do you smoke?", "yes-no"),
    public("region", ["north", "south"], "Where?"),
    epsilon=1.5,
    design=INDEPENDENT,
)
IN_BLOCKS = survey_file(
    "blocks",
    question("a", kind="yes-no"),
    question("b", choices=["x", "y", "z"]),
    epsilon=1.5,
    design={"kind": "blocks", "k": 1, "block_size": 100},
)
REPORT = Report(
    version=2,
    id="ab" * 32,
    design="5c927a2ed836a17297b03a3c68388b7b0868ff9c06238be5e92c532eb32861c0",
    ballot=0,
    answers=(1, 3),
    public=(2,),
)
RECEIPT = Receipt(version=1, accepted=1, failures=[Failure(1, problem("conflict"))])


def first_block():
    body = design_body(parse_survey(IN_BLOCKS))
    return Aggregator(ServedBlocks(verify(body, design_id(body)))).block


def golden(name):
    """The bytes of an annotated file: what stands before the comments."""
    lines = (GOLDEN / name).read_text(encoding="utf-8").splitlines()
    return "".join(line.partition("  #")[0].strip() for line in lines).encode()


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("report.txt", encode(REPORT)),
        ("receipt.txt", encode(RECEIPT)),
        ("design.txt", design_body(parse_survey(SMOKING))),
        ("form.txt", form_body(parse_survey(SMOKING))),
        ("block.txt", first_block().canonical()),
    ],
)
def test_the_bytes_are_these(name, body):
    assert body == golden(name)


KINDS = {
    "report.txt": Report,
    "receipt.txt": Receipt,
    "design.txt": Design,
    "form.txt": Form,
}


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_the_bytes_read_back(name, kind):
    assert encode(decode(golden(name), kind, most=10_000)) == golden(name)


def test_the_block_reads_back_and_its_chain_begins_with_the_design():
    body = golden("block.txt")
    block = Block.parse(body)
    assert (block, block.canonical()) == (first_block(), body)
    assert block.id == hashlib.sha256(body).hexdigest()
    body = design_body(parse_survey(IN_BLOCKS))
    assert block.previous == block.design == verify(body, design_id(body)).plan_id
    assert [kept + sum(fakes) for kept, fakes in zip(block.keep, block.fakes, strict=True)] == [2**32, 2**32]


def test_the_form_reads_back_and_fits_the_design():
    survey = parse_survey(example_text())
    body = design_body(survey)
    form = read_form(form_body(survey), verify(body, design_id(body)))
    assert encode(form) == form_body(survey)


def test_the_announcement_says_which_design_and_when():
    survey = parse_survey("closes = 2030-01-31T12:00:00Z\n" + SMOKING)
    said = decode(encode(announcement(survey, "ab" * 32)), Announcement, most=1000)
    assert (said.design, said.opens, said.closes) == ("ab" * 32, None, "2030-01-31T12:00:00+00:00")
    assert design_body(survey) == design_body(parse_survey(SMOKING))  # deadlines move, designs do not


def test_corrected_words_are_another_design_of_the_same_plan():
    first = design_body(parse_survey(SMOKING))
    second = design_body(
        parse_survey(SMOKING.replace("Do you smoke?", "Do you smoke at all?")), replaces=design_id(first)
    )
    one, two = (verify(body, design_id(body)) for body in (first, second))
    assert one.id != two.id
    assert one.plan_id == two.plan_id != one.id
    other = design_body(parse_survey(SMOKING.replace('"south"', '"east"')))
    assert verify(other, design_id(other)).plan_id != one.plan_id


def test_a_design_is_named_by_its_bytes_and_a_wave_by_its_survey():
    first = design_body(parse_survey(SMOKING))
    second = design_body(parse_survey(SMOKING.replace('"smoking"', '"smoking-2"')))
    assert design_id(first) != design_id(second)


@given(st.floats(min_value=1e-9, max_value=1000))
def test_epsilon_survives_being_written_as_a_decimal(number):
    assert float(decimal_text(number)) == number
    assert "e" not in decimal_text(number)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "malformed"),
        (b"\xff\xfe", "malformed"),
        (b'{"id":"\xff"}', "malformed"),
        (b"NaN", "malformed"),
        (b"[" * 10_000, "malformed"),
        (b'{"version":2,' + encode(REPORT)[1:], "repeated-key"),
        (b" " * 20_000, "too-large"),
        (encode(REPORT).replace(b'"ballot":0', b'"ballot":0,"ip":"10.0.0.1"'), "unknown-field"),
        (encode(REPORT).replace(b'"version":2', b'"version":9'), "unknown-version"),
    ],
)
def test_a_bad_message_is_refused_with_its_reason(body, code):
    with pytest.raises(MessageError) as caught:
        decode(body, Report, most=16_384)
    assert caught.value.code == code


@given(st.binary(max_size=300))
def test_no_bytes_break_the_decoder(body):
    with pytest.raises(MessageError):
        decode(body, Report, most=16_384)


@given(st.data())
def test_no_change_of_a_byte_breaks_the_decoder(data):
    body = bytearray(encode(REPORT))
    for _ in range(data.draw(st.integers(1, 3))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = decode(bytes(body), Report, most=16_384)
    except MessageError:
        return
    assert decode(encode(found), Report, most=16_384) == found


def test_every_problem_has_the_status_it_is_listed_with():
    for code, (status, title) in PROBLEMS.items():
        found = problem(code)
        assert (found.status, found.title, found.code) == (status, title, code)
