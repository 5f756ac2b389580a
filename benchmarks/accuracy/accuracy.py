"""How many times the fewest possible respondents channels and mixes of questions need.

For one question: the loss (n times the summed variance of what is wanted) of k-RR, of sets of the best size and of the
optimal channel as it is run, over the certified bound; beyond 16 answers over the closed form. For many attributes: the
best mix of questions over the floor. One wanted distribution function is also collected and estimated, many times.
Then everything of ours beside published mechanisms: in closed form, and on the same simulated people.

`python -m benchmarks.accuracy.accuracy --write docs/explanation/accuracy.md` puts tables and picture into the page.
"""

from __future__ import annotations

import argparse
import sys
from itertools import combinations
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.accuracy.against_rivals import draw, measured, table
from benchmarks.accuracy.same_people import compared
from benchmarks.benchmark import Claim, Measurement
from deniable import KRR, Domain, Joint, Seeded, Wanted, optimal_channel, optimal_mix
from deniable.datasets import network

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from deniable.channels.channel import Channel
    from deniable.optimal.channel_problem import Problem

_THREE = Domain({name: ["no", "yes"] for name in "abc"})
_PAIRS = list(combinations("abc", 2))
SMALL = ("cdf 7", "cdf 11", "pairs of 3", "mean, shares", "mean of 11", "associations")
LARGE = ("cdf 64", "cdf 128")
EPSILONS = (0.5, 1.0, 2.0, 3.0)
MIXES = {"survey": (1.2, 1.2, 1.4), "child": (1.4, 1.4, 1.45), "alarm": (1.52, 1.54, 1.6)}
_SETS = 11  # answers: all sets of a size are written out
SURVEYS = 2000
# The least losses at even shares, as they were computed by other programs, at these epsilons.
KNOWN = {
    "cdf 7": {0.5: 81.534, 1.0: 19.299, 2.0: 4.5309, 3.0: 2.1266},
    "cdf 11": {1.0: 42.234, 2.0: 9.2825},
    "pairs of 3": {1.0: 48.412, 2.0: 11.285},
    "mean, shares": {1.0: 18.175},
    "mean of 11": {0.5: 409.93, 1.0: 108.01, 2.0: 29.852, 3.0: 16.707},
    "associations": {1.0: 8.3062},
}
_LONGEST = 10.0  # CPU-seconds that an optimal channel of at most 16 answers may take
START, END = "<!-- measured -->", "<!-- end of what was measured -->"


def wanted_rows(name: str) -> NDArray[np.float64]:
    """What is wanted, by its name here."""
    if name.startswith("cdf"):
        t = int(name.split()[1])
        return np.tril(np.ones((t, t)))[:-1]
    made: dict[str, Any] = {
        "pairs of 3": lambda: _over_three(Wanted.table(*pair) for pair in _PAIRS),
        "mean, shares": lambda: np.vstack([np.arange(5.0), 0.1 * np.eye(5)]),
        "mean of 11": lambda: np.arange(11.0)[None],
        "associations": lambda: _over_three(Wanted.association(*pair) for pair in _PAIRS),
    }
    return np.asarray(made[name](), dtype=np.float64)


def _over_three(wanted: Iterable[Wanted]) -> NDArray[np.float64]:
    """Wanted numbers of some of three attributes as rows over all their cells."""
    found = []
    for one in wanted:
        rows = one.rows(_THREE)
        shape = [2 if name in one.attributes else 1 for name in _THREE]
        found.append(
            np.broadcast_to(rows.reshape(len(rows), *shape), (len(rows), *_THREE.shape)).reshape(len(rows), -1)
        )
    return np.concatenate(found)


def sets_loss(problem: Problem) -> float:
    """The loss of subset selection with the best set size, from all its reports."""
    t, losses = problem.answers, []
    for size in range(1, t):
        chosen = np.array(list(combinations(range(t), size)))
        rows = np.ones((len(chosen), t))
        np.put_along_axis(rows, chosen, problem.large, axis=1)
        losses.append(problem.loss(rows / rows.sum(axis=0)))
    return min(losses)


def questions(names: Sequence[str], epsilons: Sequence[float]) -> Iterator[dict[str, Any]]:
    """A row for every question and epsilon: each channel's respondents over the fewest possible."""
    for name in names:
        rows = wanted_rows(name)
        for epsilon in epsilons:
            started = process_time()
            best = optimal_channel(rows, epsilon)
            took = process_time() - started
            problem = best.problem
            yield {
                "wanted": name,
                "epsilon": epsilon,
                "k-RR": problem.loss(KRR(problem.answers, epsilon).matrix()) / best.bound,
                "sets": sets_loss(problem) / best.bound if problem.answers <= _SETS else float("nan"),
                "optimal": best.times,
                "loss": best.loss,
                "bound": "certified" if best.certificate else "closed form",
                "CPU s": took,
            }


