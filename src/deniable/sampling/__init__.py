"""How respondents were drawn: survey weights, strata, clusters, known margins, replicate weights."""
