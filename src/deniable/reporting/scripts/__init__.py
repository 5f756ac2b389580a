"""Scripts: the estimates of a survey, written so that another program computes them anew from counts and matrices."""
