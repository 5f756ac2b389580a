"""Compliance: models for respondents who do not do as the device tells them."""
