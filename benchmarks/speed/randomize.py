"""How many answers a CPU-second disguises: k-RR against plain NumPy and the peers, at the same epsilon."""

from __future__ import annotations

import sys
from functools import partial
from math import exp
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.benchmark import Claim, Measurement, peak_memory, side_by_side
from deniable import KRR
from deniable.core.randomness import SECURE

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

EPSILON = 1.0
PORTION = 1 << 17  # as many as are disguised at a time
# k -> how many times plain NumPy's rate, how many times the peers'
REQUIRED = {4: (10, 300), 64: (5, 200)}
MEGABYTES = 16
_OURS, _NUMPY, _NARROW, _BITS = "deniable", "plain NumPy", "NumPy in 8 bits", "keystream alone"
_TRICK = "NumPy, our trick"


def plain_numpy(codes: NDArray[np.uint8], k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """k-RR as one writes it down: three whole-array calls, insecure and of floats."""
    p = exp(EPSILON) / (exp(EPSILON) + k - 1)
    return np.where(rng.random(len(codes)) < p, codes, (codes + rng.integers(1, k, len(codes))) % k)


def narrow_numpy(codes: NDArray[np.uint8], k: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """The same with some care: integers stay in 8 bits and nothing is divided."""
    p = exp(EPSILON) / (exp(EPSILON) + k - 1)
    fakes = rng.integers(0, k - 1, len(codes), dtype=np.uint8)
    fakes += fakes >= codes
    return np.where(rng.random(len(codes)) < p, codes, fakes)


def same_trick(codes: NDArray[np.uint8], k: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """What `deniable` does, with NumPy's own generator, which is quick and not secure.

    One draw of 16 bits a value is divided by the weight of another category: quotients below k - 1 lead to one each.
    """
    other = -(-(1 << 16) // (exp(EPSILON) + k - 1))
    out = np.empty(len(codes), dtype=np.uint8)
    for start in range(0, len(codes), PORTION):
        part = codes[start : start + PORTION]
        drawn = rng.integers(0, 1 << 16, len(part), dtype=np.uint16)
        drawn //= np.uint16(other)
        np.minimum(drawn, np.full_like(drawn, k - 1), out=drawn)
        drawn += part
        drawn += np.uint16(1)
        np.minimum(drawn, drawn - np.uint16(k), out=out[start : start + PORTION], casting="unsafe")
    return out


def keystream(count: int, bits: int) -> None:
    """Draw the random bits that `randomize` needs and do nothing with them."""
    stream = SECURE.stream()
    words = np.empty(min(PORTION, count), dtype=f"<u{bits // 8}")
    for start in range(0, count, PORTION):
        stream.fill(words[: count - start])


def peers(codes: NDArray[np.uint8], k: int) -> dict[str, Callable[[], object]]:
    """The installed peers, each over these codes; both take one value at a time."""
    tasks: dict[str, Callable[[], object]] = {}
    values = codes.tolist()
    try:
        from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

        GRR_Client(0, k, EPSILON)  # compiles it
        tasks["multi-freq-ldpy"] = lambda: [GRR_Client(value, k, EPSILON) for value in values]
    except ImportError:
        pass
    try:
        from pure_ldp.frequency_oracles.direct_encoding import DEClient

        client = DEClient(EPSILON, k, index_mapper=lambda value: value)
        tasks["pure-ldp"] = lambda: [client.privatise(value) for value in values]
    except ImportError:
        pass
    return tasks


def measure(
    count: int = 10_000_000, *, few: int = 100_000, repeats: int = 7, ks: tuple[int, ...] = (4, 64), rivals: bool = True
) -> Measurement:
    """Disguise `count` codes (the peers `few` of them) for every k."""
    rows: dict[str, list[object]] = {"k": [], "by": [], "values": [], "million/CPU-s": [], "deniable is": []}
    claims, notes = [], []
    rng = np.random.default_rng(0)
    for k in ks:
        channel = KRR(k, epsilon=EPSILON)
        codes = rng.integers(0, k, count, dtype=np.uint8)
        slow = peers(codes[:few], k) if rivals else {}
        tasks: dict[str, Callable[[], object]] = {
            _OURS: partial(channel.randomize, codes),
            _BITS: partial(keystream, count, channel.bits),
            _NUMPY: partial(plain_numpy, codes, k, rng),
            _NARROW: partial(narrow_numpy, codes, k, rng),
            _TRICK: partial(same_trick, codes, k, rng),
            **slow,
        }
        best = side_by_side(tasks, repeats)
        rate = {name: (few if name in slow else count) / max(best[name], 1e-9) / 1e6 for name in tasks}
        for name in tasks:
            sized = few if name in slow else count
            row = (k, name, sized, f"{rate[name]:.4g}", f"{rate[_OURS] / rate[name]:.3g} x")
            for column, value in zip(rows.values(), row, strict=True):
                column.append(value)
        against_numpy, against_peers = REQUIRED[k]
        extra = (peak_memory(tasks[_OURS]) - count) / 2**20
        claims += [
            Claim(f"k={k}: rate over plain NumPy", rate[_OURS] / rate[_NUMPY], against_numpy),
            *(Claim(f"k={k}: rate over {name}", rate[_OURS] / rate[name], against_peers) for name in slow),
            Claim(f"k={k}: memory beyond input and output", extra, MEGABYTES, "MB", at_most=True),
        ]
        notes.append(
            f"k={k} draws {channel.bits} bits a value and spends {rate[_OURS] / rate[_BITS]:.0%} of its time on them."
        )
    if rivals and len(slow) < 2:
        notes.append("Peers that are not installed are left out; `make bench` installs them.")
    return Measurement(f"k-RR of uint8 codes, epsilon {EPSILON:g}, secure randomness", rows, claims, notes)


def main() -> int:
    """Measure and print."""
    return measure().show()


if __name__ == "__main__":
    sys.exit(main())
