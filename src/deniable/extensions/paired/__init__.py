"""Paired designs (JRR): two respondents, or two items of one person, with correlated coins."""
