"""What a survey is made for, as linear functionals."""
