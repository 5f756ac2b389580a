"""One engine for every table that is fitted: evidence, models, and the climb to the best of them."""
