"""Which modules are changed, and which tests have to notice: the room's, the contracts, the module's own examples."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Subject:
    """A module, and where its tests are (as pytest is told, from the root of the repository)."""

    module: str
    tests: tuple[str, ...]


def _in(folder: str, names: str) -> tuple[str, ...]:
    return tuple(f"tests/{folder}/test_{name}.py" for name in names.split())


_KRR = tuple(f"tests/contracts/test_channels.py::{name}" for name in ("TestKRR", "TestKRROfGivenIntegers"))
# Not with a database server, and not what starts programs: those load the module from its file.
_DEVICE = (*_in("device", "client"), *_in("collection", "client served_blocks match_partners ticket invitations"))
_COLLECTOR = (
    *_in("collection", "collector served_blocks match_partners invitations token_issuer survey_lifecycle"),
    *_in("collection", "worker_threads rejection_counts other_versions"),
)

SUBJECTS = {
    "krr": Subject(
        "deniable.channels.krr",
        (*_in("channels", "krr"), *_KRR, *_in("privacy", "shuffle"), "src/deniable/channels/krr.py"),
    ),
    "support": Subject("deniable.channels.sets.support", (*_in("contracts", "support"), *_in("privacy", "shuffle"))),
    "epsilon": Subject(
        "deniable.device.epsilon",
        (*_in("device", "epsilon ledger privacy_statement"), "src/deniable/device/epsilon.py"),
    ),
    "ledger": Subject("deniable.device.ledger", (*_in("device", "ledger"), "src/deniable/device/ledger.py")),
    "events": Subject("deniable.device.ledger_events", _in("device", "ledger")),
    "verify": Subject(
        "deniable.device.verify", (*_in("collection", "vectors messages other_versions"), *_in("device", "verify"))
    ),
    "client": Subject("deniable.device.client", _DEVICE),
    "sqlite": Subject(
        "deniable.storage.sqlite", (*_in("storage", "sqlite append_log"), *_in("collection", "sqlite_transactions"))
    ),
    "collector": Subject("deniable.collection.collector", (*_COLLECTOR, *_in("web", "app"))),
    "designs": Subject("deniable.designs.design", _in("designs", "design designs registry")),
    "job": Subject(
        "deniable.engines.randomize_job", _in("engines", "randomize_job one_disguise arrow_batches domain_file objects")
    ),
}
