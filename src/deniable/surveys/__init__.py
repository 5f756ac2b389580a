"""Surveys: what a researcher writes down in survey.toml, checked and turned into a design."""
