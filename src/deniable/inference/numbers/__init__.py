"""Numbers as answers: means, quantiles, distribution functions and densities of ordered and numeric questions."""