def errors(channel: Channel, rows: NDArray[np.float64], n: int, surveys: int, seed: int) -> float:
    """Return n times the mean squared error of the wanted numbers, estimated from simulated surveys at even shares."""
    truth = np.full(channel.inputs, 1 / channel.inputs)
    counts = channel.draw(truth, n, Seeded(seed).stream().generator(), surveys)
    found = rows @ channel.solve(counts / n)
    return float(n * ((found - (rows @ truth)[:, None]) ** 2).sum(axis=0).mean())


def measure(
    small: Sequence[str] = SMALL,
    large: Sequence[str] = LARGE,
    mixes: Sequence[str] = tuple(MIXES),
    epsilons: Sequence[float] = EPSILONS,
    surveys: int = SURVEYS,
) -> Measurement:
    """Compute all ratios, and compare them with what is required."""
    found = [*questions(small, epsilons), *questions(large, [1.0])]
    claims = [
        Claim(
            "optimal channels over their certified bound",
            max(f["optimal"] for f in found[: -len(large) or None]),
            1.005,
            at_most=True,
        ),
        Claim("optimal channels off the known optimum", max(map(_off, found), default=0.0), 0.005, at_most=True),
        Claim(
            "CPU-seconds of an optimal channel of at most 16 answers",
            max(f["CPU s"] for f in found[: -len(large) or None]),
            _LONGEST,
            "s",
            at_most=True,
        ),
    ]
    claims += [
        Claim(f"{f['wanted']} at epsilon 1 over the floor", f["optimal"], 1.2, at_most=True)
        for f in found[len(found) - len(large) :]
    ]
    for name in mixes:
        domain = network(name).domain
        pairs = list(combinations(domain.names, 2))
        for epsilon, required in zip((1.0, 2.0, 3.0), MIXES[name], strict=True):
            times = optimal_mix(domain, pairs, epsilon).times
            claims.append(Claim(f"mix for all pairs of {name}, epsilon {epsilon:g}", times, required, at_most=True))
    rows = wanted_rows("cdf 11")
    n = 10_000
    today = errors(Joint({"x": range(11)}, 1.0, channel="least_variance").questions[0].channel, rows, n, surveys, 1)
    ratio = errors(optimal_channel(rows, 1.0), rows, n, surveys, 2) / today
    claims.append(Claim(f"cdf 11, {surveys} surveys: squared error over least variance", ratio, 0.65, at_most=True))
    columns = {key: [row[key] for row in found] for key in found[0] if key != "CPU s"}
    return Measurement("Respondents needed, over the fewest possible at even shares", columns, claims)


def _off(row: dict[str, Any]) -> float:
    """How far the executed loss is from the known least one, as a share."""
    known = KNOWN.get(row["wanted"], {}).get(row["epsilon"])
    return 0.0 if known is None else abs(row["loss"] / known - 1)


def write(page: Path, closed: str, simulated: str) -> None:
    """Put the tables between the marks of a page."""
    before, _, rest = page.read_text(encoding="utf-8").partition(START)
    _, _, after = rest.partition(END)
    parts = [START, "In closed form, respondents over the fewest possible:", f"```text\n{closed}\n```"]
    parts += ["On the same simulated people, squared errors over those of the channel of ours made for the number:"]
    parts += [f"```text\n{simulated}\n```", END]
    page.write_text(before + "\n\n".join(parts) + after, encoding="utf-8")


def main(arguments: Sequence[str] = ()) -> int:
    """Measure and print; then everything of ours beside published rivals."""
    parser = argparse.ArgumentParser(prog="accuracy", description=__doc__)
    parser.add_argument("--write", type=Path, help="the page to write the tables into; its picture is drawn too")
    options = parser.parse_args(arguments)
    code = measure().show()
    beside = measured()
    closed, simulated = table(beside), table(compared((1.0, 2.0), SURVEYS))
    sys.stdout.write(f"\nBeside published mechanisms\n\n{closed}\n\nOn the same people\n\n{simulated}\n")
    if options.write is not None:
        write(options.write, closed, simulated)
        draw(beside, str(options.write.parent.parent / "images" / "accuracy.svg"))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
