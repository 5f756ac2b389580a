"""Planning: power, sample size and the choice of a design, before anybody is asked."""
