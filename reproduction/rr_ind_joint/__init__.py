"""RR-Ind-Joint: joint tables out of independently randomized attributes.

H. Kikuchi, J. Domingo-Ferrer, Estimating Joint Probability of Independently Randomized Multi-dimensional Data.
The synthetic margins are printed as c / a for a = 2, ..., d, which are d - 1 values; ours are d, proportional to
1/2, ..., 1/(d + 1).
"""

ITEMS = (
    "section-3-3",
    "section-3-4",
    "theorem-3",
    "figures-1-4",
    "figure-5",
    "figure-6",
    "figure-7",
    "figure-8",
    "break-even",
    "table-1",
    "adult-estimators",
    "figures-9-12",
    "equal-budget",
)
