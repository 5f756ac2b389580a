"""Which of these should I use? All methods at the same true epsilon.

No paper: Survey, Child and Alarm of the Bayesian network repository, and UCI Adult, through every design. The page
which-should-i-use.md is made from these tables.
"""

ITEMS = ("survey", "child", "alarm", "adult", "yes-or-no", "association")
