"""The respondent's page."""
