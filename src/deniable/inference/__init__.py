"""Inference: intervals, tests, measures, regressions and models of compliance."""
