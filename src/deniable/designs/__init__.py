"""Designs: which respondent is asked what, through which channel."""
