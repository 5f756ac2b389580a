"""What a device checks before it answers: nothing a server says is believed that can be computed.

Checks run in this order, and the first that fails gives the reason. Every client gives the same reason for the same
bytes (`tests/vectors/designs.json`).

=====================  ============================================================================================
`too-large`            more bytes than a device reads
`wrong-hash`           the bytes are not those that the name promises
`malformed`            not JSON, or a field is missing or of the wrong type
`unknown-version`      a version this client does not know
`unknown-field`        a field that this version does not have: what it means cannot be judged
`unknown-channel`      a kind of channel this client does not run
`unknown-coder`        a way from an answer to its category that this client does not know
`not-canonical`        the bytes are not the canonical ones, so another reader might read them differently
`repeated-name`        two attributes (sensitive or public) share a name, or two categories are the same
`too-few-categories`   an attribute with fewer than two categories
`wrong-items`          items that are not the plan's attributes in their order
`wrong-coder`          edges that do not rise or are not plain decimals, or that do not make the categories
`wrong-rule`           a question put by something that is not public, or without a way to send "does not apply"
`unknown-attribute`    a question names an attribute that does not exist
`wrong-admission`      blind tokens without an issuer, or an issuer without blind tokens
`wrong-audience`       no origin that reports may be sent to, or something that is not one
`wrong-bits`           draws of another width than 16 or 32 bits
`zero-weight`          a report that some truth can never produce: it would rule that truth out
`wrong-sum`            weights that do not add up to the number of draws
`tells-nothing`        every truth is reported alike, so that answering would be in vain
`wrong-cells`          a channel whose truths are not the question's possible answers, or sets that there cannot be
`wrong-panel`          answers that repeat without a panel, without a second level or in part, or under an admission
                       that nobody can connect with a person; a second level that is not needed
`pseudonym`            a panel of which more than 5 in 100 people could be found again by what they send
`wrong-blocks`         blocks without a size, or a size without blocks
`unknown-question`     a ballot names a question that does not exist
`empty-ballot`         a ballot without a question
`attribute-twice`      a ballot that asks an attribute twice: two disguises say more than one
`too-many`             more questions on a ballot, or public attributes, than a report can hold
`wrong-weights`        ballots are drawn by weights that are not whole numbers in lowest terms
`leftover`             a question on no ballot or an attribute in no question: nobody needs it, and it could be a mark
`epsilon-exceeded`     the dearest ballot's true ratio is above e^epsilon, compared exactly
=====================  ============================================================================================
"""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

from deniable.device.design_terms import check_ballots, check_blocks, check_door, check_items
from deniable.device.epsilon import compose, epsilon_of, exp_below
from deniable.device.panel import check_panel
from deniable.device.protocol import canonical_json as wire
from deniable.device.protocol import messages
from deniable.device.protocol.messages import Attribute
from deniable.device.refusal import refuse
from deniable.device.verified_design import VerifiedDesign, VerifiedQuestion
from deniable.errors import DesignError, MessageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


MOST_ASKED = 200  # questions of a ballot, and public attributes: a report fits its message, an account holds its ratio
MOST_CELLS = 1 << 20  # possible answers to a question


def verify(body: bytes, expected: str) -> VerifiedDesign:
    """Check a design as it came from a server, against the hash it was asked for by."""
    return _judge(expected, _read(body, expected))


def _read(body: bytes, expected: str) -> messages.Design:
    if len(body) > messages.MOST_DESIGN_BYTES:
        refuse("too-large", f"the design has {len(body)} bytes, more than {messages.MOST_DESIGN_BYTES}")
    found = messages.design_id(body)
    if found != expected:
        refuse("wrong-hash", f"the design's bytes have the hash {found}, not the promised {expected}")
    written = wire.version_of(body)
    if written not in (None, messages.VERSION):  # before all else: its fields mean something else
        refuse(
            "unknown-version",
            f"the design is of version {written}, and this program reads version {messages.VERSION}: "
            + ("open the survey anew, in an empty folder" if written < messages.VERSION else "upgrade deniable"),
        )
    try:
        message = wire.decode(body, messages.Design, most=messages.MOST_DESIGN_BYTES)
    except MessageError as error:
        # Not in the decoder's words: they quote what the server wrote.
        code = str(error.details["code"])
        refuse("not-canonical" if code == "repeated-key" else code, "the bytes are no design that is known here")
    if wire.encode(message) != body:
        refuse("not-canonical", "the design is not written in its canonical form")
    return message


