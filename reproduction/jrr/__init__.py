"""JRR: pairs of respondents with correlated coins.

Y. Zheng, S. R. Seeam, Y. Hu, R. Zhang, Y. Zhang (2025), Locally Differentially Private Frequency Estimation via Joint
Randomized Response (the slides). The figures' numbers are not printed; what is said of them is checked.
"""

ITEMS = (
    "example",
    "utility-theorem",
    "privacy-theorem",
    "heat-maps",
    "synthetic",
    "public-data",
    "no-help",
    "categories",
)
