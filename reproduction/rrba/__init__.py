"""RRBA: views, blocks, and fakes that learn.

F. Imran, R. Meo (2024), Collection and Analysis of Sensitive Data with Privacy Protection by a Distributed Randomized
Response Protocol, SAC '24, doi:10.1145/3605098.3636024. The paper leaves several things open (which tables, how blocks
are pooled, what is normalised); readings are named where they are used.
"""

ITEMS = (
    "views",
    "figure-4",
    "true-epsilon",
    "equal-epsilon",
    "one-or-all",
    "block-estimators",
    "consistency",
    "table-3",
    "figure-5",
    "figure-6",
    "table-4",
    "table-5",
    "table-6",
    "figure-7",
)