def _judge(identity: str, message: messages.Design) -> VerifiedDesign:
    plan = message.plan
    _check_attributes([*plan.domain, *message.public])
    domain = {attribute.name: attribute for attribute in plan.domain}
    public = tuple(Attribute(each.name, each.categories) for each in message.public)
    coded = check_items(message, domain, public)
    check_door(message)
    questions = tuple(_question(question, domain) for question in plan.questions)
    if len({question.channel.limits is None for question in questions}) > 1:
        refuse("unknown-channel", "either all channels are published block by block, or none")
    check_blocks(message, adaptive=questions[0].channel.limits is not None)
    for number, ballot in enumerate(plan.ballots):
        _check_ballot(number, ballot, questions)
    _check_size(message)
    check_ballots(message)
    check_panel(message)
    dearest = max(_composed(questions[index].ratio for index in ballot) for ballot in plan.ballots)
    promised = _bound(message.epsilon)
    if dearest > promised:
        refuse(
            "epsilon-exceeded",
            f"the design promises epsilon {message.epsilon}, but its integers give {epsilon_of(dearest):.6g}",
        )
    return VerifiedDesign(
        identity, message, domain, public, questions, tuple(map(tuple, plan.ballots)), dearest, *coded
    )


def _check_attributes(attributes: Sequence[Attribute | messages.PublicItem]) -> None:
    names = [attribute.name for attribute in attributes]
    if len(set(names)) != len(names):
        refuse("repeated-name", f"attributes must have different names: {names}")
    for attribute in attributes:
        if len(attribute.categories) < 2:
            refuse("too-few-categories", f"attribute {attribute.name!r} has fewer than two categories")
        if len({type(category) for category in attribute.categories}) != 1:
            refuse("malformed", f"the categories of {attribute.name!r} are of different types")
        if len(set(attribute.categories)) != len(attribute.categories):
            refuse("repeated-name", f"attribute {attribute.name!r} has a category twice")


def _question(question: messages.Asked, domain: Mapping[str, Attribute]) -> VerifiedQuestion:
    name, channel = "*".join(question.attributes), question.channel
    for attribute in question.attributes:
        if attribute not in domain:
            refuse("unknown-attribute", f"a question asks for {attribute!r}, which the design does not declare")
    if len(set(question.attributes)) != len(question.attributes):
        refuse("attribute-twice", f"question {name!r} asks an attribute twice")
    part = {attribute: domain[attribute] for attribute in question.attributes}
    channel.check(name)
    cells = prod(map(len, part.values()))
    if cells > MOST_CELLS:
        refuse("wrong-cells", f"question {name!r} has more than {MOST_CELLS} possible answers")
    if channel.truths != cells:
        refuse("wrong-cells", f"question {name!r} has {cells} possible answers, its channel {channel.truths} truths")
    channel.check_told(name)
    return VerifiedQuestion(part, channel, channel.ratio)


def _check_ballot(number: int, ballot: Sequence[int], questions: Sequence[VerifiedQuestion]) -> None:
    if not ballot:
        refuse("empty-ballot", f"ballot {number} asks nothing")
    for index in ballot:
        if not 0 <= index < len(questions):
            refuse("unknown-question", f"ballot {number} names question {index}, which does not exist")
    asked = [name for index in ballot for name in questions[index].domain]
    if len(set(asked)) != len(asked):
        refuse("attribute-twice", f"ballot {number} asks an attribute twice: {asked}")


def _check_size(message: messages.Design) -> None:
    """Check that a report can be held by its message."""
    if len(message.public) > MOST_ASKED or max(map(len, message.plan.ballots)) > MOST_ASKED:
        refuse("too-many", f"a report has at most {MOST_ASKED} answers, and as many public attributes")


def _composed(ratios: Iterable[Fraction]) -> Fraction:
    product = compose(ratios)
    assert isinstance(product, Fraction)
    return product


def _bound(epsilon: str) -> Fraction:
    try:
        return exp_below(float(epsilon))
    except DesignError as error:
        refuse("malformed", error.message)
