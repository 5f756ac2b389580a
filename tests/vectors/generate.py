"""Write the vectors that every client must agree on: `python tests/vectors/generate.py`, then read the diff.

`designs.json`: a design's bytes and the hash it was asked for by; accepted (with the exact ratio of its dearest ballot)
or refused (with the reason's code). `outcomes.json`: a channel, and which report each draw makes of each truth.
`accounts.json`: whether an exact ratio fits into an epsilon. `reports.json`: a body and what a collector makes of it.
"""

from __future__ import annotations

import copy
import hashlib
import json
from fractions import Fraction
from pathlib import Path

from deniable.channels.codec import channel_from_dict
from deniable.channels.dense import Dense
from deniable.channels.krr import KRR
from deniable.channels.mixture import Mixture
from deniable.privacy.epsilon import exp_below

HERE = Path(__file__).parent

GOOD = {
    "epsilon": "2.1",
    "plan": {
        "ballots": [[0, 1], [2]],
        "domain": [
            {"categories": ["no", "yes"], "name": "smokes"},
            {"categories": ["bad", "fair", "good"], "name": "sleep"},
            {"categories": [False, True], "name": "moved"},
        ],
        "format": 1,
        "kind": "design",
        "questions": [
            {"attributes": ["smokes"], "channel": KRR(2, 1.0).to_dict()},
            {"attributes": ["sleep"], "channel": Mixture.from_weights(20000, [20000, 15536, 10000], 16).to_dict()},
            {
                "attributes": ["moved"],
                "channel": {
                    "bits": 32,
                    "columns": [[3 << 30, 1 << 30], [1 << 30, 3 << 30]],
                    "kind": "dense",
                    "name": "coin",
                },
            },
        ],
    },
    "public": [{"categories": ["north", "south"], "name": "region"}],
    "static": ["smokes"],
    "survey": 'vectors é \u2028 "quoted" \\ \u0001',
    "version": 1,
}


