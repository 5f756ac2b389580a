"""How many reports that are sets a CPU-second makes and counts: ours against the peers, at the same epsilon."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.benchmark import Claim, Measurement, side_by_side
from deniable import HadamardResponse, LocalHashing, SubsetSelection, Unary

if TYPE_CHECKING:
    from collections.abc import Callable

    from deniable.channels.channel import Channel

EPSILON, K = 1.0, 50
_OURS = "deniable"
# (channel, step) -> how many times each peer's rate
REQUIRED = {("unary", "disguise"): 20.0, ("hashing", "disguise"): 20.0, ("hashing", "count"): 50.0}


def channels(k: int = K) -> dict[str, Channel]:
    """What is measured."""
    return {
        "unary": Unary(k, EPSILON),
        "subset": SubsetSelection(k, EPSILON),
        "hashing": LocalHashing(k, EPSILON),
        "hadamard": HadamardResponse(k, EPSILON),
    }


def peers(values: list[int], k: int = K) -> dict[tuple[str, str], dict[str, Callable[[], Any]]]:
    """The installed peers' tasks by channel and step; all take one value at a time."""
    tasks: dict[tuple[str, str], dict[str, Callable[[], Any]]] = {key: {} for key in REQUIRED}
    try:
        from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
        from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

        UE_Client(0, k, EPSILON)  # compiles it
        hashed = [LH_Client(value, k, EPSILON) for value in values]
        name = "multi-freq-ldpy"
        tasks["unary", "disguise"][name] = lambda: [UE_Client(value, k, EPSILON) for value in values]
        tasks["hashing", "disguise"][name] = lambda: [LH_Client(value, k, EPSILON) for value in values]
        tasks["hashing", "count"][name] = lambda: LH_Aggregator_MI(hashed, k, EPSILON)
    except ImportError:
        pass
    try:
        from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
        from pure_ldp.frequency_oracles.unary_encoding import UEClient

        unary = UEClient(EPSILON, k, use_oue=True, index_mapper=lambda value: value)
        client = LHClient(EPSILON, k, use_olh=True, index_mapper=lambda value: value)
        sent = [client.privatise(value) for value in values]

        def count() -> None:
            server = LHServer(EPSILON, k, use_olh=True, index_mapper=lambda value: value)
            for report in sent:
                server.aggregate(report)

        tasks["unary", "disguise"]["pure-ldp"] = lambda: [unary.privatise(value) for value in values]
        tasks["hashing", "disguise"]["pure-ldp"] = lambda: [client.privatise(value) for value in values]
        tasks["hashing", "count"]["pure-ldp"] = count
    except ImportError:
        pass
    return tasks


def measure(count: int = 1_000_000, *, few: int = 3000, repeats: int = 5, rivals: bool = True) -> Measurement:
    """Disguise and count `count` answers (the peers `few` of them)."""
    rows: dict[str, list[object]] = {
        "channel": [],
        "step": [],
        "by": [],
        "values": [],
        "million/CPU-s": [],
        "deniable is": [],
    }
    claims, notes = [], []
    codes = np.random.default_rng(0).integers(0, K, count, dtype=np.uint8)
    others = peers(codes[:few].tolist()) if rivals else {}
    for name, channel in channels().items():
        reports = channel.randomize(codes)
        for step, ours in (("disguise", partial(channel.randomize, codes)), ("count", partial(channel.tally, reports))):
            slow = others.get((name, step), {})
            best = side_by_side({_OURS: ours, **slow}, repeats)
            rate = {by: (few if by in slow else count) / max(spent, 1e-9) / 1e6 for by, spent in best.items()}
            for by, value in rate.items():
                sized = few if by in slow else count
                row = (name, step, by, sized, f"{value:.4g}", f"{rate[_OURS] / value:.3g} x")
                for column, entry in zip(rows.values(), row, strict=True):
                    column.append(entry)
            claims += [
                Claim(f"{name}, {step}: rate over {by}", rate[_OURS] / rate[by], REQUIRED[name, step]) for by in slow
            ]
    if rivals and not all(len(slow) == 2 for slow in others.values()):
        notes.append("Peers that are not installed are left out; `make bench` installs them.")
    return Measurement(f"{K} categories, epsilon {EPSILON:g}, secure randomness", rows, claims, notes)


def main() -> int:
    """Measure and print."""
    return measure().show()


if __name__ == "__main__":
    sys.exit(main())
