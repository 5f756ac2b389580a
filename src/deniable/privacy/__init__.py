"""What a report may reveal about one person, put to the test: the audit, and what pairs of respondents add.

=================  ===================================================================================
`audit`            a black-box lower bound on epsilon: does the program keep what its formula promises?
`paired`           the statement for respondents who share coins
`pair_attacks`     what partners, servers and colluders can learn
=================  ===================================================================================

Exact epsilons, their statement and the lifetime account are what a device computes too: `deniable.device`.
"""