def canonical(message: object) -> str:
    return json.dumps(message, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def changed(path: str, value: object) -> dict:
    """The good design with one thing changed; `path` is keys and positions with dots between."""
    message = copy.deepcopy(GOOD)
    *way, last = [int(step) if step.lstrip("-").isdigit() else step for step in path.split(".")]
    place = message
    for step in way:
        place = place[step]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return message


def design_vectors() -> list[dict]:  # noqa: PLR0915 - one line a vector
    found = []

    def add(name: str, body: object, reason: str | None, *, asked_for: str | None = None, ratio: str | None = None):
        text = body if isinstance(body, str) else canonical(body)
        name_ = asked_for or hashlib.sha256(text.encode()).hexdigest()
        found.append({"name": name, "hash": name_, "body": text, "reason": reason, "ratio": ratio})

    krr, mixture = KRR(2, 1.0).ratio, Fraction(30000, 10000)
    add("good", GOOD, None, ratio=f"{(krr * mixture).numerator}/{(krr * mixture).denominator}")
    add("one question, 32 bits", changed("plan.ballots", [[2]]), None, ratio="3/1")
    add("another hash was asked for", GOOD, "wrong-hash", asked_for="0" * 64)
    add("not JSON", canonical(GOOD)[:-1], "malformed")
    add("not a number", canonical(GOOD).replace('"version":1', '"version":NaN'), "malformed")
    add("nested without end", "[" * 5_000, "malformed")
    add("a field is missing", changed("epsilon", ...), "malformed")
    add("a wrong type", changed("plan.questions.0.channel.other", "17626"), "malformed")
    add("a number with a point", canonical(GOOD).replace('"bits":32', '"bits":32.0'), "malformed")
    add("epsilon is not a decimal", changed("epsilon", "2e0"), "malformed")
    add("epsilon is zero", changed("epsilon", "0"), "malformed")
    add("categories of two types", changed("plan.domain.0.categories", ["no", 1]), "malformed")
    add("an unknown version", changed("version", 2), "unknown-version")
    add("an unknown format", changed("plan.format", 2), "unknown-version")
    add("an unknown field", changed("expires", 1), "unknown-field")
    add("an unknown field of a channel", changed("plan.questions.0.channel.seed", 7), "unknown-field")
    add("an unknown channel", changed("plan.questions.0.channel.kind", "plain"), "unknown-channel")
    add("white space", json.dumps(GOOD, sort_keys=True, ensure_ascii=False), "not-canonical")
    add("keys in another order", "{" + '"version":1,' + canonical(changed("version", ...))[1:], "not-canonical")
    add("a key twice", canonical(GOOD).replace('"version":1', '"version":1,"version":1'), "not-canonical")
    add("an escape too many", canonical(GOOD).replace('"smokes"', '"smok\\u0065s"'), "not-canonical")
    add("two attributes of one name", changed("plan.domain.1.name", "smokes"), "repeated-name")
    add("public and disguised", changed("public.0.name", "smokes"), "repeated-name")
    add("a category twice", changed("plan.domain.1.categories", ["bad", "bad", "good"]), "repeated-name")
    add("one category", changed("plan.domain.0.categories", ["no"]), "too-few-categories")
    add("an undeclared attribute", changed("plan.questions.0.attributes", ["salary"]), "unknown-attribute")
    add("an undeclared static attribute", changed("static", ["salary"]), "unknown-attribute")
    add("8-bit draws", changed("plan.questions.0.channel.bits", 8), "wrong-bits")
    add("no draw for the other answer", changed("plan.questions.0.channel.other", 0), "zero-weight")
    add("no draw for the truth", changed("plan.questions.0.channel.other", 1 << 16), "zero-weight")
    add("a negative weight", changed("plan.questions.0.channel.other", -5), "zero-weight")
    add("more draws than there are", changed("plan.questions.0.channel.other", (1 << 16) + 1), "wrong-sum")
    add("a fake that never comes", changed("plan.questions.1.channel.fakes", [20000, 25536, 0]), "zero-weight")
    add("fakes that do not add up", changed("plan.questions.1.channel.fakes", [20000, 15536, 10001]), "wrong-sum")
    add("the truth is never kept", changed("plan.questions.1.channel.keep", 0), "zero-weight")
    add("a zero in a column", changed("plan.questions.2.channel.columns.0", [1 << 32, 0]), "zero-weight")
    add("a column that does not add up", changed("plan.questions.2.channel.columns.0", [1 << 31, 1 << 30]), "wrong-sum")
    add("columns of two lengths", changed("plan.questions.2.channel.columns.1", [1 << 32]), "wrong-sum")
    add("every answer reported alike", changed("plan.questions.0.channel.other", 1 << 15), "tells-nothing")
    add("a channel for more answers", changed("plan.questions.0.channel", KRR(3, 1.0).to_dict()), "wrong-cells")
    add("a ballot without a question", changed("plan.ballots", [[0], []]), "empty-ballot")
    add("a question that is not there", changed("plan.ballots", [[0, 3]]), "unknown-question")
    add("a negative question", changed("plan.ballots", [[-1]]), "unknown-question")
    add("a question twice on a ballot", changed("plan.ballots", [[0, 0]]), "attribute-twice")
    twice = copy.deepcopy(GOOD)
    twice["plan"]["questions"].append({"attributes": ["smokes", "moved"], "channel": KRR(4, 0.5).to_dict()})
    twice["plan"]["ballots"] = [[0, 3]]
    add("an attribute twice on a ballot", twice, "attribute-twice")
    add(
        "an attribute twice in a question",
        changed("plan.questions.0.attributes", ["smokes", "smokes"]),
        "attribute-twice",
    )
    add("more than was promised", changed("epsilon", "1.9"), "epsilon-exceeded")
    add("a hair more than was promised", changed("plan.questions.0.channel.other", 17000), "epsilon-exceeded")
    return found


def outcome_vectors() -> list[dict]:
    channels = [
        KRR(2, 1.0),
        KRR(5, 0.5),
        KRR(3, other=1000000000, bits=32),
        KRR(300, 2.0),
        Mixture.from_weights(20000, [20000, 15536, 10000], 16),
        Mixture.from_weights(1 << 30, [1 << 30, 1 << 31], 32),
        Dense.from_weights([[40000, 10000], [20000, 15536], [5536, 40000]], 16, name="three reports"),
        Dense.from_weights([[3 << 30, 1 << 30], [1 << 30, 3 << 30]], 32, name="coin"),
    ]
    found = []
    for channel in channels:
        rows = []
        for truth in sorted({0, 1, channel.inputs // 2, channel.inputs - 1}):
            intervals = [part for part in channel.intervals(truth) if part[0] < part[1]]
            for first, end, report in intervals if len(intervals) < 8 else [*intervals[:3], *intervals[-3:]]:
                rows += [[truth, draw, report] for draw in sorted({first, (first + end) // 2, end - 1})]
        found.append({"channel": channel.to_dict(), "ratio": _text(channel.ratio), "outcomes": rows})
        assert channel_from_dict(channel.to_dict()) == channel
    return found


def account_vectors() -> list[dict]:
    found = []
    for epsilon in ("0.1", "0.5", "1", "1.5", "5", "0.0000001", "20"):
        bound = exp_below(float(epsilon))
        nearest = bound.limit_denominator(10**12)
        near = [nearest * (1 + Fraction(step, 10**20)) for step in (-(10**10), -1, 0, 1, 10**10)]
        found += [{"epsilon": epsilon, "ratio": _text(ratio), "fits": ratio <= bound} for ratio in near if ratio >= 1]
    return found


def _text(ratio: Fraction) -> str:
    return f"{ratio.numerator}/{ratio.denominator}"


def report_vectors() -> list[dict]:
    design = hashlib.sha256(canonical(GOOD).encode()).hexdigest()
    good = {
        "answers": [1, 2],
        "ballot": 0,
        "block": None,
        "design": design,
        "id": "ab" * 32,
        "public": [1],
        "version": 1,
    }

    def with_(**fields: object) -> str:
        return canonical({**good, **fields})

    def without(name: str) -> str:
        return canonical({key: value for key, value in good.items() if key != name})

    cases: list[tuple[str, str, str | None]] = [
        ("good", canonical(good), None),
        ("good, with white space", json.dumps(good), None),
        ("good, without its block", without("block"), None),
        ("not JSON", "{", "malformed"),
        ("not a number", with_(ballot=0).replace('"ballot":0', '"ballot":NaN'), "malformed"),
        ("nested without end", '{"answers":' + "[" * 10_000, "malformed"),
        ("no id", without("id"), "malformed"),
        ("a short id", with_(id="ab"), "malformed"),
        ("an id in capitals", with_(id="AB" * 32), "malformed"),
        ("an answer that is a text", with_(answers=["yes", 2]), "malformed"),
        ("an answer with a point", with_(answers=[1.5, 2]), "malformed"),
        ("a negative answer", with_(answers=[-1, 2]), "malformed"),
        ("a huge answer", with_(answers=[10**30, 2]), "malformed"),
        ("true for 1", with_(answers=[True, 2]), "malformed"),
        ("no answer", with_(answers=[]), "malformed"),
        ("another version", with_(version=2), "unknown-version"),
        ("a field more", with_(name="Ada"), "unknown-field"),
        ("a key twice", canonical(good).replace('"ballot":0', '"ballot":1,"ballot":0'), "repeated-key"),
        ("another design", with_(design="0" * 64), "unknown-design"),
        ("another ballot", with_(ballot=2), "unfit"),
        ("too many answers", with_(answers=[1, 2, 0]), "unfit"),
        ("an answer out of range", with_(answers=[1, 3]), "unfit"),
        ("no public attribute", with_(public=[]), "unfit"),
        ("a public attribute out of range", with_(public=[2]), "unfit"),
        ("a block", with_(block="0" * 64), "unknown-block"),
    ]
    return [{"name": name, "body": body, "reason": reason} for name, body, reason in cases]


def files() -> dict[str, str]:
    """Every file's text."""
    made = {
        "designs.json": design_vectors(),
        "outcomes.json": outcome_vectors(),
        "accounts.json": account_vectors(),
        "reports.json": report_vectors(),
    }
    return {name: json.dumps(content, indent=1, ensure_ascii=False) + "\n" for name, content in made.items()}


if __name__ == "__main__":
    for name, text in files().items():
        (HERE / name).write_text(text, encoding="utf-8")
