"""What a report may reveal about one person: exact epsilon, the statement of it, the lifetime account, the audit.

=============  =======================================================================================
`epsilon`      a privacy ratio is an exact fraction; its logarithm is rounded up, never down
`statement`    the same number in plain words
`ledger`       what one respondent's device has given away so far, and what it may still give
`audit`        a black-box lower bound on epsilon: does the program keep what its formula promises?
=============  =======================================================================================

Everything here also runs on a respondent's device, so importing this room loads neither scipy nor anything heavier.
"""

from __future__ import annotations

from deniable.privacy.audit import Auditable, AuditResult, Randomizer, audit
from deniable.privacy.epsilon import Ratio, as_ratio, compose, epsilon_of, exp_below, posterior
from deniable.privacy.ledger import Asked, Event, Ledger, Replayed
from deniable.privacy.statement import Statement

__all__ = [
    "Asked",
    "AuditResult",
    "Auditable",
    "Event",
    "Ledger",
    "Randomizer",
    "Ratio",
    "Replayed",
    "Statement",
    "as_ratio",
    "audit",
    "compose",
    "epsilon_of",
    "exp_below",
    "posterior",
]
