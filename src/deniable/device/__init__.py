"""Everything that a respondent's device runs: integers, the standard library, msgspec and cryptography.

==================================  ====================================================================================
`client`                            one respondent's device and one collector: the way from an answer to a sent report
`account`, `consent`, `chain`,      its steps: paying for a ballot, what the caller agrees to, published blocks, looking
`partner`, `ticket`                 for a partner, being let in
`verify`, `terms`, `verified`       whether a design keeps its promise, recomputed from its integers
`kinds`                             the channels, a file each: what their integers must be, and what draws make of them
`encoding`, `form`,                 from an answer to its code; the words that the design names
`replaceable_words`
`epsilon`, `statement`              exact ratios and their logarithms, rounded against whoever claims privacy; in words
`ledger`, `events`, `memory`        the lifetime account, and the file that keeps it
`messages`, `wire`, `block`         what travels, and as which bytes
`line`, `sending`, `transport`,     how it travels, and what an answer to it means
`problems`, `origins`
`blind`, `chance`, `limits`,        blind tokens; draws; what blocks of fakes must keep; how a design is refused
`refusal`
==================================  ====================================================================================

No array library is loaded here and no other room of the package; beside it there are only `errors`, `frozen`, `wording`
and `version`. Import-linter holds us to it, and a test answers a survey where NumPy cannot be imported.
"""
