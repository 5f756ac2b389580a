"""RR vs Laplace: which noise for data collection.

Y. Wang, X. Wu, D. Hu (2016), Using Randomized Response for Differential Privacy Preserving Data Collection, Workshop
Proceedings of the EDBT/ICDT Joint Conference. The paper's data is private; cholesterol levels of the diabetes data of
Efron et al. (2004) and a generated graph stand in for it, so figures are compared by what the paper says of them.
"""

ITEMS = (
    "design-matrices",
    "theorems-2-4",
    "figure-1",
    "figure-2",
    "figure-3",
    "figure-4",
    "figure-5",
    "figure-6",
    "denser-graph",
)
