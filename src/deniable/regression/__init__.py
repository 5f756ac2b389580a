"""Regression on disguised answers: the outcome, a predictor or both have been through a channel."""
